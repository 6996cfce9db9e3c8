"""All estimators, small data, and what a refused fit must leave as it was."""

from contextlib import contextmanager

import numpy as np
import pytest
from every_kind import FORESTS
from scipy import sparse

N_ROWS, N_FEATURES, N_LABELS = 40, 6, 34
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES))
Y = (RNG.random((N_ROWS, N_LABELS)) < 0.2).astype(float)


def small(kind, **params):
    if kind in FORESTS:
        params = {"n_estimators": 3} | params
    return kind(**({"random_state": 0} | params))


def predictions(estimator, features=X):
    probabilities = getattr(estimator, "predict_proba", None)
    guess = probabilities(features) if probabilities else estimator.predict(features)
    return guess.toarray() if sparse.issparse(guess) else guess


@contextmanager
def nothing_changes(estimator):
    before = dict(vars(estimator))
    yield
    after = vars(estimator)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


@contextmanager
def one_sentence(message, error=ValueError):
    with pytest.raises(error, match=message) as caught:
        yield
    assert "\n" not in str(caught.value)


def refuse_to_fit(kind, message, X=X, y=Y, sample_weight=None, error=ValueError, **params):
    """fit says so and changes nothing, of an estimator without a fit and of one with."""
    fresh = small(kind, **params)
    with nothing_changes(fresh), one_sentence(message, error):
        fresh.fit(X, y, sample_weight)

    good = small(kind)
    fitted = small(kind).fit(globals()["X"], Y)
    before = predictions(fitted)
    fitted.set_params(**params)
    with nothing_changes(fitted), one_sentence(message, error):
        fitted.fit(X, y, sample_weight)
    fitted.set_params(**good.get_params())
    assert np.array_equal(predictions(fitted), before)
