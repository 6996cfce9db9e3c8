"""Parameters as JSON, and back: nothing that is read is trusted to be what it should be."""

import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

from sketchforest._saving.container import DamagedError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
T = TypeVar("T")


def to_json(params: Mapping[str, object]) -> dict[str, Json]:
    return {name: _to_json(name, value) for name, value in params.items()}


def _to_json(name: str, value: object) -> Json:
    if name == "random_state":
        return int(value) if isinstance(value, int | np.integer) else None  # the seed is kept
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):  # JSON has only names as keys
        return {"pairs": [[_to_json(name, k), _to_json(name, v)] for k, v in value.items()]}
    if isinstance(value, list | tuple | np.ndarray):
        return [_to_json(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name} must be a name, a number or None in a model file; got {value!r}. "
        "Use pickle for estimators with objects of your own."
    )


def arguments(kind: type, params: Mapping[str, Json]) -> dict[str, object]:
    """What `to_json` has written, as arguments with which `kind` can be called."""
    known = inspect.signature(kind).parameters
    unknown = [name for name in params if name not in known]
    if unknown:
        raise DamagedError(f"{kind.__name__} has no parameter {unknown[0]!r}")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in params:
            raise DamagedError(f"{kind.__name__} needs {name!r}")
    return {name: _from_json(value) for name, value in params.items()}


def _from_json(value: Json) -> object:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    pairs = value.get("pairs")
    if not isinstance(pairs, list):
        raise DamagedError("a parameter cannot be read")
    return dict(map(_pair, pairs))


def _pair(pair: Json) -> tuple[Json, object]:
    if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list | dict):
        raise DamagedError("a parameter cannot be read")
    return pair[0], _from_json(pair[1])


def converted(convert: Callable[..., T], *values: object) -> T:
    """What a function makes of values of a file, where it alone knows which ones are good."""
    try:
        return convert(*values)
    except (ValueError, TypeError, OverflowError) as error:
        raise DamagedError(str(error).rstrip(".")) from error
