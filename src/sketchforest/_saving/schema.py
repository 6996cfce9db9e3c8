"""Validation of the JSON in a model file: every field, its type and its range.

A file may come from anyone. Invalid content is refused when the file is opened, not when it is
first used. No value makes the library allocate more memory than the file itself takes.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sketchforest._saving.container import CorruptModelError
from sketchforest._saving.json_values import try_convert
from sketchforest._trees.criterion import CRITERIA
from sketchforest._utils.registry import ESTIMATORS

Check = Callable[[Any], bool]
# NumPy stores all strings in the width of the longest; larger arrays hold objects instead.
MAX_TEXT_ARRAY_BYTES = 1 << 24
_KINDS: dict[str, type | tuple[type, ...]] = {
    **{"b": bool, "i": int, "u": int, "f": (int, float), "U": str},
    "O": (bool, int, float, str),
}


def is_count(value: object) -> bool:
    """Return whether a value is a 64-bit count; booleans are not."""
    return type(value) is int and 0 <= value < 2**64


def is_number(value: object) -> bool:
    return type(value) in (int, float)


def are_texts(value: object) -> bool:
    return isinstance(value, list) and all(type(text) is str for text in value)


def _is(*kinds: type) -> Check:
    return lambda value: type(value) in kinds


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


REQUIRED: dict[str, Check] = {
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
OPTIONAL: dict[str, Check] = {
    "library_version": _is(str),
    "n_label_columns": is_count,
    "boosting": lambda value: (
        isinstance(value, dict)
        and value.keys() == {"stops_early"}
        and isinstance(value["stops_early"], bool)
    ),
    "text": _is(dict),
    "tagger": _is(dict),
    "input_columns": lambda value: (
        isinstance(value, dict) and all(v is None or are_texts(v) for v in value.values())
    ),
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
STATE: dict[str, Check] = {
    **dict.fromkeys(
        ("_sparse_labels", "_is_spmatrix", "_is_vector", "_is_relabelled", "_is_balanced"),
        _is(bool),
    ),
    "_predicts_at_least_one": _is(bool),
    "_impurity": lambda value: isinstance(value, str) and value in CRITERIA,
    "_number": is_count,
    "_linear_weight": is_number,
    "_weight_of_trees": is_number,
    "_fingerprint": _or_none(_is(str)),
    "oob_score_": is_number,
}


def validate_description(about: Mapping[str, object]) -> None:
    validate_fields("", about, REQUIRED, OPTIONAL)
    state = about["state"]
    assert isinstance(state, dict)
    validate_fields("state.", state, {}, STATE)


def validate_fields(
    prefix: str,
    given: Mapping[str, object],
    required: Mapping[str, Check],
    optional: Mapping[str, Check],
) -> None:
    for name in required:
        if name not in given:
            raise CorruptModelError(f"missing field {prefix}{name}")
    for name, value in given.items():
        check = required.get(name, optional.get(name))
        if check is None:
            raise CorruptModelError(f"unknown field {prefix}{name[:40]}")
        if not check(value):
            raise CorruptModelError(f"invalid value of {prefix}{name}")


def validate_settings(settings: object) -> None:
    """Raise unless the fields of a dataclass have their declared types and no negative numbers."""
    hints = typing.get_type_hints(type(settings))
    for field in dataclasses.fields(settings):  # type: ignore[arg-type]
        value, hint = getattr(settings, field.name), hints[field.name]
        kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        if not any(_fits(value, kind) for kind in kinds):
            raise CorruptModelError(f"invalid value of {field.name}")


def _fits(value: Any, kind: type) -> bool:
    if kind in (int, float):
        return is_count(value) if kind is int else is_number(value) and 0 <= value < math.inf
    return isinstance(value, kind)


def read_classes(values: list[Any], dtype: str | None) -> np.ndarray:
    """Return the classes, which must be in ascending order."""
    found = read_dtype(dtype)
    if not values or not all(isinstance(value, _KINDS[found.kind]) for value in values):
        raise CorruptModelError("invalid classes")
    if found.kind in "iuf" and any(isinstance(value, bool) for value in values):
        raise CorruptModelError("invalid classes")
    is_text = found.kind == "U"
    classes = text_array(values) if is_text else try_convert(np.array, values, found)
    is_ascending = try_convert(lambda: bool((classes[:-1] < classes[1:]).all()))
    if classes.ndim != 1 or not is_ascending:
        raise CorruptModelError("unsorted classes")
    return classes


def read_dtype(name: str | None) -> np.dtype:
    """Return a dtype of numbers, strings or objects; refuse any other."""
    if name is None or len(name) > 20:
        raise CorruptModelError("invalid dtype")
    found = try_convert(np.dtype, name)
    if found.kind not in _KINDS or found.shape or found.str != name:
        raise CorruptModelError("invalid dtype")
    return found


def text_array(texts: list[str]) -> np.ndarray:
    """Return an array of strings, or of objects if the widest string would make it huge."""
    width = max(map(len, texts), default=0)
    return np.array(texts, dtype=object if 4 * width * len(texts) > MAX_TEXT_ARRAY_BYTES else None)
