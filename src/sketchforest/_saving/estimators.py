"""A fitted estimator as a model file, and back: what is said of the arrays, in JSON."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sketchforest._saving.model_file import Model, damaged, read_model, write_model
from sketchforest._saving.vectorizer import restore_vectorizer, vectorizer_state
from sketchforest._trees.grow import GrowSettings
from sketchforest.projection import resolve_projection

# Fitted attributes that are plain values, kept where an estimator has them.
PLAIN = ("_sparse_labels", "_is_vector", "_is_relabelled", "_number", "oob_score_")
# Names that a file carries for its readers; the estimators themselves count from 0.
NAMES = ("label_names", "feature_names")


def save_estimator(
    estimator: Any,
    path: str | os.PathLike[str],
    compact: bool = False,
    names: Mapping[str, Any] | None = None,
    vectorizer: Any = None,
    notes: dict[str, Any] | None = None,
) -> None:
    """Names, vectorizer and notes are those that the estimator was loaded with, unless given."""
    from sketchforest import __version__

    check_is_fitted(estimator)
    state = vars(estimator)
    forest = estimator._forest
    if compact:
        forest = dataclasses.replace(forest, gains=None)
    settings = dataclasses.asdict(dataclasses.replace(estimator._settings, projection=None))
    about = {
        "library_version": __version__,
        "estimator": type(estimator).__name__,
        "params": {
            name: _to_json(name, value) for name, value in estimator.get_params(deep=False).items()
        },
        "state": {name: state[name] for name in PLAIN if name in state},
        "settings": settings,
        "is_projected": estimator._settings.projection is not None,
        "n_features_in": estimator.n_features_in_,
        "feature_names_in": _names(state.get("feature_names_in_")),
        "classes": _names(state.get("_classes")),
        "classes_dtype": _dtype_name(state.get("_classes")),
        "label_dtype": state["_label_dtype"].str if "_label_dtype" in state else None,
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


def load_estimator(kinds: dict[str, type], path: str | os.PathLike[str], mmap: bool) -> Any:
    forest, labels, about, more = read_model(path, mmap)
    try:
        kind = kinds[about["estimator"]]
        estimator = kind(**{name: _from_json(value) for name, value in about["params"].items()})
        state = {name: about["state"][name] for name in PLAIN if name in about["state"]}
        projection = resolve_projection(estimator.projection) if about["is_projected"] else None
        state["_settings"] = GrowSettings(**(about["settings"] | {"projection": projection}))
        state["n_features_in_"] = int(about["n_features_in"])
        if about["feature_names_in"] is not None:
            state["feature_names_in_"] = np.array(about["feature_names_in"], dtype=object)
        if about["label_dtype"] is not None:
            state["_label_dtype"] = np.dtype(about["label_dtype"])
            classes = about["classes"]
            if classes is not None:
                classes = np.array(classes, dtype=about["classes_dtype"])
                if classes.shape != (labels.shape[1],):
                    raise ValueError("classes have another number")
            state["_classes"] = classes
        vars(estimator).update(state)
        estimator._keep(forest, labels)
        vars(estimator).update({name: state[name] for name in PLAIN if name in state})
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
