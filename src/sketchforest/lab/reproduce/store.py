"""Finished cells, kept as soon as they are known: an interrupted run goes on where it stopped."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sketchforest import __version__

Result = dict[str, Any]


class Cell(Protocol):
    """One run of a study: a frozen dataclass whose fields are all that its result depends on."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def group(self) -> str:
        """Cells of a group share data and are run one after the other."""

    @property
    def kind(self) -> str:
        """Cells of a group and kind take about as long as each other."""

    def run(self, workspace: Any) -> Result:
        """Values that JSON can hold."""


@dataclass(frozen=True)
class _Line:
    key: str
    result: Result


class CellStore:
    """Results by cell, in a file with one line of JSON for each.

    A line that was cut by a crash, and lines of other versions of the library, are left alone and
    not used.
    """

    def __init__(self, path: Path):
        self.path = path
        self._results = {line.key: line.result for line in _read(path)}

    def get(self, cell: Cell) -> Result | None:
        return self._results.get(key_of(cell))

    def add(self, cell: Cell, result: Result) -> None:
        key = key_of(cell)
        record = json.dumps({"key": json.loads(key), "result": result})
        with self.path.open("a+b") as file:
            file.write(_missing_newline(file) + record.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._results[key] = result


def key_of(cell: Cell) -> str:
    """All settings of a cell, and the version of the library."""
    settings = {"study": type(cell).__name__, "version": __version__, **asdict(cell)}
    return json.dumps(settings, sort_keys=True)


def _read(path: Path) -> list[_Line]:
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(text)
            lines.append(_Line(json.dumps(record["key"], sort_keys=True), record["result"]))
        except (ValueError, KeyError, TypeError):
            continue  # half a line, from a run that was killed while writing
    return lines


def _missing_newline(file: Any) -> bytes:
    """What ends the half line of a run that was killed, so that ours is not glued to it."""
    if file.seek(0, os.SEEK_END) == 0:
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"
