"""Evaluation of models on rows with known labels: scores, and a table of all labels."""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.inspection.names import label_names, outputs_as_fitted
from sketchforest._estimators.predicting.decisions import Decided, HasFittedModel, threshold_curve
from sketchforest._estimators.predicting.labels import decision_rule
from sketchforest._utils.display import aligned, as_frame, html_table, new_axes, shortened, tidy
from sketchforest._utils.evaluation_pictures import draw_calibration, draw_curve, draw_labels
from sketchforest._utils.progress import stage
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import Matrix
from sketchforest.metrics import coverage_error, lrap, ndcg_at_k, precision_at_k, psp_at_k, r2
from sketchforest.metrics._r2 import errors_of
from sketchforest.metrics.labels import average_precisions, calibration, calibration_errors
from sketchforest.metrics.meanings import Meaning, meaning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._estimators.inspection.mixin import InspectionMixin
    from sketchforest._estimators.trees import TreesClassifier

__all__ = ["LABEL_COLUMNS", "Evaluation", "LabelTable", "Meaning", "evaluate", "meaning"]

DEPTHS = (1, 3, 5)
BATCH_ROWS = 2048  # rows to predict at a time
THRESHOLDS = np.arange(100) / 100
LABEL_COLUMNS = (
    *("label", "true", "predicted", "hits", "precision", "recall", "f1"),
    *("average_precision", "calibration_error"),
)
SHOWN = 10
_ARROWS = {"higher": "↑", "lower": "↓", "": " "}


