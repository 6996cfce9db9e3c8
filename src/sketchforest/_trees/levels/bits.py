"""The core's random streams and halves of floats, in array code."""

import numpy as np

from sketchforest._trees.levels.nodes import Array

HALF_OF_ONE = np.uint16(0x3F80)  # the upper half of 1.0
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def numbers_of(key: Array, place: Array) -> Array:
    """(n_keys, n_places) numbers of streams; the first one has place 1."""
    return _mix(_mix(key)[:, None] + place[None, :] * _GOLDEN)


def child_keys(key: np.ndarray) -> np.ndarray:
    """(2 n,) keys of the streams of both children of each node."""
    side = np.arange(1, 3, dtype=np.uint64)[None, :]
    return np.asarray(_mix(key[:, None] + side * _GOLDEN)).ravel()


def _mix(x: Array) -> Array:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def to_halves(values: Array) -> Array:
    """The upper halves of the nearest floats that have no lower half."""
    bits = values.view(np.uint32)
    half = np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    return ((bits + half) >> np.uint32(16)).astype(np.uint16)


def from_halves(halves: Array) -> Array:
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
