"""Names of estimators and projections, available without importing them."""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sketchforest._estimators.estimator import Estimator
    from sketchforest.tagger import Tagger


class Registered(NamedTuple):
    module: str
    command_line_name: str


ESTIMATORS = {
    "SketchForestClassifier": Registered("sketch_forest", "sketch"),
    "RandomForestClassifier": Registered("forest", "random-forest"),
    "ExtraTreesClassifier": Registered("extra_trees", "extra-trees"),
    "DecisionTreeClassifier": Registered("tree", "decision-tree"),
    "ExtraTreeClassifier": Registered("tree", "extra-tree"),
    "SketchForestRegressor": Registered("sketch_forest", "sketch-regressor"),
    "RandomForestRegressor": Registered("forest", "random-forest-regressor"),
    "ExtraTreesRegressor": Registered("extra_trees", "extra-trees-regressor"),
    "DecisionTreeRegressor": Registered("tree", "decision-tree-regressor"),
    "ExtraTreeRegressor": Registered("tree", "extra-tree-regressor"),
    "SketchBoostingClassifier": Registered("boosting", "boosting"),
    "SketchBoostingRegressor": Registered("boosting", "boosting-regressor"),
}
COMMAND_LINE_NAMES = {entry.command_line_name: name for name, entry in ESTIMATORS.items()}
# The classifiers; each has a regressor whose name ends in -regressor.
FORESTS_OF_LABELS = [
    name for name in COMMAND_LINE_NAMES if f"{name}-regressor" in COMMAND_LINE_NAMES
]
DEFAULT_ON_COMMAND_LINE = "sketch"

# Classes in sketchforest.projection.
PROJECTIONS = {
    "gaussian": "GaussianProjection",
    "rademacher": "RademacherProjection",
    "achlioptas": "AchlioptasProjection",
    "sparse": "SparseProjection",
    "hadamard": "HadamardProjection",
    "subsample": "SubsampleProjection",
    "norm-subsample": "NormSubsampleProjection",
    "top-norm": "TopNormProjection",
    "pca": "PCAProjection",
}


def tagger_of(model: "Estimator") -> "Tagger":
    """The tagger that a loaded model is part of; the module is imported on demand."""
    found: Tagger = import_module("sketchforest.tagger").tagger_of(model)
    return found


def estimator_class(name: str) -> "type[Estimator]":
    """The estimator class of this name, imported on demand."""
    module = import_module(f"sketchforest.{ESTIMATORS[name].module}")
    found: type[Estimator] = getattr(module, name)
    return found
