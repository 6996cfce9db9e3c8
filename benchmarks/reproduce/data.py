"""The paper's data sets, missing values replaced, in splits of its sizes."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from benchmarks.data import Folder, TrainTestSplit, random_rows, take_rows
from benchmarks.experiments import Workspace
from benchmarks.reproduce.paper import PaperSet, paper_sets
from sketchforest.datasets import Dataset


def paper_workspace(data_home: Folder | None = None, n_jobs: int = 1) -> Workspace:
    """Make a workspace whose data sets are prepared as in the paper."""
    return Workspace(data_home, n_jobs, prepare=without_missing)


def find_set(dataset: str) -> PaperSet:
    for paper_set in paper_sets():
        if dataset in (paper_set.dataset, paper_set.name):
            return paper_set
    names = ", ".join(paper_set.dataset for paper_set in paper_sets())
    raise ValueError(f"datasets must be among those of the paper ({names}); got {dataset!r}.")


def paper_split(workspace: Workspace, name: str, split: int | None, seed: int) -> TrainTestSplit:
    """Draw a random split of the paper's sizes; with None, take the data set's own split."""
    data = workspace.dataset(name)
    if split is None and data.splits:
        return take_rows(data, data.splits["train"], data.splits["test"])
    return take_rows(data, *rows_of_split(data, find_set(name), seed, split or 0))


def rows_of_split(
    data: Dataset, sizes: PaperSet, seed: int, split: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw training and test rows; every forest gets the same split."""
    n_samples, n_needed = data.X.shape[0], sizes.n_train + sizes.n_test
    if n_samples < n_needed:
        raise ValueError(
            f"data set {sizes.dataset!r} must have at least {n_needed:,} rows, {sizes.n_train:,} "
            f"for training and {sizes.n_test:,} for testing; got {n_samples:,}. Use the file that "
            "the catalogue describes."
        )
    return random_rows(n_samples, sizes.n_train, [seed, split], sizes.n_test)


def without_missing(data: Dataset) -> Dataset:
    """Replace missing values as in the paper, by statistics of all rows.

    That is the median of a feature, or the most frequent value of a nominal one.
    """
    if not np.isnan(data.X.data).any():
        return data
    X = data.X.tocsc(copy=True)
    for column in range(X.shape[1]):
        _replace_missing(X.data[X.indptr[column] : X.indptr[column + 1]], X.shape[0])
    return replace(data, X=_with_frequent_values(X, data.feature_names).tocsr())


def _replace_missing(values: np.ndarray, n_rows: int) -> None:
    """Replace NaN in the stored values of one column; its other rows are 0."""
    is_missing = np.isnan(values)
    if not is_missing.any():
        return
    known = values[~is_missing]
    if np.isin(known, (0, 1)).all():  # nominal with two values
        fill = float(2 * known.sum() > n_rows - is_missing.sum())
    else:
        fill = float(np.median(np.r_[known, np.zeros(n_rows - len(values))]))
    values[is_missing] = fill


def _with_frequent_values(
    X: sparse.csc_array, feature_names: np.ndarray | None
) -> sparse.csc_array:
    """Fill one-hot features ("name=value") that are zero in all columns: they were missing."""
    groups: dict[str, list[int]] = {}
    for column, name in enumerate([] if feature_names is None else feature_names):
        feature, has_value, _ = str(name).partition("=")
        if has_value:
            groups.setdefault(feature, []).append(column)
    for columns in groups.values():
        counts = X[:, columns].sum(axis=0)
        empty = np.flatnonzero(X[:, columns].sum(axis=1) == 0)
        frequent = np.full(len(empty), columns[int(np.argmax(counts))])
        X = X + sparse.csc_array((np.ones(len(empty), X.dtype), (empty, frequent)), shape=X.shape)
    return X
