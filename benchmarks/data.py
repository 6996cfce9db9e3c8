"""A data set, split into rows to fit and rows to predict."""

import os
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sketchforest._typing import Matrix
from sketchforest.datasets import Dataset

Folder = str | os.PathLike[str]

TRAIN_SHARE = 2 / 3
_DENSE_SHARE = 0.5  # of non-zeros, above which X is better off as a dense array


@dataclass(frozen=True, eq=False)
class TrainTestSplit:
    """X and Y, to fit and to predict."""

    X_train: Matrix
    Y_train: sparse.csr_array
    X_test: Matrix
    Y_test: sparse.csr_array


def take_rows(data: Dataset, train: np.ndarray, test: np.ndarray) -> TrainTestSplit:
    """The rows of a data set with these numbers, as CSR."""
    return TrainTestSplit(data.X[train], data.Y[train], data.X[test], data.Y[test])


def random_rows(
    n_samples: int, n_train: int, seed: int | list[int], n_test: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of rows to fit and of rows to predict, sorted; without ``n_test``, of all."""
    rows = np.random.default_rng(seed).permutation(n_samples)
    end = n_samples if n_test is None else n_train + n_test
    return np.sort(rows[:n_train]), np.sort(rows[n_train:end])


def as_array(X: Matrix) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.toarray()


def better_dense(X: sparse.csr_array) -> bool:
    """Whether most values are stored, so that an array takes less."""
    return X.nnz > _DENSE_SHARE * X.shape[0] * X.shape[1]
