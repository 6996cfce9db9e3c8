"""The leaves of new rows, however X is stored."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import RandomForestClassifier, _core
from sketchforest._trees.model import Forest

# Rows with so many features are not written out in full.
WIDE = 1 << 20


@pytest.fixture(scope="module")
def fitted():
    """A forest whose trees use features all over a wide X, a few of them often."""
    rng = np.random.default_rng(0)
    names = np.sort(rng.choice(WIDE, 60, replace=False))
    narrow = rng.normal(size=(200, 60)) * (rng.random((200, 60)) < 0.3)
    Y = (narrow @ rng.normal(size=(60, 8)) > 1).astype(np.uint8)
    forest = RandomForestClassifier(10, projection=None, random_state=0).fit(narrow, Y)
    return forest, narrow, names


def widened(forest, names, n_features=WIDE):
    """The forest with feature i called names[i], of many more."""
    nodes = forest.fitted_.forest.nodes.copy()
    features = nodes[:, 0].view(np.uint32)
    missing_left = features & np.uint32(1 << 31)
    features[:] = names.astype(np.uint32)[features & np.uint32((1 << 31) - 1)] | missing_left
    return Forest(**forest.fitted_.forest.fields() | {"nodes": nodes, "n_features": n_features})


def leaves(trees, X, n_features):
    X = sparse.csr_array(X)
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int64)
    return _core.leaves_sparse(trees, X.data, indices, indptr, n_features)


def wide_rows(X, names):
    """Rows of X in the columns that `names` says, as data, columns and starts of rows."""
    X = sparse.csr_array(X)
    return X.data, names.astype(np.int32)[X.indices], X.indptr.astype(np.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [False, True])
def test_wide_sparse_rows_find_the_leaves_of_the_same_rows_in_fewer_columns(fitted, dtype, missing):
    forest, X, names = fitted
    X = X.astype(dtype)
    if missing:
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    X[7] = 0  # a row without entries
    expected = _core.leaves_dense(forest.fitted_.forest, X)
    assert np.array_equal(leaves(forest.fitted_.forest, X, X.shape[1]), expected)
    trees = widened(forest, names)
    assert np.array_equal(_core.leaves_sparse(trees, *wide_rows(X, names), WIDE), expected)


def test_entries_that_are_stored_twice_are_added_up(fitted):
    forest, X, names = fitted
    data, columns, starts = wide_rows(X, names)
    halves = np.repeat(data / 2, 2), np.repeat(columns, 2), 2 * starts
    trees = widened(forest, names)
    once = _core.leaves_sparse(trees, data, columns, starts, WIDE)
    assert np.array_equal(_core.leaves_sparse(trees, *halves, WIDE), once)


def test_memory_does_not_grow_with_the_number_of_features(fitted):
    """A group of rows of that many features, written out, would take 256 GiB."""
    forest, X, names = fitted
    n_features = np.iinfo(np.int32).max
    names = names + (n_features - WIDE)
    trees = widened(forest, names, n_features)
    found = _core.leaves_sparse(trees, *wide_rows(X, names), n_features)
    assert np.array_equal(found, _core.leaves_dense(forest.fitted_.forest, X))


@pytest.fixture(scope="module")
def in_chains():
    """Trees of words that few rows have: each split takes a few rows off. Some words are counted
    below zero, so that some nodes send zeros right."""
    rng = np.random.default_rng(2)
    X = rng.normal(2, 1, (600, 300)) * (rng.random((600, 300)) < 0.05)
    X[:, ::7] *= -1
    Y = (X[:, :40] != 0).astype(np.uint8)
    forest = RandomForestClassifier(6, projection=None, random_state=0, max_features=0.5).fit(X, Y)
    chains = forest.fitted_.forest.zero_chains
    is_on_chain = chains[: len(forest.fitted_.forest.nodes)] > 0
    assert 0 < is_on_chain.sum() < len(is_on_chain)
    return forest.fitted_.forest, X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["as grown", "missing", "without entries", "other words", "full"])
def test_chains_are_left_where_a_row_has_the_feature(in_chains, dtype, kind):
    forest, X = in_chains
    rng = np.random.default_rng(3)
    X = X.astype(dtype)
    if kind == "missing":
        X[rng.random(X.shape) < 0.03] = np.nan
    if kind == "without entries":
        X[::2] = 0
    if kind == "other words":
        X = rng.permutation(X, axis=1)
    if kind == "full":  # rows of more entries than marks can tell apart
        X[::9] = rng.normal(size=X[::9].shape)
    X = rng.permutation(np.tile(X, (4, 1)))  # more rows than are marked at once
    for n_rows in (1, 5, 16, len(X)):
        found = leaves(forest, X[:n_rows], X.shape[1])
        assert np.array_equal(found, _core.leaves_dense(forest, X[:n_rows]))


def test_entries_on_chains_that_are_stored_twice_are_added_up(in_chains):
    forest, X = in_chains
    X = sparse.csr_array(X)
    halves = (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2).astype(np.int32))
    found = _core.leaves_sparse(forest, *halves, 2 * X.indptr.astype(np.int64), X.shape[1])
    assert np.array_equal(found, _core.leaves_dense(forest, X.toarray()))


def test_trees_that_are_no_chains_have_none():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 8))
    forest = RandomForestClassifier(5, projection=None, random_state=0).fit(X, X[:, 0] > X[:, 1])
    assert forest.fitted_.forest.zero_chains is None
