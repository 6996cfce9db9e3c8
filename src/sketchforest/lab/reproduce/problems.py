"""The paper's problems: its data sets, missing values replaced, in splits of its sizes."""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest import datasets
from sketchforest.datasets import Dataset, load
from sketchforest.lab.data import Problem
from sketchforest.lab.reproduce.paper import PaperSet, paper_sets


@dataclass
class Workspace:
    """What cells need to run. Only the data set used last is kept in memory."""

    data_home: str | os.PathLike[str] | None = None
    n_jobs: int = 1
    _name: str = ""
    _data: Dataset | None = None

    def dataset(self, name: str, *, synthetic: bool = False) -> Dataset:
        key = f"{name} (generated)" if synthetic else name
        if self._data is None or self._name != key:
            self._data = make_stand_in(name) if synthetic else without_missing(self._load(name))
            self._name = key
        return self._data

    def problem(self, name: str, split: int | None, seed: int, synthetic: bool = False) -> Problem:
        """A random split of the paper's sizes; with None, the one that the data set came with."""
        data = self.dataset(name, synthetic=synthetic)
        if split is None and data.splits:
            train, test = data.splits["train"], data.splits["test"]
        else:
            train, test = random_split(data, find_set(name), seed, split or 0)
        return Problem(data.X[train], data.Y[train], data.X[test], data.Y[test])

    def _load(self, name: str) -> Dataset:
        return load(name, self.data_home)


def find_set(dataset: str) -> PaperSet:
    for paper_set in paper_sets():
        if dataset in (paper_set.dataset, paper_set.name):
            return paper_set
    names = ", ".join(paper_set.dataset for paper_set in paper_sets())
    raise ValueError(f"datasets must be among those of the paper ({names}); got {dataset!r}.")


def random_split(
    data: Dataset, sizes: PaperSet, seed: int, split: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit and rows to predict, of all rows shuffled; every forest gets the same ones."""
    n_samples, n_needed = data.X.shape[0], sizes.n_train + sizes.n_test
    if n_samples < n_needed:
        raise ValueError(
            f"data set {sizes.dataset!r} must have at least {n_needed:,} rows, {sizes.n_train:,} "
            f"to fit and {sizes.n_test:,} to predict; got {n_samples:,}. Use the file that the "
            "catalogue describes."
        )
    rows = np.random.default_rng([seed, split]).permutation(n_samples)
    return np.sort(rows[: sizes.n_train]), np.sort(rows[sizes.n_train : n_needed])


def make_stand_in(name: str) -> Dataset:
    """Generated data of the same sizes as a set that is not here."""
    return datasets.make_like(name, random_state=0)


def without_missing(data: Dataset) -> Dataset:
    """The same data with the paper's replacements, taken from all rows: the median of a feature,
    or the most frequent value of a nominal one."""
    if not np.isnan(data.X.data).any():
        return data
    X = data.X.tocsc(copy=True)
    for column in range(X.shape[1]):
        _replace_missing(X.data[X.indptr[column] : X.indptr[column + 1]], X.shape[0])
    return replace(data, X=_with_frequent_values(X, data.feature_names).tocsr())


def _replace_missing(values: np.ndarray, n_rows: int) -> None:
    """In the stored values of one column; the rest of its rows are 0."""
    is_missing = np.isnan(values)
    if not is_missing.any():
        return
    known = values[~is_missing]
    if np.isin(known, (0, 1)).all():  # nominal with two values
        fill = float(2 * known.sum() > n_rows - is_missing.sum())
    else:
        fill = float(np.median(np.r_[known, np.zeros(n_rows - len(values))]))
    values[is_missing] = fill


def _with_frequent_values(X: Any, feature_names: np.ndarray | None) -> Any:
    """A one-hot feature whose columns ("name=value") are all zero in a row was missing there."""
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
