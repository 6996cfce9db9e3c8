"""Bins of 8, 16 and 32 bits."""

import numpy as np
import pytest
import reference
from best_splits import check_root, grow, padded
from scipy import sparse

from sketchforest._trees.encoding import encode


def test_codes_take_as_many_bytes_as_the_values_and_one_for_missing_need():
    for n_values, n_bytes in [
        (254, 1), (255, 2), (256, 2), (65534, 2), (65535, 4), (65536, 4), (70000, 4),
    ]:  # fmt: skip
        for n_missing in (0, 2):
            x = np.append(np.arange(1.0, n_values + 1), np.full(n_missing, np.nan))[:, None]
            assert encode(x).codes.itemsize == n_bytes
            column = sparse.vstack([x, sparse.csr_array((4 * n_values, 1))], format="csr")
            coded = encode(column)  # zero is a value more
            assert coded.row_start is not None
            assert coded.codes.itemsize == {254: 2, 65534: 4}.get(n_values, n_bytes)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_values", [253, 254, 255, 256, 65533, 65534, 65535, 65536])
def test_the_last_value_and_missing_ones_have_codes_of_their_own(n_values, is_sparse):
    values = np.arange(1.0, n_values + 1)
    x = np.append(values, [np.nan, np.nan])
    # The bag: the two largest values, the smallest ones and the missing ones.
    rows = np.array([0, 1, n_values - 2, n_values - 1, n_values, n_values + 1])
    if is_sparse:
        x = np.append(x, np.zeros(4 * n_values))
        rows = np.append(rows, [n_values + 2, n_values + 3])
    X = x[:, None]
    assert (encode(X).row_start is not None) == is_sparse
    for alone in range(len(rows)):
        Z = np.zeros((len(x), 1))
        Z[rows[alone]] = 1.0
        tree = grow(X, Z[rows], rows=rows, max_depth=1)
        check_root(tree, X, Z, np.ones(len(x)), rows=rows)


@pytest.mark.parametrize("n_values", [300, 80_000])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_rows", [20, 64, 65])
def test_the_split_is_the_best_of_all_where_codes_are_wide(n_values, is_sparse, n_rows):
    n_bytes = 2 if n_values < 2**16 else 4
    for seed in range(4):
        rng = np.random.default_rng(seed)
        # Floats are coded by value where they are many.
        X = rng.normal(size=(n_values, 2)).astype(np.float32 if seed < 2 else np.float64)
        X[rng.random(X.shape) < 0.1 * (seed % 2)] = np.nan
        if is_sparse:
            X = np.vstack([X, np.zeros((4 * n_values, 2))])
        # Enough distinct values for wide codes, few enough rows in the bag to enumerate.
        rows = np.sort(rng.choice(n_values, n_rows, replace=False))
        if is_sparse:
            rows = np.append(rows, n_values + np.arange(10))
        coded = encode(X)
        assert (coded.row_start is not None) == is_sparse
        assert coded.codes.itemsize == n_bytes
        assert coded.by_value == (seed < 2 and n_bytes == 4 and not is_sparse)
        Z = rng.normal(size=(X.shape[0], 3)).astype(np.float32)
        weights = rng.exponential(size=X.shape[0]) + 0.1
        tree = grow(X, padded(Z[rows]), weights[rows], rows=rows, max_depth=1)
        assert check_root(tree, X, Z, weights, rows=rows)


def test_the_split_of_very_many_rows_is_the_best_of_all():
    """One feature, so that the running sums of the sorted outputs enumerate every cut."""
    rng = np.random.default_rng(0)
    n = 100_000
    for X in (rng.normal(size=(n, 1)), rng.integers(0, 1000, (n, 1)).astype(np.float32)):
        Z = (X + 5 * rng.normal(size=(n, 1)) > 0.3).astype(float)
        x, z = X.ravel(), Z.ravel()
        order = np.argsort(x, kind="stable")
        size = np.arange(1, n + 1)
        S_left = z[order].cumsum()
        S_right = S_left[-1] - S_left
        with np.errstate(invalid="ignore"):
            scores = S_left**2 / size + S_right**2 / (n - size)
        is_cut = np.append(np.diff(x[order]) > 0, False)
        best = scores[is_cut].max()
        tree = grow(X, Z, max_depth=1)
        node = reference.inner_node(tree, 0)
        left = x <= node.threshold
        assert reference.split_score(Z, np.ones(n), left) == pytest.approx(best, rel=1e-12)
        np.testing.assert_array_equal(reference.rows_below(tree, node.left), np.flatnonzero(left))
