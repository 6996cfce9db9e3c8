"""The fitted model of an estimator: how it is published, read and pickled.

It is pickled as plain values, so that a pickle names no class but the estimator's: tools such as
skops ask users which classes they trust, and users know that one.
"""

from dataclasses import fields, replace
from typing import Any, Self

from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sketchforest._boosting.model import BoostedFitted, BoostedPredictor
from sketchforest._boosting.scores import Output
from sketchforest._trees.blended import Blend, blended
from sketchforest._trees.calibration import Calibration
from sketchforest._trees.criterion import CRITERIA, Criterion
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.linear import LinearModel
from sketchforest._trees.model import Forest, ForestDirections, SparseRows
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import GrowSettings, ObliqueSettings
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.lazy import lock_of

# Classes that are pickled as dicts.
_PLAIN = (
    *(Fitted, Forest, ForestDirections, FeatureMap, SparseRows, Targets),
    *(Blend, Calibration, LinearModel, BoostedFitted, Output),
)
PLAIN: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (*_PLAIN, GrowSettings, ObliqueSettings)
}
PLAIN_KEY = "sketchforest part"  # whose value in such a dict is the name of the class

# Names and texts that a model file carries along. They describe the training data.
ATTACHED = (
    *("label_names_", "feature_names_", "vectorizer_", "notes_"),
    *("row_numbers_", "row_ids_", "row_texts_"),
    "tagger_",  # the parameters of the tagger that the model is part of
)


class FittedState(BaseEstimator):
    """An estimator whose whole fitted state is one immutable object, `fitted_`.

    `fit` builds the object and publishes it with one assignment. A method that reads it takes it
    once, so a concurrent fit cannot mix two models.
    """

    _fitted: Fitted

    @property
    def fitted_(self) -> Fitted:
        """The fitted model. It is immutable; another fit replaces it."""
        check_is_fitted(self)
        return self._fitted

    def _publish(self, fitted: Fitted) -> None:
        with lock_of(self, "fitted_"):
            self.__dict__["_fitted"] = fitted

    def _with(self, fitted: Fitted) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__ = self.__dict__ | {"_fitted": fitted}
        return copy

    def __copy__(self) -> Self:
        """A shallow copy, with the same fitted model until one of the two is fitted again."""
        if not self.__sklearn_is_fitted__():
            unfitted = object.__new__(type(self))
            unfitted.__dict__ = self.__dict__.copy()
            return unfitted
        return self._with(replace(self.fitted_))  # with a list of trees of its own

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    def __getattr__(self, name: str) -> Any:
        fitted = self.__dict__.get("_fitted")
        if fitted is not None and name in fitted.attributes:
            return fitted.attributes[name]
        if hasattr(type(self), name):  # a property raised: raise again, with its own message
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
        state = self.__dict__.copy()  # copied at once, as another thread may publish a fit
        if "_fitted" in state:
            state["_fitted"] = _to_plain(self.fitted_)  # with changes to `estimators_` applied
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__({name: _from_plain(value) for name, value in state.items()})


def publish(estimator: FittedState, fitted: Fitted) -> None:
    estimator._publish(fitted)


def _to_plain(value: object) -> object:
    if isinstance(value, F1Thresholds):
        return tuple(value)
    if isinstance(value, Criterion):
        return value.name
    if isinstance(value, sparse.csr_array):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        return {PLAIN_KEY: "csr_array", "shape": value.shape, **parts}
    name = type(value).__name__
    if PLAIN.get(name) is not type(value):
        return value
    if isinstance(value, OwnedArrays):
        named = value.fields()
    else:
        named = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
    if isinstance(value, Fitted):  # a predictor's tables are rebuilt on demand
        del named["predictor"]
        named["forest"] = value.forest
        if isinstance(value, BoostedFitted):
            named |= {"leaf_values": value.boosted.leaf_values, "output": value.boosted.output}
        else:
            named["blend"] = value.blend
    return {PLAIN_KEY: name, **{n: _to_plain(each) for n, each in named.items()}}


def _from_plain(value: object) -> object:
    if not (isinstance(value, dict) and PLAIN_KEY in value):
        return value
    name = value[PLAIN_KEY]
    named: dict[str, Any] = {n: _from_plain(each) for n, each in value.items() if n != PLAIN_KEY}
    if name == "csr_array":
        arrays = named["data"], named["indices"], named["indptr"]
        return sparse.csr_array(arrays, shape=named["shape"])
    if name == Targets.__name__:  # pickles of earlier versions call the criterion an impurity
        named["criterion"] = CRITERIA[named.pop("impurity", None) or named["criterion"]]
    if named.get("f1_thresholds") is not None:
        named["f1_thresholds"] = F1Thresholds(*named["f1_thresholds"])
    if name == BoostedFitted.__name__:
        parts = (named.pop(part) for part in ("forest", "leaf_values", "output"))
        named["predictor"] = BoostedPredictor.of(*parts)
    if "predictor" not in named and name == Fitted.__name__:
        trees = ForestPredictor.of(named.pop("forest"), named["targets"])
        blend = named.pop("blend", None)  # pickles of earlier versions have none
        named["predictor"] = blended(trees, blend)
    return PLAIN[name](**named)
