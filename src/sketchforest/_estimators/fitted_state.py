"""The fitted model of an estimator: how it is published, read and pickled.

It is pickled as plain values, so that the estimator's class is all there is to trust: tools such as
skops ask their users which classes a file may make, those that they know.
"""

from dataclasses import fields
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sketchforest._trees.fitted import Fitted
from sketchforest._trees.held import Held
from sketchforest._trees.impurity import Impurity
from sketchforest._trees.model import Forest, ForestDirections, SparseRows
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import GrowSettings, ObliqueSettings
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.lazy import lock_of

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


# What a file carries along for its readers; it is not true of other data.
ATTACHED = (
    "label_names_",
    "feature_names_",
    "vectorizer_",
    "notes_",
    "row_numbers_",
    "row_ids_",
    "row_texts_",
)


class FittedState(BaseEstimator):
    """An estimator that leaves all it has learnt in one object, `fitted_`, which never changes.

    `fit` makes it aside and publishes it with one assignment; whatever reads the model takes it
    once. Where the estimator is pickled or copied, trees, labels and settings are dicts.
    """

    _fitted: Fitted

    @property
    def fitted_(self) -> Fitted:
        """The fitted model, which never changes: a later fit makes another one."""
        check_is_fitted(self)
        return self._fitted

    def _publish(self, fitted: Fitted) -> None:
        with lock_of(self, "fitted_"):
            self.__dict__["_fitted"] = fitted

    def _with(self, fitted: Fitted) -> Self:
        """This estimator with another fitted model."""
        twin = object.__new__(type(self))
        twin.__dict__ = self.__dict__ | {"_fitted": fitted}
        return twin

    def _frozen(self) -> Self:
        """This estimator with the model that it has now, whatever is fitted later: for what asks it
        several times."""
        return self._with(self.fitted_)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __getattr__(self, name: str) -> Any:
        fitted = self.__dict__.get("_fitted")
        if fitted is not None and name in fitted.attributes:
            return fitted.attributes[name]
        if hasattr(type(self), name):  # a property that raised: Python asks here what it said
            return getattr(type(self), name).__get__(self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        if name in ATTACHED:
            self._attach({name: value})
        else:
            super().__setattr__(name, value)

    def _attach(self, attributes: dict[str, object]) -> None:
        with lock_of(self, "fitted_"):
            fitted = self.fitted_
            self._publish(fitted.but(attached={**fitted.attached, **attributes}))

    def __dir__(self) -> list[str]:
        fitted = self.__dict__.get("_fitted")
        return sorted({*super().__dir__(), *(() if fitted is None else fitted.attributes)})

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
