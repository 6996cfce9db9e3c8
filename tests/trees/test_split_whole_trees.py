"""Every split of a whole tree is the best of all."""

import numpy as np
import pytest
from best_splits import check_every_node, grow, padded, some_weights, sparse_rows


def deep_dense(rng):
    X = np.where(rng.random((300, 4)) < 0.3, 0, rng.integers(-9, 10, (300, 4))).astype(float)
    X[:, 3] = rng.normal(size=300)
    return X


def deep_missing(rng):
    X = deep_dense(rng)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def deep_sparse(rng):
    return np.where(rng.random((300, 12)) < 0.2, rng.integers(-2, 3, (300, 12)), 0).astype(float)


def deep_sparse_missing(rng):
    X = deep_sparse(rng)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X


def deep_binary(rng):
    return (rng.random((300, 16)) < 0.2).astype(float)


@pytest.mark.parametrize(
    "kind", [deep_dense, deep_missing, deep_sparse, deep_sparse_missing, deep_binary]
)
@pytest.mark.parametrize("outputs", ["one", "dense", "wide", "indicators", "sparse"])
def test_every_split_of_a_whole_tree_is_the_best_of_all(kind, outputs):
    rng = np.random.default_rng(0)
    X = kind(rng)
    n = len(X)
    labels = (rng.random((n, 40)) < 0.05).astype(np.float32)
    Z = {
        "one": lambda: rng.normal(size=(n, 1)),
        "dense": lambda: rng.normal(size=(n, 6)).astype(np.float32),
        "wide": lambda: rng.normal(size=(n, 40)).astype(np.float32),
        "indicators": lambda: labels,
        "sparse": lambda: labels * rng.normal(size=(n, 40)).astype(np.float32),
    }[outputs]()
    weights = some_weights(rng, n, seed=len(outputs))
    is_sparse = outputs in ("indicators", "sparse")
    tree = grow(X, sparse_rows(Z) if is_sparse else padded(Z), weights)
    assert tree.depth > 5
    check_every_node(tree, X, Z, weights)


@pytest.mark.parametrize(
    "kind", [pytest.param(deep_missing, marks=pytest.mark.slow), deep_sparse_missing]
)
@pytest.mark.parametrize("n_labels", [3, 16, 17, 48, 49, 112, 113])
@pytest.mark.parametrize("heaviest", [pytest.param(3, marks=pytest.mark.slow), 255, 256])
def test_rows_of_whole_weights_are_counted_as_others_are_added(kind, n_labels, heaviest):
    """Sums of small whole weights are kept in few bits: at the edges of what these hold, too."""
    rng = np.random.default_rng(n_labels)
    X = kind(rng)
    labels = (rng.random((len(X), n_labels)) < 0.06).astype(np.float32)
    labels[:, :2] = rng.random((len(X), 2)) < 0.9
    weights = np.full(len(X), float(heaviest))
    weights[::3] = rng.integers(1, heaviest, len(weights[::3]), endpoint=True)
    tree = grow(X, sparse_rows(labels), weights)
    check_every_node(tree, X, labels, weights)
    # Halves are no whole numbers, and lose no bit.
    halves = grow(X, sparse_rows(labels), weights / 2)
    np.testing.assert_array_equal(tree.nodes, halves.nodes)
    np.testing.assert_array_equal(tree.gains, 2 * halves.gains)


@pytest.mark.parametrize("kind", [deep_dense, deep_sparse_missing])
def test_every_split_is_the_best_of_all_where_the_best_leaf_is_split_first(kind):
    rng = np.random.default_rng(1)
    X = kind(rng)
    Z = rng.normal(size=(len(X), 5))
    weights = rng.exponential(size=len(X)) + 0.1
    tree = grow(X, padded(Z), weights, max_leaf_nodes=len(X))
    check_every_node(tree, X, Z, weights)


@pytest.mark.parametrize("kind", [deep_missing, deep_sparse_missing])
def test_every_split_is_the_best_of_all_under_limits(kind):
    rng = np.random.default_rng(2)
    X = kind(rng)
    Z = rng.normal(size=(len(X), 5))
    weights = rng.exponential(size=len(X)) + 0.1
    min_weight = 0.02 * weights.sum()
    tree = grow(X, padded(Z), weights, min_samples_leaf=4, min_weight_leaf=min_weight)
    assert len(tree.nodes) > 10
    check_every_node(tree, X, Z, weights, min_rows=4, min_weight=min_weight)
