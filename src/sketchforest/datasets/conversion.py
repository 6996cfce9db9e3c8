"""From one data format to another."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest.datasets._text import AnyPath, text_writer
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.files import read, write
from sketchforest.datasets.table import TABLE_FORMATS, Columns, read_table, table_format


def convert_file(
    source: AnyPath,
    target: AnyPath,
    source_format: str | None,
    target_format: str | None,
    columns: Columns,
    **options: Any,
) -> Dataset:
    """Writes the data set of one file to another, and returns it."""
    source_format = source_format or table_format(source)
    if source_format in TABLE_FORMATS:
        columns = replace(columns, tag_separator=columns.tag_separator or ";")
        dataset, _ = read_table(source, columns, source_format)
    else:
        dataset = read(source, source_format, **options)
    target_format = target_format or table_format(target)
    if target_format in ("csv", "tsv"):
        write_table(dataset, target, "\t" if target_format == "tsv" else ",")
    else:
        write(dataset, target, target_format)
    return dataset


def write_table(dataset: Dataset, path: AnyPath, delimiter: str = ",") -> None:
    """Writes a column for each feature and one of tags, ``a;b;c``."""
    n_features, n_labels = dataset.X.shape[1], dataset.Y.shape[1]
    features = _names(dataset.feature_names, n_features)
    labels = _names(dataset.label_names, n_labels)
    taken = [name for name in labels if ";" in name]
    if taken:
        raise ValueError(f"Labels must have no ';' in a column of tags; got {taken[0]!r}.")
    if "tags" in features:
        raise ValueError("A feature must not have the name 'tags' in a table, whose tags have it.")
    with text_writer(path) as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([*features, "tags"])
        for x, y in zip(_rows(dataset.X), _rows(dataset.Y), strict=True):
            cells = ["0"] * n_features
            # NumPy writes the shortest text that gives the same number back in the same type.
            for column, value in zip(x.indices.tolist(), x.data.astype(np.str_), strict=True):
                cells[column] = "" if value == "nan" else value.removesuffix(".0")
            writer.writerow([*cells, ";".join(labels[label] for label in y.indices.tolist())])


class _Row(NamedTuple):
    indices: np.ndarray
    data: np.ndarray


def _rows(matrix: sparse.csr_array) -> Iterator[_Row]:
    for start, end in pairwise(matrix.indptr.tolist()):
        yield _Row(matrix.indices[start:end], matrix.data[start:end])


def _names(names: Any, count: int) -> list[str]:
    return [str(number) for number in range(count)] if names is None else list(names)
