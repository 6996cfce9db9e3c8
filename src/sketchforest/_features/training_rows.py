"""The rows that a model is fitted to, from a data frame or a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sketchforest._features import Model
from sketchforest._features.encoder import Records, RowEncoder, make_vectorizer
from sketchforest._features.tags import frequent
from sketchforest._utils.typing import Matrix
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures


class TrainingRows(NamedTuple):
    """Rows with their labels, before they are encoded."""

    records: Records
    Y: Matrix
    label_names: np.ndarray | None = None
    columns: Columns = Columns()
    table: TableFeatures | None = None  # None: a matrix whose columns have no names

    def take(self, rows: np.ndarray) -> "TrainingRows":
        return self._replace(records=self.records.take(rows), Y=self.Y[rows])

    def encoded(self, settings: Mapping[str, Any]) -> "EncodedRows":
        """Fit an encoder to the rows by the settings of a `Tagger`; leave out rare labels."""
        Y, labels, names = self.Y, np.arange(self.Y.shape[1]), self.label_names
        if settings["min_label_count"] > 1:
            labels = frequent(Y, settings["min_label_count"])
            Y, names = Y[:, labels], labels.astype(str) if names is None else names[labels]
        table = self.table or TableFeatures((), {})
        vectorizer = make_vectorizer(settings)
        encoder, X = RowEncoder.learn(self.records, self.columns, table, vectorizer)
        texts = self.records.texts if settings["keep_texts"] else None
        return EncodedRows(X, Y, encoder, self.table is not None, labels, names, texts)


@dataclass(frozen=True)
class EncodedRows:
    """Features and labels to fit a model to, and what it keeps of the rows."""

    X: Matrix
    Y: Matrix
    encoder: RowEncoder
    has_names: bool  # whether the features do
    labels: np.ndarray  # columns of Y before rare labels were left out
    label_names: np.ndarray | None
    texts: Sequence[str] | None

    def attach_to(self, model: Model) -> None:
        """Attach names, encoder and texts to a model that was fitted on X and Y."""
        if self.has_names:
            self.encoder.attach_to(model)
        model.attach(label_names=self.label_names, row_texts=self.texts)
