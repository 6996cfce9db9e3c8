"""Methods compared on random splits of many data sets: what the studies share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from benchmarks.data import TrainTestSplit, check_datasets, random_split
from benchmarks.experiments import Experiment, Workspace, run_experiments
from benchmarks.measure import timed
from benchmarks.store import ResultStore
from sketchforest.datasets import list_datasets, load
from sketchforest.metrics import lrap

# The constants of the search were chosen on splits with small seeds: studies use others.
FIRST_SEED = 1000

Measure = Callable[[TrainTestSplit], Any]


@dataclass(frozen=True)
class FitResult:
    """LRAP on the test rows, and the seconds of the fit."""

    lrap: float
    seconds: float


@dataclass(frozen=True)
class MethodExperiment:
    """A method on a random split of a data set; `measure` does the work."""

    dataset: str
    split: int
    method: str
    table: str = field(compare=False)
    result_type: type = field(compare=False)
    measure: Measure = field(compare=False)

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        return self.method

    def run(self, workspace: Workspace) -> Any:
        data = workspace.dataset(self.dataset)
        return self.measure(random_split(data, FIRST_SEED + self.split))


@dataclass(frozen=True)
class Study:
    """The options of a study: what to run it on, and where to keep its results."""

    datasets: Sequence[str]  # all that are available if empty
    out: Path
    n_splits: int = 3
    n_estimators: int = 100
    n_jobs: int = 2
    data_home: str | None = None
    console: Console = field(default_factory=Console)

    @property
    def forest_params(self) -> dict[str, Any]:
        return {"n_estimators": self.n_estimators, "n_jobs": self.n_jobs}

    def run(
        self,
        name: str,
        result_type: type,
        methods: Callable[[str, int], Mapping[str, Measure]],
        make_page: Callable[[pd.DataFrame], str],
        first: Sequence[Experiment] = (),
    ) -> bool:
        """Measure what is missing, then write and print the page; return whether all is there.

        `methods` gives the methods of a data set and a split; `first` are other experiments.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        store, table = ResultStore(self.out), f"{name}-{self.n_estimators}-trees"
        datasets = check_datasets(list(self.datasets), list_datasets(self.data_home))
        experiments = [
            MethodExperiment(dataset, split, method, table, result_type, measure)
            for dataset in datasets
            for split in range(self.n_splits)
            for method, measure in methods(dataset, split).items()
        ]
        workspace = Workspace(self.data_home, self.n_jobs)
        is_complete = run_experiments([*first, *experiments], store, workspace, self.console)
        page = make_page(store.frame(table))
        (self.out / f"{name}.md").write_text(page, encoding="utf-8")
        self.console.print(page, markup=False, soft_wrap=True)
        return is_complete


@cache
def n_labels(dataset: str, data_home: str | None) -> int:
    return load(dataset, data_home).Y.shape[1]


def fit_and_score(forest: Any, data: TrainTestSplit) -> FitResult:
    seconds, _ = timed(partial(forest.fit, data.X_train, data.Y_train))
    return FitResult(lrap_on_test(forest, data), seconds)


def lrap_on_test(forest: Any, data: TrainTestSplit) -> float:
    return lrap(data.Y_test, forest.predict_proba(data.X_test))


def by_method(results: pd.DataFrame, column: str) -> pd.DataFrame:
    """Pivot a column of results: rows are (dataset, split), columns are methods."""
    found = results.pivot(index=["dataset", "split"], columns="method", values=column)
    return found.dropna(how="all")


def sd(values: pd.DataFrame) -> pd.DataFrame:
    """Compute the standard deviation over the splits of each data set, 0 for a single split."""
    return values.groupby("dataset").std().fillna(0.0)


def differences(values: pd.DataFrame, ours: str, other: str) -> pd.DataFrame:
    """Compare two methods on the splits that both have: mean, std and count for each data set."""
    if not {ours, other} <= {*values}:
        values = values.iloc[:0].reindex(columns=[ours, other])
    found = (values[ours] - values[other]).dropna()
    return found.groupby("dataset").agg(["mean", "std", "count"])


def split_counts(counts: Iterable[int]) -> str:
    """Say how many splits there are: "3" or "3 to 10"."""
    known = {*counts} or {0}
    return " to ".join(str(count) for count in sorted({min(known), max(known)}))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table with the first column aligned to the left and the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
