"""Data sets from tables with named columns: texts, numbers, categories; tags or labels."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from sketchforest._utils.sparse import indicator_matrix
from sketchforest._utils.typing import Matrix
from sketchforest.datasets._rows import csr
from sketchforest.datasets._shared_docs import described
from sketchforest.datasets._text import AnyPath, bad_file, stem, text_writer
from sketchforest.datasets._writing import check_finite, column_names, number_texts
from sketchforest.datasets.columns import Columns, check_separator, is_missing
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.table_files import Block, open_table, table_format

# How to fix a word in a column of numbers: if columns can be chosen, if they are labels, and if a
# model has fixed them.
_NAME_THE_COLUMN = "name the column in --text-column, --category-column or --ignore-columns"
_LABELS_ARE_NUMBERS = "label columns hold numbers; name a column of classes in --tags-column"
_LEAVE_EMPTY = "the model was trained on numbers here; leave it empty if the number is unknown"


@dataclass(frozen=True)
class TableFeatures:
    """The features of a table other than text: numbers, then "column=value" per category."""

    numbers: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]

    @classmethod
    def of_names(cls, names: Sequence[str], categories: Sequence[str]) -> "TableFeatures":
        """The features with these names, given the columns of categories."""
        values: dict[str, list[str]] = {column: [] for column in categories}
        numbers = []
        for name in names:
            column = next((c for c in categories if name.startswith(f"{c}=")), None)
            if column is None:
                numbers.append(name)
            else:
                values[column].append(name[len(column) + 1 :])
        return cls(tuple(numbers), {column: tuple(v) for column, v in values.items()})

    @property
    def names(self) -> list[str]:
        values = ((c, value) for c, values in self.categories.items() for value in values)
        return [*self.numbers, *(f"{column}={value}" for column, value in values)]

    @property
    def columns(self) -> list[str]:
        return [*self.numbers, *self.categories]

    def of_block(self, block: Block) -> Matrix:
        """(n_rows, n_features) float64, sparse if there are categories."""
        numbers = features_of(block, self.numbers, _LEAVE_EMPTY)
        if not self.categories:
            return numbers
        indicators = [
            indicator_matrix(block.categories(column), values)
            for column, values in self.categories.items()
        ]
        return sparse.hstack([sparse.csr_array(numbers), *indicators], format="csr")


def features_of(block: Block, names: Sequence[str], hint: str) -> np.ndarray:
    """(n_rows, n_features) float64."""
    if not names:
        return np.empty((block.n_rows, 0))
    return np.column_stack([block.numbers(name, hint) for name in names])


@described
def read_table(
    path: AnyPath,
    columns: Columns,
    format: str | None = None,
    feature_names: Sequence[str] | None = None,
    encoding: str = "utf-8",
) -> tuple[Dataset, list[str] | None]:
    """Read a table with named columns.

    X holds the numbers, then a 0/1 feature "column=value" for each value of a category. Y holds the
    tags, sorted by name, or the label columns unchanged.

    Parameters
    ----------
    columns : Columns
        Which columns hold text, tags, labels, categories and numbers.
    format : "csv", "tsv", "parquet", "jsonl", "fasttext" or None, default=None
        None takes it from the file name.
    feature_names : sequence of str or None, default=None
        The features to read. None reads all.
    encoding : str, default="utf-8"

    Returns
    -------
    dataset : Dataset
    texts : list of str or None
        One document per row, if there are text columns.

    Examples
    --------
    >>> from sketchforest.datasets import make_multilabel, Columns, read_table, write_table
    >>> write_table(make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3), "tags.csv")
    >>> read_table("tags.csv", Columns(tags="tags"))[0]
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    return read_training_table(path, columns, format, feature_names, encoding)[:2]


class TrainingTable(NamedTuple):
    """Training data as they were read."""

    dataset: Dataset
    texts: list[str] | None
    # Words such as "NaN", in cells of tags that were read as no tags, and how often.
    missing_words: Mapping[str, int] = MappingProxyType({})


