"""Section 4.6: training times on Delicious: the paper's, scikit-learn's and ours."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from matplotlib.axes import Axes
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor

from benchmarks.data import Matrix, as_array
from benchmarks.experiments import Lookup, Workspace
from benchmarks.measure import timed
from benchmarks.reproduce.data import paper_split, paper_workspace
from benchmarks.reproduce.drawing import COLOURS, draw
from benchmarks.reproduce.page import Entry, Grid, Picture, Section, text_grid
from benchmarks.reproduce.settings import ReproduceSettings
from sketchforest import RandomForestClassifier, __version__
from sketchforest._utils.units import UNKNOWN, ratio, seconds
from sketchforest.projection import sketch

_OURS, _SKLEARN, _DELICIOUS = "sketchforest", "scikit-learn", "delicious"
_REPEATS = 3
# Trees that scikit-learn grows; on the original outputs one tree takes seconds and 100 MB.
_N_ESTIMATORS = 100
_SKLEARN_TREES = {None: 4, 250: 8, 25: 20, 1: 20}

# Seconds of user and system time for 100 trees, and for one projection, as printed.
PAPER_SECONDS: dict[int | None, float] = {None: 3348.0, 250: 1088.0, 25: 311.0, 1: 236.0}
PAPER_PROJECTION_SECONDS: dict[int | None, float] = {250: 1.0, 25: 0.25, 1: 0.07}


@dataclass(frozen=True)
class TimingResult:
    """Wall-clock and processor seconds; the projection is one draw of P and one product Y P."""

    load_seconds: float
    load_cpu_seconds: float
    fit_seconds: float
    fit_cpu_seconds: float
    projection_seconds: float | None
    run_seconds: float


@dataclass(frozen=True)
class TimingExperiment:
    """Loading a data set and fitting a forest; `n_grown` of `n_estimators` trees are grown.

    `n_components` is m, or None for the original outputs.
    """

    table: ClassVar = "times"
    result_type: ClassVar = TimingResult

    dataset: str
    package: str
    n_components: int | None
    n_estimators: int
    n_grown: int
    n_jobs: int
    repeat: int = 0
    seed: int = 0
    version: str = __version__

    @property
    def scale(self) -> float:
        return self.n_estimators / self.n_grown

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        outputs = "original outputs" if self.n_components is None else f"m = {self.n_components}"
        return f"time of {self.package}, {outputs}"

    def run(self, workspace: Workspace) -> TimingResult:
        start, cpu_start = time.perf_counter(), time.process_time()
        fresh = paper_workspace(workspace.data_home)  # the paper's times include reading the data
        data = paper_split(fresh, self.dataset, None, self.seed)
        loading = time.perf_counter() - start
        loading_cpu = time.process_time() - cpu_start
        projection_seconds, Z = self._project(data.Y_train)
        X: Matrix = data.X_train
        Y: Matrix = data.Y_train
        if self.package == _SKLEARN:
            X, Y = as_array(X), _sklearn_target(Y, Z)
        cpu_start = time.process_time()
        fit_seconds, _ = timed(partial(self._forest().fit, X, Y))
        return TimingResult(
            load_seconds=loading,
            load_cpu_seconds=loading_cpu,
            fit_seconds=fit_seconds,
            fit_cpu_seconds=time.process_time() - cpu_start,
            projection_seconds=projection_seconds,
            run_seconds=time.perf_counter() - start,
        )

    def _project(self, Y: sparse.csr_array) -> tuple[float | None, np.ndarray | None]:
        """Time one draw of a gaussian P and the product Y P, and return both."""
        if self.n_components is None:
            return None, None
        rng = np.random.default_rng(self.repeat)
        spent, Z = timed(partial(sketch, "gaussian", Y, self.n_components, rng))
        return spent, np.asarray(Z)

    def _forest(self) -> Any:
        params: dict[str, Any] = {
            "n_estimators": self.n_grown,
            "max_features": "sqrt",
            "n_jobs": self.n_jobs,
            "random_state": self.repeat,
        }
        if self.package == _SKLEARN:
            return RandomForestRegressor(**params)
        projection = None if self.n_components is None else "gaussian"
        return RandomForestClassifier(
            **params, projection=projection, n_components=self.n_components
        )


def _sklearn_target(Y: sparse.csr_array, Z: np.ndarray | None) -> np.ndarray:
    """Return dense labels or one projection of them, for trees of algorithm 1 by scikit-learn.

    The leaves of these trees cannot predict labels.
    """
    if Z is None:
        return Y.toarray()
    return Z.ravel() if Z.shape[1] == 1 else Z


def timing_experiments(settings: ReproduceSettings) -> list[TimingExperiment]:
    dataset = settings.available((*settings.datasets, _DELICIOUS)[0]).dataset
    n_jobs = effective_n_jobs(settings.n_jobs)
    experiments = []
    for m in PAPER_SECONDS:
        n_sklearn = max(n_jobs, _SKLEARN_TREES[m] // (2 if settings.quick else 1))
        for package, n_grown, repeats in (
            (_OURS, _N_ESTIMATORS, settings.n_repeats(_REPEATS)),
            (_SKLEARN, n_sklearn, 1),
        ):
            experiments += [
                TimingExperiment(
                    dataset=dataset,
                    package=package,
                    n_components=m,
                    n_estimators=_N_ESTIMATORS,
                    n_grown=n_grown,
                    n_jobs=n_jobs,
                    repeat=repeat,
                    seed=settings.seed,
                )
                for repeat in range(repeats)
            ]
    return experiments


# ---- the section of the report


def timing_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Show training times next to the paper's."""
    experiments = timing_experiments(settings)
    first, rows = experiments[0], _rows(experiments, lookup)
    return Section(
        name="timing",
        title="Section 4.6: training times",
        intro=_intro(first),
        pictures=_picture(rows, first.dataset) if len(rows) else [],
        grids=[_grid(rows, has_paper=first.dataset == _DELICIOUS)],
        rows=rows.round({"cpu_seconds": 4, "wall_seconds": 4, "projection_seconds": 5}),
    )


