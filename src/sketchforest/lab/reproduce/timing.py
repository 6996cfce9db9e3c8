"""Section 4.6: what learning costs on Delicious, by the paper, by scikit-learn and here."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from sketchforest.lab.measure import timed_fit
from sketchforest.lab.reproduce.problems import Workspace
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.store import Result
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
class TimingCell:
    """Loading a data set and fitting a forest to it; times depend on the number of threads.

    ``n_components`` is m, or None for the original outputs. ``n_grown`` of ``n_estimators`` trees
    are really grown.
    """

    dataset: str
    package: str
    n_components: int | None
    n_estimators: int
    n_grown: int
    n_jobs: int
    repeat: int = 0
    seed: int = 0
    synthetic: bool = False

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        outputs = "original outputs" if self.n_components is None else f"m = {self.n_components}"
        return f"time of {self.package}, {outputs}"

    def run(self, workspace: Workspace) -> Result:
        start, cpu_start = time.perf_counter(), time.process_time()
        fresh = Workspace(workspace.data_home)  # the paper's times include reading the data
        problem = fresh.problem(self.dataset, None, self.seed, self.synthetic)
        loading = time.perf_counter() - start
        loading_cpu = time.process_time() - cpu_start
        X, Y = problem.X_train, problem.Y_train
        projection = self._projection_seconds(Y)
        if self.package == "scikit-learn":
            X, Y = X.toarray(), self._sklearn_target(Y)
        cpu_start = time.process_time()
        fit_seconds = timed_fit(self._forest(), X, Y)
        return {
            "load_seconds": loading,
            "load_cpu_seconds": loading_cpu,
            "fit_seconds": fit_seconds,
            "fit_cpu_seconds": time.process_time() - cpu_start,
            "projection_seconds": projection,
        }

    def _projection_seconds(self, Y: Any) -> float | None:
        """One draw of a gaussian P and the product Y P."""
        if self.n_components is None:
            return None
        start = time.perf_counter()
        sketch("gaussian", Y, self.n_components, np.random.default_rng(self.repeat))
        return time.perf_counter() - start

    def _sklearn_target(self, Y: Any) -> np.ndarray:
        """Dense labels, or one projection of them: scikit-learn then grows the trees of algorithm
        1, whose leaves cannot predict labels."""
        if self.n_components is None:
            return Y.toarray()
        Z = sketch("gaussian", Y, self.n_components, np.random.default_rng(self.repeat))
        return Z.ravel() if self.n_components == 1 else Z

    def _forest(self) -> Any:
        shared = {"n_estimators": self.n_grown, "max_features": "sqrt", "n_jobs": self.n_jobs}
        if self.package == "scikit-learn":
            from sklearn.ensemble import RandomForestRegressor

            return RandomForestRegressor(random_state=self.repeat, **shared)
        from sketchforest import RandomForestClassifier

        return RandomForestClassifier(
            projection=None if self.n_components is None else "gaussian",
            n_components=self.n_components,
            random_state=self.repeat,
            **shared,
        )


def timing_cells(settings: ReproduceSettings) -> list[TimingCell]:
    from joblib import effective_n_jobs

    dataset = settings.available((*settings.datasets, "delicious")[0]).dataset
    n_jobs = effective_n_jobs(settings.n_jobs)
    cells = []
    for m in _COMPONENTS:
        for package in ("sketchforest", "scikit-learn"):
            is_scaled = package == "scikit-learn"
            n_grown = max(n_jobs, _SKLEARN_TREES[m] // (2 if settings.quick else 1))
            cells += [
                TimingCell(
                    dataset=dataset,
                    package=package,
                    n_components=m,
                    n_estimators=_N_ESTIMATORS,
                    n_grown=n_grown if is_scaled else _N_ESTIMATORS,
                    n_jobs=n_jobs,
                    repeat=repeat,
                    seed=settings.seed,
                    synthetic=settings.is_stand_in(dataset),
                )
                for repeat in range(1 if is_scaled else settings.n_repeats(_REPEATS))
            ]
    return cells
