"""Studies over data sets: splits, forests scored on test rows, and cells that are kept."""

import csv
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from sketchforest.datasets import Dataset, list_datasets, load
from sketchforest.lab.data import DENSE_SHARE, Problem
from sketchforest.lab.progress import RunProgress
from sketchforest.metrics import lrap

TRAIN_SHARE = 2 / 3
# Constants of the search were set on splits with small seeds: studies take others.
FIRST_SEED = 1000


@dataclass(frozen=True)
class Cell:
    """One measurement: where, and what is measured on a random split."""

    dataset: str
    split: int
    method: str
    measure: Callable[[Problem], Mapping[str, Any]]

    @property
    def key(self) -> tuple[str, str, str]:
        return self.dataset, str(self.split), self.method


class CellFile:
    """A CSV file that gets each cell as soon as it is known; a later run goes on from it."""

    def __init__(self, path: Path):
        self._path = path
        self.rows: list[dict[str, Any]] = []
        if path.exists():
            with path.open(newline="") as file:
                self.rows = [dict(row) for row in csv.DictReader(file)]

    def __contains__(self, cell: Cell) -> bool:
        return any((r["dataset"], r["split"], r["method"]) == cell.key for r in self.rows)

    def append(self, row: Mapping[str, Any]) -> None:
        is_new = not self._path.exists()
        with self._path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if is_new:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append({name: str(value) for name, value in row.items()})

    def table(self, value: str) -> dict[tuple[str, str], list[float]]:
        """The values of each (dataset, method), over the splits."""
        table: dict[tuple[str, str], list[float]] = {}
        for row in self.rows:
            if row.get(value):
                table.setdefault((row["dataset"], row["method"]), []).append(float(row[value]))
        return table


def run_cells(
    cells: Iterable[Cell], file: CellFile, data_home: str | None, console: Console
) -> bool:
    """Measures the cells that the file has not; False if Ctrl-C ended it."""
    todo = [cell for cell in cells if cell not in file]
    data: Dataset | None = None
    try:
        with RunProgress([(cell.dataset, cell.method) for cell in todo], console) as progress:
            for cell in todo:
                progress.start(f"{cell.dataset} {cell.method}")
                if data is None or data.name != cell.dataset:
                    data = load(cell.dataset, data_home)
                measured = cell.measure(random_split(data, FIRST_SEED + cell.split))
                names = {"dataset": cell.dataset, "split": cell.split, "method": cell.method}
                file.append({**names, **measured})
                progress.finish()
    except KeyboardInterrupt:
        console.print("Interrupted; the cells before are kept, and the next run goes on.")
        return False
    return True


def random_split(data: Dataset, seed: int) -> Problem:
    """A random split of the sizes of the source's, or of 2/3 and 1/3; dense X as arrays."""
    n_samples, n_features = data.X.shape
    n_train = len(data.splits["train"]) if data.splits else round(TRAIN_SHARE * n_samples)
    rows = np.random.default_rng(seed).permutation(n_samples)
    train, test = np.sort(rows[:n_train]), np.sort(rows[n_train:])
    X: Any = data.X
    if X.nnz > DENSE_SHARE * n_samples * n_features:
        X = X.toarray()
    return Problem(X[train], data.Y[train], X[test], data.Y[test])


def fit_and_score(forest: Any, problem: Problem) -> dict[str, float]:
    """LRAP on the test rows, and the seconds of the fit."""
    started = time.perf_counter()
    forest.fit(problem.X_train, problem.Y_train)
    seconds = time.perf_counter() - started
    return {"lrap": lrap_on_test(forest, problem), "seconds": seconds}


def lrap_on_test(forest: Any, problem: Problem) -> float:
    return lrap(problem.Y_test, forest.predict_proba(problem.X_test))


def chosen_datasets(names: Sequence[str], data_home: str | None) -> list[str]:
    """The names, or all that are here; small ones first, so that a table begins soon."""
    found = list_datasets(data_home)
    unknown = [name for name in names if name not in found]
    if unknown or not found:
        raise ValueError(
            f"datasets must be among {', '.join(found) or 'none that are here'}; got "
            f"{', '.join(unknown) or 'none'}. Use --data-home or SKETCHFOREST_DATA."
        )
    return list(names) or found


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, the first column to the left and the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
