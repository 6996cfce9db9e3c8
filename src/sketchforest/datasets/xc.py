"""Text of the Extreme Classification Repository: a header of three counts, then rows of pairs."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sketchforest.datasets._rows import PairRows, check_counts, compact
from sketchforest.datasets._shared_docs import round_trip
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    beside,
    decoded,
    numbered_lines,
    plain_name,
    shown,
    stem,
    text_writer,
)
from sketchforest.datasets._writing import check_pairs, pair_lines
from sketchforest.datasets.dataset import Dataset

_HEADER = re.compile(r"\s*(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")
_SPLIT_FILES = {"train": "trSplit", "test": "tstSplit"}


@round_trip("read_xc", "write_xc", "tags.txt")
def read_xc(
    path: AnyPath,
    train_split: AnyPath | None = None,
    test_split: AnyPath | None = None,
    *,
    split: int = 0,
) -> Dataset:
    """Read a file of the Extreme Classification Repository.

    The first line has the numbers of rows, features and labels. Each row is ``label,label
    index:value ...``, numbered from 0.

    Parameters
    ----------
    train_split, test_split : str, path or None, default=None
        Files of row numbers from 1, one split per column. None takes ``NAME_trSplit.txt`` and
        ``NAME_tstSplit.txt`` beside ``NAME_data.txt``, if they are there.
    split : int, default=0
        Column of the split files, from 0.
    """
    (n_samples, n_features, n_labels), lines = open_xc(path)
    check_counts(path, n_features, n_labels)
    rows = PairRows(path)
    for number, line in lines:
        rows.append(number, line)
    return Dataset(
        name=re.sub(r"_data$", "", stem(path)),
        X=compact(rows.features.matrix(n_features, "feature")),
        Y=rows.labels.matrix(n_labels, "label").astype(np.uint8),
        splits=_splits(path, n_samples, {"train": train_split, "test": test_split}, split),
    )


@round_trip("read_xc", "write_xc", "tags.txt")
def write_xc(dataset: Dataset, path: AnyPath) -> None:
    """Write a file of the Extreme Classification Repository, with split files beside it.

    The format cannot hold names.
    """
    check_pairs(dataset, "xc")
    with text_writer(path) as file:
        file.write(f"{dataset.X.shape[0]} {dataset.X.shape[1]} {dataset.Y.shape[1]}\n")
        file.writelines(f"{line}\n" for line in pair_lines(dataset))
    for part, name in _SPLIT_FILES.items():
        if part in dataset.splits:
            with text_writer(_split_path(path, name)) as file:
                file.writelines(f"{row + 1}\n" for row in dataset.splits[part].tolist())


def is_xc_header(line: bytes) -> bool:
    return _HEADER.fullmatch(line.decode("ascii", "replace")) is not None


def open_xc(path: AnyPath) -> tuple[list[int], Iterator[tuple[int, bytes]]]:
    """The numbers of rows, features and labels, and the numbered lines of exactly these rows."""
    lines = numbered_lines(path)
    header = next(lines, (1, b""))[1]
    match = _HEADER.fullmatch(decoded(header, path, 1))
    if match is None:
        reason = f"expected the numbers of rows, features and labels, got {shown(header)}"
        raise bad_file(path, 1, reason)
    counts = [int(count) for count in match.groups()]
    return counts, _row_lines(path, lines, counts[0])


def _row_lines(
    path: AnyPath, lines: Iterator[tuple[int, bytes]], n_rows: int
) -> Iterator[tuple[int, bytes]]:
    number = 1
    for number, line in lines:
        if number <= n_rows + 1:
            yield number, line
        elif line.strip():
            raise bad_file(path, number, f"there are more rows than the {n_rows} of line 1")
    if number <= n_rows:
        reason = f"the file ends after {number - 1} of the {n_rows} rows of line 1"
        raise bad_file(path, number, reason)


def _split_path(path: AnyPath, name: str) -> Path:
    packed = Path(path).name.removeprefix(plain_name(path))
    return Path(path).parent / f"{re.sub('_data$', '', stem(path))}_{name}.txt{packed}"


def _splits(
    path: AnyPath, n_samples: int, given: dict[str, AnyPath | None], column: int
) -> dict[str, np.ndarray]:
    splits = {}
    for part, name in _SPLIT_FILES.items():
        file = given[part]
        if not any(given.values()):
            file = beside(path, _split_path(path, name).name)
        if file is not None:
            splits[part] = _read_split(file, n_samples, column)
    return splits


def _read_split(path: AnyPath, n_samples: int, column: int) -> npt.NDArray[np.int64]:
    rows: dict[int, int] = {}
    for number, line in numbered_lines(path):
        tokens = line.split()
        if not tokens:
            continue
        if not 0 <= column < len(tokens):
            raise bad_file(path, number, f"split={column} must be below {len(tokens)} columns")
        token = tokens[column]
        if not token.isdigit() or len(token) > 18:
            raise bad_file(path, number, f"{shown(token)} is not a row number")
        row = int(token)
        if not 1 <= row <= n_samples:
            reason = f"row {row} is out of range: rows are numbered from 1 to {n_samples}"
            raise bad_file(path, number, reason)
        if row in rows:
            raise bad_file(path, number, f"row {row} appears twice, first in line {rows[row]}")
        rows[row] = number
    return np.fromiter(rows, np.int64, len(rows)) - 1
