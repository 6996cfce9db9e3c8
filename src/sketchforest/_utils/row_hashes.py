"""Hashes of rows by their values, by which a model recognizes the rows it was trained on."""

import numpy as np
from scipy import sparse

from sketchforest._utils.typing import Matrix

BLOCK_CELLS = 1 << 18
_NAN = np.float32(np.nan).view(np.uint32)
# Odd constants with well mixed bits: those of SplitMix64.
_STEP, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def row_hashes(X: Matrix) -> np.ndarray:
    """(n_rows,) int64 hashes, which do not depend on the storage of X or on the other rows.

    Values are compared as float32, which survive a text file. Zeros add nothing.
    """
    keys = _keys(X.shape[1])
    if isinstance(X, np.ndarray):
        size = max(1, BLOCK_CELLS // max(1, X.shape[1]))
        found = np.empty(X.shape[0], np.uint64)
        for first in range(0, len(found), size):
            block = slice(first, first + size)
            found[block] = _mixed(X[block], keys).sum(axis=1, dtype=np.uint64)
        return found.view(np.int64)
    rows = sparse.csr_array(X)
    # Sums wrap around, so that differences of running sums are sums of rows.
    running = np.cumsum(_mixed(rows.data, keys[rows.indices]), dtype=np.uint64)
    return np.diff(np.append(np.uint64(0), running)[rows.indptr]).view(np.int64)


def match_rows(known: np.ndarray, given: np.ndarray) -> np.ndarray:
    """(n_given,) number of the known row of each given row by their hashes, or -1.

    Each known row matches once: of equal rows, the first given one matches the first known one.
    """
    hashes = np.concatenate([known, given])
    order = np.argsort(hashes, kind="stable")
    is_first = np.append(True, np.diff(hashes[order]) != 0)
    group = np.cumsum(is_first) - 1
    is_given = order >= len(known)
    n_known = np.bincount(group[~is_given], minlength=group[-1] + 1) if len(group) else group
    start = np.flatnonzero(is_first)
    # Known rows precede the given ones of their group.
    rank = np.arange(len(order)) - start[group] - n_known[group]
    is_matched = is_given & (rank < n_known[group])
    found = np.full(len(given), -1, np.int64)
    known_places = start[group[is_matched]] + rank[is_matched]
    found[order[is_matched] - len(known)] = order[known_places]
    return found


def _keys(n_columns: int) -> np.ndarray:
    """An odd number for each column."""
    mixed = np.arange(1, n_columns + 1, dtype=np.uint64) * _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    return (mixed ^ (mixed >> np.uint64(27))) | np.uint64(1)


def _mixed(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """A number for each value and its key; 0 for a zero."""
    with np.errstate(over="ignore"):
        narrow = np.add(values, 0, dtype=np.float32, casting="unsafe")  # minus zero becomes zero
    bits = narrow.view(np.uint32)
    bits[np.isnan(narrow)] = _NAN
    mixed = bits * _SECOND
    mixed ^= mixed >> np.uint64(32)
    mixed *= keys
    mixed ^= mixed >> np.uint64(29)
    return mixed
