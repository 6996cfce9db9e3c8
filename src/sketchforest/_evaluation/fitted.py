"""Evaluation of fitted models on rows with known labels."""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.fitting.validation import are_texts
from sketchforest._estimators.inspection.names import label_names, outputs_as_fitted
from sketchforest._estimators.predicting.decisions import (
    Decided,
    HasFittedModel,
    decisions,
    threshold_curve,
)
from sketchforest._estimators.predicting.labels import decision_rule
from sketchforest._estimators.predicting.training_rows import (
    averages_without,
    find_training_rows,
    out_of_bag_rows,
)
from sketchforest._evaluation.label_table import LabelTable
from sketchforest._evaluation.mistakes import confused_pairs, most_wrong_rows, with_texts
from sketchforest._evaluation.result import (
    HELD_OUT,
    NEW_ROWS,
    OUT_OF_BAG,
    TRAINING_ROWS,
    Evaluation,
)
from sketchforest._utils.progress import stage
from sketchforest._utils.sparse import checked_if_sparse, one_hot
from sketchforest._utils.typing import Matrix
from sketchforest.metrics import (
    coverage_error,
    log_loss,
    lrap,
    ndcg_at_k,
    precision_at_k,
    psp_at_k,
    r2,
)
from sketchforest.metrics._r2 import errors_of
from sketchforest.metrics.labels import (
    average_precisions,
    calibration,
    calibration_errors,
    column_counts,
    f1_scores,
)

if TYPE_CHECKING:
    from sketchforest._estimators.estimator import Estimator
    from sketchforest._estimators.predicting.labels import PredictsLabels

DEPTHS = (1, 3, 5)
BATCH_ROWS = 2048  # rows to predict at a time
THRESHOLDS = np.arange(100) / 100


def evaluate(
    model: "Estimator", X: Matrix, Y: Matrix, *, include_training_rows: bool = False
) -> Evaluation:
    """Evaluate a fitted model on rows X with labels, classes or real outputs Y.

    Scores on training rows are too high, so rows that the model recognizes as training rows are
    left out. If all rows are training rows, the scores are out-of-bag: each row is predicted by the
    trees that were not grown on it. `Evaluation.basis` says which rows were scored.

    Parameters
    ----------
    model : fitted estimator
    X : (n_samples, n_features) array, scipy sparse matrix or data frame
    Y : (n_samples, n_outputs) array or scipy sparse matrix, or (n_samples,) array
    include_training_rows : bool, default=False
        Score training rows like new ones.

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
    >>> evaluate(forest, data.X, data.Y).basis
    'held-out rows'
    """
    _check_model(model)
    model = copy(model)  # a concurrent fit does not change it
    X, Y = checked_if_sparse("X", X), checked_if_sparse("Y", Y)
    if model.fitted_.targets.column_classes is None:
        Y = outputs_as_fitted(getattr(model, "label_names_", None), Y)
    texts = list(X) if not sparse.issparse(X) and are_texts(X) else None
    trained = find_training_rows(model, X)
    return evaluate_rows(model, X, Y, trained, include_training_rows, texts)


def evaluate_rows(
    model: "Estimator",
    X: Matrix,
    Y: Matrix,
    training_rows: np.ndarray,
    include_training_rows: bool = False,
    texts: Sequence[str] | None = None,
) -> Evaluation:
    """Evaluate rows whose numbers among the training rows are known; -1 marks new rows."""
    is_new = training_rows < 0
    n_trained_on = len(is_new) - int(np.count_nonzero(is_new))
    rows, exclude, basis = np.arange(len(is_new)), None, NEW_ROWS
    if n_trained_on and include_training_rows:
        basis = TRAINING_ROWS
    elif n_trained_on == len(is_new) > 0:
        rows, exclude = out_of_bag_rows(model, training_rows)
        basis = OUT_OF_BAG
    elif n_trained_on:
        rows, basis = np.flatnonzero(is_new), HELD_OUT
    if len(rows) < len(is_new):
        X, Y = _safe_indexing(X, rows), _safe_indexing(Y, rows)
    score = _score_labels if is_classifier(model) else _score_numbers
    found = score(model, X, Y, exclude)
    wrong = [each._replace(row=int(rows[each.row])) for each in found.wrong_rows]
    wrong = with_texts(wrong, texts)
    return replace(found, wrong_rows=wrong, basis=basis, n_trained_on=n_trained_on)


def _score_numbers(
    model: "Estimator", X: Matrix, Y: Matrix, exclude: sparse.csr_array | None
) -> Evaluation:
    started = time.perf_counter()
    predicted = model.predict(X) if exclude is None else averages_without(model, X, exclude)
    seconds = time.perf_counter() - started
    scores = {"rows": float(np.shape(Y)[0]), "r2": float(r2(Y, predicted))}
    return Evaluation(scores | errors_of(Y, predicted), seconds=seconds)


