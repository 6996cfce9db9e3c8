"""Conversion between file formats."""

import csv
from collections.abc import Iterator
from itertools import pairwise
from typing import Unpack

import numpy as np
from scipy import sparse

from sketchforest.datasets._shared_docs import described
from sketchforest.datasets._text import AnyPath, bad_file, text_writer
from sketchforest.datasets._writing import check_finite, column_names, number_texts
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.files import ReadOptions, read, write
from sketchforest.datasets.table import read_table
from sketchforest.datasets.table_files import TABLE_FORMATS, table_format


def convert_file(
    source: AnyPath,
    target: AnyPath,
    source_format: str | None,
    target_format: str | None,
    columns: Columns,
    encoding: str = "utf-8",
    **options: Unpack[ReadOptions],
) -> Dataset:
    """Convert one file to another; returns the data set."""
    source_format = source_format or table_format(source)
    if source_format in TABLE_FORMATS:
        if columns.text or source_format == "fasttext":
            raise bad_file(source, None, "text has no features to convert; train on the file")
        dataset, _ = read_table(source, columns, source_format, encoding=encoding)
    else:
        dataset = read(source, source_format, **options)
    target_format = target_format or table_format(target)
    if target_format in ("csv", "tsv"):
        write_table(dataset, target, "\t" if target_format == "tsv" else ",")
    else:
        write(dataset, target, target_format)
    return dataset


@described
def write_table(dataset: Dataset, path: AnyPath, delimiter: str = ",") -> None:
    """Write a CSV table: one column per feature, and ``tags`` as ``a;b;c``.

    Parameters
    ----------
    delimiter : str, default=","

    Examples
    --------
    >>> from sketchforest.datasets import make_multilabel, Columns, read_table, write_table
    >>> write_table(make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3), "tags.csv")
    >>> read_table("tags.csv", Columns(tags="tags"))[0]
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    check_finite(dataset)
    n_features, n_labels = dataset.X.shape[1], dataset.Y.shape[1]
    features = column_names(dataset.feature_names, n_features)
    labels = column_names(dataset.label_names, n_labels)
    taken = [name for name in labels if ";" in name]
    if taken:
        raise ValueError(f"Labels must not contain ';', which separates tags; got {taken[0]!r}.")
    if "tags" in features:
        raise ValueError("A feature must not be named 'tags', the column of labels. Rename it.")
    with text_writer(path) as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow([*features, "tags"])
        for (columns, values), (of_row, _) in zip(_rows(dataset.X), _rows(dataset.Y), strict=True):
            cells = ["0"] * n_features
            for column, text in zip(columns.tolist(), number_texts(values, ""), strict=True):
                cells[column] = text
            writer.writerow([*cells, ";".join(labels[label] for label in of_row.tolist())])


def _rows(matrix: sparse.csr_array) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start, end in pairwise(matrix.indptr.tolist()):
        yield matrix.indices[start:end], matrix.data[start:end]
