"""How good a model is on rows with known labels: scores, and a table with a line for each label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sketchforest._typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.model_input import read_labelled, training_format
from sketchforest._workflows.models import decisions, is_classifier, label_names
from sketchforest.datasets._text import AnyPath
from sketchforest.datasets.table import Columns
from sketchforest.metrics import coverage_error, lrap, ndcg_at_k, precision_at_k, psp_at_k, r2

DEPTHS = (1, 3, 5)
LABEL_COLUMNS = ("label", "true", "predicted", "hits", "precision", "recall", "f1")
LabelRow = tuple[str, int, int, int, float, float, float]


@dataclass(frozen=True)
class LabelTable:
    """Columns with an entry for each label: how it fares in the decisions of `predict`."""

    names: np.ndarray
    n_true: np.ndarray
    n_predicted: np.ndarray
    n_hits: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        return _ratio(self.n_hits, self.n_predicted)

    @property
    def recall(self) -> np.ndarray:
        return _ratio(self.n_hits, self.n_true)

    @property
    def f1(self) -> np.ndarray:
        return _ratio(2 * self.n_hits, self.n_true + self.n_predicted)

    def rows(self) -> list[LabelRow]:
        """The columns of LABEL_COLUMNS, most frequent labels first."""
        order = np.argsort(-self.n_true, kind="stable")
        columns = (
            self.names,
            self.n_true,
            self.n_predicted,
            self.n_hits,
            self.precision.round(4),
            self.recall.round(4),
            self.f1.round(4),
        )
        return list(zip(*(column[order].tolist() for column in columns), strict=True))


@dataclass(frozen=True)
class Evaluation:
    """Scores by name; for labels also their table, and scores of the k best for each k from 1."""

    scores: dict[str, float]
    labels: LabelTable | None = None
    curve: Sequence[tuple[float, float]] = ()  # precision and nDCG
    n_unknown: int = 0  # labels in the file that the model does not know


def evaluate_file(model: Model, path: AnyPath, format: str | None, columns: Columns) -> Evaluation:
    """The scores of a model on a file with labels."""
    rows = read_labelled(path, training_format(path, format), model, columns)
    return replace(evaluate(model, rows.X, rows.Y), n_unknown=len(rows.unknown))


def evaluate(model: Model, X: Matrix, Y: sparse.csr_array) -> Evaluation:
    """The scores of a fitted model on rows X with labels, or real outputs, Y."""
    if not is_classifier(model):
        return Evaluation({"rows": X.shape[0], "r2": float(r2(Y, model.predict(X)))})
    truth = sparse.csr_array(Y).astype(bool)
    scores = model.predict_sparse(X)
    Y_train = model._targets.class_labels.to_csr(np.uint8)
    depths = [k for k in DEPTHS if k <= truth.shape[1]]
    found = {"rows": float(X.shape[0]), "lrap": lrap(truth, scores)}
    found |= {f"precision_at_{k}": precision_at_k(truth, scores, k) for k in depths}
    found |= {f"ndcg_at_{k}": ndcg_at_k(truth, scores, k) for k in depths}
    if Y_train.shape[0] >= 3:  # fewer rows tell no propensities
        found |= {f"psp_at_{k}": psp_at_k(truth, scores, k=k, Y_train=Y_train) for k in depths}
    found["coverage_error"] = coverage_error(truth, scores)
    predicted = decisions(model, X)
    table = LabelTable(
        names=label_names(model),
        n_true=_column_counts(truth),
        n_predicted=_column_counts(predicted),
        n_hits=_column_counts(truth.multiply(predicted).tocsr()),
    )
    total = table.n_true.sum() + table.n_predicted.sum()
    found["micro_f1"] = float(2 * table.n_hits.sum() / total) if total else 0.0
    found["macro_f1"] = float(table.f1[(table.n_true + table.n_predicted) > 0].mean())
    ks = range(1, min(10, truth.shape[1]) + 1)
    curve = [(precision_at_k(truth, scores, k), ndcg_at_k(truth, scores, k)) for k in ks]
    return Evaluation(found, table, curve)


def _column_counts(matrix: sparse.csr_array) -> np.ndarray:
    matrix.eliminate_zeros()
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
