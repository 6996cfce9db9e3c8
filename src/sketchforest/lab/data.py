"""The problems of the benchmark: a data set, split into rows to fit and rows to predict."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sketchforest.datasets import Dataset, list_datasets, load, make_delicious_like

GENERATED = "generated"
DENSE_SHARE = 0.5  # of non-zeros, above which X is better off as a dense array
_PREFERRED = ("delicious", "bibtex", "mediamill")
_TRAIN_SHARE = 2 / 3
_QUICK_ROWS = {"train": 2000, "test": 500}

_Folder = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Problem:
    """X and Y as CSR, to fit and to predict."""

    X_train: Any
    Y_train: Any
    X_test: Any
    Y_test: Any

    @property
    def is_dense(self) -> bool:
        n_cells = self.X_train.shape[0] * self.X_train.shape[1]
        return self.X_train.nnz > DENSE_SHARE * n_cells

    def first_rows(self, n_train: int) -> "Problem":
        """The same problem with no more than ``n_train`` rows to fit."""
        return Problem(self.X_train[:n_train], self.Y_train[:n_train], self.X_test, self.Y_test)


def choose_datasets(names: list[str] | None, data_home: _Folder | None = None) -> list[str]:
    """The names asked for, "all" spelt out; without any, those of the README's table."""
    found = list_datasets(data_home)
    if not names:
        return [name for name in _PREFERRED if name in found] or [GENERATED]
    if names == ["all"]:
        return [*found, GENERATED]
    unknown = [name for name in names if name not in (*found, GENERATED)]
    if unknown:
        raise ValueError(
            f"datasets must be among {', '.join((*found, GENERATED))}; got {', '.join(unknown)}. "
            "Use --data-home or SKETCHFOREST_DATA to name a folder of data sets."
        )
    return names


def load_problem(name: str, data_home: _Folder | None = None, *, quick: bool = False) -> Problem:
    """The data set ``name`` in its given split, or in a seeded one of 2/3 and 1/3."""
    if name == GENERATED:
        sizes = {"n_samples": sum(_QUICK_ROWS.values())} if quick else {}
        return split_problem(make_delicious_like(**sizes))
    return split_problem(load(name, data_home), quick=quick)


def split_problem(data: Dataset, *, quick: bool = False) -> Problem:
    rows = data.splits or _random_split(data.X.shape[0])
    if quick:
        rows = {part: _some(rows[part], limit) for part, limit in _QUICK_ROWS.items()}
    train, test = rows["train"], rows["test"]
    return Problem(data.X[train], data.Y[train], data.X[test], data.Y[test])


def _random_split(n_samples: int) -> dict[str, npt.NDArray[Any]]:
    rows = np.random.default_rng(0).permutation(n_samples)
    train, test = np.split(rows, [round(_TRAIN_SHARE * n_samples)])
    return {"train": train, "test": test}


def _some(rows: npt.NDArray[Any], limit: int) -> npt.NDArray[Any]:
    # Not the first ones: some files are sorted by label.
    return np.sort(np.random.default_rng(0).permutation(rows)[:limit])
