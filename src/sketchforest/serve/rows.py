"""Rows of a request, as JSON has them, to the features of a model."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._utils.typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import (
    feature_names,
    notes_of,
    trained_columns,
)
from sketchforest._workflows.row_features import joined
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table_files import TABLE_FORMATS, Block
from sketchforest.serve.fields import Fields, shown
from sketchforest.serve.limits import RefusedError, wrong

TEXT = "text"  # the field of a text model that was trained on texts without a column
MAX_TERMS = 10_000_000  # that texts which are read at once may have, some of them several times

Row = str | list[Any] | dict[str, Any]


@dataclass(frozen=True)
class RowReader:
    """Rows are texts, objects of fields by name, or lists of all numbers in their order."""

    model: Model
    fields: Fields
    # Whether rows are those of a table, where a field that is left out is missing. Elsewhere it is
    # zero, as in a sparse matrix.
    has_table: bool

    @classmethod
    def of(cls, model: Model) -> "RowReader":
        """Of a model as it was read: it forgets whether it was fitted on a data frame when its
        features are named."""
        columns = trained_columns(model)
        is_table = notes_of(model).get("format") in TABLE_FORMATS
        is_frame = hasattr(model, "feature_names_in_")
        has_table = feature_names(model.fitted_) is not None and (
            is_table or is_frame or hasattr(model, "vectorizer_")
        )
        if hasattr(model, "vectorizer_") and not columns.text:
            columns = Columns(text=(TEXT,))
        return cls(model, Fields(model, columns), has_table)

    def read(self, rows: Sequence[Row], first: int = 0) -> Matrix:
        """X of the rows, which are numbered from `first` where something is wrong."""
        for at, row in enumerate(rows, first):
            if not isinstance(row, str | dict | list):
                raise wrong(f"row {at} must be {self.fields.expected}; got {shown(row)}.")
        if self.fields.is_text_alone:
            texts = self._documents(rows, first)
            return self.model.vectorizer_.transform(texts)
        if self.has_table:
            return self._read_table(rows, first)
        return self._read_matrix(rows, first)

    def texts(self, row: Row, at: int = 0) -> list[str]:
        """What a row has in each field of text."""
        if not self.fields.of_text:
            return []
        if isinstance(row, str):
            return [row]
        if not isinstance(row, dict):
            raise wrong(f"row {at} must be {self.fields.expected}; got {shown(row)}.")
        self._check_names(row, at)
        return [_text(row.get(name), name, at) for name in self.fields.of_text]

    def _documents(self, rows: Sequence[Row], first: int) -> list[str]:
        texts = ["\n".join(self.texts(row, at)) for at, row in enumerate(rows, first)]
        shortest, longest = self.model.vectorizer_.ngram_range
        per_word = longest - shortest + 1
        if per_word * sum(map(len, texts)) > MAX_TERMS:
            raise RefusedError(
                413,
                f"rows from {first} on must have at most {MAX_TERMS // per_word:,} characters for "
                f"a model of terms of {shortest} to {longest}; send shorter texts.",
            )
        return texts

    def _read_table(self, rows: Sequence[Row], first: int) -> Matrix:
        named = [self._as_object(row, at) for at, row in enumerate(rows, first)]
        cells: dict[str, list[Any]] = {
            name: [_number(row.get(name), name, at) for at, row in enumerate(named, first)]
            for name in self.fields.table.numbers
        }
        for name in self.fields.table.categories:
            cells[name] = [
                _category(row.get(name), name, at) for at, row in enumerate(named, first)
            ]
        X = self.fields.table.of_block(Block("the request", 0, cells))
        if not (self.fields.of_text or self.fields.table.categories):
            return X
        return joined(self.model, self._documents(named, first) if self.fields.of_text else None, X)

    def _as_object(self, row: Row, at: int) -> dict[str, Any]:
        if isinstance(row, dict):
            self._check_names(row, at)
            return row
        numbers = self.fields.table.numbers
        is_whole = isinstance(row, list) and len(numbers) == self.fields.n == len(row)
        if not is_whole:
            raise wrong(f"row {at} must be {self.fields.expected}; got {shown(row)}.")
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
            for name, value in row.items():
                column = self.fields.column(name)
                if column is None:
                    raise self._unknown(name, at)
                yield column, _number(value, name, at)
        elif isinstance(row, list) and len(row) == self.model.n_features_in_:
            for column, value in enumerate(row):
                yield column, _number(value, str(column), at)
        else:
            raise wrong(f"row {at} must be {self.fields.expected}; got {shown(row)}.")

    def _check_names(self, row: dict[str, Any], at: int) -> None:
        for name in row:
            if self.fields.column(name) is None:
                raise self._unknown(name, at)

    def _unknown(self, name: str, at: int) -> RefusedError:
        return wrong(
            f"row {at} has a field {shown(name)}, and the model has {self.fields.listed()}."
        )


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
