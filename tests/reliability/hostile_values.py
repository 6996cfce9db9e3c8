"""Arrays and numbers like given ones, but extreme, or of another shape, layout or type."""

from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator

# Sizes between these are legal, and take the memory of the machine, or hours.
INTEGERS = [
    *(0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 100, 255, 256, 1000, 65535, 65536, 100_000),
    *(-1, -2, -(2**31), -(2**63), 2**31, 2**32 - 1, 2**32, 2**33, 2**40, 2**60, 2**61, 2**62),
    *(2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30),
]
FLOATS = [
    *(0.0, -0.0, 0.5, 0.51, 1.0, -1.0, 1.5, 2.0, 255.0, 256.0, 1e-30, 1e19, -1e19, 1e30, 1e38),
    *(3.4e38, 3.5e38, 1e154, 1e300, 1e308, -1e308, 1.7e308, 1e-308, 5e-324, -5e-324),
    *(float("nan"), float("inf"), float("-inf")),
]
TYPES = [
    *("bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "O"),
    *("S3", "M8[s]", ">i4", ">f8", "V4"),
]


def choice(rng: Rng, of: list[Any]) -> Any:
    return of[int(rng.integers(len(of)))]


def _other_values(array: np.ndarray, rng: Rng) -> np.ndarray:
    array = array.copy()
    flat = array.reshape(-1)
    if not len(flat):
        return array
    places = rng.integers(len(flat), size=int(choice(rng, [1, 1, 2, len(flat)])))
    if rng.random() < 0.2:
        places = np.array([choice(rng, [0, len(flat) - 1])])
    kinds = ["extreme", "other", "near", "swapped", "sorted", "shuffled", "row", "same"]
    kind = choice(rng, kinds)
    if array.dtype.kind in "iub" and kind == "extreme":
        info = np.iinfo(np.uint8 if array.dtype.kind == "b" else array.dtype)
        values = np.array(choice(rng, [info.min, info.max, info.max - 1, 0, 1, info.max // 2 + 1]))
        flat[places] = values.astype(array.dtype)
    elif kind in ("extreme", "other"):
        flat[places] = np.array(choice(rng, FLOATS[:14] if rng.random() < 0.3 else FLOATS)).astype(
            array.dtype
        )
    elif kind == "near":
        flat[places] = flat[places] + np.array(choice(rng, [1, -1, 2])).astype(array.dtype)
    elif kind == "swapped":
        flat[places] = flat[rng.integers(len(flat), size=len(places))]
    elif kind == "sorted":
        flat.sort()
    elif kind == "shuffled":
        rng.shuffle(array)
    elif kind == "row" and array.ndim > 1:
        array[rng.integers(len(array))] = array[rng.integers(len(array))]
    else:
        flat[:] = flat[places[0]]
    return array


def _other_shape(array: np.ndarray, rng: Rng) -> np.ndarray:
    n, shape = len(array) if array.ndim else 0, array.shape
    last = array[-1:] if n else np.zeros((1, *shape[1:]), array.dtype)
    makers: list[Callable[[], np.ndarray]] = [
        lambda: array[:-1],
        lambda: array[: n // 2],
        lambda: array[:0],
        lambda: array[1:],
        lambda: np.concatenate([array, last]),
        lambda: np.concatenate([array, array]),
        lambda: array.reshape(-1),
        lambda: array.reshape(1, *shape),
        lambda: array.reshape(*shape, 1),
        lambda: array.reshape(-1, 1),
        lambda: array.reshape(-1)[0],
        lambda: array.T.copy(),
        lambda: np.zeros((*shape[:-1], 0), array.dtype),
        lambda: np.zeros((0,) * max(array.ndim, 1), array.dtype),
        lambda: np.concatenate([array, array], axis=-1),
        lambda: np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, int(rng.integers(1, 9)))]),
        lambda: np.ascontiguousarray(array[..., :-1]),
    ]
    return choice(rng, makers)()


def misaligned(array: np.ndarray) -> np.ndarray:
    room = np.zeros(array.nbytes + array.itemsize, np.uint8)[1 : 1 + array.nbytes]
    moved = room.view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def _other_layout(array: np.ndarray, rng: Rng) -> np.ndarray:
    wide = np.repeat(array, 2, axis=-1)
    fields = np.zeros(array.shape, [("pad", "u1"), ("value", array.dtype)])
    fields["value"] = array
    makers: list[Callable[[], np.ndarray]] = [
        lambda: misaligned(array),
        lambda: misaligned(array),
        lambda: wide[..., ::2],
        lambda: array[::-1].copy()[::-1],
        lambda: array[..., ::-1],
        lambda: np.asfortranarray(array),
        lambda: array.T,
        lambda: np.broadcast_to(array[:1], array.shape),
        lambda: np.broadcast_to(array[..., :1], array.shape),
        lambda: fields["value"],
    ]
    made = choice(rng, makers)()
    if rng.random() < 0.1:
        made.flags.writeable = False
    return made


def _other_type(array: np.ndarray, rng: Rng) -> np.ndarray:
    dtype = choice(rng, TYPES)
    if rng.random() < 0.3 and np.dtype(dtype).itemsize == array.itemsize:
        return array.copy().view(dtype)
    return array.astype(dtype)


def other_array(array: np.ndarray, rng: Rng, arrays: list[np.ndarray]) -> object:
    if rng.random() < 0.1:
        return choice(rng, arrays).copy()
    makers = [_other_values, _other_values, _other_shape, _other_layout, _other_type]
    return choice(rng, makers)(array, rng)


def other_number(value: float, rng: Rng) -> object:
    if rng.random() < 0.3:
        return value + int(rng.integers(-2, 3))
    return choice(rng, FLOATS if isinstance(value, float) or rng.random() < 0.1 else INTEGERS)
