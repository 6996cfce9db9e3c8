"""One forest on one split: the experiment behind the paper's tables and figures."""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from benchmarks.experiments import Workspace
from benchmarks.measure import timed
from benchmarks.reproduce.data import paper_split
from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    __version__,
)
from sketchforest.metrics import lrap


@dataclass(frozen=True)
class ForestResult:
    lrap: float
    fit_seconds: float
    predict_seconds: float
    n_jobs: int
    run_seconds: float


@dataclass(frozen=True)
class ForestExperiment:
    """A forest fitted to a split of a data set, and how well it ranks labels of the test rows.

    `forest` is "random_forest", "extra_trees" or "tree"; `n_components` is a number, "log", "all",
    or None without a projection. `split` is the number of a random split, or None for the data
    set's own split.
    """

    table: ClassVar = "forests"
    result_type: ClassVar = ForestResult

    dataset: str
    forest: str = "random_forest"
    projection: str | None = "gaussian"
    n_components: int | str | None = None
    max_features: int | str | None = "sqrt"
    shared: bool = False
    n_estimators: int = 100
    split: int | None = 0
    repeat: int = 0
    seed: int = 0
    version: str = __version__

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        outputs = f"{self.projection}, m = {self.n_components}"
        if self.projection is None:
            outputs = "original outputs"
        features = "" if self.max_features in ("sqrt", None) else f", k = {self.max_features}"
        return f"{self.forest.replace('_', ' ')}, {outputs}{features}"

    def run(self, workspace: Workspace) -> ForestResult:
        start = time.perf_counter()
        data = paper_split(workspace, self.dataset, self.split, self.seed)
        forest = self._forest(workspace.n_jobs)
        fit_seconds, _ = timed(partial(forest.fit, data.X_train, data.Y_train))
        predict_seconds, scores = timed(partial(forest.predict_proba, data.X_test))
        return ForestResult(
            lrap=lrap(data.Y_test, scores),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            n_jobs=workspace.n_jobs,
            run_seconds=time.perf_counter() - start,
        )

    def _forest(self, n_jobs: int) -> Any:
        params: dict[str, Any] = {
            "projection": self.projection,
            "n_components": self.n_components,
            "max_features": self.max_features,
            # Forests of a split share their seed, so that they differ in their outputs alone.
            "random_state": 1000 * self.seed + self.repeat,
        }
        if self.forest == "tree":
            return DecisionTreeClassifier(**params)
        kinds = {"random_forest": RandomForestClassifier, "extra_trees": ExtraTreesClassifier}
        return kinds[self.forest](
            n_estimators=self.n_estimators,
            shared_projection=self.shared,
            n_jobs=n_jobs,
            **params,
        )
