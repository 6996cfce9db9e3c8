"""Encode texts, numbers and categories as the features of a model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._estimators.inspection.names import feature_names
from sketchforest._features import Model
from sketchforest._saving.vectorizer import Vectorizer
from sketchforest._utils.progress import stage
from sketchforest._utils.typing import Matrix
from sketchforest.datasets._rows import FLOAT32_MAX
from sketchforest.datasets.columns import USUAL_SEPARATOR, Columns
from sketchforest.datasets.table import TableFeatures
from sketchforest.datasets.table_files import Block
from sketchforest.explain import Explanation

# TF-IDF weights are below 1. Numbers beside them are scaled so that these quantiles become 0 and 1.
QUANTILES = (0.01, 0.99)
# Settings of a `Tagger` for its vectorizer.
OF_VECTORIZER = (
    *("analyzer", "ngram_range", "min_df", "max_df", "max_features"),
    *("stop_words", "strip_accents", "sublinear_tf"),
)
TEXT = "text"  # the column of texts that were in no table

Scales = dict[str, tuple[float, float]]  # offset and width of each number


class Records(NamedTuple):
    """Rows of a table before they are encoded."""

    texts: Sequence[str] | None  # one document per row, if there are text columns
    others: Matrix  # numbers, then a 0/1 column for each category

    def take(self, rows: np.ndarray) -> "Records":
        texts = None if self.texts is None else [self.texts[row] for row in rows.tolist()]
        return Records(texts, self.others[rows])


@dataclass(frozen=True)
class RowEncoder:
    """Makes the features of a model: terms of texts, then numbers, then "column=value"."""

    columns: Columns
    table: TableFeatures
    vectorizer: "Vectorizer | None" = None
    scales: Scales | None = None

    @classmethod
    def learn(
        cls, records: Records, columns: Columns, table: TableFeatures, vectorizer: Vectorizer
    ) -> "tuple[RowEncoder, Matrix]":
        """Fit an encoder to training rows; return it with their features."""
        texts, others = records
        if texts is None and not table.categories:
            return cls(columns, table), others
        encoder = cls(columns, table, None, _find_scales(others, table.numbers) or None)
        if texts is None:
            return encoder, encoder.encode(records)
        others = encoder.scale(others)
        terms = _fit_transform(vectorizer, texts)
        return replace(encoder, vectorizer=vectorizer), _prepend_terms(terms, others)

    @classmethod
    def of_matrix(cls, names: np.ndarray | None) -> "RowEncoder":
        """Return the encoder of numbers that are features as they are."""
        return cls(Columns(), TableFeatures(() if names is None else tuple(map(str, names)), {}))

    @classmethod
    def of(cls, model: Model, columns: Columns | None = None) -> "RowEncoder":
        """Return the encoder of a fitted model; `columns` may rename those of its training."""
        columns = columns or trained_columns(model)
        vectorizer = getattr(model, "vectorizer_", None)
        n_terms = 0 if vectorizer is None else len(vectorizer.vocabulary_)
        names = feature_names(model.fitted_)
        others = [] if names is None else names[n_terms:].astype(str).tolist()
        table = TableFeatures.of_names(others, columns.categories)
        return cls(columns, table, vectorizer, getattr(model, "notes_", {}).get("scales"))

    def attach_to(self, model: Model) -> None:
        """Attach the encoder to a model that was fitted on its features."""
        model.feature_names_ = self.feature_names
        if self.vectorizer is not None:
            model.vectorizer_ = self.vectorizer
        model.notes_ = {**getattr(model, "notes_", {}), **self.notes}

    @property
    def notes(self) -> dict[str, Any]:
        """What `of` needs of it besides names and vectorizer, as JSON."""
        if self.columns == Columns():
            return {}
        columns = replace(self.columns, tag_separator=self.columns.separator)
        return {"columns": asdict(columns)} | ({"scales": self.scales} if self.scales else {})

    @property
    def n_terms(self) -> int:
        """Number of terms of texts, which are the first features."""
        return 0 if self.vectorizer is None else len(self.vectorizer.vocabulary_)

    @property
    def feature_names(self) -> np.ndarray:
        terms = [] if self.vectorizer is None else self.vectorizer.get_feature_names_out()
        return np.array([*terms, *self.table.names], np.str_)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the documents; texts that were in no table have a default name."""
        return () if self.vectorizer is None else self.columns.text or (TEXT,)

    @property
    def has_texts_or_categories(self) -> bool:
        """Whether rows are more than numbers that are features as they are."""
        return self.vectorizer is not None or bool(self.table.categories)

    @property
    def row_columns(self) -> list[str]:
        """The columns that a row must have."""
        return [*self.text_columns, *self.table.columns]

    @property
    def is_text_only(self) -> bool:
        return self.vectorizer is not None and not self.table.names

    def of_block(self, block: Block) -> Matrix:
        """Encode rows of a table that has the columns."""
        texts = None if self.vectorizer is None else block.texts(self.text_columns)
        return self.encode(Records(texts, self.table.of_block(block)))

    def encode(self, records: Records) -> Matrix:
        texts, others = records
        if self.vectorizer is None:
            return self.scale(others) if self.scales else others
        assert texts is not None
        return _prepend_terms(self.vectorizer.transform(texts), self.scale(others))

    def scale(self, X: Matrix) -> sparse.csr_array:
        """Scale the numbers, which are the first columns of X."""
        if not self.scales:
            return sparse.csr_array(X, dtype=np.float32)
        low, width = np.array(list(self.scales.values())).T
        numbers, others = sparse.csr_array(X[:, : len(low)]), X[:, len(low) :]
        with np.errstate(over="ignore"):
            scaled = (numbers.toarray() - low) / width
        # Features are float32, where larger values would become infinite.
        scaled = np.clip(scaled, -FLOAT32_MAX, FLOAT32_MAX)
        together = sparse.hstack([sparse.csr_array(scaled), sparse.csr_array(others)], format="csr")
        return sparse.csr_array(together, dtype=np.float32)

    def unscaled(self, found: Explanation) -> Explanation:
        """Return the explanation of a row with numbers as in the table, before scaling."""
        if not self.scales:
            return found
        values, is_present = found.values.copy(), found.is_present.copy()
        # Skip terms, which may have the name of a column.
        for at in np.flatnonzero(found.features >= self.n_terms):
            name = str(found.feature_names[at])
            if name in self.scales:
                values[at] = unscale(values[at], *self.scales[name])
                is_present[at] = True  # a scaled value of 0 is a number like any other
        return replace(found, values=values, is_present=is_present)


