"""The benchmark: every method on every data set, each run in a process of its own."""

import json
import os
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

from joblib import effective_n_jobs
from rich.console import Console

from benchmarks.bench.data import choose_datasets
from benchmarks.bench.methods import DEFAULT_METHODS, Method, find_method
from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.bench.results import Run, Summary, summarise
from benchmarks.bench.table import benchmark_table
from benchmarks.machine import Machine, this_machine
from benchmarks.memory import physical_bytes
from benchmarks.store import append_row, write_csv
from sketchforest._progress import RunProgress

# What one fit of scikit-learn may take where the number of its trees is left to the benchmark.
SKLEARN_SECONDS, _QUICK_SKLEARN_SECONDS = 20.0, 2.0
_SKLEARN_MEMORY_SHARE = 0.4
_QUICK_TREES = 10


@dataclass(frozen=True)
class BenchSettings:
    """What to run; no names stand for the usual data sets and methods.

    ``sklearn_trees`` is "auto", "all" or a number.
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
        """Data sets by name, threads counted, and quick runs made short."""
        _check_sklearn_trees(self.sklearn_trees)
        return BenchSettings(
            datasets=choose_datasets(self.datasets, self.data_home),
            methods=self.methods or list(DEFAULT_METHODS),
            n_estimators=min(self.n_estimators, _QUICK_TREES) if self.quick else self.n_estimators,
            n_jobs=effective_n_jobs(self.n_jobs),
            repeats=1 if self.quick else self.repeats,
            sklearn_trees=self.sklearn_trees,
            data_home=self.data_home,
            quick=self.quick,
        )


class Plan(TypedDict, total=False):
    """How many of scikit-learn's trees to grow and on which form of X, or why that is unknown."""

    n_grown: int
    is_dense: bool
    error: str


@dataclass(frozen=True)
class BenchResult:
    """The medians, whether they are of all the runs that were planned, and what failed."""

    summaries: list[Summary]
    machine: Machine
    settings: BenchSettings
    is_complete: bool = True
    failures: tuple[str, ...] = ()

    def as_json(self) -> str:
        settings = self.settings
        return json.dumps(
            {
                "machine": asdict(self.machine),
                "n_estimators": settings.n_estimators,
                "n_jobs": settings.n_jobs,
                "repeats": settings.repeats,
                "is_complete": self.is_complete,
                "failures": self.failures,
                "medians": [summary.as_row() for summary in self.summaries],
            },
            indent=2,
        )


def run_bench(
    settings: BenchSettings, out: str | os.PathLike[str], console: Console | None = None
) -> BenchResult:
    """Run, print a table for each data set, and write CSV files and a picture into ``out``."""
    console = console or Console()
    settings = settings.checked()
    methods = _installed([find_method(name) for name in settings.methods or ()], console)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    machine = this_machine()
    (folder / "machine.json").write_text(json.dumps(asdict(machine), indent=2) + "\n")
    path = folder / "runs.csv"
    path.unlink(missing_ok=True)
    runs: list[Run] = []
    is_complete = True
    try:
        _run_all(settings, methods, path, runs, console)
    except KeyboardInterrupt:
        is_complete = False
        console.print(f"Interrupted; the {len(runs)} runs before are kept.")
    failures = tuple(_failure(run) for run in runs if run.error)
    result = BenchResult(summarise(runs), machine, settings, is_complete, failures)
    _report(result, folder, console)
    return result


def _installed(methods: list[Method], console: Console) -> list[Method]:
    for method in methods:
        if not method.is_installed:
            message = (
                f"{method.name} is skipped, as {method.package} is not installed: "
                "pip install 'sketchforest[bench]'"
            )
            console.print(message, markup=False)
    return [method for method in methods if method.is_installed]


def _run_all(
    settings: BenchSettings,
    methods: list[Method],
    path: Path,
    runs: list[Run],
    console: Console,
) -> None:
    """Data set after data set; within each repeat, method after method. `runs` grows with them."""
    steps = [
        (dataset, repeat, method)
        for dataset in settings.datasets or ()
        for repeat in range(settings.repeats)
        for method in methods
    ]
    plans: dict[tuple[str, str], Plan] = {}
    failed: set[tuple[str, str]] = set()
    with RunProgress([(dataset, method.name) for dataset, _, method in steps]) as progress:
        for dataset, repeat, method in steps:
            key = dataset, method.name
            progress.start(f"{dataset}: {method.name}, run {repeat + 1}")
            if key not in failed:
                if key not in plans and method.can_be_scaled:
                    plans[key] = _plan(settings, dataset, method)
                run = _run(settings, dataset, method, repeat, plans.get(key, {}))
                append_row(run.as_row(), path)
                if run.error:
                    failed.add(key)
                    console.print(_failure(run), markup=False)
                runs.append(run)
            progress.finish()


def _failure(run: Run) -> str:
    return f"{run.method} failed on {run.dataset}: {run.error}"


def _run(settings: BenchSettings, dataset: str, method: Method, repeat: int, plan: Plan) -> Run:
    if "error" in plan:
        return Run(dataset, method.name, repeat, error=plan["error"])
    try:
        answer = in_own_process(
            "measure",
            settings.n_jobs,
            method=method.name,
            dataset=dataset,
            n_estimators=settings.n_estimators,
            n_jobs=settings.n_jobs,
            seed=repeat,
            data_home=settings.data_home,
            quick=settings.quick,
            **plan,
        )
    except MeasurementError as error:
        return Run(dataset, method.name, repeat, error=str(error))
    return Run.from_answer(dataset, method.name, repeat, answer)


def _plan(settings: BenchSettings, dataset: str, method: Method) -> Plan:
    try:
        trial = in_own_process(
            "trial",
            settings.n_jobs,
            method=method.name,
            dataset=dataset,
            n_jobs=settings.n_jobs,
            data_home=settings.data_home,
            quick=settings.quick,
        )
    except MeasurementError as error:
        return {"error": str(error)}
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
    """As many as fit into the seconds and the memory (0: unknown), a multiple of n_jobs.

    With fewer trees than jobs cores would be idle, and scaling would blame the forest for it.
    """
    n_trees = seconds / seconds_per_tree
    if memory:
        n_trees = min(n_trees, memory / bytes_per_tree)
    return max(n_jobs, int(n_trees) // n_jobs * n_jobs)


def _check_sklearn_trees(sklearn_trees: str) -> None:
    is_number = sklearn_trees.isdecimal() and int(sklearn_trees) > 0
    if sklearn_trees not in ("auto", "all") and not is_number:
        raise ValueError(
            f"sklearn_trees must be 'auto', 'all' or a number of trees; got {sklearn_trees!r}."
        )


def _report(result: BenchResult, folder: Path, console: Console) -> None:
    if not result.summaries:
        return
    write_csv([summary.as_row() for summary in result.summaries], folder / "medians.csv")
    for dataset in dict.fromkeys(summary.dataset for summary in result.summaries):
        console.print()
        console.print(benchmark_table([s for s in result.summaries if s.dataset == dataset]))
    console.print()
    console.print(result.machine.describe(result.settings.n_jobs), markup=False)
    written = "runs.csv, medians.csv, machine.json"
    if find_spec("matplotlib") is not None:
        from benchmarks.bench.figure import save_benchmark_figure

        save_benchmark_figure(result.summaries, folder / "bench.png")
        written += ", bench.png"
    else:
        message = "For the picture, install the extra: pip install 'sketchforest[bench]'."
        console.print(message, markup=False)
    console.print(f"Written to {folder}: {written}", markup=False)
