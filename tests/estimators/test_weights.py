"""Weights of rows, as in scikit-learn 1.9: what is drawn, what is balanced, what is counted."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)

FORESTS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    SketchForestClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
    SketchForestRegressor,
)
ESTIMATORS = (*FORESTS, DecisionTreeClassifier, DecisionTreeRegressor)
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
y = np.digitize(X[:, 0] + rng.normal(size=200), [-0.5, 1.5])
WEIGHTS = rng.integers(0, 5, 200).astype(float)


def fitted(kind, weights=None, **params):
    few = {"n_estimators": 4} if kind in FORESTS else {}
    return kind(random_state=0, **(few | params)).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("kind", [k for k in FORESTS if "Sketch" not in k.__name__])
def test_rows_are_drawn_in_proportion_to_their_weights(kind):
    forest = fitted(kind, WEIGHTS, n_estimators=400, bootstrap=True, max_depth=1)
    counts = sum(np.bincount(rows, minlength=200) for rows in forest.estimators_samples_)
    n_drawn = counts.sum()
    assert n_drawn == 400 * np.count_nonzero(WEIGHTS)
    expected = n_drawn * WEIGHTS / WEIGHTS.sum()
    assert not counts[WEIGHTS == 0].any()
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected)).all()
    # Once drawn, rows count as often as they were drawn: their weight is not used twice.
    for tree in forest:
        assert np.array_equal(tree.fitted_.forest.weights, np.rint(tree.fitted_.forest.weights))


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(("max_samples", "n_drawn"), [(1.5, 300), (2.0, 400), (333, 333)])
def test_more_rows_than_there_are_may_be_drawn(kind, max_samples, n_drawn):
    forest = fitted(kind, bootstrap=True, max_samples=max_samples)
    assert all(len(rows) == n_drawn for rows in forest.estimators_samples_)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("weight", [1, 0.3, np.full(200, 7.0)], ids=str)
def test_equal_weights_are_no_weights(kind, weight):
    assert np.array_equal(fitted(kind, weight).apply(X), fitted(kind).apply(X))


def test_a_number_of_weight_is_checked_as_weights_are():
    for weight, message in ((-1, "not be negative; got -1"), (0, "all zero"), (np.nan, "finite")):
        with pytest.raises(ValueError, match=message):
            fitted(RandomForestClassifier, weight)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample"])
def test_a_forest_balances_the_weights_of_the_classes(kind, class_weight):
    weights = WEIGHTS + y
    forest = fitted(kind, weights, bootstrap=False, class_weight=class_weight)
    each = weights.sum() / (3 * np.bincount(y, weights))
    by_hand = fitted(kind, weights * each[y], bootstrap=False)
    assert np.array_equal(forest.apply(X), by_hand.apply(X))
    assert np.allclose(forest.predict_proba(X), by_hand.predict_proba(X))
    unweighted = compute_class_weight("balanced", classes=np.unique(y), y=y)
    other = fitted(kind, weights * unweighted[y], bootstrap=False)
    assert not np.array_equal(forest.apply(X), other.apply(X))


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("name", ["min_samples_leaf", "min_samples_split"])
def test_a_share_of_the_rows_counts_rows_of_weight_zero(kind, name):
    by_share = fitted(kind, WEIGHTS, **{name: 0.11})
    assert np.array_equal(by_share.apply(X), fitted(kind, WEIGHTS, **{name: 22}).apply(X))