def make_vectorizer(settings: Mapping[str, Any]) -> Vectorizer:
    """Return the TF-IDF vectorizer with the settings of a `Tagger`."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(dtype=np.float32, **{name: settings[name] for name in OF_VECTORIZER})


def trained_columns(model: Model) -> Columns:
    """Return the columns of the training table; default columns if there was no table."""
    noted = getattr(model, "notes_", {}).get("columns", {})
    known = {f.name: noted[f.name] for f in fields(Columns) if noted.get(f.name)}
    of_frame = model.fitted_.input_columns  # of a forest that encodes categories itself
    if of_frame is not None:
        known["categories"] = tuple(n for n, values in of_frame.items() if values is not None)
    return Columns(**{"tag_separator": USUAL_SEPARATOR} | known)


def unscale(value: float, low: float, width: float) -> float:
    """Invert the scaling, rounded to the precision of float32."""
    distance = float(value) * width
    if not np.isfinite(distance) or distance == 0:
        return low + distance
    return round(low + distance, 6 - math.floor(math.log10(abs(distance))))


def _find_scales(X: Matrix, names: Sequence[str]) -> Scales:
    """Return the scales of the first columns of X, which have these names."""
    scales: Scales = {}
    for column, name in enumerate(names):
        values = sparse.csr_array(X[:, [column]]).toarray().ravel().astype(np.float64)
        values = values[np.isfinite(values)]
        low, high = np.quantile(values, QUANTILES) if len(values) else (0.0, 1.0)
        scales[name] = float(low), float(high - low) or 1.0
    return scales


def _fit_transform(vectorizer: Vectorizer, texts: Sequence[str]) -> sparse.csr_array:
    """Fit a vectorizer; raise if it finds no terms."""
    with stage("words", len(texts)) as shown:
        try:
            return sparse.csr_array(vectorizer.fit_transform(shown.over(texts)))
        except ValueError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"texts must have words that occur in at least {vectorizer.min_df} texts; found "
                f"none ({reason}). Use a lower min_df, which is --min-count on the command line."
            ) from error


def _prepend_terms(terms: sparse.csr_array, others: sparse.csr_array) -> sparse.csr_array:
    """Return (n_rows, n_terms + n_others) float32."""
    if not others.shape[1]:
        return terms
    return sparse.csr_array(sparse.hstack([terms, others], format="csr"), dtype=np.float32)
