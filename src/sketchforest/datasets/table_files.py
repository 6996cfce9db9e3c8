"""Files with named columns: CSV, TSV, Parquet, JSON lines and fastText's lines, block by block."""

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from sketchforest._utils.progress import stage
from sketchforest.datasets._rows import check_filled
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    decoded_lines,
    opened_to_read,
    plain_name,
    reporting_bad_text,
    shown,
)

TABLE_FORMATS = ("csv", "tsv", "parquet", "jsonl", "fasttext")
DELIMITERS = ",;\t|"
MISSING = {"", "na", "nan", "null", "none", "?"}
BLOCK_ROWS = 4096
# The columns of a fastText file, and what marks a label in it.
FASTTEXT_TEXT, FASTTEXT_LABELS = "text", "labels"
FASTTEXT_MARK = "__label__"
_OTHER_SUFFIXES = {"ndjson": "jsonl"}


class Block(NamedTuple):
    """Some rows of a table: the cells of each column."""

    path: AnyPath
    first_row: int  # from 1, the header not counted
    cells: Mapping[str, Sequence[Any]]
    lines: Sequence[int] | None = None  # that rows begin in, where the file has lines

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def numbers(self, name: str, way_out: str) -> np.ndarray:
        """(n_rows,) float64, NaN where nothing is there; who reads a cell that is no number is told
        the way out."""
        try:
            numbers = np.array(self.cells[name], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            cells = range(len(self.cells[name]))
            numbers = np.array([self._number(name, at, way_out) for at in cells])
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            reason = "is infinite or too large; leave it empty where the number is not known"
            raise self.bad_cell(name, int(infinite[0]), reason)
        return numbers

    def _number(self, name: str, at: int, way_out: str) -> float:
        cell = self.cells[name][at]
        if _is_missing(cell):
            return np.nan
        try:
            return float(cell)
        except OverflowError:  # a whole number of JSON may have any length
            return np.inf
        except (TypeError, ValueError):
            raise self.bad_cell(name, at, f"is not a number; {way_out}") from None

    def bad_cell(self, name: str, at: int, reason: str) -> ValueError:
        """With the line of the cell, or its row where there are no lines."""
        place = "" if self.lines is not None else f"row {self.first_row + at}, "
        line = None if self.lines is None else self.lines[at]
        cell = shown(str(self.cells[name][at]))
        return bad_file(self.path, line, f"{place}column {name!r}: {cell} {reason}")

    def texts(self, names: Sequence[str]) -> list[str]:
        """A document for each row: its cells, one after the other."""
        columns = [["" if c is None else str(c) for c in self.cells[name]] for name in names]
        return columns[0] if len(columns) == 1 else list(map("\n".join, zip(*columns, strict=True)))

    def categories(self, name: str) -> list[str | None]:
        """None where nothing is there."""
        return [None if _is_missing(cell) else str(cell).strip() for cell in self.cells[name]]


def _is_missing(cell: object) -> bool:
    return cell is None or str(cell).strip().lower() in MISSING


class Table(NamedTuple):
    """A table that is open for reading: the names of its columns, then its rows, read once."""

    path: AnyPath
    names: list[str]
    blocks: Iterator[Block]

    def require(self, names: Iterable[str]) -> None:
        """Raises for a column that is not there."""
        there = set(self.names)
        for name in names:
            if name not in there:
                known = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
                raise bad_file(self.path, None, f"there is no column {name!r}; there are {known}")


def table_format(path: AnyPath) -> str | None:
    """One of TABLE_FORMATS by the file's name; None for other files."""
    suffix = plain_name(path).rpartition(".")[2].lower()
    suffix = _OTHER_SUFFIXES.get(suffix, suffix)
    return suffix if suffix in TABLE_FORMATS else None


def open_table(
    path: AnyPath, format: str, n_rows: int = BLOCK_ROWS, encoding: str = "utf-8"
) -> Table:
    """The table, with `n_rows` rows in a block."""
    if format == "parquet":
        return _open_parquet(path, n_rows)
    if format == "jsonl":
        return _open_jsonl(path, n_rows, encoding)
    if format == "fasttext":
        return _open_fasttext(path, n_rows, encoding)
    rows = _delimited_rows(path, "\t" if format == "tsv" else None, encoding)
    _, names = next(rows, (1, None))
    if names is None:
        raise bad_file(path, None, "it is empty, without names of columns")
    names = [name.strip() for name in names]
    twice = {name for name, count in Counter(names).items() if count > 1}
    if twice:
        raise bad_file(path, 1, f"there are two columns {min(twice)!r}")
    return Table(path, names, _blocks_of_cells(path, names, rows, n_rows))


def header_names(line: str) -> list[str]:
    """The names of columns in the first line of a delimited file."""
    delimiter = _delimiter(line)
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _delimited_rows(
    path: AnyPath, delimiter: str | None, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    """The line that a row begins in, and its cells."""
    csv.field_size_limit(sys.maxsize)  # documents are longer than the 128 kB of the default
    reader = None

    def line() -> int:
        return 1 if reader is None else reader.line_num

    with reporting_bad_text(path, line, encoding) as codec, opened_to_read(path) as raw:
        lines = io.TextIOWrapper(raw, encoding=codec, newline="")
        try:
            header = lines.readline()
            reader = csv.reader(
                chain([header], lines), delimiter=delimiter or _delimiter(header), strict=True
            )
            n_cells = None
            last = 0
            for row in reader:
                first, last = last + 1, reader.line_num
                if not row:
                    continue
                n_cells = len(row) if n_cells is None else n_cells
                if len(row) != n_cells:
                    reason = f"there are {len(row)} cells, and {n_cells} names of columns"
                    raise bad_file(path, line(), reason)
                yield first, row
        except csv.Error as error:
            raise bad_file(path, line(), str(error)) from None
        finally:
            lines.detach()  # whoever opened the file closes it


def _blocks_of_cells(
    path: AnyPath, names: list[str], rows: Iterator[tuple[int, list[str]]], n_rows: int
) -> Iterator[Block]:
    first = 1
    while block := list(islice(rows, n_rows)):
        lines, rows_of_cells = zip(*block, strict=True)
        cells = dict(zip(names, zip(*rows_of_cells, strict=True), strict=True))
        yield Block(path, first, cells, lines)
        first += len(block)


def _open_jsonl(path: AnyPath, n_rows: int, encoding: str) -> Table:
    """The columns are those of the first block; a row may lack some of them."""
    rows = _json_rows(path, encoding)
    start = list(islice(rows, n_rows))
    if not start:
        raise bad_file(path, None, "there are no rows")
    names = list(dict.fromkeys(name for _, row in start for name in row))

    def blocks() -> Iterator[Block]:
        first, block = 1, start
        while block:
            lines, objects = zip(*block, strict=True)
            check_filled(path, len(objects), len(names), sum(map(len, objects)))
            cells = {name: [row.get(name) for row in objects] for name in names}
            yield Block(path, first, cells, lines)
            first += len(block)
            block = list(islice(rows, n_rows))

    return Table(path, names, blocks())


def _json_rows(path: AnyPath, encoding: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The line of an object, and the object."""
    for number, line in decoded_lines(path, encoding):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise bad_file(path, number, f"this is no JSON ({error})") from None
        if not isinstance(row, dict):
            reason = 'each line must be an object, as in {"text": "...", "tags": ["a"]}'
            raise bad_file(path, number, f"{reason}; got {shown(line)}")
        yield number, row


def _open_fasttext(path: AnyPath, n_rows: int, encoding: str) -> Table:
    lines = (line for _, line in decoded_lines(path, encoding) if line.strip())

    def blocks() -> Iterator[Block]:
        first = 1
        while block := list(islice(lines, n_rows)):
            words = [line.split() for line in block]
            texts = [" ".join(w for w in row if not w.startswith(FASTTEXT_MARK)) for row in words]
            labels = [
                [w.removeprefix(FASTTEXT_MARK) for w in row if w.startswith(FASTTEXT_MARK)]
                for row in words
            ]
            yield Block(path, first, {FASTTEXT_TEXT: texts, FASTTEXT_LABELS: labels})
            first += len(block)

    return Table(path, [FASTTEXT_TEXT, FASTTEXT_LABELS], blocks())


def _open_parquet(path: AnyPath, n_rows: int) -> Table:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ImportError(
            f"{path} is a Parquet file, which needs pyarrow. "
            "Install it with: pip install 'sketchforest[parquet]'"
        ) from None
    try:
        file = ParquetFile(path)
    except ArrowException as error:
        raise bad_file(path, None, f"it is no Parquet file ({error})") from None

    def blocks() -> Iterator[Block]:
        first = 1
        with stage("reading", file.metadata.num_rows) as shown:
            for batch in file.iter_batches(batch_size=n_rows):
                columns = zip(batch.schema.names, batch.columns, strict=True)
                yield Block(path, first, {name: column.to_pylist() for name, column in columns})
                first += batch.num_rows
                shown.update(first - 1)

    return Table(path, list(file.schema_arrow.names), blocks())
