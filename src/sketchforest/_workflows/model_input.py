"""Rows of a file as a model wants them: its features in their order, its labels by name."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Unpack

import numpy as np
from scipy import sparse

from sketchforest._saving.vectorizer import Vectorizer
from sketchforest._typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import feature_names, label_names, notes_of
from sketchforest.datasets import FORMATS, Dataset, read
from sketchforest.datasets._text import AnyPath, bad_file, plain_name
from sketchforest.datasets.blocks import line_blocks, pair_blocks
from sketchforest.datasets.files import ReadOptions, recognise
from sketchforest.datasets.table import (
    TABLE_FORMATS,
    Columns,
    Table,
    features_of,
    open_table,
    read_table,
    table_format,
)

INPUT_FORMATS = (*TABLE_FORMATS, "text", *FORMATS)
BLOCK_ROWS = 4096


class Labelled(NamedTuple):
    """Features and true labels, in the order of the model's; `unknown` are names it never saw."""

    X: Matrix
    Y: sparse.csr_array
    unknown: list[str]


def training_format(path: AnyPath, format: str | None) -> str:
    return _checked(format) or table_format(path) or recognise(path)


def read_training(
    path: AnyPath, format: str, columns: Columns, **options: Unpack[ReadOptions]
) -> tuple[Dataset, list[str] | None]:
    """The data set in a file of any format, and its texts if it has such a column."""
    if format in TABLE_FORMATS:
        if options:
            raise ValueError(f"Files of format {format!r} have no option {min(options)!r}.")
        return read_table(path, columns, format)
    if format == "text":
        raise bad_file(path, None, "lines of text have no labels; use a table of texts and tags")
    if format == "svmlight":
        options.setdefault("zero_based", True)  # features have the number that stands in the file
    return read(path, format, **options), None


def input_format(path: AnyPath, format: str | None, model: Model) -> str:
    """As given, as the name says, or as the first lines say; what suits the model for "-"."""
    has_text = hasattr(model, "vectorizer_")
    known = _checked(format) or table_format(path)
    if known is not None:
        return known
    if has_text and (str(path) == "-" or plain_name(path).endswith(".txt")):
        return "text"
    if str(path) == "-":
        trained_on = notes_of(model).get("format")
        return "csv" if trained_on in TABLE_FORMATS else "svmlight"
    return recognise(path)


def feature_blocks(
    path: AnyPath, format: str, model: Model, columns: Columns, n_rows: int = BLOCK_ROWS
) -> Iterator[Matrix]:
    """X of a file, (at most n_rows, n_features) at a time.

    Tables, text, svmlight and xc files are read as they are needed; the others whole.
    """
    if format == "text":
        vectorizer = _vectorizer(model, path)
        return (vectorizer.transform(lines) for lines in line_blocks(path, n_rows))
    if format in TABLE_FORMATS:
        return _table_blocks(open_table(path, format, n_rows), model, columns)
    if format in ("svmlight", "xc"):
        return pair_blocks(path, format, model.n_features_in_, n_rows)
    X = _aligned(path, read(path, format), model)
    return (X[first : first + n_rows] for first in range(0, X.shape[0], n_rows))


def read_labelled(path: AnyPath, format: str, model: Model, columns: Columns) -> Labelled:
    """A whole file, with labels."""
    names = feature_names(model)
    if format in TABLE_FORMATS and names is not None:
        wanted = [] if columns.text is not None else [str(name) for name in names]
        dataset, texts = read_table(path, columns, format, wanted)
    else:
        options = ReadOptions()
        if format == "svmlight":
            options["n_features"] = model.n_features_in_
        dataset, texts = read_training(path, format, columns, **options)
    if texts is not None:
        dataset = replace(dataset, X=_vectorizer(model, path).transform(texts), feature_names=None)
    X = _aligned(path, dataset, model)
    labels = label_names(model)
    have = dataset.label_names
    have = np.arange(dataset.Y.shape[1]).astype(str) if have is None else have.astype(str)
    place = {name: at for at, name in enumerate(labels.tolist())}
    known = np.array([place.get(name, -1) for name in have.tolist()], np.int64)
    selected = np.flatnonzero(known >= 0)
    if not len(selected):
        raise bad_file(path, None, "none of its labels is one of the model's")
    entries = dataset.Y[:, selected].tocoo()
    shape = (dataset.Y.shape[0], len(labels))
    Y = sparse.csr_array((entries.data, (entries.row, known[selected][entries.col])), shape=shape)
    return Labelled(X, Y, have[known < 0].tolist())


def _table_blocks(table: Table, model: Model, columns: Columns) -> Iterator[Matrix]:
    if columns.text is not None:
        table.require([columns.text])
        vectorizer = _vectorizer(model, table.path)
        return (vectorizer.transform(block.texts(columns.text)) for block in table.blocks)
    if hasattr(model, "vectorizer_"):
        reason = "the model reads text; name the column of text"
        raise bad_file(table.path, None, reason)
    names = feature_names(model)
    wanted = columns.features(table.names) if names is None else list(map(str, names))
    if names is None:
        _check_count(table.path, len(wanted), model)
    table.require(wanted)
    return (features_of(block, wanted) for block in table.blocks)


def _vectorizer(model: Model, path: AnyPath) -> Vectorizer:
    if not hasattr(model, "vectorizer_"):
        raise bad_file(path, None, "the model was not trained on text, and reads no text")
    return model.vectorizer_


def _aligned(path: AnyPath, dataset: Dataset, model: Model) -> Matrix:
    """X with the model's features in their order: by name where both have names."""
    names = feature_names(model)
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
