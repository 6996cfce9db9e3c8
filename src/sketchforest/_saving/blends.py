"""The linear part of a model and its corrections, to arrays of a model file and back."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from sketchforest._saving.container import CorruptModelError
from sketchforest._trees.blended import Blend
from sketchforest._trees.linear import LinearModel
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.targets import Targets

WEIGHT, OF_TREES = "_linear_weight", "_weight_of_trees"
_LINEAR: dict[str, tuple[type[np.generic], int]] = {
    "linear_weights": (np.float32, 2),
    "linear_scale": (np.float64, 1),
    "linear_intercept": (np.float64, 1),
    "linear_basis": (np.float32, 2),
}
_CORRECTIONS: dict[str, tuple[type[np.generic], int]] = {
    "correction_start": (np.int64, 1),
    "correction_columns": (np.int32, 1),
    "correction_factors": (np.float32, 1),
}
_OFFSET = "blend_offset"
MOST_WEIGHT = 1e6  # numbers can be stretched
BLEND_ARRAYS = (*_LINEAR, *_CORRECTIONS, _OFFSET)


def blend_arrays(blend: Blend | None) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    if blend is not None and blend.linear is not None:
        linear = blend.linear
        given = (linear.weights, linear.scale, linear.intercept, linear.basis)
        arrays |= {n: v for n, v in zip(_LINEAR, given, strict=True) if v is not None}
    if blend is not None and blend.corrections is not None:
        found = blend.corrections
        values = (found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data)
        arrays |= dict(zip(_CORRECTIONS, values, strict=True))
    if blend is not None and blend.offset is not None:
        arrays[_OFFSET] = blend.offset
    return arrays


def blend_numbers(blend: Blend | None) -> dict[str, float]:
    if blend is None:
        return {}
    of_linear = {} if blend.linear is None else {WEIGHT: blend.weight}
    return {OF_TREES: blend.of_trees, **of_linear}


def read_blend(
    arrays: Mapping[str, np.ndarray],
    state: Mapping[str, float],
    feature_map: FeatureMap | None,
    targets: Targets,
) -> Blend | None:
    """Read what belongs to a blend; None if the trees predict alone."""
    blend, n_outputs = Blend.of(targets), targets.labels.shape[1]
    linear = {name: _array(arrays, name, *kind) for name, kind in _LINEAR.items()}
    corrections = {name: _array(arrays, name, *kind) for name, kind in _CORRECTIONS.items()}
    has_linear = any(array is not None for array in linear.values())
    _check(has_linear == (WEIGHT in state))
    if has_linear:
        _check(feature_map is not None and 0 <= state[WEIGHT] <= MOST_WEIGHT)
        found, weight = _linear(linear, feature_map, n_outputs), float(state[WEIGHT])
        blend = blend.but(linear=found, weight=weight, of_trees=1 - weight)
    if OF_TREES in state:  # older files have none
        _check(0 <= state[OF_TREES] <= MOST_WEIGHT)
        blend = blend.but(of_trees=float(state[OF_TREES]))
    offset = _array(arrays, _OFFSET, np.float64, 1)
    if offset is not None:
        _check(len(offset) == n_outputs)
        blend = blend.but(offset=offset)
    if any(array is not None for array in corrections.values()):
        blend = blend.but(corrections=_corrections(corrections, n_outputs))
    parts = blend.linear, blend.corrections, blend.offset
    return None if all(part is None for part in parts) else blend


def _linear(
    arrays: Mapping[str, np.ndarray | None], feature_map: FeatureMap | None, n_outputs: int
) -> LinearModel:
    basis = arrays["linear_basis"]
    weights, scale, intercept = _given(list(arrays.values())[:3])
    assert feature_map is not None
    n_weighted = feature_map.n_features
    if basis is not None:
        _check(basis.shape[0] == n_weighted)
        n_weighted = basis.shape[1]
    _check(weights.shape == (n_weighted, n_outputs))
    _check(scale.shape == intercept.shape == (n_outputs,))
    return LinearModel(feature_map, weights, scale, intercept, basis)


def _corrections(arrays: Mapping[str, np.ndarray | None], n_outputs: int) -> sparse.csr_array:
    start, columns, factors = _given(list(arrays.values()))
    _check(len(start) == n_outputs + 1 and start[0] == 0 and start[-1] == len(columns))
    _check(bool((np.diff(start) >= 0).all()) and len(columns) == len(factors))
    _check(bool(((columns >= 0) & (columns < n_outputs)).all()))
    return sparse.csr_array((factors, columns, start), shape=(n_outputs, n_outputs))


def _given(arrays: list[np.ndarray | None]) -> list[np.ndarray]:
    found = [array for array in arrays if array is not None]
    _check(len(found) == len(arrays))
    return found


def _array(
    arrays: Mapping[str, np.ndarray], name: str, dtype: type[np.generic], n_axes: int
) -> np.ndarray | None:
    array = arrays.get(name)
    if array is not None:
        is_right = array.dtype == dtype and array.ndim == n_axes
        _check(is_right and (array.dtype.kind != "f" or bool(np.isfinite(array).all())))
    return array


def _check(holds: bool) -> None:
    if not holds:
        raise CorruptModelError("the linear part or the corrections do not match the labels")
