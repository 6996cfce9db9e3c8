"""Trees grown by the core alone, and checks that their splits are the best of all."""

import numpy as np
import pytest
import reference
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import encode
from sketchforest._trees.model import SparseRows, Tree
from sketchforest._trees.outputs import padded_width


def padded(Z):
    out = np.zeros((len(Z), padded_width(Z.shape[1])), Z.dtype)
    out[:, : Z.shape[1]] = Z
    return out


def sparse_rows(Z):
    """Z as sparse rows, whose values are left out where all are 1."""
    return SparseRows.from_csr(sparse.csr_array(Z))


def grow(X, outputs, weights=None, rows=None, **limits):
    """The native core on its own: best cuts, all features, nothing drawn at random."""
    params = _core.GrowParams()
    params.max_features = X.shape[1]
    params.min_gain = -np.inf
    for name, value in limits.items():
        setattr(params, name, value)
    rows = np.arange(X.shape[0], dtype=np.int32) if rows is None else rows.astype(np.int32)
    weights = np.ones(len(rows)) if weights is None else weights
    codes = encode(X, params.random_cuts)
    grown = _core.grow(codes, outputs, rows, weights, params, _core.StopFlag())
    nodes, thresholds, gains, member_start, positions, _, depth, _ = grown
    return Tree(
        nodes=nodes,
        thresholds=thresholds if thresholds.size else None,
        gains=gains,
        member_start=member_start,
        members=rows[positions],
        weights=weights[positions],
        depth=depth,
    )


def check_inner_node(tree, index, rows, X, Z, weights, min_rows=1, min_weight=0.0):
    """The node's split is a best one, and its threshold, its gain and its rows agree with it.

    X, Z and weights are those of all training rows, `rows` those of the node.
    """
    node = reference.inner_node(tree, index)
    left_rows = reference.rows_below(tree, node.left)
    left = np.isin(rows, left_rows)
    X, Z, weights = X[rows], Z[rows], weights[rows]

    goes_left = np.array([node.goes_left(x) for x in X])
    np.testing.assert_array_equal(goes_left, left)
    x = X[:, node.feature]
    below, above = x[left & ~np.isnan(x)], x[~left & ~np.isnan(x)]
    if below.size and above.size:
        middle = below.max() / 2 + above.min() / 2
        assert node.threshold == pytest.approx(middle, rel=1e-6, abs=1e-30)
    else:
        assert node.threshold == np.inf  # only missing values go right
        assert not node.missing_left
    if not np.isnan(x).any():  # nothing to learn from: a missing value follows the majority
        assert node.missing_left == (left.sum() > (~left).sum())

    assert min(left.sum(), (~left).sum()) >= min_rows
    best = reference.best_split(X, Z, weights, min_rows, min_weight).score
    scale = (weights[:, None] * Z**2).sum()
    assert reference.split_score(Z, weights, left) == pytest.approx(best, abs=1e-11 * scale)
    gain = best - reference.node_score(Z, weights)
    assert tree.gains[index] == pytest.approx(gain, rel=1e-6, abs=1e-11 * scale)


def check_root(tree, X, Z, weights, rows=None, min_rows=1, min_weight=0.0):
    X, Z = reference.dense(X).astype(float), reference.dense(Z).astype(float)
    rows = np.arange(len(X)) if rows is None else rows
    if len(tree.nodes) == 0:
        is_pure = (Z[rows] == Z[rows[0]]).all()
        found = reference.best_split(X[rows], Z[rows], weights[rows], min_rows, min_weight)
        assert is_pure or found is None
        return False
    assert tree.depth == 1
    check_inner_node(tree, 0, rows, X, Z, weights, min_rows, min_weight)
    return True


def check_every_node(tree, X, Z, weights, min_rows=1, min_weight=0.0):
    """From the root down, with the rows."""
    X, Z = reference.dense(X).astype(float), reference.dense(Z).astype(float)
    waiting = [(0, np.arange(len(X)))]
    n_seen = 0
    while waiting:
        at, rows = waiting.pop()
        if at < 0:
            is_pure = (Z[rows] == Z[rows[0]]).all()
            found = reference.best_split(X[rows], Z[rows], weights[rows], min_rows, min_weight)
            assert is_pure or found is None
            continue
        check_inner_node(tree, at, rows, X, Z, weights, min_rows, min_weight)
        n_seen += 1
        node = reference.inner_node(tree, at)
        left = np.isin(rows, reference.rows_below(tree, node.left))
        waiting += [(node.left, rows[left]), (node.right, rows[~left])]
    assert n_seen == len(tree.nodes)


def some_weights(rng, n, seed):
    """By turns: equal ones, bootstrap counts, real ones."""
    return [np.ones(n), rng.integers(1, 5, n).astype(float), rng.exponential(size=n) + 1e-3][
        seed % 3
    ]
