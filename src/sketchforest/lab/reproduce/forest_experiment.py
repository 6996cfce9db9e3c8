"""One forest on one split: what the paper's tables and figures are made of."""

import time
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    __version__,
)
from sketchforest._estimators.constructors import MaxFeatures, NComponents
from sketchforest.lab.experiments import Workspace
from sketchforest.lab.measure import timed
from sketchforest.lab.reproduce.data import paper_split
from sketchforest.metrics import lrap

Forest = RandomForestClassifier | ExtraTreesClassifier | DecisionTreeClassifier


@dataclass(frozen=True)
class ForestResult:
    lrap: float
    fit_seconds: float
    predict_seconds: float
    n_jobs: int
    run_seconds: float


@dataclass(frozen=True)
class ForestExperiment:
    """A forest fitted to a split of a data set, and how well it ranks the labels of the rest.

    ``forest`` is "random_forest", "extra_trees" or "tree"; ``n_components`` is a number, "log" or
    "all"; without a projection it is None. ``split`` is the number of a random split, or None
    for the one that the data set came with.
    """

    table: ClassVar = "forests"
    result_type: ClassVar = ForestResult

    dataset: str
    forest: str = "random_forest"
    projection: str | None = "gaussian"
    n_components: NComponents = None
    max_features: MaxFeatures = "sqrt"
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

    def _forest(self, n_jobs: int) -> Forest:
        # The forests of a split share their seed, so that they differ in their outputs alone.
        random_state = 1000 * self.seed + self.repeat
        if self.forest == "tree":
            return DecisionTreeClassifier(
                projection=self.projection,
                n_components=self.n_components,
                max_features=self.max_features,
                random_state=random_state,
            )
        kinds = {"random_forest": RandomForestClassifier, "extra_trees": ExtraTreesClassifier}
        return kinds[self.forest](
            n_estimators=self.n_estimators,
            projection=self.projection,
            n_components=self.n_components,
            max_features=self.max_features,
            shared_projection=self.shared,
            n_jobs=n_jobs,
            random_state=random_state,
        )
