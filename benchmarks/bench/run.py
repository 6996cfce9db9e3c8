"""Compare the speed, memory and accuracy of methods."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import effective_n_jobs
from rich.console import Console

from benchmarks.bench.figure import benchmark_figure
from benchmarks.bench.methods import DEFAULT_METHODS, Method, find_method
from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.bench.results import as_run, summarize
from benchmarks.bench.table import benchmark_table
from benchmarks.data import choose_datasets
from benchmarks.experiments import with_progress
from benchmarks.machine import Machine, this_machine
from benchmarks.measure import physical_bytes
from benchmarks.store import append_row
from sketchforest._utils.pictures import save_figure

# The time of one fit of scikit-learn if the number of its trees is "auto".
SKLEARN_SECONDS, _QUICK_SKLEARN_SECONDS = 20.0, 2.0
_SKLEARN_MEMORY_SHARE = 0.4
_QUICK_TREES = 10


@dataclass(frozen=True)
class BenchSettings:
    """What to run; without names, the usual data sets and methods.

    `sklearn_trees` is "auto", "all" or a number.
    """

    datasets: list[str] | None = None
    methods: list[str] | None = None
    n_estimators: int = 100
    n_jobs: int = 2
    repeats: int = 3
    sklearn_trees: str = "auto"
    data_home: str | None = None
    quick: bool = False

    def checked(self) -> "BenchSettings":
        """Check values, fill in names and the number of threads, and shorten quick runs."""
        trees = self.sklearn_trees
        if trees not in ("auto", "all") and not (trees.isdecimal() and int(trees) > 0):
            raise ValueError(
                f"sklearn_trees must be 'auto', 'all' or a number of trees; got {trees!r}."
            )
        return replace(
            self,
            datasets=choose_datasets(self.datasets, self.data_home),
            methods=self.methods or list(DEFAULT_METHODS),
            n_estimators=min(self.n_estimators, _QUICK_TREES) if self.quick else self.n_estimators,
            n_jobs=effective_n_jobs(self.n_jobs),
            repeats=1 if self.quick else self.repeats,
        )


@dataclass(frozen=True)
class BenchResult:
    """Medians, whether all planned runs finished, and the failures."""

    summaries: pd.DataFrame
    machine: Machine
    settings: BenchSettings
    is_complete: bool = True
    failures: tuple[str, ...] = ()

    def as_json(self) -> str:
        settings = self.settings
        result = {
            "machine": asdict(self.machine),
            "n_estimators": settings.n_estimators,
            "n_jobs": settings.n_jobs,
            "repeats": settings.repeats,
            "is_complete": self.is_complete,
            "failures": self.failures,
            "medians": json.loads(self.summaries.to_json(orient="records")),
        }
        return json.dumps(result, indent=2)


def run_bench(
    settings: BenchSettings, out: str | os.PathLike[str], console: Console | None = None
) -> BenchResult:
    """Run, print a table for each data set, and write CSV files and a picture to `out`."""
    console = console or Console()
    settings = settings.checked()
    methods = _installed([find_method(name) for name in settings.methods or ()], console)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    machine = this_machine()
    (folder / "machine.json").write_text(json.dumps(asdict(machine), indent=2) + "\n")
    path = folder / "runs.csv"
    path.unlink(missing_ok=True)
    runs: list[dict[str, Any]] = []
    is_complete = True
    try:
        for run in _run_all(settings, methods):
            append_row(run, path)
            runs.append(run)
            if run["error"]:
                console.print(_failure(run), markup=False)
    except KeyboardInterrupt:
        is_complete = False
        console.print(f"Interrupted; the {len(runs)} finished runs are kept.")
    failures = tuple(_failure(run) for run in runs if run["error"])
    result = BenchResult(summarize(runs), machine, settings, is_complete, failures)
    if len(result.summaries):
        _report(result, folder, console)
    return result


def _installed(methods: list[Method], console: Console) -> list[Method]:
    for method in methods:
        if not method.is_installed:
            console.print(
                f"{method.name} is skipped, as {method.package} is not installed: "
                "pip install -r benchmarks/requirements.txt",
                markup=False,
            )
    return [method for method in methods if method.is_installed]


def _run_all(settings: BenchSettings, methods: list[Method]) -> Iterator[dict[str, Any]]:
    """Run one data set after the other and, within each repeat, one method after the other."""
    steps = [
        (dataset, method, repeat)
        for dataset in settings.datasets or ()
        for repeat in range(settings.repeats)
        for method in methods
    ]
    plans: dict[tuple[str, str], dict[str, Any]] = {}
    failed: set[tuple[str, str]] = set()
    for dataset, method, repeat in with_progress(steps, lambda step: (step[0], step[1].name)):
        key = dataset, method.name
        if key in failed:
            continue
        try:
            if key not in plans:
                plans[key] = _plan(settings, dataset, method) if method.can_be_scaled else {}
            plan = {"n_estimators": settings.n_estimators, "seed": repeat, **plans[key]}
            answer = _ask("measure", settings, dataset, method, **plan)
        except MeasurementError as error:
            failed.add(key)
            answer = {"error": str(error)}
        yield as_run(dataset, method.name, repeat, answer)


def _failure(run: dict[str, Any]) -> str:
    return f"{run['method']} failed on {run['dataset']}: {run['error']}"


def _ask(
    task: str, settings: BenchSettings, dataset: str, method: Method, **options: Any
) -> dict[str, Any]:
    return in_own_process(
        task,
        settings.n_jobs,
        method=method.name,
        dataset=dataset,
        n_jobs=settings.n_jobs,
        data_home=settings.data_home,
        quick=settings.quick,
        **options,
    )


def _plan(settings: BenchSettings, dataset: str, method: Method) -> dict[str, Any]:
    """Choose how many trees of a slow method to grow, and whether X is dense, by a trial."""
    trial = _ask("trial", settings, dataset, method)
    n_grown = settings.n_estimators
    if settings.sklearn_trees == "auto":
        n_grown = affordable_trees(
            trial["seconds_per_tree"],
            trial["bytes_per_tree"],
            settings.n_jobs,
            seconds=_QUICK_SKLEARN_SECONDS if settings.quick else SKLEARN_SECONDS,
            memory=int(_SKLEARN_MEMORY_SHARE * physical_bytes()),
        )
    elif settings.sklearn_trees != "all":
        n_grown = int(settings.sklearn_trees)
    return {"n_grown": min(n_grown, settings.n_estimators), "is_dense": trial["is_dense"]}


def affordable_trees(
    seconds_per_tree: float,
    bytes_per_tree: float,
    n_jobs: int,
    *,
    seconds: float = SKLEARN_SECONDS,
    memory: int = 0,
) -> int:
    """Return how many trees fit into the time and the memory (0: unknown), a multiple of n_jobs.

    With fewer trees than jobs, idle cores would count against the forest.
    """
    n_trees = seconds / seconds_per_tree
    if memory:
        n_trees = min(n_trees, memory / bytes_per_tree)
    return max(n_jobs, int(n_trees) // n_jobs * n_jobs)


def _report(result: BenchResult, folder: Path, console: Console) -> None:
    result.summaries.to_csv(folder / "medians.csv", index=False)
    for _, summaries in result.summaries.groupby("dataset", sort=False):
        console.print()
        console.print(benchmark_table(summaries))
    console.print()
    console.print(result.machine.describe(result.settings.n_jobs), markup=False)
    save_figure(benchmark_figure(result.summaries), folder / "bench.png")
    written = "runs.csv, medians.csv, machine.json, bench.png"
    console.print(f"Written to {folder}: {written}", markup=False)
