"""What is pickled of an estimator: plain values, so that its class is all there is to trust.

Tools such as skops ask their users which classes a file may make: those that they know.
"""

from dataclasses import fields
from typing import Any

from sklearn.base import BaseEstimator

from sketchforest._trees.fitted import Fitted
from sketchforest._trees.held import Held
from sketchforest._trees.impurity import Impurity
from sketchforest._trees.model import Forest, ForestDirections, SparseRows
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import GrowSettings, ObliqueSettings
from sketchforest._trees.targets import F1Thresholds, Targets

PARTS: dict[str, type[Any]] = {
    part.__name__: part
    for part in (
        Fitted,
        Forest,
        ForestDirections,
        FeatureMap,
        SparseRows,
        Targets,
        GrowSettings,
        ObliqueSettings,
    )
}
PART = "sketchforest part"  # the key under which a dict says what it was


class PlainState(BaseEstimator):
    """An estimator whose trees, labels and settings are dicts where it is pickled or copied."""

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()  # at once: another thread may publish a fit
        if "_fitted" in state:
            state["_fitted"] = _to_plain(self.fitted_)  # as the list of trees says
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__({name: _from_plain(value) for name, value in state.items()})


def _to_plain(value: object) -> object:
    if isinstance(value, F1Thresholds):
        return tuple(value)
    if isinstance(value, Impurity):
        return value.value
    name = type(value).__name__
    if PARTS.get(name) is not type(value):
        return value
    return {PART: name, **{name: _to_plain(part) for name, part in _parts_of(value).items()}}


def _parts_of(value: Any) -> dict[str, Any]:
    if isinstance(value, Held):
        return value.fields()
    named = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Fitted):  # its tables are made anew when they are needed
        named["forest"] = named.pop("predictor").forest
    return named


def _from_plain(value: object) -> object:
    if not (isinstance(value, dict) and PART in value):
        return value
    named: dict[str, Any] = {n: _from_plain(part) for n, part in value.items() if n != PART}
    if "impurity" in named:
        named["impurity"] = Impurity(str(named["impurity"]))
    if named.get("f1_thresholds") is not None:
        named["f1_thresholds"] = F1Thresholds(*named["f1_thresholds"])
    if "predictor" not in named and value[PART] == Fitted.__name__:
        named["predictor"] = ForestPredictor.of(named.pop("forest"), named["targets"])
    return PARTS[value[PART]](**named)
