"""After the last tree: out-of-bag predictions, scores and thresholds."""

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.metrics import accuracy_score

from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predicting.decisions import (
    DEFAULT,
    as_given,
    averages_as_given,
    best_thresholds,
    decide,
    decisions,
    f1_kind,
)
from sketchforest._selection.extrapolation import extrapolate_oob_score
from sketchforest._selection.learning_curve import PredictedScore
from sketchforest._trees.blended import BlendedPredictor
from sketchforest._trees.calibration import Calibration, calibrate
from sketchforest._trees.linear import Ridge
from sketchforest._trees.predict import ForestPredictor, Predictor
from sketchforest._trees.problem import Problem
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest._utils.warning import warn
from sketchforest.metrics import get_metric, is_ranking, lrap, r2

if TYPE_CHECKING:
    from sketchforest._estimators.base import TreesEstimator

Attributes: TypeAlias = dict[str, float | Matrix | list[np.ndarray]]


def oob_attributes(
    params: Parameters,
    targets: Targets,
    problem: Problem,
    predictor: ForestPredictor | BlendedPredictor,
    ridge: Ridge | None = None,
) -> tuple[Attributes, F1Thresholds | None, Calibration | None]:
    """The out-of-bag attributes that the parameters ask for, and thresholds for labels and their
    calibration."""
    wants_thresholds = targets.is_indicator and f1_kind(params.threshold) is not None
    if not (params.oob_score or wants_thresholds or params.calibrate):
        return {}, None, None
    in_bag = predictor.forest.in_bag()
    is_left_out = np.diff(in_bag.indptr) < predictor.forest.n_trees
    leaves_few_out = params.is_mixed and params.sees_all_rows
    is_missing = not is_left_out.any() if leaves_few_out else not is_left_out.all()
    # A mixed forest chooses its default threshold on the few rows that it leaves out.
    if is_missing and (params.oob_score or not params.is_mixed):
        warn(
            "Some inputs do not have OOB scores: "
            f"{np.count_nonzero(~is_left_out)} of {len(is_left_out)} rows were seen by every tree; "
            "their out-of-bag predictions are zero. Use more trees."
        )
    if isinstance(predictor, BlendedPredictor) and ridge is not None and is_left_out.any():
        predictor = replace(predictor, linear_scores=ridge.left_out(np.flatnonzero(is_left_out)))
    prediction = _predictions(predictor, targets, problem.X, params.n_jobs, in_bag, is_left_out)
    if problem.data.rows is not None:  # rows of weight 0 do not count
        is_left_out &= np.isin(np.arange(len(is_left_out)), problem.data.rows)
    truth = _truth(targets)
    found: Attributes = {}
    thresholds = calibration = None
    if params.calibrate is not None:
        calibration = calibrate(params.calibrate, *_pairs(truth, prediction, is_left_out))
        if isinstance(prediction, np.ndarray):
            prediction = calibration.apply(prediction)
        else:
            prediction = as_given(calibration.apply_sparse(prediction), targets)
    if targets.is_indicator:
        thresholds = best_thresholds(*_pairs(truth, prediction, is_left_out), params.n_jobs)
    if params.oob_score:
        name = "oob_decision_function_" if targets.is_classification else "oob_prediction_"
        has_columns = targets.column_classes is not None
        found[name] = targets.by_column(prediction) if has_columns else prediction
        found["oob_score_"] = math.nan
        if is_left_out.any():
            score = _metric(params, targets, thresholds)
            found["oob_score_"] = float(score(truth[is_left_out], prediction[is_left_out]))
    return found, thresholds, calibration


def _pairs(
    truth: Matrix, prediction: Matrix, rows: np.ndarray
) -> tuple[sparse.csr_array, sparse.csr_array]:
    return sparse.csr_array(truth[rows]), sparse.csr_array(prediction[rows])


def _predictions(
    predictor: Predictor,
    targets: Targets,
    X: Matrix,
    n_jobs: int | None,
    in_bag: sparse.csr_array,
    is_left_out: np.ndarray,
) -> Matrix:
    """Out-of-bag predictions of all rows; zero for rows that every tree saw, which may be most."""
    if is_left_out.all() or not is_left_out.any():
        return averages_as_given(predictor, targets, X, n_jobs, in_bag)
    rows = np.flatnonzero(is_left_out)
    some = X[rows] if isinstance(X, np.ndarray) else X.tocsr()[rows]
    found = averages_as_given(predictor, targets, some, n_jobs, in_bag[rows])
    if isinstance(found, np.ndarray):
        everywhere = np.zeros((len(is_left_out), *found.shape[1:]), found.dtype)
        everywhere[rows] = found
        return everywhere
    sizes = np.zeros(len(is_left_out), np.int64)
    sizes[rows] = np.diff(found.indptr)
    arrays = (found.data, found.indices, np.append(0, np.cumsum(sizes)))
    everything = sparse.csr_array(arrays, shape=(len(is_left_out), found.shape[1]))
    return as_given(everything, targets)


