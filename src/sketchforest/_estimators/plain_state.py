"""What is pickled of an estimator: plain values, so that its class is all there is to trust.

Tools such as skops ask their users which classes a file may make: those that they know.
"""

from dataclasses import fields
from typing import Any

from sklearn.base import BaseEstimator

from sketchforest._trees.fitted import F1Thresholds, Targets
from sketchforest._trees.impurity import Impurity
from sketchforest._trees.model import Forest, ForestDirections, SparseRows
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import GrowSettings, ObliqueSettings

PARTS: dict[str, type[Any]] = {
    part.__name__: part
    for part in (
        Forest,
        ForestDirections,
        FeatureMap,
        SparseRows,
        Targets,
        GrowSettings,
        ObliqueSettings,
    )
}
MADE_ANEW = ("_predictor", "tree_")  # with their tables, when they are needed
PART = "sketchforest part"  # the key under which a dict says what it was


class PlainState(BaseEstimator):
    """An estimator whose trees, labels and settings are dicts where it is pickled or copied."""

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = super().__getstate__()
        return {name: _to_plain(value) for name, value in state.items() if name not in MADE_ANEW}

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__({name: _from_plain(value) for name, value in state.items()})
        known = self.__dict__
        if "_forest" in known:
            known["_predictor"] = ForestPredictor.of(known["_forest"], known["_targets"])
        if "_f1_thresholds" in known:
            known["_f1_thresholds"] = F1Thresholds(*known["_f1_thresholds"])


def _to_plain(value: object) -> object:
    if isinstance(value, F1Thresholds):
        return tuple(value)
    if isinstance(value, Impurity):
        return value.value
    name = type(value).__name__
    if PARTS.get(name) is not type(value):
        return value
    named = {field.name: _to_plain(getattr(value, field.name)) for field in fields(PARTS[name])}
    return {PART: name, **named}


def _from_plain(value: object) -> object:
    if not (isinstance(value, dict) and PART in value):
        return value
    named = {name: _from_plain(part) for name, part in value.items() if name != PART}
    if "impurity" in named:
        named["impurity"] = Impurity(str(named["impurity"]))
    return PARTS[value[PART]](**named)
