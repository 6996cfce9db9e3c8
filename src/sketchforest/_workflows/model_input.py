"""Rows of a file as a model wants them: its features in their order, its labels by name."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy import sparse

from sketchforest._saving.vectorizer import Vectorizer
from sketchforest._utils.display import listed
from sketchforest._utils.typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import (
    feature_names,
    is_classifier,
    label_names,
    notes_of,
    trained_columns,
)
from sketchforest._workflows.row_features import joined, n_terms, table_features
from sketchforest.datasets import FORMATS, Dataset, read
from sketchforest.datasets._text import AnyPath, bad_file, first_line, plain_name
from sketchforest.datasets.blocks import line_blocks, pair_blocks
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.files import ReadOptions, recognise, recognise_piped, recognise_table
from sketchforest.datasets.table import TableFeatures, read_table
from sketchforest.datasets.table_files import (
    FASTTEXT_LABELS,
    FASTTEXT_TEXT,
    TABLE_FORMATS,
    Block,
    Table,
    header_names,
    open_table,
    table_format,
)

INPUT_FORMATS = (*TABLE_FORMATS, "text", *FORMATS)
BLOCK_ROWS = 4096
SHOWN_NAMES = 5  # of labels, in a sentence


class Labelled(NamedTuple):
    """Features and true labels, in the order of the model's; `unknown` are names it never saw."""

    X: Matrix
    Y: sparse.csr_array
    unknown: list[str]


class Rows(NamedTuple):
    """Some rows as a model wants them, and the cells of the columns that are kept."""

    X: Matrix
    kept: dict[str, Sequence[Any]]


def training_format(path: AnyPath, format: str | None) -> str:
    is_piped = str(path) == "-"
    return (
        _checked(format) or table_format(path) or (recognise_piped if is_piped else recognise)(path)
    )


def training_columns(columns: Columns, format: str) -> Columns:
    """With those of a fastText file, which are always the same."""
    if format != "fasttext":
        return columns
    if columns != Columns():
        raise ValueError("format must not be fasttext where columns are named: it has none.")
    return Columns(text=(FASTTEXT_TEXT,), tags=FASTTEXT_LABELS)


def read_training(
    path: AnyPath,
    format: str,
    columns: Columns,
    encoding: str = "utf-8",
    **options: Unpack[ReadOptions],
) -> tuple[Dataset, list[str] | None]:
    """The data set in a file of any format, and its texts if it has such columns."""
    if format in TABLE_FORMATS:
        if options:
            raise ValueError(f"Files of format {format!r} have no option {min(options)!r}.")
        return read_table(path, columns, format, encoding=encoding)
    if format == "text":
        raise bad_file(path, None, "lines of text have no labels; use a table of texts and tags")
    if format == "svmlight":
        options.setdefault("zero_based", True)  # features have the number that stands in the file
    return read(path, format, **options), None


def input_format(
    path: AnyPath, format: str | None, model: Model, columns: Columns | None = None
) -> str:
    """As given, as the name says, or as the first lines say; what suits the model for "-"."""
    known = _checked(format) or table_format(path)
    if known is not None:
        return known
    is_piped = str(path) == "-"
    if (is_piped or Path(path).is_file()) and (table := recognise_table(path)) is not None:
        return table
    if hasattr(model, "vectorizer_") and (is_piped or plain_name(path).endswith(".txt")):
        header = set(header_names(first_line(path).decode("utf-8", "replace")))
        columns = columns or trained_columns(model)
        if _reads_text_alone(model):
            is_table = bool(columns.text) and set(columns.text) <= header
        else:  # which lines of text are refused for: a table may lack a column
            is_table = not header or bool(
                header & {*columns.text, *columns.categories, *columns.numbers}
            )
        return "csv" if is_table else "text"
    if is_piped:
        trained_on = notes_of(model).get("format")
        return "csv" if trained_on in TABLE_FORMATS else "svmlight"
    return recognise(path)


def feature_blocks(
    path: AnyPath, format: str, model: Model, columns: Columns, encoding: str = "utf-8"
) -> Iterator[Matrix]:
    """X of a file, some rows at a time."""
    return (rows.X for rows in row_blocks(path, format, model, columns, encoding=encoding))


def row_blocks(
    path: AnyPath,
    format: str,
    model: Model,
    columns: Columns,
    keep: Sequence[str] = (),
    encoding: str = "utf-8",
    n_rows: int | None = None,
) -> Iterator[Rows]:
    """The rows of a file, at most n_rows at a time, with the cells of the columns to keep.

    Tables, text, svmlight and xc files are read as they are needed; the others whole.
    """
    n_rows = n_rows or BLOCK_ROWS
    if format in TABLE_FORMATS:
        return _table_blocks(open_table(path, format, n_rows, encoding), model, columns, keep)
    if keep:
        raise bad_file(path, None, f"only tables have columns to keep, and its format is {format}")
    X: Iterator[Matrix]
    if format == "text":
        vectorizer = _vectorizer(model, path)
        if not _reads_text_alone(model):
            reason = "the model reads other columns, too; use a table or JSON lines"
            raise bad_file(path, None, reason)
        X = (vectorizer.transform(lines) for lines in line_blocks(path, n_rows, encoding))
    elif format in ("svmlight", "xc"):
        X = pair_blocks(path, format, model.n_features_in_, n_rows)
    else:
        whole = _aligned(path, read(path, format), model)
        X = (whole[first : first + n_rows] for first in range(0, whole.shape[0], n_rows))
    return (Rows(block, {}) for block in X)


