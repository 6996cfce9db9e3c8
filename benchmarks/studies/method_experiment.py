"""Methods compared on random splits of many data sets: what the studies have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Generic

import numpy as np
from rich.console import Console

from benchmarks.data import (
    TRAIN_SHARE,
    TrainTestSplit,
    as_array,
    better_dense,
    random_rows,
    take_rows,
)
from benchmarks.experiments import Workspace, run_experiments
from benchmarks.measure import timed
from benchmarks.store import R, ResultStore
from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.datasets import Dataset, list_datasets
from sketchforest.metrics import lrap

# Constants of the search were set on splits with small seeds: studies take others.
FIRST_SEED = 1000

Forest = RandomForestClassifier | ExtraTreesClassifier
Table = dict[tuple[str, str], list[float]]  # (data set, method) -> a value for each split


@dataclass(frozen=True)
class FitResult:
    """LRAP on the test rows, and the seconds of the fit."""

    lrap: float
    seconds: float


@dataclass(frozen=True)
class MethodExperiment(Generic[R]):
    """A method on a random split of a data set; ``measure`` does the work."""

    dataset: str
    split: int
    method: str
    table: str = field(compare=False)
    result_type: type[R] = field(compare=False)
    measure: Callable[[TrainTestSplit], R] = field(compare=False)

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        return self.method

    def run(self, workspace: Workspace) -> R:
        data = workspace.dataset(self.dataset)
        return self.measure(random_split(data, FIRST_SEED + self.split))


@dataclass(frozen=True)
class Study:
    """Experiments with the same table of results, and the page that is made of it."""

    name: str  # of the page, and the beginning of the table's
    out: Path
    n_estimators: int
    make_page: Callable[[Sequence[Mapping[str, str]]], str]

    @property
    def table(self) -> str:
        return f"{self.name}-{self.n_estimators}-trees"

    def run(
        self,
        experiments: Sequence[MethodExperiment[R]],
        workspace: Workspace,
        console: Console | None,
    ) -> bool:
        """Measures what is not there yet, and writes and prints the page; whether all is there."""
        console = console or Console()
        self.out.mkdir(parents=True, exist_ok=True)
        store = ResultStore(self.out)
        is_complete = run_experiments(experiments, store, workspace, console)
        page = self.make_page(store.rows(self.table))
        (self.out / f"{self.name}.md").write_text(page)
        console.print(page, markup=False, soft_wrap=True)
        return is_complete


def random_split(data: Dataset, seed: int) -> TrainTestSplit:
    """A random split of the sizes of the source's, or of 2/3 and 1/3; dense X as arrays."""
    n_samples = data.X.shape[0]
    n_train = len(data.splits["train"]) if data.splits else round(TRAIN_SHARE * n_samples)
    split = take_rows(data, *random_rows(n_samples, n_train, seed))
    if not better_dense(data.X):
        return split
    X_train, X_test = as_array(split.X_train), as_array(split.X_test)
    return TrainTestSplit(X_train, split.Y_train, X_test, split.Y_test)


def fit_and_score(forest: Forest, data: TrainTestSplit) -> FitResult:
    seconds, _ = timed(partial(forest.fit, data.X_train, data.Y_train))
    return FitResult(lrap_on_test(forest, data), seconds)


def lrap_on_test(forest: Forest, data: TrainTestSplit) -> float:
    return lrap(data.Y_test, forest.predict_proba(data.X_test))


def find_datasets(names: Sequence[str], data_home: str | None) -> list[str]:
    """The names, or all that are here."""
    found = list_datasets(data_home)
    unknown = [name for name in names if name not in found]
    if unknown or not found:
        raise ValueError(
            f"datasets must be among {', '.join(found) or 'none that are here'}; got "
            f"{', '.join(unknown) or 'none'}. Use --data-home or SKETCHFOREST_DATA."
        )
    return list(names) or found


def values_by_method(rows: Iterable[Mapping[str, str]], column: str) -> Table:
    """The values of a column for each (data set, method), in the order of the splits."""
    table: Table = {}
    for row in sorted(rows, key=lambda row: int(row["split"])):
        if row.get(column):
            table.setdefault((row["dataset"], row["method"]), []).append(float(row[column]))
    return table


def mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def differences(scores: Table, ours: str, other: str) -> dict[str, list[float]]:
    """Of each set that both methods have: ours less the other's, on the splits that both have."""
    return {
        name: [a - b for a, b in zip(scores[name, ours], scores[name, other], strict=False)]
        for name, method in scores
        if method == ours and (name, other) in scores
    }


def better_and_worse(found: Iterable[Sequence[float]]) -> tuple[int, int]:
    """On how many sets the differences are above, and below, zero by more than one sd of theirs;
    a single difference has no sd, and is not counted."""
    means = [mean_and_sd(values) for values in found if len(values) > 1]
    return sum(mean > sd for mean, sd in means), sum(mean < -sd for mean, sd in means)


def split_counts(counts: Iterable[int]) -> str:
    """How many splits sets have, as it stands before "splits": "3", or "3 to 10"."""
    known = {*counts} or {0}
    return " to ".join(str(count) for count in sorted({min(known), max(known)}))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left and the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
