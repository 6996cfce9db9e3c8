"""From one data format to another."""

import csv
from collections.abc import Iterator
from itertools import pairwise
from typing import Unpack

import numpy as np
from scipy import sparse

from sketchforest.datasets._text import AnyPath, bad_file, text_writer
from sketchforest.datasets._writing import column_names, number_texts, refuse_infinity
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
    """Writes the data set of one file to another, and returns it."""
    source_format = source_format or table_format(source)
    if source_format in TABLE_FORMATS:
        if columns.text or source_format == "fasttext":
            raise bad_file(source, None, "text has no features to convert; train on it as it is")
        dataset, _ = read_table(source, columns, source_format, encoding=encoding)
    else:
        dataset = read(source, source_format, **options)
    target_format = target_format or table_format(target)
    if target_format in ("csv", "tsv"):
        write_table(dataset, target, "\t" if target_format == "tsv" else ",")
    else:
        write(dataset, target, target_format)
    return dataset


def write_table(dataset: Dataset, path: AnyPath, delimiter: str = ",") -> None:
    """Writes a column for each feature and one of tags, ``a;b;c``.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
    delimiter : str, default=","

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, Columns, read_table, write_table
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.csv")
    ...     write_table(data, path)
    ...     read_table(path, Columns(tags="tags"))[0]
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    refuse_infinity(dataset)
    n_features, n_labels = dataset.X.shape[1], dataset.Y.shape[1]
    features = column_names(dataset.feature_names, n_features)
    labels = column_names(dataset.label_names, n_labels)
    taken = [name for name in labels if ";" in name]
    if taken:
        raise ValueError(f"Labels must have no ';' in a column of tags; got {taken[0]!r}.")
    if "tags" in features:
        raise ValueError("A feature must not have the name 'tags' in a table, whose tags have it.")
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
