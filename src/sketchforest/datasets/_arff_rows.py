"""The rows of an ARFF file, one matrix column for each attribute.

A nominal value is kept as its position among the declared ones, which makes the first one 0: in a
sparse row what is not written is 0, and that is what it means for nominal attributes, too.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import sparse

from sketchforest.datasets._arff_header import Attribute, split_quoted
from sketchforest.datasets._rows import Rows
from sketchforest.datasets._text import AnyPath, bad_file, decoded, shown

# Rows with any of these are read with care: quotes, and what Python's numbers may have and those
# of files may not.
_NEEDS_CARE = re.compile(rb"['\"_\\]")

_Convert = Callable[[bytes], float]


class ArffRows:
    """Reads rows; ``classes`` has, for each row, the text of the hierarchical attribute."""

    def __init__(self, path: AnyPath, attributes: list[Attribute]) -> None:
        self.path = path
        self.classes: list[str] = []
        self.n_given = 0  # values that the rows have, and do not leave out
        self._attributes = attributes
        self._rows = Rows(path)
        self._class = ""
        self._positions = [
            {value: float(position) for position, value in enumerate(attribute.values)}
            for attribute in attributes
        ]
        self._convert = [self._converter(at, float) for at in range(len(attributes))]
        self._convert_or_missing = [
            self._converter(at, _number_or_missing) for at in range(len(attributes))
        ]

    @property
    def lines(self) -> Sequence[int]:
        """For each row the number of its line."""
        return self._rows.lines

    def read(self, lines: Iterator[tuple[int, bytes]]) -> sparse.csr_array:
        """(n_rows, n_attributes) float64, NaN where missing."""
        for number, raw in lines:
            line = raw.strip()
            if not line or line.startswith(b"%"):
                continue
            self._class = ""
            if line.startswith(b"{"):
                self._read_sparse(number, line)
            else:
                self._read_dense(number, line)
            self.classes.append(self._class)
        if not len(self._rows):
            raise bad_file(self.path, None, "there are no rows after @data")
        return self._rows.matrix(len(self._attributes), "attribute", missing=True)

    def _read_dense(self, number: int, line: bytes) -> None:
        values = self._quick_dense(line)
        if values is None:
            tokens = split_quoted(self.path, number, decoded(line, self.path, number))
            if len(tokens) != len(self._attributes):
                reason = f"the row has {len(tokens)} values for {len(self._attributes)} attributes"
                raise bad_file(self.path, number, reason)
            values = [self._value(number, at, token) for at, token in enumerate(tokens)]
        self.n_given += len(values)
        self._rows.append_dense(number, np.array(values, np.float64))

    def _quick_dense(self, line: bytes) -> list[float] | None:
        """The values of a plain row, or None if anything about it is not plain."""
        if _NEEDS_CARE.search(line):
            return None
        tokens = line.split(b",")
        if len(tokens) != len(self._attributes):
            return None
        has_missing = b"?" in line
        converters = self._convert_or_missing if has_missing else self._convert
        try:
            values = [convert(token) for convert, token in zip(converters, tokens, strict=True)]
        except (ValueError, KeyError):
            return None
        return values if has_missing or not math.isnan(sum(values)) else None

    def _read_sparse(self, number: int, line: bytes) -> None:
        if not line.endswith(b"}"):
            raise bad_file(self.path, number, "the row has no closing brace")
        columns_values = self._quick_sparse(line[1:-1])
        if columns_values is None:
            columns_values = self._careful_sparse(number, line[1:-1])
        self.n_given += len(columns_values[0])
        self._rows.append(number, *columns_values)

    def _quick_sparse(self, line: bytes) -> tuple[list[int], list[float]] | None:
        if _NEEDS_CARE.search(line):
            return None
        pairs = [entry.split() for entry in line.split(b",")]
        has_missing = b"?" in line
        converters = self._convert_or_missing if has_missing else self._convert
        try:
            columns = [int(column) for column, _ in pairs]
            if min(columns) < 0:
                return None
            values = [
                converters[column](value) for column, (_, value) in zip(columns, pairs, strict=True)
            ]
        except (ValueError, KeyError, IndexError):
            return None
        return (columns, values) if has_missing or not math.isnan(sum(values)) else None

    def _careful_sparse(self, number: int, line: bytes) -> tuple[list[int], list[float]]:
        columns: list[int] = []
        values: list[float] = []
        text = decoded(line, self.path, number).strip()
        for entry in _sparse_entries(self.path, number, text) if text else []:
            column_text, _, value_text = entry.partition(" ")
            if not column_text.isascii() or not column_text.isdigit() or len(column_text) > 18:
                raise bad_file(self.path, number, f"{shown(column_text)} is no attribute number")
            column = int(column_text)
            if column >= len(self._attributes):
                n = len(self._attributes)
                reason = f"attribute {column} is out of range, there being {n} (0 to {n - 1})"
                raise bad_file(self.path, number, reason)
            parts = split_quoted(self.path, number, value_text)
            if len(parts) != 1 or not value_text.strip():
                reason = f"attribute {column} should have one value, got {shown(value_text)}"
                raise bad_file(self.path, number, reason)
            columns.append(column)
            values.append(self._value(number, column, parts[0]))
        return columns, values

    def _value(self, number: int, at: int, text: str) -> float:
        attribute = self._attributes[at]
        if attribute.kind == "hierarchical":
            return self._keep_class(text)
        if attribute.kind not in ("numeric", "nominal"):
            return 0.0  # a column that will be dropped
        if attribute.kind == "nominal" and text in self._positions[at]:
            return self._positions[at][text]
        if text == "?":
            return math.nan
        if attribute.kind == "nominal":
            reason = f"{shown(text)} is not among the values of attribute {shown(attribute.name)}"
            raise bad_file(self.path, number, reason)
        value = _number(text)
        if value is None:
            reason = f"{shown(text)} is not a number, as attribute {shown(attribute.name)} must be"
            raise bad_file(self.path, number, reason)
        return value

    def _converter(self, at: int, number: _Convert) -> _Convert:
        """From a plain token to its value; it raises ValueError or KeyError for all others."""
        match self._attributes[at].kind:
            case "numeric":
                return number
            case "nominal":
                known = {value.encode(): code for value, code in self._positions[at].items()}
                return ({b"?": math.nan} | known).__getitem__
            case "hierarchical":
                return lambda token: self._keep_class(token.decode())
        return lambda token: 0.0  # a column that will be dropped

    def _keep_class(self, text: str) -> float:
        self._class = "" if text.strip() == "?" else text.strip()
        return 0.0


def _number_or_missing(token: bytes) -> float:
    if token.strip() == b"?":
        return math.nan
    value = float(token)
    if math.isnan(value):
        raise ValueError
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text and text.isascii() else None


def _sparse_entries(path: AnyPath, number: int, text: str) -> list[str]:
    """``3 'a, b', 5 1`` cut at its commas, quotes left in place."""
    entries: list[str] = []
    start, quote, position = 0, "", 0
    while position < len(text):
        character = text[position]
        if character == "\\" and quote:
            position += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == ",":
            entries.append(text[start:position])
            start = position + 1
        position += 1
    if quote:
        raise bad_file(path, number, f"the quote in {shown(text[start:])} is not closed")
    entries.append(text[start:])
    return [" ".join(entry.split(maxsplit=1)) for entry in entries]
