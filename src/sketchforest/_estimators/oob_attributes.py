"""After the last tree: what rows say that a tree did not see, as attributes of the estimator."""

import math
import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy import sparse
from sklearn.metrics import accuracy_score

from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predictions import as_given, averages_as_given, decisions
from sketchforest._estimators.thresholds import (
    DEFAULT,
    best_thresholds,
    decision_rule,
    is_out_of_bag,
)
from sketchforest._trees.fitted import Targets
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import Problem
from sketchforest._typing import Matrix
from sketchforest._warning import warn
from sketchforest.metrics import get_metric, is_ranking, lrap, r2

Attributes: TypeAlias = dict[str, float | Matrix]


def oob_attributes(
    params: Parameters, targets: Targets, problem: Problem, predictor: ForestPredictor
) -> Attributes:
    """`oob_score_` and what it is the score of, and `thresholds_`, as far as they are wanted."""
    wants_thresholds = is_out_of_bag(params.threshold)
    if not (params.oob_score or wants_thresholds):
        return {}
    in_bag = predictor.forest.in_bag(targets.labels.shape[0])
    is_left_out = np.diff(in_bag.indptr) < predictor.forest.n_trees
    if not is_left_out.all():
        warn(
            "Some inputs do not have OOB scores: "
            f"{np.count_nonzero(~is_left_out)} of {len(is_left_out)} rows are in the bag of every "
            "tree, and predicted as zero. Use more trees."
        )
    if problem.data.rows is not None:  # rows of weight 0 are as good as not there
        is_left_out &= np.isin(np.arange(len(is_left_out)), problem.data.rows)
    truth = _truth(targets)
    prediction = averages_as_given(predictor, targets, problem.X, params.n_jobs, in_bag)
    found: Attributes = {}
    thresholds = None
    if wants_thresholds:
        pairs = sparse.csr_array(truth[is_left_out]), sparse.csr_array(prediction[is_left_out])
        thresholds = best_thresholds(*pairs, str(params.threshold))
        found["thresholds_"] = thresholds
    if params.oob_score:
        name = "oob_decision_function_" if targets.is_classification else "oob_prediction_"
        found[name] = prediction
        found["oob_score_"] = math.nan
        if is_left_out.any():
            score = _metric(params, targets, thresholds)
            found["oob_score_"] = float(score(truth[is_left_out], prediction[is_left_out]))
    return found


def check_oob_metric(params: Parameters, targets: Targets) -> None:
    """Raises for a name that no metric has, and for a callable that takes no predictions, before
    the trees are grown."""
    if callable(params.oob_score):
        _try_metric(params.oob_score, params, targets)
    if not isinstance(params.oob_score, str):
        return
    name = params.oob_score
    if not targets.is_classification:
        if name != "r2":
            raise ValueError(
                "oob_score must be True, False, 'r2' or a callable f(Y_true, Y_pred) for a "
                f"regressor; got {name!r}."
            )
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
    """The truth as its own prediction: what cannot take that takes no other."""
    truth = _truth(targets)
    scores = truth.astype(np.float64)
    thresholds = np.float32(DEFAULT) if is_out_of_bag(params.threshold) else None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            float(_metric(params, targets, thresholds)(truth, scores))
    except Exception as error:
        said = str(error).strip().splitlines() or [repr(error)]
        raise ValueError(
            "oob_score must be a callable f(Y_true, Y_pred) that gives a number for true and "
            f"predicted values; got {metric!r}, which fails: {said[0].rstrip('.')}."
        ) from error


def _truth(targets: Targets) -> Matrix:
    if isinstance(targets.labels, np.ndarray):
        return targets.labels.ravel() if targets.is_vector else targets.labels
    truth = targets.labels.to_csr(np.uint8 if targets.is_classification else np.float64)
    is_dense_indicator = targets.classes is None and not targets.is_sparse
    return truth.toarray() if is_dense_indicator else as_given(truth, targets)


def _metric(
    params: Parameters, targets: Targets, thresholds: np.ndarray | np.float32 | None
) -> Callable[[Matrix, Matrix], float]:
    """The meaning of `oob_score`, as a function of true values and of averages over trees. As in
    scikit-learn, a callable is given predictions; ranking metrics of ours are given scores."""
    given = params.oob_score
    if not targets.is_classification:
        return given if callable(given) else r2
    if isinstance(given, str):
        return get_metric(given)
    if targets.classes is None:
        if not callable(given):
            return lrap
        if is_ranking(given):
            return given
        k, above = decision_rule(params.threshold, thresholds, targets.labels.shape[1])
        return lambda truth, scores: given(
            truth.astype(targets.dtype), decisions(scores, k, above, targets)
        )
    metric = given if callable(given) else accuracy_score
    classes = targets.classes
    # The truth is one-hot, by rows: its columns are the classes.
    return lambda truth, scores: metric(
        classes[sparse.csr_array(truth).indices], classes[scores.argmax(axis=1)]
    )
