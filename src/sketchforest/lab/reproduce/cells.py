"""One forest on one split: what the paper's tables and figures are made of."""

import time
from dataclasses import dataclass
from typing import Any

from sketchforest.lab.measure import timed_fit
from sketchforest.lab.reproduce.problems import Workspace
from sketchforest.lab.reproduce.store import Result
from sketchforest.metrics import lrap


@dataclass(frozen=True)
class ForestCell:
    """A forest fitted to a split of a data set, and how well it ranks the labels of the rest.

    ``forest`` is "random_forest", "extra_trees" or "tree"; ``n_components`` is a number, "log" or
    "all"; without a projection it is None. ``split`` is the number of a random split, or None
    for the one that the data set came with.
    """

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
    synthetic: bool = False

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

    def run(self, workspace: Workspace) -> Result:
        problem = workspace.problem(self.dataset, self.split, self.seed, self.synthetic)
        forest = self._forest(workspace.n_jobs)
        fit_seconds = timed_fit(forest, problem.X_train, problem.Y_train)
        start = time.perf_counter()
        scores = forest.predict_proba(problem.X_test)
        predict_seconds = time.perf_counter() - start
        return {
            "lrap": lrap(problem.Y_test, scores),
            "fit_seconds": fit_seconds,
            "predict_seconds": predict_seconds,
            "n_jobs": workspace.n_jobs,
        }

    def _forest(self, n_jobs: int) -> Any:
        from sketchforest import (
            DecisionTreeClassifier,
            ExtraTreesClassifier,
            RandomForestClassifier,
        )

        settings = {
            "projection": self.projection,
            "n_components": self.n_components,
            "max_features": self.max_features,
            # The forests of a split share their seed, so that they differ in their outputs alone.
            "random_state": 1000 * self.seed + self.repeat,
        }
        if self.forest == "tree":
            return DecisionTreeClassifier(**settings)
        kinds = {"random_forest": RandomForestClassifier, "extra_trees": ExtraTreesClassifier}
        return kinds[self.forest](
            n_estimators=self.n_estimators,
            shared_projection=self.shared,
            n_jobs=n_jobs,
            **settings,
        )
