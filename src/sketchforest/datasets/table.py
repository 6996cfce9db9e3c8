"""Tables with named columns: CSV, TSV and Parquet, read block by block.

One column may hold text, one may hold tags (``a;b;c``), some may be labels; the rest are numbers.
"""

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest.datasets._rows import csr
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    opened,
    plain_name,
    reporting_bad_compression,
    shown,
    stem,
)
from sketchforest.datasets.dataset import Dataset

TABLE_FORMATS = ("csv", "tsv", "parquet")
DELIMITERS = ",;\t|"
MISSING = {"", "na", "nan", "null", "none", "?"}
BLOCK_ROWS = 4096


@dataclass(frozen=True)
class Columns:
    """What the columns of a table mean; those that are not named hold features."""

    text: str | None = None
    tags: str | None = None
    tag_separator: str = ";"
    labels: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def features(self, names: Sequence[str]) -> list[str]:
        if self.text is not None:
            return []
        others = {self.tags, *self.labels, *self.ignored}
        return [name for name in names if name not in others]


class Block(NamedTuple):
    """Some rows of a table: the cells of each column."""

    path: AnyPath
    first_row: int  # from 1, the header not counted
    cells: Mapping[str, Sequence[Any]]

    def numbers(self, name: str) -> np.ndarray:
        """(n_rows,) float64, NaN where nothing is there."""
        try:
            return np.array(self.cells[name], dtype=np.float64)
        except (TypeError, ValueError):
            return np.array([self._number(name, at) for at in range(len(self.cells[name]))])

    def _number(self, name: str, at: int) -> float:
        cell = self.cells[name][at]
        if cell is None or str(cell).strip().lower() in MISSING:
            return np.nan
        try:
            return float(cell)
        except (TypeError, ValueError):
            reason = (
                f"row {self.first_row + at} has {shown(str(cell))} in column {name!r}, which is "
                "not a number; ignore the column, or encode it"
            )
            raise bad_file(self.path, None, reason) from None

    def texts(self, name: str) -> list[str]:
        return ["" if cell is None else str(cell) for cell in self.cells[name]]

    def tags(self, name: str, separator: str) -> list[list[str]]:
        """The tags of each row, none of them empty or twice; Parquet may hold them as lists."""
        return [_split(cell, separator) for cell in self.cells[name]]


def _split(cell: object, separator: str) -> list[str]:
    parts = cell if isinstance(cell, list | tuple) else str(cell or "").split(separator)
    return list(dict.fromkeys(part for part in (str(p).strip() for p in parts) if part))


class Table(NamedTuple):
    """A table that is open for reading: the names of its columns, then its rows, read once."""

    path: AnyPath
    names: list[str]
    blocks: Iterator[Block]

    def require(self, names: Sequence[str]) -> None:
        """Raises for a column that is not there."""
        for name in names:
            if name not in self.names:
                known = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
                raise bad_file(self.path, None, f"there is no column {name!r}; there are {known}")


def table_format(path: AnyPath) -> str | None:
    """ "csv", "tsv" or "parquet" by the file's name; None for other files."""
    suffix = plain_name(path).rpartition(".")[2].lower()
    return suffix if suffix in TABLE_FORMATS else None


def open_table(path: AnyPath, format: str, n_rows: int = BLOCK_ROWS) -> Table:
    """The table, with `n_rows` rows in a block."""
    if format == "parquet":
        return _open_parquet(path, n_rows)
    rows = _delimited_rows(path, "\t" if format == "tsv" else None)
    names = next(rows, None)
    if names is None:
        raise bad_file(path, None, "it is empty, without names of columns")
    names = [name.strip() for name in names]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise bad_file(path, 1, f"there are two columns {min(twice)!r}")
    return Table(path, names, _blocks_of_cells(path, names, rows, n_rows))


def _delimited_rows(path: AnyPath, delimiter: str | None) -> Iterator[list[str]]:
    csv.field_size_limit(sys.maxsize)  # documents are longer than the 128 kB of the default
    reader = None

    def line() -> int:
        return 1 if reader is None else reader.line_num

    with reporting_bad_compression(path, line), opened(path) as raw:
        lines = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        try:
            header = lines.readline()
            if delimiter is None:
                delimiter = max(DELIMITERS, key=header.count)
            reader = csv.reader(chain([header], lines), delimiter=delimiter, strict=True)
            n_cells = None
            for row in reader:
                if not row:
                    continue
                n_cells = len(row) if n_cells is None else n_cells
                if len(row) != n_cells:
                    reason = f"there are {len(row)} cells, and {n_cells} names of columns"
                    raise bad_file(path, line(), reason)
                yield row
        except UnicodeDecodeError as error:
            # Text is decoded ahead of the lines.
            reason = f"byte 0x{error.object[error.start]:02x} is not UTF-8 text"
            raise bad_file(path, None, f"{reason}, in line {line()} or later") from None
        except csv.Error as error:
            raise bad_file(path, line(), str(error)) from None
        finally:
            lines.detach()  # whoever opened the file closes it


