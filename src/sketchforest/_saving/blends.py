"""The linear part of a model and its corrections, to arrays of a model file and back."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from sketchforest._saving.arrays import CORRECTIONS, LINEAR, taken
from sketchforest._saving.container import CorruptModelError
from sketchforest._trees.blended import Blend
from sketchforest._trees.linear import LinearModel
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.targets import Targets

WEIGHT, OF_TREES = "_linear_weight", "_weight_of_trees"
MOST_WEIGHT = 1e6  # numbers can be stretched


def blend_arrays(blend: Blend | None) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    if blend is not None and blend.linear is not None:
        linear = blend.linear
        given = (linear.weights, linear.scale, linear.intercept, linear.basis)
        arrays |= {n: v for n, v in zip(LINEAR, given, strict=True) if v is not None}
    if blend is not None and blend.corrections is not None:
        found = blend.corrections
        values = (found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data)
        arrays |= dict(zip(CORRECTIONS, values, strict=True))
    if blend is not None and blend.offset is not None:
        arrays["blend_offset"] = blend.offset
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
    has_linear = any(name in arrays for name in LINEAR)
    _check(has_linear == (WEIGHT in state))
    if has_linear:
        _check(feature_map is not None and 0 <= state[WEIGHT] <= MOST_WEIGHT)
        found, weight = _linear(arrays, feature_map, n_outputs), float(state[WEIGHT])
        blend = blend.but(linear=found, weight=weight, of_trees=1 - weight)
    if OF_TREES in state:  # older files have none
        _check(0 <= state[OF_TREES] <= MOST_WEIGHT)
        blend = blend.but(of_trees=float(state[OF_TREES]))
    if "blend_offset" in arrays:
        _check(len(arrays["blend_offset"]) == n_outputs)
        blend = blend.but(offset=arrays["blend_offset"])
    if any(name in arrays for name in CORRECTIONS):
        blend = blend.but(corrections=_corrections(arrays, n_outputs))
    parts = blend.linear, blend.corrections, blend.offset
    return None if all(part is None for part in parts) else blend


def _linear(
    arrays: Mapping[str, np.ndarray], feature_map: FeatureMap | None, n_outputs: int
) -> LinearModel:
    weights, scale, intercept, *basis = taken(arrays, LINEAR, optional=["linear_basis"]).values()
    assert feature_map is not None
    n_weighted = feature_map.n_features
    if basis:
        _check(basis[0].shape[0] == n_weighted)
        n_weighted = basis[0].shape[1]
    _check(weights.shape == (n_weighted, n_outputs))
    _check(scale.shape == intercept.shape == (n_outputs,))
    return LinearModel(feature_map, weights, scale, intercept, *basis)


def _corrections(arrays: Mapping[str, np.ndarray], n_outputs: int) -> sparse.csr_array:
    indptr, indices, data = taken(arrays, CORRECTIONS).values()
    _check(len(indptr) == n_outputs + 1 and indptr[0] == 0 and indptr[-1] == len(indices))
    _check(bool((np.diff(indptr) >= 0).all()) and len(indices) == len(data))
    _check(bool(((indices >= 0) & (indices < n_outputs)).all()))
    return sparse.csr_array((data, indices, indptr), shape=(n_outputs, n_outputs))


def _check(holds: bool) -> None:
    if not holds:
        raise CorruptModelError("the linear part or the corrections do not match the labels")
