"""Read rows of a file with the features and labels of a model, in the model's order."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._estimators.inspection.names import feature_names, label_names
from sketchforest._features import Model
from sketchforest._features.encoder import Records, RowEncoder
from sketchforest._features.tags import aligned
from sketchforest._utils.display import listed
from sketchforest._utils.typing import Matrix
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.models import notes_of
from sketchforest.datasets import Dataset, read
from sketchforest.datasets._text import AnyPath, bad_file, first_line, plain_name
from sketchforest.datasets.blocks import line_blocks, pair_blocks
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.files import ReadOptions, recognize_table
from sketchforest.datasets.table import (
    TableFeatures,
    read_table,
)
from sketchforest.datasets.table_files import (
    TABLE_FORMATS,
    Block,
    Table,
    header_names,
    open_table,
)
from sketchforest.evaluation import is_classifier

BLOCK_ROWS = 4096
SHOWN_NAMES = 5  # labels in an error message


class Labeled(NamedTuple):
    """Features and true labels, in the model's order; `unknown` lists labels it does not have."""

    X: Matrix
    Y: sparse.csr_array
    unknown: list[str]
    texts: Sequence[str] | None


class Rows(NamedTuple):
    """The features of some rows, and the cells of the columns to keep."""

    X: Matrix
    kept: dict[str, Sequence[Any]]


def with_format(file: DataFile, model: Model) -> DataFile:
    """Return the file with its format: as given, by name, by content, or from the model."""
    path = file.path
    known = file.known_format()
    if known is None and (file.is_piped or Path(path).is_file()):
        known = recognize_table(path)
    if known is not None:
        return file._replace(format=known)
    if hasattr(model, "vectorizer_") and (file.is_piped or plain_name(path).endswith(".txt")):
        header = set(header_names(first_line(path).decode("utf-8", "replace")))
        columns = file.columns
        if RowEncoder.of(model).is_text_only:
            is_table = bool(columns.text) and set(columns.text) <= header
        else:  # the model cannot read lines of text, so expect a table that may lack columns
            is_table = not header or bool(
                header & {*columns.text, *columns.categories, *columns.numbers}
            )
        return file._replace(format="csv" if is_table else "text")
    if file.is_piped:
        trained_on = notes_of(model).get("format")
        return file._replace(format="csv" if trained_on in TABLE_FORMATS else "svmlight")
    return file.recognized()


def row_blocks(
    file: DataFile, model: Model, keep: Sequence[str] = (), n_rows: int | None = None
) -> Iterator[Rows]:
    """Yield the rows of a file, at most n_rows at a time, with the cells of the columns to keep.

    Tables, text, svmlight and xc files are streamed; others are read whole.
    """
    path, format, columns, encoding, _ = with_format(file, model)
    assert format is not None
    n_rows = n_rows or BLOCK_ROWS
    if format in TABLE_FORMATS:
        return _table_blocks(open_table(path, format, n_rows, encoding), model, columns, keep)
    if keep:
        raise bad_file(path, None, f"only tables have columns to keep; the format is {format}")
    X: Iterator[Matrix]
    if format == "text":
        _check_text(model, True, path)
        if not RowEncoder.of(model).is_text_only:
            reason = "the model needs other columns, too; use a table or JSON lines"
            raise bad_file(path, None, reason)
        X = (model.vectorizer_.transform(lines) for lines in line_blocks(path, n_rows, encoding))
    elif format in ("svmlight", "xc"):
        X = pair_blocks(path, format, model.fitted_.n_features, n_rows)
    else:
        whole = _align_features(path, read(path, format), model)
        X = (whole[first : first + n_rows] for first in range(0, whole.shape[0], n_rows))
    return (Rows(block, {}) for block in X)


def read_row(file: DataFile, model: Model, number: int) -> Matrix:
    """Return the features of one row, by its number from 0."""
    first = 0
    for X, _ in row_blocks(file, model):
        if first <= number < first + X.shape[0]:
            return X[[number - first]]
        first += X.shape[0]
    raise ValueError(f"row must be from 0 to {first - 1}; got {number}.")


