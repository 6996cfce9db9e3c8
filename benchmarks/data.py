"""Data sets, split into training and test rows."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest.datasets import Dataset, list_datasets, load, make_delicious_like

Folder = str | os.PathLike[str]
Matrix = Any  # a NumPy array or a CSR array

TRAIN_SHARE = 2 / 3
GENERATED = "generated"
_PREFERRED = ("delicious", "bibtex", "mediamill")
_QUICK_ROWS = {"train": 2000, "test": 500}
_DENSE_SHARE = 0.5  # of non-zeros, above which a dense X takes less memory


@dataclass(frozen=True, eq=False)
class TrainTestSplit:
    X_train: Matrix
    Y_train: sparse.csr_array
    X_test: Matrix
    Y_test: sparse.csr_array


def take_rows(data: Dataset, train: np.ndarray, test: np.ndarray) -> TrainTestSplit:
    return TrainTestSplit(data.X[train], data.Y[train], data.X[test], data.Y[test])


def random_rows(
    n_samples: int, n_train: int, seed: int | list[int], n_test: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw sorted indices of training and test rows; by default, all rows are used."""
    rows = np.random.default_rng(seed).permutation(n_samples)
    end = n_samples if n_test is None else n_train + n_test
    return np.sort(rows[:n_train]), np.sort(rows[n_train:end])


def random_split(data: Dataset, seed: int) -> TrainTestSplit:
    """Draw a split with the sizes of the data set's own split, or 2/3 and 1/3.

    X is dense if that takes less memory.
    """
    n_samples = data.X.shape[0]
    n_train = len(data.splits["train"]) if data.splits else round(TRAIN_SHARE * n_samples)
    split = take_rows(data, *random_rows(n_samples, n_train, seed))
    if not better_dense(data.X):
        return split
    X_train, X_test = as_array(split.X_train), as_array(split.X_test)
    return TrainTestSplit(X_train, split.Y_train, X_test, split.Y_test)


def given_split(data: Dataset, *, quick: bool = False) -> TrainTestSplit:
    """Take the data set's own split, or a seeded one of 2/3 and 1/3."""
    rows = data.splits
    if not rows:
        order = np.random.default_rng(0).permutation(data.X.shape[0])
        n_train = round(TRAIN_SHARE * len(order))
        rows = {"train": order[:n_train], "test": order[n_train:]}
    if quick:
        # Not the first rows: some files are sorted by label.
        shuffled = {part: np.random.default_rng(0).permutation(rows[part]) for part in rows}
        rows = {part: np.sort(shuffled[part][:limit]) for part, limit in _QUICK_ROWS.items()}
    return take_rows(data, rows["train"], rows["test"])


def load_split(
    name: str, data_home: Folder | None = None, *, quick: bool = False
) -> TrainTestSplit:
    """Load a data set in its own split; "generated" is generated."""
    if name == GENERATED:
        n_samples = sum(_QUICK_ROWS.values())
        return given_split(make_delicious_like(n_samples) if quick else make_delicious_like())
    return given_split(load(name, data_home), quick=quick)


def choose_datasets(names: list[str] | None, data_home: Folder | None = None) -> list[str]:
    """Check names and replace "all"; without names, choose those of the README's table."""
    found = list_datasets(data_home)
    if not names:
        return [name for name in _PREFERRED if name in found] or [GENERATED]
    return [*found, GENERATED] if names == ["all"] else check_datasets(names, [*found, GENERATED])


def check_datasets(names: list[str], available: list[str]) -> list[str]:
    """Return the names, or everything that is available if there are none."""
    unknown = [name for name in names if name not in available]
    if unknown or not available:
        raise ValueError(
            f"datasets must be among {', '.join(available) or 'those available (none)'}; got "
            f"{', '.join(unknown) or 'none'}. Use --data-home or SKETCHFOREST_DATA to name a "
            "folder of data sets."
        )
    return names or available


def as_array(X: Matrix) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.toarray()


def better_dense(X: Matrix) -> bool:
    """Whether X takes less memory as a dense array."""
    return X.nnz > _DENSE_SHARE * X.shape[0] * X.shape[1]
