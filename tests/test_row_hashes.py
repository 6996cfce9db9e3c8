"""Hashes of rows, by which models recognize the rows they were trained on."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest._utils.row_hashes import BLOCK_CELLS, match_rows, row_hashes


def test_the_hash_of_a_row_does_not_depend_on_storage_and_other_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BLOCK_CELLS // 5 + 7, 5)) * (rng.random((BLOCK_CELLS // 5 + 7, 5)) < 0.6)
    X[3], X[4, 1], X[5, 2] = 0, np.nan, -0.0
    expected = row_hashes(X)
    for given in (np.asfortranarray(X), X.astype(np.float32), sparse.csr_array(X)):
        assert np.array_equal(row_hashes(given), expected)
    assert np.array_equal(row_hashes(sparse.csc_array(X)), expected)
    assert np.array_equal(row_hashes(X[7:9]), expected[7:9])


def test_equal_rows_alone_have_equal_hashes():
    bits = (np.arange(2**14)[:, None] >> np.arange(14)) & 1
    for X in (bits, bits * 3.0 - 1, np.arange(2.0**14)[:, None] / 64):
        assert len(np.unique(row_hashes(X))) == 2**14
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, np.nan], [np.nan, 1.0], [1.0, -2.0]])
    assert len(np.unique(row_hashes(X))) == 5


@pytest.mark.parametrize("seed", range(50))
def test_each_known_row_matches_one_equal_row_in_order(seed):
    rng = np.random.default_rng(seed)
    n_values = rng.integers(1, 9)
    known, given = (rng.integers(0, n_values, rng.integers(0, 12)) for _ in range(2))
    left = {value: np.flatnonzero(known == value).tolist() for value in range(n_values)}
    expected = [left[value].pop(0) if left[value] else -1 for value in given.tolist()]
    assert match_rows(known, given).tolist() == expected
