"""Multi-label svmlight text, one row per line: ``1,5,7 3:0.5 8:1``."""

import re
from typing import Literal

import numpy as np

from sketchforest.datasets._rows import PairRows, Rows, check_counts, compact, most_columns
from sketchforest.datasets._shared_docs import round_trip
from sketchforest.datasets._text import AnyPath, bad_file, numbered_lines, stem, text_writer
from sketchforest.datasets._writing import check_pairs, pair_lines
from sketchforest.datasets.dataset import Dataset

ZeroBased = bool | Literal["auto"]

# Written by write_svmlight: what the rows alone do not tell.
_SHAPE = re.compile(rb"#\s*zero-based, (\d{1,18}) features, (\d{1,18}) labels\s*")


@round_trip("read_svmlight", "write_svmlight", "tags.svm")
def read_svmlight(
    path: AnyPath,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: ZeroBased = "auto",
    zero_based_labels: ZeroBased = "auto",
) -> Dataset:
    """Read a multi-label svmlight file.

    Skips blank lines and comments (``#``). If labels are numbered from 1, ``label_names`` are their
    numbers in the file.

    Parameters
    ----------
    n_features, n_labels : int or None, default=None
        Numbers of columns. None takes them from the largest numbers in the file, and refuses
        numbers that are far larger than the file.
    zero_based, zero_based_labels : bool or "auto", default="auto"
        Whether features and labels are numbered from 0. "auto" assumes 1 unless a 0 occurs.
    """
    rows = PairRows(path)
    for number, line in numbered_lines(path):
        if number == 1 and (match := _SHAPE.fullmatch(line)):
            written = [int(count) for count in match.groups()]
            check_counts(path, *written)
            n_features = written[0] if n_features is None else n_features
            n_labels = written[1] if n_labels is None else n_labels
            zero_based = zero_based_labels = True
        text = line.partition(b"#")[0]
        # A row without labels and features cannot be told from a blank line.
        if text.strip():
            rows.append(number, text)
    if not len(rows.features):
        raise bad_file(path, None, "there are no rows")
    first_feature = _first_number(rows.features, zero_based)
    first_label = _first_number(rows.labels, zero_based_labels)
    n_features = _count(rows.features, n_features, first_feature, "feature")
    n_labels = _count(rows.labels, n_labels, first_label, "label")
    label_names = None
    if first_label:
        label_names = np.arange(1, n_labels + 1).astype(f"U{len(str(n_labels))}")
    return Dataset(
        name=stem(path),
        X=compact(rows.features.matrix(n_features, "feature", first=first_feature)),
        Y=rows.labels.matrix(n_labels, "label", first=first_label).astype(np.uint8),
        label_names=label_names,
    )


@round_trip("read_svmlight", "write_svmlight", "tags.svm")
def write_svmlight(dataset: Dataset, path: AnyPath) -> None:
    """Write a multi-label svmlight file, numbered from 0.

    The format cannot hold names or splits.
    """
    check_pairs(dataset, "svmlight")
    with text_writer(path) as file:
        file.write(f"# zero-based, {dataset.X.shape[1]} features, {dataset.Y.shape[1]} labels\n")
        # An empty row would read as a blank line, so it gets an explicit zero.
        file.writelines(f"{line.rstrip() or '0:0'}\n" for line in pair_lines(dataset))


def _first_number(rows: Rows, zero_based: ZeroBased) -> int:
    if zero_based == "auto":
        smallest = rows.smallest_column()
        return 0 if smallest is None or smallest <= 0 else 1
    return 0 if zero_based else 1


def _count(rows: Rows, given: int | None, first: int, what: str) -> int:
    if given is not None:
        return given
    largest = rows.largest_column()
    if largest > most_columns(what, rows.n_entries):
        reason = f"{what} number {largest} is too large; pass n_{what}s if it is correct"
        raise bad_file(rows.path, None, reason)
    return max(0, largest + 1 - first)
