"""What the writers of text share."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from sketchforest.datasets.dataset import Dataset


def as_numbers(dataset: Dataset, format: str) -> None:
    """Refuses what index:value text cannot hold."""
    if np.isnan(dataset.X.data).any():
        raise ValueError(
            f"X has missing values, which {format} files cannot hold; write 'npz' or 'meka'."
        )


def label_lists(Y: sparse.csr_array) -> Iterator[str]:
    """For each row its labels as ``1,5,7``."""
    for start, end in _bounds(Y):
        yield ",".join(map(str, Y.indices[start:end].tolist()))


def pair_text(X: sparse.csr_array, between: str = ":", after: str = " ") -> Iterator[str]:
    """For each row its non-zeros as ``3:0.5 8:1``; read back, the values are the same numbers."""
    for start, end in _bounds(X):
        columns = X.indices[start:end].tolist()
        # NumPy writes the shortest text that gives the same number back in the same type.
        values = X.data[start:end].astype(np.str_).tolist()
        yield after.join(
            f"{column}{between}{'?' if value == 'nan' else value.removesuffix('.0')}"
            for column, value in zip(columns, values, strict=True)
        )


def _bounds(matrix: sparse.csr_array) -> Iterator[tuple[int, int]]:
    if not matrix.has_canonical_format:
        raise ValueError("X and Y must have sorted indices without duplicates to be written.")
    indptr = matrix.indptr.tolist()
    return pairwise(indptr)
