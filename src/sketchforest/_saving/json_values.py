"""Parameters to JSON and back, without trusting what is read."""

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from sketchforest._saving.container import CorruptModelError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
T = TypeVar("T")


def to_json(params: Mapping[str, object]) -> dict[str, Json]:
    return {name: _to_json(name, value) for name, value in params.items()}


def _to_json(name: str, value: object) -> Json:
    if name == "random_state":
        return int(value) if isinstance(value, int | np.integer) else None  # drawn seeds are saved
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):  # JSON keys can only be strings
        return {"pairs": [[_to_json(name, k), _to_json(name, v)] for k, v in value.items()]}
    if isinstance(value, list | tuple | np.ndarray):
        return [_to_json(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name} must be a name, a number or None to be saved in a model file; got {value!r}. Use "
        "pickle for estimators with custom objects."
    )


def arguments(kind: type, params: Mapping[str, Json]) -> dict[str, object]:
    """Return what `to_json` has written as keyword arguments of `kind`."""
    known = inspect.signature(kind).parameters
    unknown = [name for name in params if name not in known]
    if unknown:
        raise CorruptModelError(f"unknown parameter {unknown[0]!r} of {kind.__name__}")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in params:
            raise CorruptModelError(f"missing parameter {name!r} of {kind.__name__}")
    return {name: _from_json(value) for name, value in params.items()}


def _from_json(value: Json) -> object:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    pairs, found = value.get("pairs"), {}
    for pair in pairs if isinstance(pairs, list) else [None]:
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list | dict):
            raise CorruptModelError("invalid parameter")
        found[pair[0]] = _from_json(pair[1])
    return found


def try_convert(convert: Callable[..., T], *values: object) -> T:
    """Call a function with values from a file; if it refuses them, the file is corrupt."""
    try:
        return convert(*values)
    except (ValueError, TypeError, OverflowError) as error:
        raise CorruptModelError(str(error).rstrip(".")) from error
