"""Multi-label svmlight text: ``1,5,7 3:0.5 8:1``, one row a line."""

import re
from typing import Literal

import numpy as np

from sketchforest.datasets._pairs import PairRows
from sketchforest.datasets._rows import FLOAT32_MAX, Rows, check_counts, compact, most_columns
from sketchforest.datasets._text import AnyPath, bad_file, numbered_lines, stem, text_writer
from sketchforest.datasets._writing import label_lists, pair_text, refuse_infinity, refuse_missing
from sketchforest.datasets.dataset import Dataset

ZeroBased = bool | Literal["auto"]

# Written by write_svmlight: what the rows alone do not tell.
_SHAPE = re.compile(rb"#\s*zero-based, (\d{1,18}) features, (\d{1,18}) labels\s*")


def read_svmlight(
    path: AnyPath,
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: ZeroBased = "auto",
    zero_based_labels: ZeroBased = "auto",
) -> Dataset:
    """X (n_samples, n_features) and Y (n_samples, n_labels) of an svmlight file.

    Blank lines and what follows a ``#`` are skipped. Without ``n_features`` and ``n_labels`` the
    largest numbers in the file decide, unless they are far larger than the file. Numbers start from
    0 where a 0 occurs, else from 1, unless ``zero_based`` (features) or ``zero_based_labels`` says
    so. Where labels start from 1, ``label_names`` are their numbers in the file.

    Parameters
    ----------
    path : str or path
        Compressed by gzip, xz or bzip2 or not.
    n_features, n_labels : int or None, default=None
    zero_based, zero_based_labels : bool or "auto", default="auto"

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, read_svmlight, write_svmlight
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.svm")
    ...     write_svmlight(data, path)
    ...     read_svmlight(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
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
    return Dataset(
        name=stem(path),
        X=compact(rows.features.matrix(n_features, "feature", first=first_feature)),
        Y=rows.labels.matrix(n_labels, "label", first=first_label).astype(np.uint8),
        label_names=_numbers_from_one(n_labels) if first_label else None,
    )


def write_svmlight(dataset: Dataset, path: AnyPath) -> None:
    """Writes rows of label and feature numbers from 0; names and splits have no place there.

    Parameters
    ----------
    dataset : Dataset
    path : str or path

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, read_svmlight, write_svmlight
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.svm")
    ...     write_svmlight(data, path)
    ...     read_svmlight(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    refuse_missing(dataset, "svmlight")
    refuse_infinity(dataset, FLOAT32_MAX)
    with text_writer(path) as file:
        file.write(f"# zero-based, {dataset.X.shape[1]} features, {dataset.Y.shape[1]} labels\n")
        for labels, pairs in zip(label_lists(dataset.Y), pair_text(dataset.X), strict=True):
            # An empty row would read as a blank line, so it gets a zero that says nothing.
            file.write(f"{labels} {pairs}".rstrip() or "0:0")
            file.write("\n")


def _numbers_from_one(count: int) -> np.ndarray:
    return np.arange(1, count + 1).astype(f"U{len(str(count))}")


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
        raise bad_file(
            rows.path,
            None,
            f"{what} {largest} is too large a number; pass n_{what}s if it is meant",
        )
    return max(0, largest + 1 - first)
