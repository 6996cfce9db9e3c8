"""Rows of a request, as JSON has them, to the features of a model."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._display import shortened
from sketchforest._lazy import locked_property
from sketchforest._typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import (
    feature_names,
    notes_of,
    shown_features,
    trained_columns,
)
from sketchforest._workflows.row_features import joined, table_features
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures
from sketchforest.datasets.table_files import TABLE_FORMATS, Block
from sketchforest.serve.limits import wrong

TEXT = "text"  # the field of a text model that was trained on texts without a column
SHOWN = 8  # names of fields in a sentence

Row = str | list[Any] | dict[str, Any]


class Field(NamedTuple):
    """One value of a row."""

    name: str
    kind: str  # "text", "number" or "category"
    values: tuple[str, ...] = ()  # of a category


@dataclass(frozen=True)
class RowReader:
    """Rows are texts, objects of fields by name, or lists of all numbers in their order."""

    model: Model
    columns: Columns  # those that the model was trained on
    # Whether rows are those of a table, where a field that is left out is missing. Elsewhere it is
    # zero, as in a sparse matrix.
    has_table: bool

    @classmethod
    def of(cls, model: Model) -> "RowReader":
        """Of a model as it was read: it forgets whether it was fitted on a data frame when its
        features are named."""
        columns = trained_columns(model)
        is_table = notes_of(model).get("format") in TABLE_FORMATS
        has_table = is_table or hasattr(model, "vectorizer_") or hasattr(model, "feature_names_in_")
        if hasattr(model, "vectorizer_") and not columns.text:
            columns = Columns(text=(TEXT,))
        return cls(model, columns, has_table)

    @property
    def text_fields(self) -> tuple[str, ...]:
        return self.columns.text if hasattr(self.model, "vectorizer_") else ()

    @locked_property
    def is_text_alone(self) -> bool:
        n_terms = len(self.model.vectorizer_.vocabulary_) if self.text_fields else 0
        return bool(self.text_fields) and n_terms == self.model.n_features_in_

    @locked_property
    def table(self) -> TableFeatures:
        """The fields of a table that are no text."""
        if self.is_text_alone:
            return TableFeatures((), {})
        if feature_names(self.model.fitted_) is None:
            return TableFeatures(tuple(shown_features(self.model.fitted_).tolist()), {})
        return table_features(self.model, self.columns)

    @locked_property
    def fields(self) -> list[Field]:
        return [
            *(Field(name, "text") for name in self.text_fields),
            *(Field(name, "number") for name in self.table.numbers),
            *(Field(name, "category", values) for name, values in self.table.categories.items()),
        ]

    @locked_property
    def _place(self) -> dict[str, int]:
        """Columns of X by the names of features."""
        return {
            str(name): at for at, name in enumerate(shown_features(self.model.fitted_).tolist())
        }

    def read(self, rows: Sequence[Row], first: int = 0) -> Matrix:
        """X of the rows, which are numbered from `first` where something is wrong."""
        for at, row in enumerate(rows, first):
            if not isinstance(row, str | dict | list):
                raise wrong(f"row {at} must be {self.expected}; got {shown(row)}.")
        if self.is_text_alone:
            texts = ["\n".join(self.texts(row, at)) for at, row in enumerate(rows, first)]
            return self.model.vectorizer_.transform(texts)
        if self.has_table:
            return self._read_table(rows, first)
        return self._read_matrix(rows, first)

    def texts(self, row: Row, at: int = 0) -> list[str]:
        """What a row has in each field of text."""
        if not self.text_fields:
            return []
        if isinstance(row, str):
            return [row]
        if not isinstance(row, dict):
            raise wrong(f"row {at} must be {self.expected}; got {shown(row)}.")
        self._check_names(row, at)
        return [_text(row.get(name), name, at) for name in self.text_fields]

    @property
    def expected(self) -> str:
        if self.is_text_alone:
            return f"a text, or an object of {listed(self.text_fields)}"
        if self.text_fields or self.table.categories:
            return f"an object of fields, which are {listed([f.name for f in self.fields])}"
        n = self.model.n_features_in_
        return f"an object of numbers by the names of features, or a list of all {n:,} numbers"

    def _read_table(self, rows: Sequence[Row], first: int) -> Matrix:
        named = [self._as_object(row, at) for at, row in enumerate(rows, first)]
        cells: dict[str, list[Any]] = {
            name: [_number(row.get(name), name, at) for at, row in enumerate(named, first)]
            for name in self.table.numbers
        }
        for name in self.table.categories:
            cells[name] = [
                _category(row.get(name), name, at) for at, row in enumerate(named, first)
            ]
        X = self.table.of_block(Block("the request", 0, cells))
        if not (self.text_fields or self.table.categories):
            return X
        texts = ["\n".join(self.texts(row, at)) for at, row in enumerate(named, first)]
        return joined(self.model, texts if self.text_fields else None, X)

    def _as_object(self, row: Row, at: int) -> dict[str, Any]:
        if isinstance(row, dict):
            self._check_names(row, at)
            return row
        numbers = self.table.numbers
        is_whole = isinstance(row, list) and len(numbers) == len(self.fields) == len(row)
        if not is_whole:
            raise wrong(f"row {at} must be {self.expected}; got {shown(row)}.")
        return dict(zip(numbers, row, strict=True))

    def _read_matrix(self, rows: Sequence[Row], first: int) -> sparse.csr_array:
        indices: list[int] = []
        values: list[float] = []
        ends = [0]
        for at, row in enumerate(rows, first):
            for column, value in self._entries(row, at):
                indices.append(column)
                values.append(value)
            ends.append(len(indices))
        arrays = np.array(values, np.float64), np.array(indices, np.int32), np.array(ends)
        X = sparse.csr_array(arrays, shape=(len(rows), self.model.n_features_in_))
        X.sort_indices()
        return X

    def _entries(self, row: Row, at: int) -> Iterator[tuple[int, float]]:
        """Columns and values of a row of numbers."""
        if isinstance(row, dict):
            self._check_names(row, at)
            for name, value in row.items():
                yield self._place[name], _number(value, name, at)
        elif isinstance(row, list) and len(row) == self.model.n_features_in_:
            for column, value in enumerate(row):
                yield column, _number(value, str(column), at)
        else:
            raise wrong(f"row {at} must be {self.expected}; got {shown(row)}.")

    def _check_names(self, row: dict[str, Any], at: int) -> None:
        for name in row.keys() - self._names:
            known = listed([field.name for field in self.fields])
            raise wrong(f"row {at} has a field {shown(name)}, and the model has {known}.")

    @locked_property
    def _names(self) -> set[str]:
        return {field.name for field in self.fields}


def _number(value: object, name: str, at: int) -> float:
    """NaN where it is missing."""
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise wrong(f"row {at}: {shown(name)} must be a finite number, or null; got {shown(value)}.")


def _text(value: object, name: str, at: int) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise wrong(f"row {at}: {shown(name)} must be a text; got {shown(value)}.")


def _category(value: object, name: str, at: int) -> str | None:
    """Codes may be numbers in JSON, and are names in the table."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise wrong(f"row {at}: {shown(name)} must be a text, or null; got {shown(value)}.")


def shown(value: object) -> str:
    """What was given, in a few characters."""
    return shortened(repr(value) if len(str(value)) < 1000 else repr(str(value)[:60]), 40)


def listed(names: Sequence[str]) -> str:
    some = ", ".join(repr(name) for name in names[:SHOWN])
    return some if len(names) <= SHOWN else f"{some} and {len(names) - SHOWN:,} more"
