"""The leaves of new rows, however X is stored."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import RandomForestClassifier, _core

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


def widened(forest, names):
    """The forest's nodes, with feature i called names[i]."""
    nodes = forest._forest.nodes.copy()
    features = nodes[:, 0].view(np.uint32)
    missing_left = features & np.uint32(1 << 31)
    features[:] = names.astype(np.uint32)[features & np.uint32((1 << 31) - 1)] | missing_left
    return nodes


class Trees:
    """What the core reads of a forest to find leaves."""

    def __init__(self, forest, nodes):
        self.n_trees = forest._forest.n_trees
        self.nodes = nodes
        self.thresholds = forest._forest.thresholds
        self.node_start = forest._forest.node_start
        self.directions = None


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
    expected = _core.leaves_dense(forest._forest, X)
    assert np.array_equal(leaves(forest._forest, X, X.shape[1]), expected)
    trees = Trees(forest, widened(forest, names))
    assert np.array_equal(_core.leaves_sparse(trees, *wide_rows(X, names), WIDE), expected)


def test_entries_that_are_stored_twice_are_added_up(fitted):
    forest, X, names = fitted
    data, columns, starts = wide_rows(X, names)
    halves = np.repeat(data / 2, 2), np.repeat(columns, 2), 2 * starts
    trees = Trees(forest, widened(forest, names))
    once = _core.leaves_sparse(trees, data, columns, starts, WIDE)
    assert np.array_equal(_core.leaves_sparse(trees, *halves, WIDE), once)


def test_memory_does_not_grow_with_the_number_of_features(fitted):
    """A group of rows of that many features, written out, would take 256 GiB."""
    forest, X, names = fitted
    n_features = np.iinfo(np.int32).max
    names = names + (n_features - WIDE)
    trees = Trees(forest, widened(forest, names))
    found = _core.leaves_sparse(trees, *wide_rows(X, names), n_features)
    assert np.array_equal(found, _core.leaves_dense(forest._forest, X))
