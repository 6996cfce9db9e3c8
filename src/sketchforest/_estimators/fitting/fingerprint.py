"""Rows known again: whether a warm start is given those that the first trees were grown on."""

import hashlib
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from sketchforest._trees.encoding import canonical, is_worth_sparse
from sketchforest._typing import Matrix

BLOCK_ROWS = 1024


def fingerprint(X: Matrix, sample_weight: np.ndarray | None) -> str:
    """Of the rows and their weights, the same for any storage, memory order and type of X. It is
    kept with the trees, whose leaves hold numbers of rows; nothing secret rests on it."""
    found = hashlib.sha1(usedforsecurity=False)
    found.update(repr(X.shape).encode())
    for values in _parts(X):
        # Adding zero makes a copy in doubles, by row, and of minus zero a zero.
        found.update(np.add(values, 0.0, dtype=np.float64, order="C").data)
    if sample_weight is not None:
        found.update(np.ascontiguousarray(sample_weight).data)
    return found.hexdigest()


def _parts(X: Matrix) -> Iterator[np.ndarray]:
    """What is stored of X is decided by its share of zeros, as where it is encoded."""
    if is_worth_sparse(X):
        rows = sparse.csr_array(X) if isinstance(X, np.ndarray) else canonical(X.tocsr())
        for values in (rows.indptr, rows.indices, rows.data):
            for first in range(0, len(values), BLOCK_ROWS**2):
                yield values[first : first + BLOCK_ROWS**2]
        return
    rows = X if isinstance(X, np.ndarray) else X.tocsr()
    for first in range(0, X.shape[0], BLOCK_ROWS):
        block = rows[first : first + BLOCK_ROWS]
        yield block if isinstance(block, np.ndarray) else block.toarray()
