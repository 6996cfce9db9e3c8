"""Tables with named columns, read in blocks: CSV, TSV, Parquet, JSON lines, fastText."""

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from sketchforest._utils.progress import stage
from sketchforest.datasets._rows import check_filled
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    decoded_lines,
    opened,
    plain_name,
    reporting_bad_text,
    shown,
)
from sketchforest.datasets.columns import is_missing

TABLE_FORMATS = ("csv", "tsv", "parquet", "jsonl", "fasttext")
DELIMITERS = ",;\t|"
BLOCK_ROWS = 4096
# The columns of a fastText file, and the prefix of its labels.
FASTTEXT_TEXT, FASTTEXT_LABELS = "text", "labels"
FASTTEXT_MARK = "__label__"
_OTHER_SUFFIXES = {"ndjson": "jsonl"}


class Block(NamedTuple):
    """Consecutive rows of a table, as the cells of each column."""

    path: AnyPath
    first_row: int  # from 1, not counting the header
    cells: Mapping[str, Sequence[Any]]
    lines: Sequence[int] | None = None  # that the rows start in, for text files

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.cells.values())))

    def numbers(self, name: str, hint: str) -> np.ndarray:
        """(n_rows,) float64, NaN where missing. Errors about other cells end in the hint."""
        try:
            numbers = np.array(self.cells[name], dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            cells = range(len(self.cells[name]))
            numbers = np.array([self._number(name, at, hint) for at in cells])
        infinite = np.flatnonzero(np.isinf(numbers))
        if len(infinite):
            reason = "is infinite or too large; leave it empty if the number is unknown"
            raise self.bad_cell(name, int(infinite[0]), reason)
        return numbers

    def _number(self, name: str, at: int, hint: str) -> float:
        cell = self.cells[name][at]
        if is_missing(cell):
            return np.nan
        try:
            return float(cell)
        except OverflowError:  # integers in JSON may have any length
            return np.inf
        except (TypeError, ValueError):
            raise self.bad_cell(name, at, f"is not a number; {hint}") from None

    def bad_cell(self, name: str, at: int, reason: str) -> ValueError:
        """The error for a cell, with its line, or its row if there are no lines."""
        place = "" if self.lines is not None else f"row {self.first_row + at}, "
        line = None if self.lines is None else self.lines[at]
        cell = shown(str(self.cells[name][at]))
        return bad_file(self.path, line, f"{place}column {name!r}: {cell} {reason}")

    def texts(self, names: Sequence[str]) -> list[str]:
        """One document per row, made of its cells."""
        columns = [["" if c is None else str(c) for c in self.cells[name]] for name in names]
        return columns[0] if len(columns) == 1 else list(map("\n".join, zip(*columns, strict=True)))

    def categories(self, name: str) -> list[str | None]:
        """The category of each row, None where missing."""
        return [None if is_missing(cell) else str(cell).strip() for cell in self.cells[name]]


class Table(NamedTuple):
    """A table open for reading: column names, then rows, which can be read once."""

    path: AnyPath
    names: list[str]
    blocks: Iterator[Block]

    def require(self, names: Iterable[str]) -> None:
        """Raise for a column that does not exist."""
        there = set(self.names)
        for name in names:
            if name not in there:
                known = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
                reason = f"there is no column {name!r}; the columns are {known}"
                raise bad_file(self.path, None, reason)


def table_format(path: AnyPath) -> str | None:
    """One of TABLE_FORMATS, from the file name; None for other files."""
    suffix = plain_name(path).rpartition(".")[2].lower()
    suffix = _OTHER_SUFFIXES.get(suffix, suffix)
    return suffix if suffix in TABLE_FORMATS else None


def open_table(
    path: AnyPath, format: str, n_rows: int = BLOCK_ROWS, encoding: str = "utf-8"
) -> Table:
    """Open a table of blocks of up to `n_rows` rows."""
    if format == "parquet":
        return _open_parquet(path, n_rows)
    if format == "jsonl":
        return _open_jsonl(path, n_rows, encoding)
    if format == "fasttext":
        lines = (line for line in decoded_lines(path, encoding) if line[1].strip())
        blocks = _blocks(path, lines, n_rows, _fasttext_cells)
        return Table(path, [FASTTEXT_TEXT, FASTTEXT_LABELS], blocks)
    rows = _delimited_rows(path, "\t" if format == "tsv" else None, encoding)
    _, header = next(rows, (1, None))
    if header is None:
        raise bad_file(path, None, "it is empty: there is no header of column names")
    names = [name.strip() for name in header]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    if repeated:
        raise bad_file(path, 1, f"there are two columns {min(repeated)!r}")

    def cells(rows: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
        return dict(zip(names, zip(*rows, strict=True), strict=True))

    return Table(path, names, _blocks(path, rows, n_rows, cells))


def _blocks(
    path: AnyPath,
    rows: Iterator[tuple[int, Any]],
    n_rows: int,
    cells: Callable[[Sequence[Any]], Mapping[str, Sequence[Any]]],
) -> Iterator[Block]:
    """Blocks of rows, which come with the lines that they start in."""
    first = 1
    while block := list(islice(rows, n_rows)):
        lines, contents = zip(*block, strict=True)
        yield Block(path, first, cells(contents), lines)
        first += len(block)


def header_names(line: str) -> list[str]:
    """The column names in the first line of a delimited file."""
    delimiter = _delimiter(line)
    return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _delimited_rows(
    path: AnyPath, delimiter: str | None, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    """The line that each row starts in, and its cells."""
    csv.field_size_limit(sys.maxsize)  # documents are longer than the default of 128 kB
    reader = None

    def line() -> int:
        return 1 if reader is None else reader.line_num

    with reporting_bad_text(path, line, encoding) as codec, opened(path) as raw:
        lines = io.TextIOWrapper(raw, encoding=codec, newline="")
        last = 0
        try:
            header = lines.readline()
            if "\0" in header:
                reason = "it contains null bytes; it may be UTF-16 text: pass --encoding utf-16-le"
                raise bad_file(path, 1, reason)
            reader = csv.reader(
                chain([header], lines), delimiter=delimiter or _delimiter(header), strict=True
            )
            n_cells = None
            for row in reader:
                first, last = last + 1, reader.line_num
                if not row:
                    continue
                n_cells = len(row) if n_cells is None else n_cells
                if len(row) != n_cells:
                    reason = f"the row has {len(row)} cells, and the header {n_cells} columns"
                    if last > first:
                        reason += f"; it ends in line {last}, so a quote may not be closed"
                    raise bad_file(path, first, reason)
                yield first, row
        except csv.Error as error:
            raise bad_file(path, last + 1, _reason(error, last + 1, line())) from None
        finally:
            lines.detach()  # the context manager closes the file


def _reason(error: csv.Error, first: int, last: int) -> str:
    """What is wrong with the row in the lines from first to last."""
    if "end of data" in str(error):
        return "a quote opens in this row and is never closed"
    if last > first:
        return f"a quote opens in this row and is not closed before line {last} ({error})"
    return str(error)


def _open_jsonl(path: AnyPath, n_rows: int, encoding: str) -> Table:
    """The columns are those of the first block; a row may lack some of them."""
    rows = _json_rows(path, encoding)
    start = list(islice(rows, n_rows))
    if not start:
        raise bad_file(path, None, "there are no rows")
    names = list(dict.fromkeys(name for _, row in start for name in row))

    def cells(rows: Sequence[dict[str, Any]]) -> dict[str, Sequence[Any]]:
        check_filled(path, len(rows), len(names), sum(map(len, rows)))
        return {name: [row.get(name) for row in rows] for name in names}

    return Table(path, names, _blocks(path, chain(start, rows), n_rows, cells))


def _json_rows(path: AnyPath, encoding: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The line of each object, and the object."""
    for number, line in decoded_lines(path, encoding):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise bad_file(path, number, f"invalid JSON ({error})") from None
        if not isinstance(row, dict):
            reason = 'each line must be an object, as in {"text": "...", "tags": ["a"]}'
            raise bad_file(path, number, f"{reason}; got {shown(line)}")
        yield number, row


def _fasttext_cells(lines: Sequence[str]) -> dict[str, Sequence[Any]]:
    rows = [line.split() for line in lines]
    return {
        FASTTEXT_TEXT: [
            " ".join(w for w in words if not w.startswith(FASTTEXT_MARK)) for words in rows
        ],
        FASTTEXT_LABELS: [
            [w.removeprefix(FASTTEXT_MARK) for w in words if w.startswith(FASTTEXT_MARK)]
            for words in rows
        ],
    }


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
        raise bad_file(path, None, f"it is not a Parquet file ({error})") from None

    def blocks() -> Iterator[Block]:
        first = 1
        with stage("reading", file.metadata.num_rows) as shown:
            for batch in file.iter_batches(batch_size=n_rows):
                columns = zip(batch.schema.names, batch.columns, strict=True)
                yield Block(path, first, {name: column.to_pylist() for name, column in columns})
                first += batch.num_rows
                shown.update(first - 1)

    return Table(path, list(file.schema_arrow.names), blocks())
