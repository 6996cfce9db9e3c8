"""How good a model is on rows with known labels: scores, and a table with a line for each label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest.metrics import coverage_error, lrap, ndcg_at_k, precision_at_k, psp_at_k
from sketchforest.metrics._r2 import r2

DEPTHS = (1, 3, 5)


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

    def rows(self) -> list[tuple[Any, ...]]:
        """(label, true, predicted, hits, precision, recall, f1), most frequent labels first."""
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


LABEL_COLUMNS = ("label", "true", "predicted", "hits", "precision", "recall", "f1")


@dataclass(frozen=True)
class Evaluation:
    """Scores by name; for labels also their table, and precision and nDCG for each depth k."""

    scores: dict[str, float]
    labels: LabelTable | None = None
    curve: dict[str, list[float]] | None = None


def evaluate(model: Any, X: Any, Y: Any, names: Sequence[str] | np.ndarray) -> Evaluation:
    """The scores of a fitted model on rows X with labels, or real outputs, Y."""
    if not hasattr(model, "predict_sparse"):
        return Evaluation({"rows": X.shape[0], "r2": float(r2(Y, model.predict(X)))})
    truth = sparse.csr_array(Y).astype(bool)
    scores = model.predict_sparse(X)
    Y_train = model._labels.to_csr(np.uint8)
    depths = [k for k in DEPTHS if k <= truth.shape[1]]
    found = {"rows": float(X.shape[0]), "lrap": lrap(truth, scores)}
    found |= {f"precision_at_{k}": precision_at_k(truth, scores, k) for k in depths}
    found |= {f"ndcg_at_{k}": ndcg_at_k(truth, scores, k) for k in depths}
    if Y_train.shape[0] >= 3:  # fewer rows tell no propensities
        found |= {f"psp_at_{k}": psp_at_k(truth, scores, k=k, Y_train=Y_train) for k in depths}
    found["coverage_error"] = coverage_error(truth, scores)
    table = _label_table(truth, decisions(model, X), np.asarray(names))
    total = table.n_true.sum() + table.n_predicted.sum()
    found["micro_f1"] = float(2 * table.n_hits.sum() / total) if total else 0.0
    found["macro_f1"] = float(table.f1[(table.n_true + table.n_predicted) > 0].mean())
    ks = range(1, min(10, truth.shape[1]) + 1)
    curve = {
        "precision": [precision_at_k(truth, scores, k) for k in ks],
        "ndcg": [ndcg_at_k(truth, scores, k) for k in ks],
    }
    return Evaluation(found, table, curve)


def decisions(model: Any, X: Any) -> sparse.csr_array:
    """(n_rows, n_labels) CSR of what `predict` says, with one label a row for classes."""
    if model._classes is None:
        return sparse.csr_array(model.predict(X)).astype(bool)
    columns = np.searchsorted(model._classes, model.predict(X))
    rows = np.arange(len(columns))
    shape = (len(columns), len(model._classes))
    return sparse.csr_array((np.ones(len(columns), bool), (rows, columns)), shape=shape)


def _label_table(truth: Any, predicted: Any, names: np.ndarray) -> LabelTable:
    return LabelTable(
        names=names,
        n_true=_column_counts(truth),
        n_predicted=_column_counts(predicted),
        n_hits=_column_counts(truth.multiply(predicted).tocsr()),
    )


def _column_counts(matrix: Any) -> np.ndarray:
    matrix.eliminate_zeros()
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
