"""Columns of pandas and polars data frames: their cells, and what they hold."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

# By column of a data frame: its categories, or None for numbers.
InputColumns: TypeAlias = Mapping[str, tuple[str, ...] | None]


def is_frame(rows: object) -> bool:
    return hasattr(rows, "columns") and hasattr(rows, "dtypes")


def cells_of(column: Any) -> list[Any]:
    """Return the cells of a column or sequence; None where missing."""
    if hasattr(column, "to_list") or hasattr(column, "tolist"):  # of pandas, polars or NumPy
        cells = column.to_list() if hasattr(column, "to_list") else column.tolist()
    else:
        cells = list(column)
    return [None if is_missing(cell) else cell for cell in cells]


def is_missing(cell: object) -> bool:
    """Whether a cell is None, NaN, NaT or pandas' NA, which equal nothing."""
    if cell is None:
        return True
    if isinstance(cell, str | list | tuple | set | frozenset | dict | np.ndarray):
        return False
    equal = cell == cell
    return not (isinstance(equal, bool | np.bool_) and equal)


def role_of(dtype: Any, column: Any) -> str | None:
    """Return the role of a column by its type: text, number, category, or None for other types."""
    word = str(dtype).lower()
    if word.startswith(("category", "categorical", "enum")):
        return "category"
    if word == "object":
        known = (cell for cell in cells_of(column) if cell is not None)
        is_text = isinstance(next(known, ""), str)
        return "text" if is_text else "number"
    if word.startswith(("str", "string", "utf8", "large_string")):
        return "text"
    is_number = word.startswith(("int", "uint", "float", "bool", "decimal", "double", "sparse"))
    return "number" if is_number else None


def one_hot_names(columns: InputColumns) -> list[str]:
    """Return the names of the features: numbers, then "column=value" of each category."""
    numbers = [name for name, values in columns.items() if values is None]
    return [*numbers, *(f"{name}={v}" for name, values in columns.items() for v in values or ())]
