"""Conversion of oblique directions to arrays of a model file, and back."""

from collections.abc import Mapping

import numpy as np

from sketchforest._saving.container import CorruptModelError
from sketchforest._trees.model import ForestDirections
from sketchforest._trees.oblique_features import FeatureMap

_DIRECTIONS: dict[str, type[np.generic]] = {
    "start": np.int64,
    "columns": np.int32,
    "weights": np.uint16,
    "is_oblique": np.uint8,
}
_FEATURES: dict[str, type[np.generic]] = {
    "idf": np.float32,
    "scale": np.float64,
    "level_start": np.int64,
    "bounds": np.float64,
    "levels": np.float32,
    "mean": np.float64,
    "spread": np.float64,
}
_OF_NODES = tuple(f"directions.{name}" for name in _DIRECTIONS)
_OF_FEATURES = tuple(f"features.{name}" for name in _FEATURES)
DIRECTION_ARRAYS = (*_OF_NODES, *_OF_FEATURES)


def direction_arrays(directions: ForestDirections | None) -> dict[str, np.ndarray | None]:
    if directions is None:
        return {}
    return {f"directions.{name}": getattr(directions, name) for name in _DIRECTIONS}


def feature_arrays(features: FeatureMap | None) -> dict[str, np.ndarray | None]:
    if features is None:
        return {}
    return {f"features.{name}": getattr(features, name) for name in _FEATURES}


def read_directions(
    arrays: Mapping[str, np.ndarray], features: FeatureMap | None
) -> ForestDirections | None:
    """Read arrays of the right types; the forest checks the rest."""
    if arrays.keys().isdisjoint(_OF_NODES):
        return None
    _check(features is not None)
    assert features is not None
    found = {name: _vector(arrays, "directions", name, t) for name, t in _DIRECTIONS.items()}
    return ForestDirections(**found, feature_map=features)


def read_features(arrays: Mapping[str, np.ndarray], n_features: int) -> FeatureMap | None:
    """Read the features that oblique trees and the linear part see."""
    if arrays.keys().isdisjoint(_OF_FEATURES):
        return None
    found = {
        name: _vector(arrays, "features", name, t)
        for name, t in _FEATURES.items()
        if f"features.{name}" in arrays
    }
    kinds = ({"idf"}, {"scale"}, {"level_start", "bounds", "levels"}, {"mean", "spread"})
    _check(found.keys() in kinds)
    _check(all(bool(np.isfinite(array).all()) for array in found.values()))
    if "idf" in found:
        _check(len(found["idf"]) == n_features)
    elif "scale" in found:
        _check(len(found["scale"]) == 1 and bool(found["scale"][0] >= 0))
    elif "mean" in found:
        _check(len(found["mean"]) == n_features == len(found["spread"]))
        _check(bool((found["spread"] > 0).all()))
    else:
        start, n_levels = found["level_start"], len(found["levels"])
        _check(len(start) == n_features + 1 and len(found["bounds"]) == n_levels)
        is_bounded = start[0] == 0 and start[-1] == n_levels
        _check(bool(is_bounded and (np.diff(start) > 0).all()))
    return FeatureMap(n_features, **found)


def _vector(
    arrays: Mapping[str, np.ndarray], group: str, name: str, dtype: type[np.generic]
) -> np.ndarray:
    array = arrays.get(f"{group}.{name}")
    if array is None or array.ndim != 1 or array.dtype != dtype:
        raise CorruptModelError(f"missing or invalid array {group}.{name}")
    return array


def _check(holds: bool) -> None:
    if not holds:
        raise CorruptModelError("features do not match the trees")
