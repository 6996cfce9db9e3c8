"""X as oblique trees see it, against its definition."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from sketchforest._trees.oblique_features import MOST_LEVELS, FeatureMap

RNG = np.random.default_rng(0)


def seen(feature_map, X):
    rows = feature_map.transform(X)
    if rows.indptr is None:
        assert not rows.data[:, rows.n_features :].any()  # the padding
        return rows.data[:, : rows.n_features]
    arrays = (rows.data, rows.indices, rows.indptr)
    return sparse.csr_array(arrays, shape=(rows.n_rows, rows.n_features)).toarray()


def test_dense_features_enter_by_their_mean_rank():
    X = RNG.integers(1, 9, (200, 5)).astype(float)
    expected = (rankdata(X, axis=0) - 0.5) / len(X) - 0.5
    assert seen(FeatureMap.learn(X), X) == pytest.approx(expected, abs=1e-6)


def test_many_values_enter_in_steps_of_equal_size():
    X = RNG.normal(size=(5000, 2))
    entered = seen(FeatureMap.learn(X), X)
    ranks = (rankdata(X, axis=0) - 0.5) / len(X) - 0.5
    assert np.abs(entered - ranks).max() <= 1 / MOST_LEVELS
    assert len(np.unique(entered[:, 0])) == MOST_LEVELS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_monotone_change_of_a_feature_changes_nothing(dtype):
    X = RNG.normal(size=(300, 4)).astype(dtype)
    changed = np.exp(X) * [1, 10, 100, 1000]
    same = seen(FeatureMap.learn(X), X)
    assert np.array_equal(
        same, seen(FeatureMap.learn(changed.astype(dtype)), changed.astype(dtype))
    )


def test_new_values_have_the_rank_of_their_neighbors():
    feature_map = FeatureMap.learn(np.array([[1.0], [2.0], [2.0], [5.0]]))
    entered = seen(feature_map, np.array([[-9.0], [1.0], [1.4], [1.6], [3.4], [3.6], [99.0]]))
    low, middle, high = -0.375, 0.0, 0.375
    assert entered.ravel().tolist() == [low, low, low, middle, middle, high, high]


def test_a_missing_value_stands_in_the_middle():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])
    entered = seen(FeatureMap.learn(X), X)
    assert entered[2, 0] == 0
    assert not entered[:, 1].any()
    assert entered[[0, 1, 3], 0] == pytest.approx([-1 / 3, 0, 1 / 3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_enter_by_value_are_standardized_and_missing_ones_are_the_mean(dtype):
    X = (RNG.normal(size=(200, 4)) * [1, 100, 1e-3, 5] + [0, 1e4, 0, -3]).astype(dtype)
    X[RNG.random(X.shape) < 0.1] = np.nan
    known = X.astype(float)
    expected = (known - np.nanmean(known, axis=0)) / np.nanstd(known, axis=0)
    feature_map = FeatureMap.learn(X, by_value=True)
    assert seen(feature_map, X) == pytest.approx(np.nan_to_num(expected), rel=1e-4, abs=1e-5)
    assert np.array_equal(seen(feature_map, X[7:9]), seen(feature_map, X)[7:9])


def test_values_that_do_not_differ_or_are_extreme_enter_as_finite_numbers():
    X = np.array([[3.0, 1e308, np.nan], [3.0, -1e308, np.nan], [3.0, 0.0, np.nan]])
    feature_map = FeatureMap.learn(X, by_value=True)
    entered = seen(feature_map, X)
    assert not entered[:, [0, 2]].any()
    assert entered[:, 1] == pytest.approx(np.sqrt(1.5) * np.array([1, -1, 0]))
    far = seen(feature_map, np.array([[1e308, 1e308, -1e308]]))
    assert np.isfinite(far).all()


@pytest.mark.parametrize("by_value", [False, True])
def test_embeddings_enter_on_one_scale(by_value):
    X = RNG.normal(size=(200, 6)) * [1, 1, 1, 1, 0.1, 0.01] + 0.3
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[3] = 0  # a text without a known word
    for given in (X, X.astype(np.float32), X.astype(np.float16).astype(np.float32)):
        entered = seen(FeatureMap.learn(given, by_value=by_value), given)
        assert entered == pytest.approx(given / np.sqrt((given**2).mean()), rel=1e-5)


@pytest.mark.parametrize("change", ["longer rows", "a constant feature", "a missing value"])
def test_other_dense_rows_are_no_embedding(change):
    X = RNG.normal(size=(200, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    if change == "longer rows":
        X[::2] *= 1.1
    elif change == "a constant feature":
        X[:, 0] = 50
    else:
        X[0, 0] = np.nan
    assert FeatureMap.learn(X).level_start is not None


def test_counts_enter_as_text_does_and_rows_have_unit_length():
    X = RNG.poisson(0.1, (60, 40)).astype(np.float32)
    X[3] = 0
    idf = np.log((1 + 60) / (1 + (X > 0).sum(axis=0))) + 1
    expected = np.log1p(X) * idf
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    expected /= np.where(lengths > 0, lengths, 1)
    for given in (X, sparse.csr_array(X), sparse.csc_array(X)):
        assert seen(FeatureMap.learn(given), given) == pytest.approx(expected, abs=1e-6)


def test_sparse_values_that_are_weighted_already_enter_on_one_scale():
    X = RNG.normal(size=(50, 30)) * (RNG.random((50, 30)) < 0.1)
    assert seen(FeatureMap.learn(X), X) == pytest.approx(X / np.abs(X).max(), rel=1e-6)
    for unit in (1e-200, 1e200):
        assert np.allclose(seen(FeatureMap.learn(unit * X), unit * X), X / np.abs(X).max())
    assert np.isfinite(seen(FeatureMap.learn(X), 1e300 * X)).all()
