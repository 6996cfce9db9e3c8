"""A fitted estimator as a model file, and back: what is said of the arrays, in JSON."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sketchforest._saving.model_file import Model, damaged, read_model, write_model
from sketchforest._saving.vectorizer import restore_vectorizer, vectorizer_state
from sketchforest._trees.fitted import Fitted, Targets
from sketchforest._trees.grow import GrowSettings
from sketchforest.projection import resolve_projection

# Fitted attributes that are plain values, kept where an estimator has them.
KEPT = ("_is_relabelled", "_number", "oob_score_")
# Names that a file carries for its readers; the estimators themselves count from 0.
NAMES = ("label_names", "feature_names")


def save_estimator(
    estimator: Any,
    path: str | os.PathLike[str],
    compact: bool = False,
    names: Mapping[str, Any] | None = None,
    vectorizer: Any = None,
    notes: Mapping[str, object] | None = None,
) -> None:
    """Names, vectorizer and notes are those that the estimator was loaded with, unless given."""
    from sketchforest import __version__

    check_is_fitted(estimator)
    state = vars(estimator)
    forest = estimator._forest
    if compact:
        forest = dataclasses.replace(forest, gains=None)
    targets = estimator._targets
    settings = dataclasses.asdict(dataclasses.replace(estimator._settings, projection=None))
    del settings["shared_projection"]  # it is among the parameters
    about = {
        "library_version": __version__,
        "estimator": type(estimator).__name__,
        "params": {
            name: _to_json(name, value) for name, value in estimator.get_params(deep=False).items()
        },
        "state": _plain_state(estimator),
        "settings": settings,
        "is_projected": estimator._settings.projection is not None,
        "n_features_in": estimator.n_features_in_,
        "feature_names_in": _names(state.get("feature_names_in_")),
        "classes": _names(targets.classes),
        "classes_dtype": _dtype_name(targets.classes),
        "label_dtype": None if targets.dtype is None else targets.dtype.str,
    }
    more = {}
    if "thresholds_" in state:
        more["thresholds"] = np.asarray(state["thresholds_"], np.float32)
    given = {name: state.get(f"{name}_") for name in NAMES} | dict(names or {})
    vectorizer = state.get("vectorizer_") if vectorizer is None else vectorizer
    if vectorizer is not None:
        text, given["feature_names"], more["idf"] = vectorizer_state(vectorizer)
        about["text"] = {name: _to_json(name, value) for name, value in text.items()}
    about |= _check_names(given, estimator)
    about["notes"] = state.get("notes_") if notes is None else notes
    write_model(path, Model(forest, estimator._labels, about, more))


def load_estimator(
    path: str | os.PathLike[str], find_class: Callable[[str], type], mmap: bool
) -> Any:
    forest, labels, about, more = read_model(path, mmap)
    try:
        kind = find_class(about["estimator"])
        estimator = kind(**{name: _from_json(value) for name, value in about["params"].items()})
        state = about["state"]
        more_settings = {
            "projection": resolve_projection(estimator.projection)
            if about["is_projected"]
            else None,
            "shared_projection": bool(getattr(estimator, "shared_projection", False)),
        }
        settings = GrowSettings(**(about["settings"] | more_settings))
        classes = about["classes"]
        if classes is not None:
            classes = np.array(classes, dtype=about["classes_dtype"])
            if classes.shape != (labels.shape[1],):
                raise ValueError("classes have another number")
        targets = Targets(
            labels,
            is_sparse=bool(state["_sparse_labels"]),
            classes=classes,
            dtype=None if about["label_dtype"] is None else np.dtype(about["label_dtype"]),
            is_vector=bool(state.get("_is_vector", False)),
        )
        estimator._keep(Fitted(forest, targets, settings))
        vars(estimator).update({name: state[name] for name in KEPT if name in state})
        estimator.n_features_in_ = int(about["n_features_in"])
        if about["feature_names_in"] is not None:
            estimator.feature_names_in_ = np.array(about["feature_names_in"], dtype=object)
        names = {name: about[name] for name in NAMES if about[name] is not None}
        _check_names(names, estimator)
        vars(estimator).update({f"{name}_": np.array(given) for name, given in names.items()})
        if about["notes"] is not None:
            estimator.notes_ = dict(about["notes"])
        if "text" in about:
            text = {name: _from_json(value) for name, value in about["text"].items()}
            estimator.vectorizer_ = restore_vectorizer(text, names["feature_names"], more["idf"])
        if "thresholds" in more:
            if more["thresholds"].shape not in ((), (labels.shape[1],)):
                raise ValueError("thresholds have another number")
            estimator.thresholds_ = more["thresholds"][()]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(path, str(error)) from error
    return estimator


def _plain_state(estimator: Any) -> dict[str, Any]:
    targets, state = estimator._targets, vars(estimator)
    of_targets = {"_sparse_labels": targets.is_sparse}
    if not targets.is_classification:
        of_targets["_is_vector"] = targets.is_vector
    return of_targets | {name: state[name] for name in KEPT if name in state}


def _check_names(names: Mapping[str, Any], estimator: Any) -> dict[str, list[str] | None]:
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


def _to_json(name: str, value: Any) -> Any:
    if name == "random_state":
        return int(value) if isinstance(value, int | np.integer) else None  # the seed is kept
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):  # JSON has only names as keys
        return {"pairs": [[_to_json(name, k), _to_json(name, v)] for k, v in value.items()]}
    if isinstance(value, list):
        return [_to_json(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name} must be a name, a number or None in a model file; got {value!r}. "
        "Use pickle for estimators with objects of your own."
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {_from_json(k): _from_json(v) for k, v in value["pairs"]}
    return [_from_json(item) for item in value] if isinstance(value, list) else value


def _names(array: np.ndarray | None) -> list | None:
    return None if array is None else array.tolist()


def _dtype_name(array: np.ndarray | None) -> str | None:
    return None if array is None else array.dtype.str