def _blocks_of_cells(
    path: AnyPath, names: list[str], rows: Iterator[list[str]], n_rows: int
) -> Iterator[Block]:
    first = 1
    while block := list(islice(rows, n_rows)):
        cells = dict(zip(names, zip(*block, strict=True), strict=True))
        yield Block(path, first, cells)
        first += len(block)


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
        for batch in file.iter_batches(batch_size=n_rows):
            columns = zip(batch.schema.names, batch.columns, strict=True)
            yield Block(path, first, {name: column.to_pylist() for name, column in columns})
            first += batch.num_rows

    return Table(path, list(file.schema_arrow.names), blocks())


def features_of(block: Block, names: Sequence[str]) -> np.ndarray:
    """(n_rows, n_features) float64."""
    return np.column_stack([block.numbers(name) for name in names])


def read_table(
    path: AnyPath,
    columns: Columns,
    format: str | None = None,
    feature_names: Sequence[str] | None = None,
) -> tuple[Dataset, list[str] | None]:
    """The data set in a table, and its texts if there is a column of them, in place of X.

    The format is "csv", "tsv" or "parquet", as the name says if not given. X holds the columns of
    `feature_names`, or all that are left. Y holds the tags, in order of name, or the columns of
    labels as they are.
    """
    table = open_table(path, format or table_format(path) or "csv")
    named = [columns.text, columns.tags, *columns.labels, *(feature_names or ())]
    table.require([name for name in named if name is not None])
    if feature_names is None:
        table.require(columns.ignored)
        feature_names = columns.features(table.names)
    if columns.text is None and not feature_names:
        raise bad_file(path, None, "no column is left for features")
    texts: list[str] = []
    X, Y, tags = [], [], []
    n_rows = 0
    for block in table.blocks:
        n_rows += len(block.cells[table.names[0]])
        if columns.text is not None:
            texts += block.texts(columns.text)
        else:
            X.append(sparse.csr_array(_narrow(features_of(block, feature_names))))
        if columns.tags is not None:
            tags += block.tags(columns.tags, columns.tag_separator)
        if columns.labels:
            Y.append(sparse.csr_array(_labels(block, columns.labels)))
    if not n_rows:
        raise bad_file(path, None, "there are no rows")
    label_names: Sequence[str] = columns.labels
    if columns.tags is not None:
        targets, label_names = _tag_matrix(tags)
    else:
        targets = sparse.vstack(Y, format="csr") if Y else sparse.csr_array((n_rows, 0))
    dataset = Dataset(
        name=stem(path),
        X=sparse.vstack(X, format="csr") if X else sparse.csr_array((n_rows, 0)),
        Y=targets,
        feature_names=np.array(feature_names, np.str_),
        label_names=np.array(label_names, np.str_),
    )
    return dataset, texts if columns.text is not None else None


def _tag_matrix(tags: Sequence[Sequence[str]]) -> tuple[sparse.csr_array, list[str]]:
    """(n_rows, n_tags) indicator and the names of its columns, in order."""
    names = sorted({tag for row in tags for tag in row})
    number = {name: at for at, name in enumerate(names)}
    columns = [sorted(number[tag] for tag in row) for row in tags]
    indptr = np.append(0, np.cumsum([len(row) for row in columns], dtype=np.int64))
    indices = np.array([at for row in columns for at in row], np.int64)
    shape = len(tags), len(names)
    return csr(np.ones(len(indices), np.uint8), indices, indptr, shape), names


def _labels(block: Block, names: Sequence[str]) -> np.ndarray:
    Y = features_of(block, names)
    if np.isnan(Y).any():
        row, column = (int(at[0]) for at in np.nonzero(np.isnan(Y)))
        reason = f"row {block.first_row + row} has no number in label column {names[column]!r}"
        raise bad_file(block.path, None, reason)
    return Y


def _narrow(X: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32)
    return narrow if np.array_equal(narrow, X, equal_nan=True) else X
