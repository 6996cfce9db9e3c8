"""Section 4.6: what learning costs on Delicious, by the paper, by scikit-learn and here."""

import time
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor

from benchmarks.data import as_array
from benchmarks.experiments import Workspace
from benchmarks.measure import timed
from benchmarks.reproduce.data import paper_split, paper_workspace
from benchmarks.reproduce.settings import ReproduceSettings
from sketchforest import RandomForestClassifier, __version__
from sketchforest._utils.typing import Matrix
from sketchforest.projection import sketch

_REPEATS = 3
_COMPONENTS = (None, 250, 25, 1)
# Trees that scikit-learn really grows: on the original outputs one takes seconds and 100 MB.
_N_ESTIMATORS = 100
_SKLEARN_TREES = {None: 4, 250: 8, 25: 20, 1: 20}

# Seconds of user and system time for 100 trees, and for one projection, as printed.
PAPER_SECONDS: dict[int | None, float] = {None: 3348.0, 250: 1088.0, 25: 311.0, 1: 236.0}
PAPER_PROJECTION_SECONDS: dict[int | None, float] = {250: 1.0, 25: 0.25, 1: 0.07}


@dataclass(frozen=True)
class TimingResult:
    """Seconds of the clock and of the processor; drawing P and multiplying Y by it, once."""

    load_seconds: float
    load_cpu_seconds: float
    fit_seconds: float
    fit_cpu_seconds: float
    projection_seconds: float | None
    run_seconds: float


@dataclass(frozen=True)
class TimingExperiment:
    """Loading a data set and fitting a forest to it; times depend on the number of threads.

    ``n_components`` is m, or None for the original outputs. ``n_grown`` of ``n_estimators`` trees
    are really grown.
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
        if self.package == "scikit-learn":
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
        """Seconds of one draw of a gaussian P and of the product Y P, and the product."""
        if self.n_components is None:
            return None, None
        rng = np.random.default_rng(self.repeat)
        seconds, Z = timed(partial(sketch, "gaussian", Y, self.n_components, rng))
        return seconds, np.asarray(Z)

    def _forest(self) -> RandomForestRegressor | RandomForestClassifier:
        if self.package == "scikit-learn":
            return RandomForestRegressor(
                n_estimators=self.n_grown,
                max_features="sqrt",
                n_jobs=self.n_jobs,
                random_state=self.repeat,
            )
        return RandomForestClassifier(
            n_estimators=self.n_grown,
            max_features="sqrt",
            projection=None if self.n_components is None else "gaussian",
            n_components=self.n_components,
            n_jobs=self.n_jobs,
            random_state=self.repeat,
        )


def _sklearn_target(Y: sparse.csr_array, Z: np.ndarray | None) -> np.ndarray:
    """Dense labels, or one projection of them: scikit-learn then grows the trees of algorithm 1,
    whose leaves cannot predict labels."""
    if Z is None:
        return Y.toarray()
    return Z.ravel() if Z.shape[1] == 1 else Z


def timing_experiments(settings: ReproduceSettings) -> list[TimingExperiment]:
    dataset = settings.available((*settings.datasets, "delicious")[0]).dataset
    n_jobs = effective_n_jobs(settings.n_jobs)
    experiments = []
    for m in _COMPONENTS:
        for package in ("sketchforest", "scikit-learn"):
            is_scaled = package == "scikit-learn"
            n_grown = max(n_jobs, _SKLEARN_TREES[m] // (2 if settings.quick else 1))
            experiments += [
                TimingExperiment(
                    dataset=dataset,
                    package=package,
                    n_components=m,
                    n_estimators=_N_ESTIMATORS,
                    n_grown=n_grown if is_scaled else _N_ESTIMATORS,
                    n_jobs=n_jobs,
                    repeat=repeat,
                    seed=settings.seed,
                )
                for repeat in range(1 if is_scaled else settings.n_repeats(_REPEATS))
            ]
    return experiments