def expected_score(model: "TreesEstimator", X: MatrixLike, metric: str) -> PredictedScore | None:
    """The expected score on new rows, by the training rows X; see `extrapolate_oob_score`.

    None for reweighted averages, whose learning curve it does not follow.
    """
    fitted = model.fitted_
    if fitted.targets.is_balanced:
        return None
    forest, settings = fitted.forest, fitted.settings
    checked = model._check_new(X, fitted)
    return extrapolate_oob_score(forest, checked, fitted.labels, settings, metric, model._n_jobs)


def check_oob_metric(params: Parameters, targets: Targets) -> None:
    """Raise for an unknown metric, or for a callable that fails, before any tree is grown."""
    if targets.column_classes is not None and params.oob_score and not callable(params.oob_score):
        raise ValueError(
            "The type of target cannot be used to compute OOB estimates: oob_score must be False "
            "or a callable f(Y_true, Y_pred) if Y has several columns of classes; got "
            f"{params.oob_score!r}. Alternatively, fit one forest per column."
        )
    if callable(params.oob_score):
        _try_metric(params.oob_score, params, targets)
    if not isinstance(params.oob_score, str):
        return
    name = params.oob_score
    if not targets.is_classification and name != "r2":
        raise ValueError(
            "oob_score must be True, False, 'r2' or a callable f(Y_true, Y_pred) for a regressor; "
            f"got {name!r}."
        )
    if not targets.is_classification:
        return
    one_label = sparse.csr_array(([1.0], ([0], [0])), shape=(1, targets.labels.shape[1]))
    try:
        get_metric(name)(one_label, one_label)
    except ValueError as error:
        raise ValueError(
            f"oob_score must be True, False, a callable or the name of a metric; "
            f"got {name!r}: {error}"
        ) from error


def _try_metric(metric: Callable[..., float], params: Parameters, targets: Targets) -> None:
    """Try a callable with the truth as its own prediction, which any metric accepts."""
    truth = _truth(targets)
    scores = truth.astype(np.float64)
    usual = np.float32(DEFAULT)
    thresholds = F1Thresholds(usual, np.full(targets.labels.shape[1], usual))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            float(_metric(params, targets, thresholds)(truth, scores))
    except Exception as error:
        said = str(error).strip().splitlines() or [repr(error)]
        raise ValueError(
            "oob_score must be a callable f(Y_true, Y_pred) that returns a number; got "
            f"{metric!r}, which fails: {said[0].rstrip('.')}."
        ) from error


def _truth(targets: Targets) -> Matrix:
    if isinstance(targets.labels, np.ndarray):
        return targets.labels.ravel() if targets.is_vector else targets.labels
    truth = targets.labels.to_csr(np.uint8 if targets.is_classification else np.float64)
    is_dense_indicator = targets.classes is None and not targets.is_sparse
    return truth.toarray() if is_dense_indicator else as_given(truth, targets)


def _metric(
    params: Parameters, targets: Targets, thresholds: F1Thresholds | None
) -> Callable[[Matrix, Matrix], float]:
    """The metric that `oob_score` names, as a function of the truth and of averages over trees.

    As in scikit-learn, callables are given predictions, except for our ranking metrics, which are
    given scores.
    """
    given = params.oob_score
    if not targets.is_classification:
        return given if callable(given) else r2
    if isinstance(given, str):
        return get_metric(given)
    if targets.column_classes is not None:
        assert callable(given)
        return lambda truth, scores: given(
            targets.most_probable(truth), targets.most_probable(scores)
        )
    if targets.classes is None:
        if not callable(given):
            return lrap
        if is_ranking(given):
            return given
        decision = decide(params.threshold, thresholds, targets.labels.shape[1])
        return lambda truth, scores: given(
            truth.astype(targets.dtype), decisions(scores, decision, targets)
        )
    metric = given if callable(given) else accuracy_score
    classes = targets.classes
    # Rows of the truth are one-hot, so their column indices are the classes.
    return lambda truth, scores: metric(
        classes[sparse.csr_array(truth).indices], classes[scores.argmax(axis=1)]
    )
