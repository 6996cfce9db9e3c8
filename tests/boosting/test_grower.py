"""Trees, sums and losses of the native core against the definitions in reference_boosting.py."""

from itertools import pairwise

import numpy as np
import pytest
import reference_boosting
from scipy import sparse

from sketchforest import _core
from sketchforest._boosting.binning import bin_features
from sketchforest._boosting.scores import BEFORE_GRADIENTS, _padded

LIMITS = [
    {},
    {"min_rows": 5},
    {"max_leaf_nodes": 4},
    {"max_depth": 2, "l2": 3.0},
    {"max_leaf_nodes": 6, "min_rows": 3, "l2": 0.5},
]


def problem(seed, n=60, n_features=4, n_outputs=3):
    """Binned X with missing values, dense or sparse, and whole numbers as gradients, whose sums are
    exact in any order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, rng.integers(2, 12), size=(n, n_features)).astype(float)
    if seed % 3 == 1:
        X[rng.random(X.shape) < 0.2] = np.nan
    if seed % 3 == 2:
        X = sparse.csr_array(X * (rng.random(X.shape) < 0.2))
    Z = rng.integers(-4, 5, size=(n, n_outputs)).astype(float)
    weights = rng.integers(1, 4, size=n).astype(float) if seed % 2 else np.ones(n)
    return X, Z, weights


def codes_of(X):
    """(n_rows, n_features) ranks of values, and the number of values of each feature."""
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    n_known = [len(np.unique(x[~np.isnan(x)])) for x in dense.T]
    codes = [np.searchsorted(np.unique(x[~np.isnan(x)]), x) for x in dense.T]
    return np.array(codes).T, n_known


def sketched(Z, weights):
    width = _padded(Z).shape[1]
    rows = np.zeros((len(Z), width), np.float32)
    rows[:, 0], rows[:, 1] = weights, 1
    rows[:, BEFORE_GRADIENTS : BEFORE_GRADIENTS + Z.shape[1]] = Z
    return rows


def native_tree(X, Z, weights, rows, n_threads=1, max_features=None, **limits):
    params = _core.BoostParams()
    params.max_features = max_features or X.shape[1]
    params.min_samples_leaf = limits.get("min_rows", 1)
    params.max_leaf_nodes = limits.get("max_leaf_nodes", 0)
    params.max_depth = limits.get("max_depth", 1000)
    params.l2 = limits.get("l2", 0.0)
    params.min_gain = 0.0
    binned = bin_features(X, 1).X
    gradients = sketched(Z, weights)
    return _core.grow_boosted(binned, gradients, rows.astype(np.uint32), params, n_threads)


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("seed", range(12))
def test_a_tree_is_the_one_of_the_definition(seed, limits):
    X, Z, weights = problem(seed)
    rows = np.arange(60) if seed % 4 else np.sort(np.random.default_rng(seed).permutation(60)[:40])
    nodes, gains, leaf_of, by_leaf, leaf_start, _ = native_tree(X, Z, weights, rows, **limits)
    codes, n_known = codes_of(X)
    expected, cuts = reference_boosting.grow(codes, n_known, Z, weights, rows, **limits)
    np.testing.assert_array_equal(leaf_of, expected)
    assert [(c.feature, c.bin, c.missing_left) for c in cuts] == [tuple(n[:3]) for n in nodes]
    np.testing.assert_allclose(gains, [c.gain for c in cuts], rtol=1e-9)
    assert len(leaf_start) - 2 == len(cuts)
    for leaf in range(len(cuts) + 1):
        inside = by_leaf[leaf_start[leaf] : leaf_start[leaf + 1]]
        np.testing.assert_array_equal(inside, rows[expected[rows] == leaf])


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 6, 7, 14, 15, 40])
def test_any_number_of_outputs_gives_the_tree_of_the_definition(n_outputs):
    X, Z, weights = problem(1, n=40, n_features=3, n_outputs=n_outputs)
    _, _, leaf_of, *_ = native_tree(X, Z, weights, np.arange(40), max_leaf_nodes=8, l2=1.0)
    codes, n_known = codes_of(X)
    limits = {"max_leaf_nodes": 8, "l2": 1.0}
    expected, _ = reference_boosting.grow(codes, n_known, Z, weights, np.arange(40), **limits)
    np.testing.assert_array_equal(leaf_of, expected)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_tree_does_not_depend_on_the_number_of_threads(is_sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 20)) * (rng.random((5000, 20)) < 0.2)
    X = sparse.csr_array(X) if is_sparse else X
    Z, weights, rows = rng.normal(size=(5000, 5)), np.ones(5000), np.arange(4000)
    one, *others = (
        native_tree(X, Z, weights, rows, n_threads, max_features=7, max_leaf_nodes=31)
        for n_threads in (1, 2, 5, 2**61)
    )
    for other in others:
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


LOSSES = ["squared_error", "cross_entropy", "softmax"]


def scored(loss, rng, n=300, weighted=True):
    """Random scores with their truth, in the core and as arrays."""
    groups = np.array([0, 2, 21, 40])
    values = rng.normal(scale=5, size=(n, 40)).astype(np.float32)
    values[0], values[1] = 60, -200  # where exp would overflow
    Y = (rng.random((n, 40)) < 0.1).astype(float)
    if loss == "softmax":
        drawn = [rng.integers(a, b, size=n) for a, b in pairwise(groups)]
        Y = sum(np.eye(40)[columns] for columns in drawn)
    labels = sparse.csr_array(Y)
    weights = rng.uniform(0.5, 2, size=n) if weighted else None
    if loss == "squared_error":
        stored = {}
        Y = np.zeros_like(Y)  # the core has residuals
    else:
        stored = {
            "row_start": labels.indptr.astype(np.int64),
            "columns": labels.indices.astype(np.int32),
            "groups": groups,
        }
    native = _core.Scores(values, _core.Loss[loss], weights=weights, **stored)
    return native, values.astype(float), Y, groups, np.ones(n) if weights is None else weights


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_and_their_sums_are_those_of_the_definition(loss):
    native, scores, Y, groups, weights = scored(loss, np.random.default_rng(0))
    g, h = reference_boosting.gradients(scores, Y, loss, groups)
    rows = np.arange(0, 300, 2, dtype=np.uint32)
    Z = native.sketch(rows, None, 1)
    np.testing.assert_allclose(Z[rows, 2:42], weights[rows, None] * g[rows], rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(Z[rows, 0], weights[rows], rtol=1e-6)
    assert (Z[rows, 1] == 1).all()
    assert not Z[1::2].any()
    leaf_start = np.array([0, 7, 100, 150], np.int64)
    G, H = native.leaf_sums(rows, leaf_start, False, 1)
    squares = native.leaf_sums(rows, leaf_start, True, 1)[1]
    weighted = weights[:, None] * g
    for leaf, (first, end) in enumerate(pairwise(leaf_start)):
        inside = rows[first:end]
        np.testing.assert_allclose(G[leaf], weighted[inside].sum(axis=0), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(H[leaf], weights[inside] @ h[inside], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            squares[leaf], (weighted[inside] ** 2).sum(axis=0), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sum_of_losses_is_that_of_the_definition(loss):
    native, scores, Y, groups, weights = scored(loss, np.random.default_rng(1))
    rows = np.arange(10, 300, dtype=np.uint32)
    expected = weights[rows] @ reference_boosting.losses(scores, Y, loss, groups)[rows]
    assert native.loss(rows, 1) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("m", [1, 2, 6, 7, 14, 30, 40])
def test_a_sketch_is_the_product_of_gradients_and_projection(m):
    rng = np.random.default_rng(2)
    native, scores, Y, _, weights = scored("cross_entropy", rng)
    g, _ = reference_boosting.gradients(scores, Y, "cross_entropy")
    P = rng.normal(size=(40, m)).astype(np.float32)
    Z = native.sketch(np.arange(300, dtype=np.uint32), _padded(P), 1)
    expected = weights[:, None] * (g @ P)
    np.testing.assert_allclose(Z[:, 2 : m + 2], expected, rtol=1e-4, atol=1e-4)
    assert not Z[:, m + 2 :].any()


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_do_not_depend_on_the_number_of_threads(loss):
    found = []
    for n_threads in (1, 2, 5):
        native, *_ = scored(loss, np.random.default_rng(3), n=9000)
        rows = np.arange(9000, dtype=np.uint32)
        leaf_of = (rows % 3).astype(np.int32)
        values = np.random.default_rng(4).normal(size=(3, 40)).astype(np.float32)
        native.add(leaf_of, values, n_threads)
        starts = np.array([0, 100, 9000], np.int64)
        sums = native.leaf_sums(rows, starts, False, n_threads)
        found.append([native.sketch(rows, None, n_threads), *sums, native.loss(rows, n_threads)])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_values_are_added_to_the_rows_of_their_leaf():
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    native = _core.Scores(values, _core.Loss.squared_error)
    before, added = values.copy(), np.array([[1, 2, 3], [40, 50, 60]], np.float32)
    leaf_of = np.array([1, 0, 0, 1], np.int32)
    native.add(leaf_of, added, 1)
    np.testing.assert_array_equal(values, before + added[leaf_of])


def wrong_bins():
    dense = {"n_rows": 2, "n_features": 1, "columns": np.array([[0, 1]], np.uint8)}
    starts = {"bin_start": np.array([0, 3], np.int64)}
    yield dense | starts | {"columns": np.array([[0, 3]], np.uint8)}
    yield dense | {"bin_start": np.array([0, 400], np.int64)}
    yield dense | {"bin_start": np.array([1, 3], np.int64)}
    stored = {"row_start": np.array([0, 1, 1], np.int64), "places": np.array([1], np.uint32)}
    thin = {"n_rows": 2, "n_features": 1, "zero_place": np.array([0], np.uint32)} | starts
    yield thin | stored | {"places": np.array([3], np.uint32)}
    yield thin | stored | {"row_start": np.array([0, 2, 1], np.int64)}
    yield thin | stored | {"zero_place": np.array([3], np.uint32)}


@pytest.mark.parametrize("fields", list(wrong_bins()))
def test_bins_that_do_not_fit_are_refused(fields):
    with pytest.raises(ValueError, match=r"bin|bins|start|add up"):
        _core.BinnedX(**fields)
