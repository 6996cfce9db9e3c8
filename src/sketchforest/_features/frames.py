"""Texts and data frames as records: one block of columns, whose types say how to read them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._estimators.fitting.validation import check_is_collected
from sketchforest._features import Model
from sketchforest._features.encoder import TEXT, Records, RowEncoder
from sketchforest._utils.frames import cells_of, is_frame, role_of
from sketchforest._utils.typing import Matrix
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures
from sketchforest.datasets.table_files import Block

_ROWS = "the rows"  # instead of a file name, in error messages


def as_block(rows: Any, names: Sequence[str]) -> Block:
    """Return the named columns of a data frame, or texts as the single column."""
    if not is_frame(rows):
        if len(names) != 1:
            raise ValueError(
                f"texts must be a data frame with the columns {', '.join(map(repr, names))}, as in "
                f"training; got a {type(rows).__name__}. For one row of a frame, use frame[:1]."
            )
        return Block(_ROWS, 0, {names[0]: as_texts(rows)})
    check_is_collected("texts", rows)
    known = list(map(str, rows.columns))
    for name in names:
        if name not in known:
            raise ValueError(
                f"texts must have the column {name!r}; got {', '.join(known[:8]) or 'no columns'}."
                " Rename a column, or add it."
            )
    return Block(_ROWS, 0, {name: cells_of(rows[name]) for name in names})


def as_texts(texts: Any) -> list[str]:
    """Return a list of texts; missing ones are empty."""
    if isinstance(texts, str):
        raise ValueError(
            f"texts must be a list of texts; got one text, {texts[:20]!r}. Use [text]."
        )
    if sparse.issparse(texts) or len(getattr(texts, "shape", (0,))) != 1:
        raise ValueError(
            "texts must be a list of texts or a data frame; got a matrix. Use a data frame with "
            "named columns, or an estimator such as SketchForestClassifier for features alone."
        )
    found = cells_of(texts)
    for at, text in enumerate(found):
        if not isinstance(text, str | None):
            raise ValueError(
                f"texts must hold strings; got {str(text)[:20]!r} of type {type(text).__name__} "
                f"in row {at}."
            )
    return [text or "" for text in found]


def encode_rows(model: Model, rows: Any) -> Matrix:
    """Return the features of texts or of a data frame for a fitted model."""
    encoder = RowEncoder.of(model)
    if encoder.is_text_only and not is_frame(rows):
        texts = as_texts(rows)
        return encoder.encode(Records(texts, np.empty((len(texts), 0))))
    return encoder.of_block(as_block(rows, encoder.row_columns))


def texts_of(model: Model, rows: Any) -> list[str] | None:
    """Return the document of each row; None if the model reads no texts."""
    names = RowEncoder.of(model).text_columns
    return as_block(rows, names).texts(names) if names else None


def columns_of(
    rows: Any,
    text_columns: Sequence[str],
    number_columns: Sequence[str],
    category_columns: Sequence[str],
) -> Columns:
    """Return the roles of the columns of a data frame, by their types unless they are named."""
    if not is_frame(rows):
        return Columns(text=(TEXT,))
    known = list(rows.columns)
    named: dict[str, str] = {}
    given = {"text": text_columns, "number": number_columns, "category": category_columns}
    for role, names in given.items():
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{role}_columns must name columns of the data frame; got {name!r}. It has "
                    f"{', '.join(map(repr, known[:8]))}."
                )
            named[name] = role
    roles: dict[str, list[str]] = {role: [] for role in given}
    for name, dtype in zip(known, list(rows.dtypes), strict=True):
        if not isinstance(name, str):
            raise ValueError(f"texts must have columns named by strings; got {name!r}. Rename it.")
        if name not in named and (text_columns or number_columns):
            continue
        role_found = named.get(name) or role_of(dtype, rows[name])
        if role_found is None:
            raise ValueError(
                f"texts must hold texts, numbers and categories; got column {name!r} of {dtype}. "
                "Convert it to numbers, such as its year, or leave it out."
            )
        roles[role_found].append(name)
    text, numbers, categories = map(tuple, roles.values())
    return Columns(text, numbers=numbers, categories=categories)


def as_records(block: Block, columns: Columns) -> tuple[Records, TableFeatures]:
    """Return training rows, and their numbers and categories with the values that occur."""
    values = {name: block.categories(name) for name in columns.categories}
    known = {name: tuple(sorted({v for v in of if v is not None})) for name, of in values.items()}
    table = TableFeatures(columns.numbers, known)
    texts = block.texts(columns.text) if columns.text else None
    return Records(texts, table.of_block(block)), table
