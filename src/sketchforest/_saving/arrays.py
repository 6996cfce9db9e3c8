"""The arrays that a model file may have, with their types and numbers of axes."""

from collections.abc import Collection, Mapping

import numpy as np

from sketchforest._saving.container import CorruptModelError

# NumPy's types without byte order, then numbers of axes.
TREES = {
    **{"nodes": "i4 2", "thresholds": "f8 1", "gains": "f4 1", "member_start": "u4 1"},
    **{"members": "i4 1", "weights": "f8/u1 1", "depths": "i4 1", "node_start": "i8 1"},
    **{"leaf_start": "i8 1", "tree_members": "i8 1", "tree_weights": "f8 1"},
}
LABELS = {"row_start": "i8 1", "columns": "i4 1", "values": "f4 1"}
DIRECTIONS = {"start": "i8 1", "columns": "i4 1", "weights": "u2 1", "is_oblique": "u1 1"}
FEATURES = {
    **{"idf": "f4 1", "scale": "f8 1", "mean": "f8 1", "spread": "f8 1"},
    **{"level_start": "i8 1", "bounds": "f8 1", "levels": "f4 1"},
}
LINEAR = {
    **{"linear_weights": "f4 2", "linear_scale": "f8 1", "linear_intercept": "f8 1"},
    "linear_basis": "f4 2",
}
CORRECTIONS = {
    **{"correction_start": "i8 1", "correction_columns": "i4 1", "correction_factors": "f4 1"},
}
BLEND = LINEAR | CORRECTIONS | {"blend_offset": "f8 1"}
ARRAYS = {
    **{f"forest.{name}": kind for name, kind in TREES.items()},
    **{f"labels.{name}": kind for name, kind in LABELS.items()},
    "labels.dense": "f8 2",
    **{f"directions.{name}": kind for name, kind in DIRECTIONS.items()},
    **{f"features.{name}": kind for name, kind in FEATURES.items()},
    **{f"more.{name}": kind for name, kind in BLEND.items()},
    **{"more.thresholds": "f4/f8 0/1", "more.threshold_for_all": "f4/f8 0"},
    **{"more.threshold_for_each": "f4/f8 0/1", "more.idf": "f8 1", "more.row_hashes": "i8 1"},
    **{"more.row_numbers": "i8 1", "more.row_ids": "u1 1", "more.row_ids_start": "i8 1"},
    **{"more.row_texts": "u1 1", "more.row_texts_start": "i8 1"},
    **{"more.calibration_scores": "f8 1", "more.calibration_probabilities": "f8 1"},
    **{"more.baseline": "f8 1", "more.scale": "f8 1"},
    **{"more.train_scores": "f8 1", "more.validation_scores": "f8 1"},
}


def check_arrays(arrays: Mapping[str, np.ndarray], kinds: Mapping[str, str] = ARRAYS) -> None:
    """Raise unless all arrays are known and of their kind; the core checks the forest further."""
    for name, array in arrays.items():
        if name not in kinds:
            raise CorruptModelError(f"unknown array {name!r}")
        types, axes = (part.split("/") for part in kinds[name].split())
        if array.dtype.str[1:] not in types or str(array.ndim) not in axes:
            raise CorruptModelError(f"wrong type or shape of {name}")
        # The trees may have missing importances, and the core looks at their other numbers.
        if not name.startswith("forest.") and not _is_finite(array):
            raise CorruptModelError(f"non-finite number in {name}")


def taken(
    arrays: Mapping[str, np.ndarray],
    names: Collection[str],
    prefix: str = "",
    optional: Collection[str] = (),
) -> dict[str, np.ndarray]:
    """Return arrays by name; raise if one is missing that is not optional."""
    for name in names:
        if name not in optional and prefix + name not in arrays:
            raise CorruptModelError(f"missing array {prefix}{name}")
    return {name: arrays[prefix + name] for name in names if prefix + name in arrays}


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())
