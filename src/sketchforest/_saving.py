"""A fitted estimator as a model file, and back: what is said of the arrays, in JSON."""

import dataclasses
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sketchforest._grow import GrowSettings
from sketchforest.model_file import Model, read_model, write_model
from sketchforest.projection import resolve_projection

# Fitted attributes that are plain values, kept where an estimator has them.
PLAIN = ("_sparse_labels", "_is_vector", "_is_relabelled", "_number", "oob_score_")


def save_estimator(estimator: Any, path: str | os.PathLike[str]) -> None:
    check_is_fitted(estimator)
    state = vars(estimator)
    settings = dataclasses.asdict(dataclasses.replace(estimator._settings, projection=None))
    about = {
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
    write_model(path, Model(estimator._forest, estimator._labels, about))


def load_estimator(kinds: dict[str, type], path: str | os.PathLike[str], mmap: bool) -> Any:
    forest, labels, about = read_model(path, mmap)
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
            state["_classes"] = classes
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"path must name a whole sketchforest model; '{path}' is not one: {error}. "
            "Save it again."
        ) from error
    vars(estimator).update(state)
    estimator._keep(forest, labels)
    vars(estimator).update({name: state[name] for name in PLAIN if name in state})
    return estimator


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