def read_labelled(
    path: AnyPath, format: str, model: Model, columns: Columns, encoding: str = "utf-8"
) -> Labelled:
    """A whole file, with labels."""
    if format in TABLE_FORMATS:
        _check_text(model, columns, path)
        _check_labels(model, columns, path)
    if format in TABLE_FORMATS and feature_names(model.fitted_) is not None:
        wanted = table_features(model, columns).names
        dataset, texts = read_table(path, columns, format, wanted, encoding)
        X: Matrix = dataset.X
        if texts is not None or columns.categories:
            X = joined(model, texts, X)
    else:
        options = ReadOptions()
        if format == "svmlight":
            options["n_features"] = model.n_features_in_
        dataset, _ = read_training(path, format, columns, encoding, **options)
        X = _aligned(path, dataset, model)
    labels = label_names(model.fitted_)
    have = dataset.label_names
    have = np.arange(dataset.Y.shape[1]).astype(str) if have is None else have.astype(str)
    place = {name: at for at, name in enumerate(labels.tolist())}
    known = np.array([place.get(name, -1) for name in have.tolist()], np.int64)
    selected = np.flatnonzero(known >= 0)
    if not len(selected):
        reason = f"none of its labels is one of the model's, which are {_some(labels)}"
        raise bad_file(path, None, reason)
    entries = dataset.Y[:, selected].tocoo()
    shape = (dataset.Y.shape[0], len(labels))
    Y = sparse.csr_array((entries.data, (entries.row, known[selected][entries.col])), shape=shape)
    return Labelled(X, Y, have[known < 0].tolist())


def _table_blocks(
    table: Table, model: Model, columns: Columns, keep: Sequence[str]
) -> Iterator[Rows]:
    _check_text(model, columns, table.path)
    if feature_names(model.fitted_) is None:
        numbers = columns.numbers_among(table.names)
        _check_count(table.path, len(numbers), model)
        features = TableFeatures(tuple(numbers), {})
    else:
        features = table_features(model, columns)
    table.require([*columns.text, *features.columns, *keep])

    def rows(block: Block) -> Rows:
        X = features.of_block(block)
        if columns.text or columns.categories:
            X = joined(model, block.texts(columns.text) if columns.text else None, X)
        return Rows(X, {name: block.cells[name] for name in keep})

    return map(rows, table.blocks)


def _check_text(model: Model, columns: Columns, path: AnyPath) -> None:
    """Whether a table has columns of text where the model reads it, and only there."""
    if columns.text:
        _vectorizer(model, path)
    elif hasattr(model, "vectorizer_"):
        reason = "the model reads text; name the columns of text in --text-column"
        raise bad_file(path, None, reason)


def _check_labels(model: Model, columns: Columns, path: AnyPath) -> None:
    """Whether it is said what is true of the rows of a table."""
    if columns.tags is not None or columns.labels:
        return
    if is_classifier(model):
        reason = "name the column of tags in --tags-column, or those of labels in --label-columns"
    else:
        outputs = _some(label_names(model.fitted_))
        reason = f"name the columns of the model's outputs, {outputs}, in --label-columns"
    raise bad_file(path, None, reason)


def _some(names: np.ndarray) -> str:
    return listed(names[:SHOWN_NAMES]) + (", ..." if len(names) > SHOWN_NAMES else "")


def _reads_text_alone(model: Model) -> bool:
    return n_terms(model) == model.n_features_in_


def _vectorizer(model: Model, path: AnyPath) -> Vectorizer:
    if not hasattr(model, "vectorizer_"):
        raise bad_file(path, None, "the model was not trained on text, and reads no text")
    return model.vectorizer_


def _aligned(path: AnyPath, dataset: Dataset, model: Model) -> Matrix:
    """X with the model's features in their order: by name where both have names."""
    names = feature_names(model.fitted_)
    if names is None or dataset.feature_names is None:
        _check_count(path, dataset.X.shape[1], model)
        return dataset.X
    if np.array_equal(names, dataset.feature_names):
        return dataset.X
    place = {name: at for at, name in enumerate(dataset.feature_names.tolist())}
    missing = [name for name in names.tolist() if name not in place]
    if missing:
        raise bad_file(path, None, f"there is no feature {missing[0]!r}, which the model asks for")
    return dataset.X[:, [place[name] for name in names.tolist()]]


def _check_count(path: AnyPath, n_features: int, model: Model) -> None:
    if n_features != model.n_features_in_:
        reason = f"there are {n_features} features, and the model has {model.n_features_in_}"
        raise bad_file(path, None, reason)


def _checked(format: str | None) -> str | None:
    if format is not None and format not in INPUT_FORMATS:
        raise ValueError(f"format must be one of {', '.join(INPUT_FORMATS)}; got {format!r}.")
    return format


def read_rows(blocks: Iterator[Matrix], rows: Sequence[int]) -> Matrix:
    """The rows of those numbers, from blocks that are dense or sparse."""
    wanted, found, first = set(rows), {}, 0
    for block in blocks:
        for row in [r for r in wanted if first <= r < first + block.shape[0]]:
            found[row] = block[[row - first]]
        first += block.shape[0]
        if len(found) == len(wanted):
            break
    missing = sorted(wanted - set(found))
    if missing:
        raise ValueError(f"row must be from 0 to {first - 1}; got {missing[0]}.")
    picked = [found[row] for row in rows]
    return sparse.vstack(picked, format="csr") if sparse.issparse(picked[0]) else np.vstack(picked)
