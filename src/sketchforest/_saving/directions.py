"""Conversion of oblique directions to arrays of a model file, and back."""

from collections.abc import Mapping

import numpy as np

from sketchforest._saving.arrays import DIRECTIONS, FEATURES, taken
from sketchforest._saving.container import CorruptModelError
from sketchforest._trees.model import ForestDirections
from sketchforest._trees.oblique_features import FeatureMap


def direction_arrays(
    directions: ForestDirections | None, features: FeatureMap | None
) -> dict[str, np.ndarray | None]:
    of_nodes = {f"directions.{name}": getattr(directions, name, None) for name in DIRECTIONS}
    return of_nodes | {f"features.{name}": getattr(features, name, None) for name in FEATURES}


def read_directions(
    arrays: Mapping[str, np.ndarray], features: FeatureMap | None
) -> ForestDirections | None:
    """Read the directions of oblique trees; the forest checks them further."""
    if not any(name.startswith("directions.") for name in arrays):
        return None
    _check(features is not None)
    assert features is not None
    return ForestDirections(**taken(arrays, DIRECTIONS, "directions."), feature_map=features)


def read_features(arrays: Mapping[str, np.ndarray], n_features: int) -> FeatureMap | None:
    """Read the features that oblique trees and the linear part see."""
    found = taken(arrays, FEATURES, "features.", optional=FEATURES)
    if not found:
        return None
    kinds = ({"idf"}, {"scale"}, {"level_start", "bounds", "levels"}, {"mean", "spread"})
    _check(found.keys() in kinds)
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


def _check(holds: bool) -> None:
    if not holds:
        raise CorruptModelError("features do not match the trees")
