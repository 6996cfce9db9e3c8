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
    They become float32 if that loses nothing. `standardizes`: each of several dense outputs counts
    alike, whatever its unit.
    """
    if isinstance(labels, SparseRows):
        if not may_scale or labels.values is None:
            return SearchOutputs(labels, 0)
        exponent = int(np.frexp(np.abs(labels.values).max(initial=0))[1])
        values = np.ldexp(labels.values, -exponent)
        return SearchOutputs(SparseRows(**labels.fields() | {"values": values}), exponent)
    outputs, exponent = _scaled(labels, rows) if may_scale else (labels, 0)
    if standardizes and may_scale and outputs.shape[1] > 1:
        outputs = _standardized(outputs, rows)
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


def _standardized(outputs: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    """With the same variance in each column that varies, near the mean of their variances."""
    counted = outputs if rows is None else outputs[rows]
    spread = counted.std(axis=0)
    varies = spread > ROUNDING * np.abs(counted).max(axis=0)
    if not varies.any():
        return outputs
    # A power of two, so that trees do not depend on the unit to the last digit.
    exponent = int(np.round(np.log2((spread[varies] ** 2).mean()) / 2))
    return np.where(varies, np.ldexp(outputs / np.where(varies, spread, 1), exponent), outputs)


def _centred(labels: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    counted = labels if rows is None else labels[rows]
    mean, spread = counted.mean(axis=0), counted.std(axis=0)
    # Shifted by a multiple of a power of two near the spread, integers keep exact sums, and splits
    # keep their ties.
    grid = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=spread > 0)))
    is_far = np.abs(mean) > 4 * spread
    return labels - np.where(is_far, grid * np.round(mean / grid), 0)
