"""Helpers shared by the writers of text formats."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import FLOAT32_MAX
from sketchforest.datasets.dataset import Dataset


def pair_lines(dataset: Dataset) -> Iterator[str]:
    """Lines ``1,5,7 3:0.5 8:1``."""
    for (start, end), pairs in zip(_bounds(dataset.Y), pair_text(dataset.X), strict=True):
        yield f"{','.join(map(str, dataset.Y.indices[start:end].tolist()))} {pairs}"


def check_pairs(dataset: Dataset, format: str) -> None:
    """Refuse values that index:value text cannot hold."""
    if np.isnan(dataset.X.data).any():
        raise ValueError(
            f"X has missing values, which {format} files cannot hold. Write 'npz' or 'meka'."
        )
    check_finite(dataset, FLOAT32_MAX)


def check_finite(dataset: Dataset, largest: float = np.inf) -> None:
    """Refuse infinity and values beyond the largest that the format can hold; NaN may pass."""
    is_beyond = np.isinf(dataset.X.data) | (np.abs(dataset.X.data) > largest)
    if is_beyond.any():
        at = int(np.argmax(is_beyond))
        row = int(np.searchsorted(dataset.X.indptr, at, side="right")) - 1
        rule = "finite" if largest == np.inf else "finite 32-bit"
        raise ValueError(
            f"X must hold {rule} numbers to be written; got {dataset.X.data[at]:g} in row {row} "
            f"and column {dataset.X.indices[at]}. Replace it with NaN (missing) or a smaller "
            "number."
        )


def pair_text(X: sparse.csr_array, between: str = ":", after: str = " ") -> Iterator[str]:
    """The non-zeros of each row as ``3:0.5 8:1``, which read back as the same numbers."""
    for start, end in _bounds(X):
        columns = X.indices[start:end].tolist()
        values = number_texts(X.data[start:end], "?")
        yield after.join(
            f"{column}{between}{value}" for column, value in zip(columns, values, strict=True)
        )


def column_names(names: np.ndarray | None, count: int, prefix: str = "") -> list[str]:
    """The names, or a prefix with numbers from 0."""
    return [f"{prefix}{at}" for at in range(count)] if names is None else names.tolist()


def number_texts(values: np.ndarray, missing: str) -> list[str]:
    """The shortest texts that read back as the same numbers in the same dtype."""
    texts = values.astype(np.str_).tolist()
    return [missing if text == "nan" else text.removesuffix(".0") for text in texts]


def _bounds(matrix: sparse.csr_array) -> Iterator[tuple[int, int]]:
    if not matrix.has_canonical_format:
        raise ValueError(
            "X and Y must have sorted indices without duplicates to be written. Call "
            "sum_duplicates() on each."
        )
    return pairwise(matrix.indptr.tolist())
