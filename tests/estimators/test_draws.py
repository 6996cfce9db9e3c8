"""What weights, shares of rows and shares of features mean."""

import numpy as np
import pytest
from every_kind import (
    CLASSIFIERS,
    ESTIMATORS,
    FORESTS,
    N_TRAIN,
    OOB,
    REGRESSORS,
    bag,
    fitted,
    predictions,
    targets,
)

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_row_of_weight_zero_is_as_good_as_removed(kind, X, Y, X_new, outputs):
    kept = np.random.default_rng(0).random(N_TRAIN) < 0.7
    y = targets(kind, Y, outputs + 1e6).copy()
    if kind in REGRESSORS:
        y[~kept] = 1e9
    params = {"min_samples_leaf": 3}
    if kind in FORESTS:
        params |= OOB | {"oob_score": True, "max_samples": 0.8}
    weighted = fitted(kind, X, y, kept.astype(float), **params)
    removed = fitted(kind, X[kept], y[kept], **params)
    assert np.array_equal(weighted.apply(X_new), removed.apply(X_new))
    assert np.array_equal(predictions(weighted, X_new), predictions(removed, X_new))
    assert not weighted.leaf_weights(X_new)[:, ~kept].nnz
    if kind in FORESTS:
        assert weighted.oob_score_ == pytest.approx(removed.oob_score_)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_only_ratios_of_weights_matter(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    weights = np.random.default_rng(0).integers(1, 5, N_TRAIN).astype(float)
    params = {"min_weight_fraction_leaf": 0.02, "min_impurity_decrease": 1e-4, "projection": None}
    first = fitted(kind, X, y, weights, **params)
    for same in (4 * weights, weights.astype(int), list(weights)):
        second = fitted(kind, X, y, same, **params)
        assert np.array_equal(first.apply(X_new), second.apply(X_new)) or (same == weights).all()
        assert np.allclose(predictions(first, X_new), predictions(second, X_new))
    assert not np.allclose(predictions(fitted(kind, X, y), X_new), predictions(first, X_new))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_leaf_is_the_weighted_mean_of_its_rows(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    weights = np.random.default_rng(0).random(N_TRAIN)
    tree = fitted(kind, np.ones_like(X), y, weights)
    mean = np.average(y, axis=0, weights=weights)
    assert np.allclose(predictions(tree, X[:1]), mean, atol=1e-6)


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(("max_samples", "n_draws"), [(None, 150), (40, 40), (0.5, 75), (0.001, 1)])
def test_each_tree_draws_max_samples_rows(kind, max_samples, n_draws, X, Y, outputs):
    y = targets(kind, Y, outputs)
    forest = fitted(kind, X, y, bootstrap=True, max_samples=max_samples)
    drawn = [bag(forest, index) for index in range(7)]
    assert [counts.sum() for _, counts in drawn] == [n_draws] * 7
    assert all(len(set(rows)) == len(rows) for rows, _ in drawn)
    if n_draws > 1:
        assert set(drawn[0][0]) != set(drawn[1][0])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fraction_of_the_rows_is_rounded_up(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    for name in ("min_samples_leaf", "min_samples_split"):
        by_share = fitted(kind, X, y, **{name: 8.01 / N_TRAIN}).apply(X_new)
        assert np.array_equal(by_share, fitted(kind, X, y, **{name: 9}).apply(X_new))
        assert not np.array_equal(by_share, fitted(kind, X, y, **{name: 8}).apply(X_new))


@pytest.mark.parametrize(
    ("max_features", "n_drawn"),
    [("sqrt", 5), ("log2", 4), (None, 30), (0.5, 15), (1e-9, 1), (7, 7), (99, 30)],
)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_max_features_means_what_it_means_in_scikit_learn(
    kind, max_features, n_drawn, X, Y, outputs
):
    estimator = fitted(kind, X, targets(kind, Y, outputs), max_features=max_features)
    assert estimator.fitted_.settings.max_features == n_drawn


@pytest.mark.parametrize("kind", FORESTS)
def test_forests_that_leave_rows_out_by_default(kind, X, Y, outputs):
    params = {"threshold": 0.5} if kind in CLASSIFIERS else {}  # a choice by F1 leaves rows out
    forest = fitted(kind, X, targets(kind, Y, outputs), **params)
    takes_all = [len(bag(forest, index)[0]) == N_TRAIN for index in range(7)]
    leaves_rows_out = ("RandomForest", "SketchForestRegressor")
    assert takes_all == [not kind.__name__.startswith(leaves_rows_out)] * 7