def _score_labels(
    model: "PredictsLabels", X: Matrix, Y: Matrix, exclude: sparse.csr_array | None
) -> Evaluation:
    truth = _indicator(model, Y)
    scores, predicted, seconds = _predict(model, X, exclude)
    # Classes of different columns do not compete.
    is_ranked = model.fitted_.targets.column_classes is None
    found = {"rows": float(truth.shape[0])} | (_ranking(model, truth, scores) if is_ranked else {})
    table = LabelTable(
        names=label_names(model.fitted_),
        n_true=column_counts(truth),
        n_predicted=column_counts(predicted),
        n_hits=column_counts(truth.multiply(predicted)),
        average_precision=average_precisions(truth, scores),
        calibration_error=calibration_errors(truth, scores),
    )
    found |= f1_scores(table.n_true, table.n_predicted, table.n_hits)
    has_rows = table.n_true > 0
    if has_rows.any():
        found["average_precision"] = float(table.average_precision[has_rows].mean())
    found["calibration_error"] = float(table.calibration_error.mean())
    found["log_loss"] = log_loss(truth, scores)
    ks = range(1, min(10, truth.shape[1]) + 1) if is_ranked else ()
    curve = [(precision_at_k(truth, scores, k), ndcg_at_k(truth, scores, k)) for k in ks]
    bins = calibration(truth, scores)
    names = table.names
    return Evaluation(
        found,
        table,
        curve,
        bins,
        _thresholds(model, truth, scores),
        most_wrong_rows(truth, scores, predicted, names) if is_ranked else (),
        confused_pairs(truth, predicted, names) if is_ranked else (),
        seconds,
    )


def _check_model(model: object) -> None:
    if not isinstance(model, HasFittedModel):
        fix = "Use a fitted estimator of sketchforest."
        if hasattr(model, "steps"):
            fix = "Use its last step, pipeline[-1], and pipeline[:-1].transform(X)."
        raise TypeError(f"model must be a forest or a tree; got {type(model).__name__}. {fix}")
    check_is_fitted(model)


def _ranking(
    model: "PredictsLabels", truth: sparse.csr_array, scores: sparse.csr_array
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
    model: "PredictsLabels", truth: sparse.csr_array, scores: sparse.csr_array
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
    model: "PredictsLabels", X: Matrix, exclude: sparse.csr_array | None
) -> tuple[sparse.csr_array, sparse.csr_array, float]:
    """Scores, decisions, and the time for the scores, batch by batch to show progress.

    `exclude` (n_rows, n_trees) marks the trees to leave out for each row.
    """
    blocks, n_rows = [slice(None)], None
    if isinstance(X, np.ndarray | sparse.csr_array | sparse.csr_matrix):
        n_rows = X.shape[0]
        blocks = [slice(at, at + BATCH_ROWS) for at in range(0, n_rows, BATCH_ROWS)]
    scores, decided, seconds = [], [], 0.0
    with stage("testing", n_rows) as shown:
        for block in blocks:
            some = X if n_rows is None else X[block]
            started = time.perf_counter()
            if exclude is None:
                found = model.predict_sparse(some)
            else:
                found = averages_without(model, some, exclude[block])
            seconds += time.perf_counter() - started
            scores.append(found)
            decided.append(_decisions(model, some, found, exclude is None))
            shown.advance(found.shape[0])
    together = sparse.vstack(scores, format="csr"), sparse.vstack(decided, format="csr")
    return *together, seconds


def is_classifier(model: "Estimator") -> "TypeGuard[PredictsLabels]":
    return model.fitted_.targets.is_classification


def _decisions(
    model: "PredictsLabels", X: Matrix, scores: sparse.csr_array, are_of_all_trees: bool
) -> sparse.csr_array:
    """(n_rows, n_labels) CSR of the decisions of `predict`, with one column per class."""
    targets = model.fitted_.targets
    if are_of_all_trees:
        return _indicator(model, model.predict(X))
    if targets.column_classes is not None:
        return _indicator(model, targets.most_probable(scores.toarray()))
    if targets.classes is not None:
        return _indicator(model, targets.classes[scores.argmax(axis=1)])
    return sparse.csr_array(decisions(scores, decision_rule(model), targets)).astype(bool)


def _indicator(model: "PredictsLabels", Y: Matrix) -> sparse.csr_array:
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
    found = [_indicators(classes, y) for classes, y in zip(columns, values.T, strict=True)]
    return sparse.hstack(found, format="csr")


def _indicators(classes: np.ndarray, y: np.ndarray) -> sparse.csr_array:
    places = np.searchsorted(classes, y)
    is_known = classes[np.minimum(places, len(classes) - 1)] == y
    if not is_known.all():
        raise ValueError(f"Y must hold classes that the model knows; got {y[~is_known][0]!s}.")
    return one_hot(places, len(classes))
