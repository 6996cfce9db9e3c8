"""Results in CSV files. Each row is written as soon as it is known, so that runs can resume."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

Row = Mapping[str, object]


class ResultStore:
    """Results by the settings they were measured with, in a folder with one CSV file per table.

    Settings are frozen dataclasses with two more attributes: `table`, the name of the file, and
    `result_type`, a dataclass. The fields of the settings that are compared are the key.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._tables: dict[str, dict[tuple[str, ...], dict[str, str]]] = {}

    def get(self, settings: Any) -> Any:
        """Return the result, or None if it is not known."""
        row = self._table(settings).get(tuple(_key(settings).values()))
        if row is None:
            return None
        names = [field.name for field in fields(settings.result_type)]
        return settings.result_type(**{name: _value(row[name]) for name in names})

    def add(self, settings: Any, result: Any) -> None:
        key = _key(settings)
        row = key | {name: _text(value) for name, value in vars(result).items()}
        self._table(settings)[tuple(key.values())] = row
        append_row(row, self._path(settings.table))

    def frame(self, table: str) -> pd.DataFrame:
        """Return all rows of a table, including those of earlier runs."""
        path = self._path(table)
        return pd.read_csv(_whole_lines(path)) if path.exists() else pd.DataFrame()

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}.csv"

    def _table(self, settings: Any) -> dict[tuple[str, ...], dict[str, str]]:
        if settings.table not in self._tables:
            path, names = self._path(settings.table), list(_key(settings))
            columns = [*names, *(field.name for field in fields(settings.result_type))]
            found = pd.DataFrame(columns=columns)
            if path.exists() and (lines := _whole_lines(path)).getvalue():
                found = pd.read_csv(lines, dtype=str, keep_default_na=False)
            if [*found] != columns:
                raise ValueError(
                    f"'{path}' must have the columns {', '.join(columns)}; got "
                    f"{', '.join(found)}. Move the file away or choose another folder."
                )
            rows = found.to_dict("records")
            self._tables[settings.table] = {tuple(row[n] for n in names): row for row in rows}
        return self._tables[settings.table]


def append_row(row: Row, path: Path) -> None:
    """Write a row to the disk at once: a run that is killed leaves at most half of its last row."""
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


def _whole_lines(path: Path) -> io.StringIO:
    """Read a file, and cut half a line off it if a run was killed."""
    content = path.read_bytes()
    n_whole = content.rfind(b"\n") + 1
    if n_whole < len(content):
        os.truncate(path, n_whole)
    return io.StringIO(content[:n_whole].decode())


def _key(settings: Any) -> dict[str, str]:
    names = [field.name for field in fields(settings) if field.compare]
    return {name: _text(getattr(settings, name)) for name in names}


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


def _value(text: str) -> object:
    """Parse a number, a list or a dictionary; anything else is text, and nothing is None."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
