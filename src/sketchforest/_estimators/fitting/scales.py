"""Rescaling of Y and weights, so that squares and sums neither overflow nor underflow.

Scales are powers of two, so no digit changes. Trees do not depend on the unit of Y, and only ratios
of weights matter.
"""

from typing import NamedTuple

import numpy as np

from sketchforest._trees.model import Labels, SparseRows

# Weights within 2**64 of 1 are kept, so that means with integer weights stay exact.
MAX_EXPONENT = 64
# Standard deviation of a constant output, at most, relative to its value.
ROUNDING = 1e-12


class SearchOutputs(NamedTuple):
    labels: Labels
    exponent: int  # labels are the original ones divided by 2**exponent


def search_outputs(
    labels: Labels,
    rows: np.ndarray | None,
    *,
    may_scale: bool = True,
    may_shift: bool = True,
    standardizes: bool = False,
) -> SearchOutputs:
    """The labels to search splits on, or to project.

    Dense labels are shifted towards zero, where floats are more precise, which changes no score.
    They become float32 if that loses nothing. With `standardizes`, all real outputs count alike,
    whatever their units.
    """
    standardizes = standardizes and may_scale and labels.shape[1] > 1
    if isinstance(labels, SparseRows):
        if not may_scale or labels.data is None:
            return SearchOutputs(labels, 0)
        values, exponent = _scaled(labels.data, None)
        if standardizes:
            scaled = SparseRows(**labels.fields() | {"data": values})
            values, more = _scaled(values / _divisors_of_sparse(scaled, rows)[labels.indices], None)
            exponent += more
        return SearchOutputs(SparseRows(**labels.fields() | {"data": values}), exponent)
    outputs, exponent = _scaled(labels, rows) if may_scale else (labels, 0)
    if standardizes:
        counted = outputs if rows is None else outputs[rows]
        spread = counted.std(axis=0)
        outputs = outputs / _divisors(spread, spread > ROUNDING * np.abs(counted).max(axis=0))
    outputs = _centred(outputs, rows) if may_shift else outputs
    if may_scale:
        outputs, more = _scaled(outputs, rows)
        exponent += more
    with np.errstate(over="ignore"):
        narrow = outputs.astype(np.float32)
    return SearchOutputs(narrow if np.array_equal(narrow, outputs) else outputs, exponent)


def rescale_weights(weights: np.ndarray) -> np.ndarray:
    """Rescale weights whose sums or products could overflow; the smallest may become 0."""
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) <= MAX_EXPONENT else np.ldexp(weights, -exponent)


def _scaled(outputs: np.ndarray, rows: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Scaled so that the largest absolute value of the rows is in [1/2, 1)."""
    counted = outputs if rows is None else outputs[rows]
    exponent = int(np.frexp(np.abs(counted).max(initial=0))[1])
    return np.ldexp(outputs, -exponent), exponent


def _divisors_of_sparse(outputs: SparseRows, rows: np.ndarray | None) -> np.ndarray:
    counted = outputs.to_csr() if rows is None else outputs.to_csr()[rows]
    mean = counted.mean(axis=0)
    square = (counted * counted).mean(axis=0)
    variance = np.maximum(square - mean**2, 0)
    return _divisors(np.sqrt(variance), variance > ROUNDING * square)


def _divisors(spread: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Divisors that give varying columns the same variance, near the mean of their variances."""
    if not varies.any():
        return np.ones(len(spread))
    # A power of two, so that trees do not depend on the unit to the last digit.
    exponent = int(np.round(np.log2((spread[varies] ** 2).mean()) / 2))
    return np.where(varies, np.ldexp(spread, -exponent), 1.0)


def _centred(labels: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    counted = labels if rows is None else labels[rows]
    mean, spread = counted.mean(axis=0), counted.std(axis=0)
    # Shifted by a multiple of a power of two near the spread, integers keep exact sums, and splits
    # keep their ties.
    grid = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=spread > 0)))
    is_far = np.abs(mean) > 4 * spread
    return labels - np.where(is_far, grid * np.round(mean / grid), 0)