def _intro(first: TimingExperiment) -> list[str]:
    others = ["The paper's times are for Delicious: not shown."]
    return [
        f"Reading {first.dataset} and growing {first.n_estimators} trees, in seconds of processor "
        "time (user and system), as measured in the paper (Mac Pro 4.1, Xeon at 2.26 GHz, 2014, "
        f"scikit-learn 0.14-dev). Wall-clock times are with {first.n_jobs} "
        f"thread{'s' * (first.n_jobs != 1)}.",
        "scikit-learn grows fewer trees and its fit times are scaled (*). For m outputs it gets "
        "one projection of the labels (algorithm 1), and its leaves could not predict labels: only "
        "the search for splits is compared.",
        *([] if first.dataset == _DELICIOUS else others),
    ]


def _rows(experiments: Sequence[TimingExperiment], lookup: Lookup) -> pd.DataFrame:
    """Compute medians for all trees."""
    runs = [
        {
            "n_components": one.n_components,
            "package": one.package,
            "n_grown": one.n_grown,
            "n_estimators": one.n_estimators,
            "cpu_seconds": result.load_cpu_seconds + one.scale * result.fit_cpu_seconds,
            "wall_seconds": result.load_seconds + one.scale * result.fit_seconds,
            "projection_seconds": result.projection_seconds,
            "paper_cpu_seconds": PAPER_SECONDS[one.n_components]
            if one.dataset == _DELICIOUS
            else None,
        }
        for one in experiments
        if (result := lookup(one)) is not None
    ]
    if not runs:
        return pd.DataFrame(columns=["n_components", "package"])
    keys = ["n_components", "package", "n_grown", "n_estimators"]
    frame = pd.DataFrame(runs).astype({"n_components": "Int64", "paper_cpu_seconds": float})
    return frame.groupby(keys, sort=False, dropna=False).median().reset_index()


def _find(rows: pd.DataFrame, m: int | None, package: str) -> pd.Series | None:
    is_m = rows["n_components"].isna() if m is None else rows["n_components"] == m
    found = rows[is_m.fillna(False) & (rows["package"] == package)]
    return found.iloc[0] if len(found) else None


def _grid(rows: pd.DataFrame, has_paper: bool) -> Grid:
    """Show processor and wall-clock times, and ratios to the paper's and to scikit-learn's."""
    lines = []
    for m, paper in PAPER_SECONDS.items():
        ours, theirs = _find(rows, m, _OURS), _find(rows, m, _SKLEARN)
        faster, projection = Entry(UNKNOWN), Entry("")
        if ours is not None:
            than_sklearn = None if theirs is None else theirs["cpu_seconds"] / ours["cpu_seconds"]
            than_paper = f"paper {ratio(paper / ours['cpu_seconds'])}" if has_paper else ""
            faster = Entry(ratio(than_sklearn), than_paper)
            if m is not None:
                printed = f"paper {seconds(PAPER_PROJECTION_SECONDS[m])}" if has_paper else ""
                projection = Entry(seconds(ours["projection_seconds"]), printed)
        printed = seconds(paper if has_paper else None)
        lines.append([_outputs(m), printed, _entry(theirs), _entry(ours), faster, projection])
    headers = ["outputs", "paper", _SKLEARN, _OURS, "faster", "one projection"]
    caption = (
        "Processor time, and below it the wall-clock time; faster than scikit-learn, and below it "
        "faster than the paper"
    )
    return text_grid(headers, lines, caption)


def _entry(row: pd.Series | None) -> Entry:
    if row is None:
        return Entry(UNKNOWN)
    mark = "*" if row["n_grown"] < row["n_estimators"] else ""
    return Entry(seconds(row["cpu_seconds"]) + mark, f"{seconds(row['wall_seconds'])} wall")


def _outputs(m: int | None) -> str:
    return "original" if m is None else f"m = {m}"


def _picture(rows: pd.DataFrame, dataset: str) -> list[Picture]:
    def paint(axes: Axes) -> None:
        series = {_SKLEARN: (_SKLEARN, "cpu_seconds"), _OURS: (_OURS, "cpu_seconds")}
        series = {"the paper, 2014": (_OURS, "paper_cpu_seconds"), **series}
        for number, (label, (package, column)) in enumerate(series.items()):
            found = [_find(rows, m, package) for m in PAPER_SECONDS]
            values = [np.nan if row is None else row[column] for row in found]
            heights = [y + 0.26 * (number - 1) for y, x in enumerate(values) if x == x]
            widths = [value for value in values if value == value]
            bars = axes.barh(
                heights, widths, height=0.24, color=COLOURS[number], label=label if widths else "_"
            )
            axes.bar_label(bars, [seconds(width) for width in widths], padding=3, fontsize=8)
        axes.set_yticks(range(len(PAPER_SECONDS)), [_outputs(m) for m in PAPER_SECONDS])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.margins(x=0.15)
        axes.set_xlabel("seconds of processor time (log scale)")
        axes.legend(loc="lower right", fontsize=8, edgecolor="none")

    return draw("times", f"Training time on {dataset}, user and system time together.", paint)
