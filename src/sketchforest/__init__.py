"""Random forests and extra-trees for problems with very many outputs.

Splits are searched in a random projection of the labels; leaves keep training rows, so predictions
are averages of the original labels.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sketchforest._utils.registry import ESTIMATORS, estimator_class

if TYPE_CHECKING:
    from sketchforest._evaluation.cross_validation import evaluate
    from sketchforest.boosting import SketchBoostingClassifier, SketchBoostingRegressor
    from sketchforest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from sketchforest.forest import RandomForestClassifier, RandomForestRegressor, load_forest
    from sketchforest.sketch_forest import SketchForestClassifier, SketchForestRegressor
    from sketchforest.tagger import Tagger
    from sketchforest.tree import (
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
    )

__version__ = "0.1.0"

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SketchBoostingClassifier",
    "SketchBoostingRegressor",
    "SketchForestClassifier",
    "SketchForestRegressor",
    "Tagger",
    "evaluate",
    "load_forest",
]
_OTHERS = {  # and their modules
    "Tagger": "tagger",
    "evaluate": "_evaluation.cross_validation",
    "load_forest": "forest",
}
_SUBMODULES = (
    "dask",
    "datasets",
    "evaluation",
    "explain",
    "export",
    "metrics",
    "ontology",
    "projection",
    "report",
    "tuning",
)


def __getattr__(name: str) -> object:
    """Import names on demand: `sketchforest --help` need not wait for scipy."""
    if name in ESTIMATORS:
        found: object = estimator_class(name)
    elif name in _OTHERS:
        found = getattr(import_module(f"sketchforest.{_OTHERS[name]}"), name)
    elif name in _SUBMODULES:
        return import_module(f"sketchforest.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
