"""What the JSON of a model file may say: each field, its type and its range, and nothing else.

A file may come from anywhere. What is said in it is refused when it is opened, and not when it is
first used; nothing that is said makes memory be taken that the file itself does not take.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sketchforest._registry import ESTIMATORS
from sketchforest._saving.container import DamagedError
from sketchforest._saving.json_values import converted
from sketchforest._trees.criterion import CRITERIA

Holds = Callable[[Any], bool]
# An array of texts is as wide as the longest. Past this size texts are kept one by one.
MOST_WIDE = 1 << 24
_KINDS: dict[str, type | tuple[type, ...]] = {
    **{"b": bool, "i": int, "u": int, "f": (int, float), "U": str},
    "O": (bool, int, float, str),
}


def is_count(value: object) -> bool:
    """A whole number that the core can count to; True and False are none."""
    return type(value) is int and 0 <= value < 2**64


def is_number(value: object) -> bool:
    return type(value) in (int, float)


def are_texts(value: object) -> bool:
    return isinstance(value, list) and all(type(text) is str for text in value)


def _is(*kinds: type) -> Holds:
    return lambda value: type(value) in kinds


def _or_none(holds: Holds) -> Holds:
    return lambda value: value is None or holds(value)


REQUIRED: dict[str, Holds] = {
    "format_version": is_count,
    "estimator": lambda value: type(value) is str and value in ESTIMATORS,
    "params": _is(dict),
    "state": _is(dict),
    "settings": _is(dict),
    "is_projected": _is(bool),
    "n_features_in": is_count,
    "feature_names_in": _or_none(are_texts),
    "label_names": _or_none(are_texts),
    "feature_names": _or_none(are_texts),
    "classes": _or_none(_is(list)),
    "classes_dtype": _or_none(_is(str)),
    "label_dtype": _or_none(_is(str)),
    "notes": _or_none(_is(dict)),
}
OPTIONAL: dict[str, Holds] = {
    "library_version": _is(str),
    "n_label_columns": is_count,
    "text": _is(dict),
    "column_classes": lambda value: (
        isinstance(value, list)
        and all(
            isinstance(column, dict)
            and column.keys() == {"classes", "classes_dtype"}
            and isinstance(column["classes"], list)
            and isinstance(column["classes_dtype"], str)
            for column in value
        )
    ),
}
STATE: dict[str, Holds] = {
    **dict.fromkeys(("_sparse_labels", "_is_spmatrix", "_is_vector", "_is_relabelled"), _is(bool)),
    "_predicts_at_least_one": _is(bool),
    "_impurity": lambda value: isinstance(value, str) and value in CRITERIA,
    "_number": is_count,
    "_fingerprint": _or_none(_is(str)),
    "oob_score_": is_number,
}


def check_about(about: Mapping[str, object]) -> None:
    check_fields("", about, REQUIRED, OPTIONAL)
    state = about["state"]
    assert isinstance(state, dict)
    check_fields("state.", state, {}, STATE)


def check_fields(
    prefix: str,
    given: Mapping[str, object],
    required: Mapping[str, Holds],
    optional: Mapping[str, Holds],
) -> None:
    for name in required:
        if name not in given:
            raise DamagedError(f"it has no {prefix}{name}")
    for name, value in given.items():
        holds = required.get(name, optional.get(name))
        if holds is None:
            raise DamagedError(f"it has a field {prefix}{name[:40]}")
        if not holds(value):
            raise DamagedError(f"its {prefix}{name} cannot be read")


def check_settings(settings: object) -> None:
    """Raises unless the fields of a dataclass have the types that are declared, and are numbers
    that are not below 0."""
    hints = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):  # type: ignore[arg-type]
        value, hint = getattr(settings, field.name), hints[field.name]
        kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        if not any(_fits(value, kind) for kind in kinds):
            raise DamagedError(f"its {field.name} cannot be read")


def _fits(value: object, kind: type) -> bool:
    if kind is int:
        return is_count(value)
    if kind is float:
        return is_number(value) and 0 <= value < math.inf  # type: ignore[operator]
    return isinstance(value, kind)


def read_classes(values: list[Any], dtype: str | None) -> np.ndarray:
    """Classes in ascending order; texts are as wide as the longest of them needs."""
    found = read_dtype(dtype)
    if not values or not all(isinstance(value, _KINDS[found.kind]) for value in values):
        raise DamagedError("its classes cannot be read")
    if found.kind == "U":
        classes = text_array(values)
    else:
        if found.kind in "iuf" and any(isinstance(value, bool) for value in values):
            raise DamagedError("its classes cannot be read")
        classes = converted(np.array, values, found)
    is_ascending = converted(lambda: bool((classes[:-1] < classes[1:]).all()))
    if classes.ndim != 1 or not is_ascending:
        raise DamagedError("its classes are not in order")
    return classes


def read_dtype(name: str | None) -> np.dtype:
    """A type of numbers, texts or objects; a name of any other is refused."""
    if name is None or len(name) > 20:
        raise DamagedError("a type cannot be read")
    found = converted(np.dtype, name)
    if found.kind not in _KINDS or found.shape or found.str != name:
        raise DamagedError("a type cannot be read")
    return found


def text_array(texts: list[str]) -> np.ndarray:
    """One text after the other; objects where an array as wide as the longest would be huge."""
    width = max(map(len, texts), default=0)
    return np.array(texts, dtype=object if 4 * width * len(texts) > MOST_WIDE else None)
