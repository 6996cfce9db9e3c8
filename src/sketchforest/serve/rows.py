"""Convert rows of a JSON request to model features."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._estimators.inspection.names import feature_names
from sketchforest._features import Model
from sketchforest._features.encoder import Records, RowEncoder
from sketchforest._utils.typing import Matrix
from sketchforest._workflows.models import notes_of
from sketchforest.datasets.table_files import TABLE_FORMATS, Block
from sketchforest.serve.fields import Fields, shown
from sketchforest.serve.responses import RequestError, invalid

MAX_TERMS = 10_000_000  # in the texts vectorized at a time, repeated terms included

Row = str | list[Any] | dict[str, Any]


@dataclass(frozen=True)
class RowReader:
    """Reads strings, objects of fields by name, or lists of all numbers."""

    model: Model
    fields: Fields
    # Whether an absent field is missing, as in a table. In a sparse matrix it is zero.
    has_table: bool

    @classmethod
    def of(cls, model: Model) -> "RowReader":
        """Make the reader of a model as loaded, before `name_features` changes it."""
        is_table = notes_of(model).get("format") in TABLE_FORMATS
        is_frame = hasattr(model, "feature_names_in_")
        has_table = feature_names(model.fitted_) is not None and (
            is_table or is_frame or hasattr(model, "vectorizer_")
        )
        return cls(model, Fields(model, RowEncoder.of(model)), has_table)

    @property
    def encoder(self) -> RowEncoder:
        return self.fields.encoder

    def read(self, rows: Sequence[Row], first: int = 0) -> Matrix:
        """Return X. Error messages number the rows from `first`."""
        for at, row in enumerate(rows, first):
            if not isinstance(row, str | dict | list):
                raise self._unexpected(row, at)
        if self.encoder.is_text_only:
            return self.model.vectorizer_.transform(self._documents(rows, first))
        if self.has_table:
            return self._read_table(rows, first)
        return self._read_matrix(rows, first)

    def texts(self, row: Row, at: int = 0) -> list[str]:
        """Return the text of each text field."""
        if not self.encoder.text_columns:
            return []
        if isinstance(row, str):
            return [row]
        if not isinstance(row, dict):
            raise self._unexpected(row, at)
        self._check_names(row, at)
        return [_string(row.get(name), name, at) or "" for name in self.encoder.text_columns]

    def _documents(self, rows: Sequence[Row], first: int) -> list[str]:
        texts = ["\n".join(self.texts(row, at)) for at, row in enumerate(rows, first)]
        shortest, longest = self.model.vectorizer_.ngram_range
        terms_per_word = longest - shortest + 1
        if terms_per_word * sum(map(len, texts)) > MAX_TERMS:
            raise RequestError(
                413,
                f"rows from {first} on must have at most {MAX_TERMS // terms_per_word:,} "
                f"characters for a model of {shortest}- to {longest}-grams; send shorter texts.",
            )
        return texts

    def _read_table(self, rows: Sequence[Row], first: int) -> Matrix:
        named = list(
            enumerate((self._as_object(row, at) for at, row in enumerate(rows, first)), first)
        )
        table = self.encoder.table
        cells: dict[str, list[Any]] = {
            name: [_number(row.get(name), name, at) for at, row in named] for name in table.numbers
        }
        for name in table.categories:
            cells[name] = [_category(row.get(name), name, at) for at, row in named]
        numbers = table.of_block(Block("the request", 0, cells))
        is_text = bool(self.encoder.text_columns)
        texts = self._documents([row for _, row in named], first) if is_text else None
        return self.encoder.encode(Records(texts, numbers))

    def _as_object(self, row: Row, at: int) -> dict[str, Any]:
        if isinstance(row, dict):
            self._check_names(row, at)
            return row
        numbers = self.encoder.table.numbers
        if not (isinstance(row, list) and len(numbers) == len(self.fields) == len(row)):
            raise self._unexpected(row, at)
        return dict(zip(numbers, row, strict=True))

    def _read_matrix(self, rows: Sequence[Row], first: int) -> sparse.csr_array:
        indices: list[int] = []
        data: list[float] = []
        indptr = [0]
        for at, row in enumerate(rows, first):
            for column, value in self._entries(row, at):
                indices.append(column)
                data.append(value)
            indptr.append(len(indices))
        arrays = np.array(data, np.float64), np.array(indices, np.int32), np.array(indptr)
        X = sparse.csr_array(arrays, shape=(len(rows), self.model.fitted_.n_features))
        X.sort_indices()
        return X

    def _entries(self, row: Row, at: int) -> Iterator[tuple[int, float]]:
        """Yield the columns and values of a row of numbers."""
        if isinstance(row, dict):
            for name, value in row.items():
                column = self.fields.index(name)
                if column is None:
                    raise self._unknown(name, at)
                yield column, _number(value, name, at)
        elif isinstance(row, list) and len(row) == self.model.fitted_.n_features:
            for column, value in enumerate(row):
                yield column, _number(value, str(column), at)
        else:
            raise self._unexpected(row, at)

    def _check_names(self, row: dict[str, Any], at: int) -> None:
        for name in row:
            if self.fields.index(name) is None:
                raise self._unknown(name, at)

    def _unexpected(self, row: object, at: int) -> RequestError:
        return invalid(f"row {at} must be {self.fields.expected}; got {shown(row)}.")

    def _unknown(self, name: str, at: int) -> RequestError:
        known = self.fields.listed()
        return invalid(f"row {at} has the unknown field {shown(name)}; the fields are {known}.")


def _number(value: object, name: str, at: int) -> float:
    """Return a finite number, or NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise invalid(f"row {at}: {shown(name)} must be a finite number or null; got {shown(value)}.")


def _string(value: object, name: str, at: int) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise invalid(f"row {at}: {shown(name)} must be a string or null; got {shown(value)}.")


def _category(value: object, name: str, at: int) -> str | None:
    """Return a category by name: codes may be numbers in JSON."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _string(str(value) if is_number else value, name, at)
