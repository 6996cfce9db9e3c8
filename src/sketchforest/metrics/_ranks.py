"""Ranks, top labels and hits for dense and sparse scores, block by block."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._utils.typing import Matrix

Array: TypeAlias = np.ndarray

# Scores per block: enough to hide NumPy's overhead, few enough to stay in cache.
BLOCK_SIZE = 2**18


def true_ranks(Y: sparse.csr_array, S: Matrix) -> Array:
    """(2, n_true): for each true label, how many labels and true labels score at least as high.

    As integers they are exactly the same for dense and sparse scores.
    """
    blocks = row_blocks(S, extra=np.diff(Y.indptr))
    return np.concatenate([_block_ranks(Y[rows], S_block) for rows, S_block in blocks], axis=1)


def _block_ranks(Y: sparse.csr_array, S: Matrix) -> Array:
    true = (Y.indptr.astype(np.int64), Y.indices.astype(np.int64))
    if isinstance(S, np.ndarray):
        return np.stack(_core.ranks_dense(*true, np.ascontiguousarray(S)))
    places = (S.indices.astype(np.int64), S.indptr.astype(np.int64))
    return np.stack(_core.ranks_sparse(*true, S.data, *places, S.shape[1]))


def block_top_k(S: Matrix, k: int) -> tuple[Array, Array]:
    rows, labels, scores = (
        _candidates(S, k) if isinstance(S, np.ndarray) else _sparse_candidates(S, k)
    )
    # Complex numbers sort by real part, then imaginary part, and faster than two keys. Tied
    # candidates are in label order, which a stable sort keeps.
    order = np.argsort(rows - 1j * scores, kind="stable")
    n_candidates = np.bincount(rows, minlength=S.shape[0])
    row_starts = np.cumsum(n_candidates) - n_candidates
    best = order[row_starts[:, None] + np.arange(k)]
    return labels[best], scores[best]


def _candidates(S: Array, k: int) -> tuple[Array, Array, Array]:
    """Row, label and score of all entries that reach the k-th best score of their row."""
    # A partition is several times slower than a sort if most scores are tied.
    kth_best = np.sort(S, axis=1)[:, -k]
    rows, labels = np.nonzero(kth_best[:, None] <= S)
    return rows, labels, S[rows, labels]


def _sparse_candidates(S: sparse.csr_array, k: int) -> tuple[Array, Array, Array]:
    """Row, label and score of all stored entries and of the k lowest absent labels per row."""
    n_rows, n_labels = S.shape
    stored_rows = entry_rows(S.indptr)
    # Below the m-th stored label c, c - m labels are absent; so the j-th absent label is j plus
    # the number of stored labels with c - m <= j.
    n_absent_below = S.indices - (np.arange(S.nnz) - S.indptr[stored_rows])
    rows, j = np.repeat(np.arange(n_rows), k), np.tile(np.arange(k), n_rows)
    passed = np.searchsorted(stored_rows * n_labels + n_absent_below, rows * n_labels + j, "right")
    labels = j + passed - S.indptr[rows]
    exists = labels < n_labels
    return (
        np.concatenate([stored_rows, rows[exists]]),
        np.concatenate([S.indices, labels[exists]]),
        np.concatenate([S.data, np.zeros(exists.sum())]),
    )


def find_hits(Y: sparse.csr_array, labels: Array) -> Array:
    """(n_samples, k): whether each of the labels is true."""
    true = entry_rows(Y.indptr) * Y.shape[1] + Y.indices
    wanted = np.arange(len(labels))[:, None] * Y.shape[1] + labels
    return np.append(true, -1)[np.searchsorted(true, wanted)] == wanted


def entry_rows(indptr: Array) -> Array:
    """The row of each stored entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def row_sums(Y: sparse.csr_array, values: Array) -> Array:
    """(n_samples,) sums over the true labels of each row."""
    return np.bincount(entry_rows(Y.indptr), weights=values, minlength=Y.shape[0])


def row_blocks(S: Matrix, extra: Array | int) -> Iterator[tuple[slice, Matrix]]:
    """Blocks of rows of about BLOCK_SIZE entries, counting `extra` per row, and their scores."""
    n_rows, n_labels = S.shape
    full = np.full(n_rows, n_labels)
    n_stored = full if isinstance(S, np.ndarray) else np.diff(S.indptr)
    size = np.cumsum(n_stored + extra + 1, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(size // BLOCK_SIZE)) + 1
    for first, end in zip([0, *cuts], [*cuts, n_rows], strict=True):
        rows = slice(first, end)
        yield rows, S[rows].astype(np.float64, copy=False)
