"""A fitted estimator as a model file, and back: what is said of the arrays, in JSON."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NotRequired, Protocol, TypedDict, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sketchforest._saving.container import DamagedError
from sketchforest._saving.json_values import Json, arguments, converted, to_json
from sketchforest._saving.model_file import Model, read_model, write_model
from sketchforest._saving.vectorizer import restore_vectorizer, vectorizer_state
from sketchforest._trees.grow import GrowSettings
from sketchforest._trees.model import Forest, Labels
from sketchforest.projection import resolve_projection

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

# Fitted attributes that are plain values, kept where an estimator has them.
PLAIN = ("_sparse_labels", "_is_vector", "_is_relabelled", "_number", "oob_score_")
# Names that a file carries for its readers; the estimators themselves count from 0.
NAMES = ("label_names", "feature_names")


class Estimator(Protocol):
    """What is asked of an estimator to be saved and loaded."""

    _forest: Forest
    _labels: Labels
    _settings: GrowSettings
    n_features_in_: int

    def get_params(self, deep: bool = True) -> dict[str, object]: ...

    def _keep(self, forest: Forest, labels: Labels) -> None: ...


E = TypeVar("E", bound=Estimator)


class About(TypedDict):
    """What a file says of its arrays."""

    library_version: str
    estimator: str
    params: dict[str, Json]
    state: dict[str, Json]
    settings: dict[str, Json]
    is_projected: bool
    n_features_in: int
    feature_names_in: list[str] | None
    classes: list[Json] | None
    classes_dtype: str | None
    label_dtype: str | None
    text: NotRequired[dict[str, Json]]  # of the vectorizer
    label_names: list[str] | None
    feature_names: list[str] | None
    notes: dict[str, Json] | None


# The same for a file that is read; its numbers of columns are checked with its arrays.
_TYPES: dict[str, tuple[type, ...]] = {
    "estimator": (str,),
    "params": (dict,),
    "state": (dict,),
    "settings": (dict,),
    "is_projected": (bool,),
    "feature_names_in": (list, type(None)),
    "classes": (list, type(None)),
    "classes_dtype": (str, type(None)),
    "label_dtype": (str, type(None)),
    "label_names": (list, type(None)),
    "feature_names": (list, type(None)),
    "notes": (dict, type(None)),
}


def save_estimator(
    estimator: Estimator,
    path: str | os.PathLike[str],
    compact: bool = False,
    names: Mapping[str, Sequence[str] | np.ndarray] | None = None,
    vectorizer: "TfidfVectorizer | None" = None,
    notes: dict[str, Json] | None = None,
) -> None:
    """Names, vectorizer and notes are those that the estimator was loaded with, unless given."""
    from sketchforest import __version__

    check_is_fitted(estimator)
    state = vars(estimator)
    forest = estimator._forest
    if compact:
        forest = dataclasses.replace(forest, gains=None)
    more = {}
    if "thresholds_" in state:
        more["thresholds"] = np.asarray(state["thresholds_"], np.float32)
    given = {name: state.get(f"{name}_") for name in NAMES} | dict(names or {})
    vectorizer = state.get("vectorizer_") if vectorizer is None else vectorizer
    text = {}
    if vectorizer is not None:
        text["text"], given["feature_names"], more["idf"] = vectorizer_state(vectorizer)
    settings = dataclasses.asdict(dataclasses.replace(estimator._settings, projection=None))
    about = {
        "library_version": __version__,
        "estimator": type(estimator).__name__,
        "params": to_json(estimator.get_params(deep=False)),
        "state": {name: state[name] for name in PLAIN if name in state},
        "settings": settings,
        "is_projected": estimator._settings.projection is not None,
        "n_features_in": estimator.n_features_in_,
        "feature_names_in": _as_list(state.get("feature_names_in_")),
        "classes": _as_list(state.get("_classes")),
        "classes_dtype": _type_name(state.get("_classes")),
        "label_dtype": state["_label_dtype"].str if "_label_dtype" in state else None,
        **text,
        **_check_names(given, estimator),
        "notes": state.get("notes_") if notes is None else notes,
    }
    write_model(path, Model(forest, estimator._labels, about, more))


def load_estimator(kinds: Mapping[str, type[E]], path: str | os.PathLike[str], mmap: bool) -> E:
    """The estimator in a file, of one of those kinds by name."""
    try:
        return _restored(kinds, read_model(path, mmap))
    except DamagedError as error:
        raise ValueError(
            f"path must name a whole sketchforest model; '{path}' is not one: {error}. "
            "Save it again."
        ) from error


def _restored(kinds: Mapping[str, type[E]], model: Model) -> E:
    """What can only be wrong in the file is checked before it is used: any error but DamagedError
    is a mistake of ours."""
    forest, labels, _, more = model
    about = _check_about(model.about, kinds)
    kind = kinds[about["estimator"]]
    params = arguments(kind, about["params"])
    estimator = kind(**params)
    state = _state(about, labels, params)
    vars(estimator).update(state)
    estimator._keep(forest, labels)
    vars(estimator).update(state)  # the score among it, which `_keep` takes for one of other trees
    names = {name: about[name] for name in NAMES if about[name] is not None}  # type: ignore[literal-required]
    try:
        _check_names(names, estimator)
    except ValueError as error:
        raise DamagedError(str(error).rstrip(".")) from error
    vars(estimator).update({f"{name}_": np.array(given) for name, given in names.items()})
    if about["notes"] is not None:
        vars(estimator)["notes_"] = about["notes"]
    if "text" in about:
        vectorizer = restore_vectorizer(about["text"], names.get("feature_names"), more.get("idf"))
        vars(estimator)["vectorizer_"] = vectorizer
    if "thresholds" in more:
        if more["thresholds"].shape not in ((), (labels.shape[1],)):
            raise DamagedError("thresholds have another number")
        vars(estimator)["thresholds_"] = more["thresholds"][()]
    return estimator


def _check_about(about: Mapping[str, object], kinds: Mapping[str, type]) -> About:
    for name, types in _TYPES.items():
        if name not in about or not isinstance(about[name], types):
            raise DamagedError(f"its {name} cannot be read")
    if not isinstance(about.get("text", {}), dict):
        raise DamagedError("its vectorizer cannot be read")
    if about["estimator"] not in kinds:
        raise DamagedError(f"there is no estimator {about['estimator']!r}")
    return cast(About, about)


def _state(about: About, labels: Labels, params: Mapping[str, object]) -> dict[str, object]:
    """Fitted attributes by name."""
    state: dict[str, object] = {n: about["state"][n] for n in PLAIN if n in about["state"]}
    projection = None
    if about["is_projected"]:
        projection = converted(resolve_projection, params.get("projection"))
    settings = arguments(GrowSettings, about["settings"]) | {"projection": projection}
    state["_settings"] = GrowSettings(**settings)  # type: ignore[arg-type]
    state["n_features_in_"] = about["n_features_in"]
    if about["feature_names_in"] is not None:
        state["feature_names_in_"] = np.array(about["feature_names_in"], dtype=object)
    if about["label_dtype"] is not None:
        state["_label_dtype"] = converted(np.dtype, about["label_dtype"])
        state["_classes"] = _classes(about, labels)
    return state


def _classes(about: About, labels: Labels) -> np.ndarray | None:
    if about["classes"] is None:
        return None
    classes = converted(np.array, about["classes"], about["classes_dtype"])
    if classes.shape != (labels.shape[1],):
        raise DamagedError("classes have another number")
    return classes


def _check_names(
    names: Mapping[str, Sequence[str] | np.ndarray | None], estimator: Estimator
) -> dict[str, list[str] | None]:
    """As lists, one name for each label and for each feature."""
    lengths = {
        "label_names": estimator._labels.shape[1],
        "feature_names": estimator.n_features_in_,
    }
    for name, given in names.items():
        if given is not None and len(given) != lengths[name]:
            raise ValueError(
                f"{name} must have one name for each of {lengths[name]}; got {len(given)}."
            )
    return {name: None if given is None else list(map(str, given)) for name, given in names.items()}


def _as_list(array: np.ndarray | None) -> list | None:
    return None if array is None else array.tolist()


def _type_name(array: np.ndarray | None) -> str | None:
    return None if array is None else array.dtype.str
