"""Y and weights on scales where squares and sums neither overflow nor vanish.

Both are multiplied by powers of two, which changes no digit: trees do not depend on the unit of Y,
and only ratios of weights count.
"""

from typing import NamedTuple

import numpy as np

from sketchforest._trees.model import Labels, SparseRows

# Weights of whole numbers are kept as they are, since means of them are exact.
MODERATE_EXPONENT = 64


class SearchOutputs(NamedTuple):
    labels: Labels
    exponent: int  # they are those of the user divided by 2 to the power of it


def search_outputs(
    labels: Labels, rows: np.ndarray | None, *, may_scale: bool = True, may_move: bool = True
) -> SearchOutputs:
    """What splits are searched on, or projected from. Dense labels are moved towards zero, since
    floats keep more digits there and scores do not change, and made as narrow as they can be."""
    if isinstance(labels, SparseRows):
        return _scaled_entries(labels) if may_scale else SearchOutputs(labels, 0)
    outputs, exponent = _scaled(labels, rows) if may_scale else (labels, 0)
    outputs = _centred(outputs, rows) if may_move else outputs
    if may_scale:
        outputs, more = _scaled(outputs, rows)
        exponent += more
    with np.errstate(over="ignore"):
        narrow = outputs.astype(np.float32)
    return SearchOutputs(narrow if np.array_equal(narrow, outputs) else outputs, exponent)


def moderate_weights(weights: np.ndarray) -> np.ndarray:
    """Sums and products of which are finite; next to the largest, the smallest may become 0."""
    exponent = int(np.frexp(weights.max())[1])
    return weights if abs(exponent) <= MODERATE_EXPONENT else np.ldexp(weights, -exponent)


def _scaled(outputs: np.ndarray, rows: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Such that the largest value that counts is from 1/2 to 1."""
    counted = outputs if rows is None else outputs[rows]
    exponent = int(np.frexp(np.abs(counted).max(initial=0))[1])
    return np.ldexp(outputs, -exponent), exponent


def _scaled_entries(labels: SparseRows) -> SearchOutputs:
    if labels.values is None or not len(labels.values):
        return SearchOutputs(labels, 0)
    exponent = int(np.frexp(np.abs(labels.values).max())[1])
    values = np.ldexp(labels.values, -exponent)
    return SearchOutputs(SparseRows(**labels.fields() | {"values": values}), exponent)


def _centred(labels: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    counted = labels if rows is None else labels[rows]
    mean, spread = counted.mean(axis=0), counted.std(axis=0)
    # Moved by a multiple of a power of two near the spread, integers keep sums without rounding,
    # and so ties between splits.
    grid = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=spread > 0)))
    is_far = np.abs(mean) > 4 * spread
    return labels - np.where(is_far, grid * np.round(mean / grid), 0)
