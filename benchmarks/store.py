"""Results in CSV files: a row is there as soon as it is known, and a later run goes on from it."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

Row = Mapping[str, object]


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


R = TypeVar("R", bound=_Dataclass)
R_co = TypeVar("R_co", bound=_Dataclass, covariant=True)


class Stored(_Dataclass, Protocol[R_co]):
    """Settings with a result: a frozen dataclass. All fields that are compared are the key."""

    @property
    def table(self) -> str:
        """Name of the CSV file, without its ending."""

    @property
    def result_type(self) -> type[R_co]:
        """A dataclass of numbers, texts, and lists or dictionaries of them; "" is read as None."""


class ResultStore:
    """Results by their settings, in a folder with a CSV file for each kind of them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._tables: dict[str, _Table] = {}

    def get(self, settings: Stored[R]) -> R | None:
        row = self._table(settings).find(_texts(settings, _key_names(settings)))
        if row is None:
            return None
        kind = settings.result_type
        return kind(**{field.name: _value(row[field.name]) for field in fields(kind)})

    def add(self, settings: Stored[R], result: R) -> None:
        names = [field.name for field in fields(result)]
        self._table(settings).add([*_texts(settings, _key_names(settings)), *_texts(result, names)])

    def rows(self, table: str) -> list[dict[str, str]]:
        """All rows of a file, those of earlier runs too; none if there is no file."""
        path = self._path(table)
        return _read_whole_lines(path)[1] if path.exists() else []

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}.csv"

    def _table(self, settings: Stored[R]) -> "_Table":
        name = settings.table
        if name not in self._tables:
            keys = _key_names(settings)
            results = [field.name for field in fields(settings.result_type)]
            self._tables[name] = _Table(self._path(name), keys, results)
        return self._tables[name]


class _Table:
    """One CSV file: columns of the key, then those of the result."""

    def __init__(self, path: Path, keys: Sequence[str], results: Sequence[str]):
        self._path, self._n_keys = path, len(keys)
        self._columns = [*keys, *results]
        self._rows: dict[tuple[str, ...], dict[str, str]] = {}
        if path.exists():
            columns, rows = _read_whole_lines(path)
            if columns and columns != self._columns:
                raise ValueError(
                    f"'{path}' must have the columns {', '.join(self._columns)}; got "
                    f"{', '.join(columns)}. Move it away, or name another folder."
                )
            self._rows = {self._key(list(row.values())): row for row in rows}

    def find(self, key: Sequence[str]) -> dict[str, str] | None:
        return self._rows.get(tuple(key))

    def add(self, values: Sequence[str]) -> None:
        row = dict(zip(self._columns, values, strict=True))
        append_row(row, self._path)
        self._rows[self._key(values)] = row

    def _key(self, values: Sequence[str]) -> tuple[str, ...]:
        return tuple(values[: self._n_keys])


def append_row(row: Row, path: Path) -> None:
    """At once and on the disk, so that a run that is killed leaves whole rows but for the last."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row))
    with path.open("ab") as file:
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow(row)
        file.write(text.getvalue().encode())
        file.flush()
        os.fsync(file.fileno())


def write_csv(rows: Iterable[Row], path: Path) -> None:
    path.unlink(missing_ok=True)
    for row in rows:
        append_row(row, path)


def _read_whole_lines(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Columns and rows; half a line of a run that was killed is cut off the file."""
    content = path.read_bytes()
    n_whole = content.rfind(b"\n") + 1
    if n_whole < len(content):
        os.truncate(path, n_whole)
    reader = csv.DictReader(io.StringIO(content[:n_whole].decode(), newline=""))
    return list(reader.fieldnames or ()), list(reader)


def _key_names(settings: _Dataclass) -> list[str]:
    return [field.name for field in fields(settings) if field.compare]


def _texts(record: _Dataclass, names: Sequence[str]) -> list[str]:
    return [_text(getattr(record, name)) for name in names]


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


def _value(text: str) -> object:
    """A number or a list, else the text itself."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
