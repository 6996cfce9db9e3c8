"""Conversion between file formats."""

from typing import Unpack

from sketchforest.datasets._text import AnyPath, bad_file
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
    write(dataset, target, target_format)
    return dataset