@dataclass(frozen=True, eq=False, repr=False)
class LabelTable:
    """Scores of each label, by the decisions of `predict` and by probabilities.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.evaluation import evaluate
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> found = evaluate(forest, data.X[150:], data.Y[150:])
    >>> found.labels.precision.shape
    (50,)
    """

    names: np.ndarray
    n_true: np.ndarray
    n_predicted: np.ndarray
    n_hits: np.ndarray
    average_precision: np.ndarray  # NaN for labels that do not occur
    calibration_error: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        return _ratio(self.n_hits, self.n_predicted)

    @property
    def recall(self) -> np.ndarray:
        return _ratio(self.n_hits, self.n_true)

    @property
    def f1(self) -> np.ndarray:
        return _ratio(2 * self.n_hits, self.n_true + self.n_predicted)

    def rows(self) -> list[tuple[str, int, int, int, float, float, float, float, float]]:
        """Rows with the columns LABEL_COLUMNS, most frequent labels first."""
        columns = self._columns().values()
        return list(zip(*(np.asarray(column).tolist() for column in columns), strict=True))

    def to_frame(self) -> "DataFrame":
        """A data frame with the columns LABEL_COLUMNS, most frequent labels first."""
        return as_frame(self._columns())

    def __repr__(self) -> str:
        rows = self.rows()[:SHOWN]
        table = [["label", "true", "predicted", "precision", "recall", "F1", "AP"]]
        table += [
            [shortened(name, 24), f"{n:,}", f"{m:,}", *(f"{v:.3f}" for v in quality[:-1])]
            for name, n, m, _, *quality in rows
        ]
        return aligned(table, right=range(1, 7))

    def _repr_html_(self) -> str:
        rows = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in r] for r in self.rows()]
        return html_table(LABEL_COLUMNS, rows[:SHOWN], f"{len(rows)} labels, most frequent first")

    def _columns(self) -> dict[str, np.ndarray]:
        order = np.argsort(-self.n_true, kind="stable")
        shares = (
            self.precision,
            self.recall,
            self.f1,
            self.average_precision,
            self.calibration_error,
        )
        counts = self.names, self.n_true, self.n_predicted, self.n_hits
        columns = zip(LABEL_COLUMNS, (*counts, *(each.round(4) for each in shares)), strict=True)
        return {name: values[order] for name, values in columns}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Scores of a model on some rows.

    Attributes
    ----------
    scores : dict of floats
        Scores by name; `meaning(name)` describes them.
    labels : LabelTable or None
        Scores of each label; None for a regressor.
    curve : list of pairs
        Precision and nDCG of the k best labels, for k = 1, 2, ...
    bins : list of triples
        Calibration of the predicted probabilities, in bins of width 0.1: mean probability, share of
        true labels, and number of predictions.
    thresholds : list of Decided
        Precision and recall at other thresholds, lowest first; empty for classes and regressors.
    seconds : float
        Time to predict the probabilities of all rows.
    n_unknown : int
        Number of labels in the file that the model does not know.
    n_trained_on : int
        Number of rows in the file that the model was trained on, if that is known.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.evaluation import evaluate
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> found = evaluate(forest, data.X[150:], data.Y[150:])
    >>> sorted(found.scores)[:3]
    ['average_precision', 'calibration_error', 'coverage_error']
    """

    scores: dict[str, float]
    labels: LabelTable | None = None
    curve: Sequence[tuple[float, float]] = ()
    bins: Sequence[tuple[float, float, int]] = ()
    thresholds: Sequence[Decided] = ()
    seconds: float = 0.0
    n_unknown: int = 0
    n_trained_on: int = 0

    def __repr__(self) -> str:
        together: dict[str, list[str]] = {}  # one line for all k of a metric
        for name in self.scores:
            together.setdefault(name.rpartition("_at_")[0] or name, []).append(name)
        table = []
        for metric, names in together.items():
            ks = ", ".join(name.rpartition("_at_")[2] for name in names)
            title, says, better = meaning(f"{metric}_at_k" if "_at_" in names[0] else metric)
            title = title.replace("@k", f"@{ks}")
            values = " ".join(f"{self.scores[name]:.3f}" for name in names)
            values = values if len(names) > 1 else _shown(names[0], self.scores[names[0]])
            table.append([_ARROWS[better], title, values, says])
        parts = ["Scores (↑ higher is better, ↓ lower is better):", aligned(table)]
        if self.labels is not None:
            parts += ["Most frequent labels:", repr(self.labels)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self.scores.items():
            title, says, better = meaning(name)
            rows.append([title, _shown(name, value), says, better])
        html = html_table(["score", "", "what it says", "better"], rows)
        return html if self.labels is None else html + self.labels._repr_html_()

    def to_frame(self) -> "DataFrame":
        """A data frame with the columns score, value, says (its meaning) and better.

        `labels.to_frame()` has the scores of each label.
        """
        _, says, better = zip(*map(meaning, self.scores), strict=True)
        columns = (list(self.scores), list(self.scores.values()), says, better)
        return as_frame(dict(zip(("score", "value", "says", "better"), columns, strict=True)))

    def plot(self, axes: "Sequence[Axes] | None" = None) -> "Sequence[Axes]":
        """Plot precision and nDCG of the k best labels, F1 of each label, and calibration."""
        if self.labels is None:
            raise ValueError("plot is for classifiers; this model is a regressor. Use the scores.")
        axes = new_axes(12.0, 3.8, n=3) if axes is None else axes
        draw_curve(axes[0], self.curve)
        draw_labels(axes[1], self.labels.n_true, self.labels.f1)
        draw_calibration(axes[2], self.bins)
        for each in axes:
            tidy(each)
        return axes


def evaluate(model: "InspectionMixin", X: Matrix, Y: Matrix) -> Evaluation:
    """Evaluate a fitted model on rows X with labels, classes or real outputs Y.

    Parameters
    ----------
    model : fitted estimator
    X : (n_samples, n_features) array, scipy sparse matrix or data frame
    Y : (n_samples, n_outputs) array or scipy sparse matrix, or (n_samples,) array

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> found = evaluate(forest, data.X[150:], data.Y[150:])
    >>> 0 < found.scores["lrap"] < 1
    True
    """
    _check_model(model)
    model = copy(model)  # a concurrent fit does not change it
    X, Y = checked_if_sparse("X", X), checked_if_sparse("Y", Y)
    if model.fitted_.targets.column_classes is None:
        Y = outputs_as_fitted(getattr(model, "label_names_", None), Y)
    if not is_classifier(model):
        started = time.perf_counter()
        predicted = model.predict(X)
        seconds = time.perf_counter() - started
        scores = {"rows": float(np.shape(Y)[0]), "r2": float(r2(Y, predicted))}
        return Evaluation(scores | errors_of(Y, predicted), seconds=seconds)
    truth = _indicator(model, Y)
    scores, predicted, seconds = _predict(model, X)
    # Classes of different columns do not compete.
    is_ranked = model.fitted_.targets.column_classes is None
    found = {"rows": float(truth.shape[0])} | (_ranking(model, truth, scores) if is_ranked else {})
    table = LabelTable(
        names=label_names(model.fitted_),
        n_true=_column_counts(truth),
        n_predicted=_column_counts(predicted),
        n_hits=_column_counts(truth.multiply(predicted).tocsr()),
        average_precision=average_precisions(truth, scores),
        calibration_error=calibration_errors(truth, scores),
    )
    total = table.n_true.sum() + table.n_predicted.sum()
    found["micro_f1"] = float(2 * table.n_hits.sum() / total) if total else 0.0
    is_there = (table.n_true + table.n_predicted) > 0
    found["macro_f1"] = float(table.f1[is_there].mean()) if is_there.any() else 0.0
    has_rows = table.n_true > 0
    if has_rows.any():
        found["average_precision"] = float(table.average_precision[has_rows].mean())
    found["calibration_error"] = float(table.calibration_error.mean())
    ks = range(1, min(10, truth.shape[1]) + 1) if is_ranked else ()
    curve = [(precision_at_k(truth, scores, k), ndcg_at_k(truth, scores, k)) for k in ks]
    bins = calibration(truth, scores)
    return Evaluation(found, table, curve, bins, _thresholds(model, truth, scores), seconds)


def _check_model(model: object) -> None:
    if not isinstance(model, HasFittedModel):
        fix = "Use a fitted estimator of sketchforest."
        if hasattr(model, "steps"):
            fix = "Use its last step, pipeline[-1], and pipeline[:-1].transform(X)."
        raise TypeError(f"model must be a forest or a tree; got {type(model).__name__}. {fix}")
    check_is_fitted(model)


def _ranking(
    model: "TreesClassifier", truth: sparse.csr_array, scores: sparse.csr_array
) -> dict[str, float]:
    depths = [k for k in DEPTHS if k <= truth.shape[1]]
    found = {"lrap": lrap(truth, scores)}
    found |= {f"precision_at_{k}": precision_at_k(truth, scores, k) for k in depths}
    found |= {f"ndcg_at_{k}": ndcg_at_k(truth, scores, k) for k in depths}
    Y_train = model.fitted_.targets.class_labels.to_csr(np.uint8)
    if Y_train.shape[0] >= 3:  # propensities need a few rows
        found |= {f"psp_at_{k}": psp_at_k(truth, scores, k=k, Y_train=Y_train) for k in depths}
    return found | {"coverage_error": coverage_error(truth, scores)}


def _thresholds(
    model: "TreesClassifier", truth: sparse.csr_array, scores: sparse.csr_array
) -> list[Decided]:
    """The decisions of a hundred thresholds, and of the model's own if it has one for all labels.

    Rows without a label above the threshold get none.
    """
    if model.fitted_.targets.has_classes:
        return []
    above = decision_rule(model).above
    own = [] if above is None or np.ndim(above) else [above]
    return threshold_curve(truth, scores, np.append(THRESHOLDS, own))


def _predict(
    model: "TreesClassifier", X: Matrix
) -> tuple[sparse.csr_array, sparse.csr_array, float]:
    """Scores, decisions, and the time for the scores, batch by batch to show progress."""
    blocks, n_rows = [X], None
    if isinstance(X, np.ndarray | sparse.csr_array | sparse.csr_matrix):
        n_rows = X.shape[0]
        blocks = [X[at : at + BATCH_ROWS] for at in range(0, n_rows, BATCH_ROWS)]
    scores, decided, seconds = [], [], 0.0
    with stage("testing", n_rows) as shown:
        for block in blocks:
            started = time.perf_counter()
            scores.append(model.predict_sparse(block))
            seconds += time.perf_counter() - started
            decided.append(decisions(model, block))
            shown.advance(scores[-1].shape[0])
    together = sparse.vstack(scores, format="csr"), sparse.vstack(decided, format="csr")
    return *together, seconds


def is_classifier(model: "InspectionMixin") -> "TypeGuard[TreesClassifier]":
    return model.fitted_.targets.is_classification


def decisions(model: "TreesClassifier", X: Matrix) -> sparse.csr_array:
    """(n_rows, n_labels) CSR of the decisions of `predict`, with one column per class."""
    return _indicator(model, model.predict(X))


def _indicator(model: "TreesClassifier", Y: Matrix) -> sparse.csr_array:
    """Y as (n_rows, n_labels) indicators; classes are encoded one-hot."""
    targets = model.fitted_.targets
    columns = targets.classes_by_output
    is_indicator = targets.classes is not None and np.ndim(Y) == 2 and np.shape(Y)[1] > 1
    if not targets.has_classes or is_indicator:
        return sparse.csr_array(Y).astype(bool)
    values = np.asarray(Y).reshape(len(Y), -1)  # as fit, accept classes as a column
    if values.shape[1] != len(columns):
        raise ValueError(
            f"Y must have the {len(columns)} columns of classes that the model was fitted on; got "
            f"{values.shape[1]}."
        )
    found = [_one_hot(classes, y) for classes, y in zip(columns, values.T, strict=True)]
    return sparse.hstack(found, format="csr")


def _one_hot(classes: np.ndarray, y: np.ndarray) -> sparse.csr_array:
    places = np.searchsorted(classes, y)
    is_known = classes[np.minimum(places, len(classes) - 1)] == y
    if not is_known.all():
        raise ValueError(f"Y must hold classes that the model knows; got {y[~is_known][0]!s}.")
    rows = np.arange(len(y))
    return sparse.csr_array((np.ones(len(y), bool), (rows, places)), shape=(len(y), len(classes)))


def _shown(name: str, value: float) -> str:
    return f"{value:,.0f}" if name == "rows" else f"{value:.4f}"


def _column_counts(matrix: sparse.csr_array) -> np.ndarray:
    matrix.eliminate_zeros()
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