def read_training_table(
    path: AnyPath,
    columns: Columns,
    format: str | None = None,
    feature_names: Sequence[str] | None = None,
    encoding: str = "utf-8",
) -> TrainingTable:
    """Like `read_table`, with what a check of the data needs besides."""
    table = open_table(path, format or table_format(path) or "csv", encoding=encoding)
    wanted = None
    if feature_names is None:
        columns.check_targets()
        table.require(columns.ignored)
        numbers = columns.numbers_among(table.names)
    else:
        wanted = TableFeatures.of_names(feature_names, columns.categories)
        numbers = list(wanted.numbers)
    named = [*columns.text, *columns.labels, *columns.categories, *numbers]
    table.require(named if columns.tags is None else [*named, columns.tags])
    if not (columns.text or columns.categories or numbers):
        raise bad_file(path, None, "no columns are left for features")
    texts: list[str] = []
    cells: dict[str, list[str | None]] = {column: [] for column in columns.categories}
    X, Y = [], []
    tags: list[list[str]] = []
    missing_words: Counter[str] = Counter()
    n_rows = 0
    hint = _NAME_THE_COLUMN if feature_names is None else _LEAVE_EMPTY
    for block in table.blocks:
        n_rows += block.n_rows
        if columns.text:
            texts += block.texts(columns.text)
        X.append(sparse.csr_array(_narrow(features_of(block, numbers, hint))))
        for column in columns.categories:
            cells[column] += block.categories(column)
        if columns.tags is not None:
            of_block = block.cells[columns.tags]
            tags += map(columns.tags_of, of_block)
            words = (cell.strip() for cell in of_block if isinstance(cell, str))
            missing_words.update(word for word in words if word and is_missing(word))
        if columns.labels:
            Y.append(sparse.csr_array(_labels(block, columns.labels)))
    if not n_rows:
        raise bad_file(path, None, "there are no rows")
    label_names: Sequence[str] = columns.labels
    if columns.tags is not None:
        check_separator(path, columns, tags)
        targets, label_names = tag_matrix(tags)
    else:
        targets = sparse.vstack(Y, format="csr") if Y else sparse.csr_array((n_rows, 0))
    if wanted is None:
        known = {c: sorted({v for v in of if v is not None}) for c, of in cells.items()}
        wanted = TableFeatures(tuple(numbers), {c: tuple(v) for c, v in known.items()})
    indicators = [indicator_matrix(cells[c], values) for c, values in wanted.categories.items()]
    dataset = Dataset(
        name=stem(path),
        X=sparse.hstack([sparse.vstack(X), *indicators], format="csr"),
        Y=targets,
        feature_names=np.array(wanted.names, np.str_),
        label_names=np.array(label_names, np.str_),
    )
    return TrainingTable(dataset, texts if columns.text else None, missing_words)


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
        for at in range(dataset.X.shape[0]):
            row, tags = dataset.X[[at]], (labels[label] for label in dataset.Y[[at]].indices)
            cells = np.full(n_features, "0", object)
            cells[row.indices] = number_texts(row.data, "")
            writer.writerow([*cells, ";".join(tags)])


def tag_matrix(tags: Sequence[Sequence[str]]) -> tuple[sparse.csr_array, list[str]]:
    """(n_rows, n_tags) indicator matrix, and the sorted names of its columns."""
    binarizer = MultiLabelBinarizer(sparse_output=True)
    found = binarizer.fit_transform(tags)
    found.sort_indices()
    Y = csr(found.data.astype(np.uint8), found.indices, found.indptr, found.shape)
    return Y, list(binarizer.classes_)


def _labels(block: Block, names: Sequence[str]) -> np.ndarray:
    Y = features_of(block, names, _LABELS_ARE_NUMBERS)
    if np.isnan(Y).any():
        row, column = (int(at[0]) for at in np.nonzero(np.isnan(Y)))
        reason = "is not a number; a label column needs one in each row"
        raise block.bad_cell(names[column], row, reason)
    return Y


def _narrow(X: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32)
    return narrow if np.array_equal(narrow, X, equal_nan=True) else X