def read_labeled(file: DataFile, model: Model) -> Labeled:
    """Read a whole file with labels."""
    file = file.recognized()
    path, format, columns, encoding, _ = file
    if format in TABLE_FORMATS:
        _check_text(model, bool(columns.text), path)
        _check_labels(model, columns, path)
    if format in TABLE_FORMATS and feature_names(model.fitted_) is not None:
        encoder = RowEncoder.of(model, columns)
        dataset, texts = read_table(path, columns, format, encoder.table.names, encoding)
        X = encoder.encode(Records(texts, dataset.X))
    else:
        if format == "svmlight":
            file = file._replace(options=ReadOptions(n_features=model.fitted_.n_features))
        dataset, texts = file.read().dataset, None
        X = _align_features(path, dataset, model)
    labels = label_names(model.fitted_)
    given = dataset.label_names
    given = np.arange(dataset.Y.shape[1]).astype(str) if given is None else given.astype(str)
    Y, unknown = aligned(dataset.Y, given, labels)
    if len(unknown) == len(given):
        reason = f"it has none of the model's labels, which are {_some(labels)}"
        raise bad_file(path, None, reason)
    return Labeled(X, Y, unknown, texts)


def _table_blocks(
    table: Table, model: Model, columns: Columns, keep: Sequence[str]
) -> Iterator[Rows]:
    _check_text(model, bool(columns.text), table.path)
    encoder = RowEncoder.of(model, columns)
    if feature_names(model.fitted_) is None:
        numbers = columns.numbers_among(table.names)
        _check_count(table.path, len(numbers), model)
        encoder = RowEncoder(columns, TableFeatures(tuple(numbers), {}))
    table.require([*encoder.text_columns, *encoder.table.columns, *keep])

    def rows(block: Block) -> Rows:
        return Rows(encoder.of_block(block), {name: block.cells[name] for name in keep})

    return map(rows, table.blocks)


def _check_text(model: Model, needs_text: bool, path: AnyPath) -> None:
    """Raise unless texts are given exactly if the model reads text."""
    if needs_text and not hasattr(model, "vectorizer_"):
        raise bad_file(path, None, "the model was not trained on text")
    if not needs_text and hasattr(model, "vectorizer_"):
        reason = "the model needs text; name the text columns in --text-column"
        raise bad_file(path, None, reason)


def _check_labels(model: Model, columns: Columns, path: AnyPath) -> None:
    """Raise unless the label columns of a table are named."""
    if columns.tags is not None or columns.labels:
        return
    if is_classifier(model):
        reason = "name the tags in --tags-column, or the labels in --label-columns"
    else:
        outputs = _some(label_names(model.fitted_))
        reason = f"name the columns of the outputs, {outputs}, in --label-columns"
    raise bad_file(path, None, reason)


def _some(names: np.ndarray) -> str:
    return listed(names[:SHOWN_NAMES]) + (", ..." if len(names) > SHOWN_NAMES else "")


def _align_features(path: AnyPath, dataset: Dataset, model: Model) -> Matrix:
    """Return X in the order of the model's features, by name if both have names."""
    names = feature_names(model.fitted_)
    if names is None or dataset.feature_names is None:
        _check_count(path, dataset.X.shape[1], model)
        return dataset.X
    if np.array_equal(names, dataset.feature_names):
        return dataset.X
    index = {name: at for at, name in enumerate(dataset.feature_names.tolist())}
    missing = [name for name in names.tolist() if name not in index]
    if missing:
        raise bad_file(path, None, f"it lacks the feature {missing[0]!r} of the model")
    return dataset.X[:, [index[name] for name in names.tolist()]]


def _check_count(path: AnyPath, n_features: int, model: Model) -> None:
    if n_features != model.fitted_.n_features:
        reason = f"it has {n_features} features, but the model has {model.fitted_.n_features}"
        raise bad_file(path, None, reason)
