"""What the writers of text share."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from sketchforest.datasets.dataset import Dataset


def refuse_missing(dataset: Dataset, format: str) -> None:
    """Refuses what index:value text cannot hold."""
    if np.isnan(dataset.X.data).any():
        raise ValueError(
            f"X has missing values, which {format} files cannot hold; write 'npz' or 'meka'."
        )


def refuse_infinity(dataset: Dataset, largest: float = np.inf) -> None:
    """Refuses what readers refuse: numbers beyond the largest that a format holds."""
    # NaN is not compared: whether a format holds it is another question.
    is_beyond = np.isinf(dataset.X.data) | (np.abs(dataset.X.data) > largest)
    if is_beyond.any():
        at = int(np.argmax(is_beyond))
        row = int(np.searchsorted(dataset.X.indptr, at, side="right")) - 1
        rule = "finite numbers" if largest == np.inf else "numbers that 32 bits can hold"
        raise ValueError(
            f"X must hold {rule} to be written; got {dataset.X.data[at]:g} in row {row} and column "
            f"{dataset.X.indices[at]}. Replace it by NaN, which means missing, or by a smaller "
            "number."
        )


def label_lists(Y: sparse.csr_array) -> Iterator[str]:
    """For each row its labels as ``1,5,7``."""
    for start, end in _bounds(Y):
        yield ",".join(map(str, Y.indices[start:end].tolist()))


def pair_text(X: sparse.csr_array, between: str = ":", after: str = " ") -> Iterator[str]:
    """For each row its non-zeros as ``3:0.5 8:1``; read back, the values are the same numbers."""
    for start, end in _bounds(X):
        columns = X.indices[start:end].tolist()
        values = number_texts(X.data[start:end], "?")
        yield after.join(
            f"{column}{between}{value}" for column, value in zip(columns, values, strict=True)
        )


def column_names(names: np.ndarray | None, count: int, what: str = "") -> list[str]:
    """The names, or numbers from 0 behind a word."""
    return [f"{what}{at}" for at in range(count)] if names is None else names.tolist()


def number_texts(values: np.ndarray, missing: str) -> list[str]:
    """The shortest texts that give the same numbers back in the same type, as NumPy has them."""
    texts = values.astype(np.str_).tolist()
    return [missing if text == "nan" else text.removesuffix(".0") for text in texts]


def _bounds(matrix: sparse.csr_array) -> Iterator[tuple[int, int]]:
    if not matrix.has_canonical_format:
        raise ValueError("X and Y must have sorted indices without duplicates to be written.")
    return pairwise(matrix.indptr.tolist())
