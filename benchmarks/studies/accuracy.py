"""Accuracy of default and tuned forests, of linear label trees and of simple methods, on every
data set."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.bench.other_libraries import NapkinXC, Omikuji
from benchmarks.data import TrainTestSplit
from benchmarks.measure import processor_timed
from benchmarks.store import ResultStore
from benchmarks.studies.accuracy_page import (
    N_DIMENSIONS,
    accuracy_page,
    save_picture,
    save_tables,
)
from benchmarks.studies.embeddings import FitAndScore, embedded, neighbors, ridge
from benchmarks.studies.study import Study
from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.metrics import (
    log_loss,
    lrap,
    ndcg_at_k,
    precision_at_k,
    propensities,
    psp_at_k,
)
from sketchforest.tuning import tune

FORESTS = {
    "random forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "sketch forest": SketchForestClassifier,
}
TUNED = {
    "tuned forest": ("random_forest", "extra_trees"),
    "tuned sketch forest": ("sketch_forest",),
}
SIMPLE = {"ridge": ridge, "k-NN": neighbors}
OTHERS: dict[str, Callable[[TrainTestSplit, Options], ModelAdapter]] = {
    "napkinXC": NapkinXC,
    "omikuji": Omikuji,
}


@dataclass(frozen=True)
class AccuracyResult:
    """Scores on the test rows; at k labels, or at all of them if there are fewer.

    Of methods without probabilities, the log loss is NaN.
    """

    lrap: float
    p1: float
    p3: float
    p5: float
    ndcg5: float
    psp5: float
    log_loss: float
    fit_seconds: float  # processor time, which does not depend on the load
    predict_seconds: float
    megabytes: float


def run_accuracy(study: Study, methods: Sequence[str] = (), n_tuned_splits: int = 1) -> bool:
    """Measure, and write accuracy-T-trees.csv, accuracy.md and accuracy.svg.

    Other libraries take part if they are installed. A search takes as long as ten fits, so forests
    are tuned on fewer splits. Without `methods`, measures all.
    """
    measures = _measures()
    for method in methods:
        if method not in measures:
            known = ", ".join(measures)
            raise ValueError(f"methods must be some of {known}, if installed; got {method!r}.")
    options = Options(study.n_estimators, study.n_estimators, study.n_jobs)

    def methods_of(dataset: str, split: int) -> dict[str, Callable[[TrainTestSplit], Any]]:
        return {
            method: partial(measure, options)
            for method, measure in measures.items()
            if method in (methods or measures)
            if method not in TUNED or split < n_tuned_splits
        }

    page = partial(accuracy_page, n_estimators=study.n_estimators)
    is_complete = study.run("accuracy", AccuracyResult, methods_of, page)
    results = ResultStore(study.out).frame(f"accuracy-{study.n_estimators}-trees")
    save_picture(results, study.out / "accuracy.svg")
    save_tables(results, study.out)
    return is_complete


def _measures() -> dict[str, Callable[[Options, TrainTestSplit], AccuracyResult]]:
    measures = {method: partial(_measure_forest, kind) for method, kind in FORESTS.items()}
    searches = {method: partial(_measure_tuned, kinds) for method, kinds in TUNED.items()}
    installed = {method: other for method, other in OTHERS.items() if find_spec(method.lower())}
    others = {method: partial(_measure_other, other) for method, other in installed.items()}
    simple = {method: partial(_measure_simple, work) for method, work in SIMPLE.items()}
    return {**measures, **searches, **others, **simple}


def _measure_forest(kind: type, options: Options, data: TrainTestSplit) -> AccuracyResult:
    forest = kind(options.n_estimators, n_jobs=options.n_jobs, random_state=options.seed)
    seconds, _ = processor_timed(partial(forest.fit, data.X_train, data.Y_train))
    return _scored_forest(forest, seconds, data)


def _measure_tuned(kinds: Sequence[str], options: Options, data: TrainTestSplit) -> AccuracyResult:
    search = partial(
        tune,
        data.X_train,
        data.Y_train,
        estimators=kinds,
        n_estimators=options.n_estimators,
        n_jobs=options.n_jobs,
        random_state=options.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the budget may end early
        seconds, result = processor_timed(search)
    return _scored_forest(result.forest, seconds, data)


def _scored_forest(forest: Any, fit_seconds: float, data: TrainTestSplit) -> AccuracyResult:
    predict_seconds, scores = processor_timed(partial(forest.predict_proba, data.X_test))
    arrays = [*forest.fitted_.forest.fields().values()]
    if forest.fitted_.forest.directions is not None:
        arrays += vars(forest.fitted_.forest.directions).values()
    n_bytes = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    found = _scored(data, np.asarray(scores), fit_seconds, predict_seconds, n_bytes)
    return replace(found, log_loss=log_loss(data.Y_test, scores))


def _measure_simple(method: FitAndScore, options: Options, data: TrainTestSplit) -> AccuracyResult:
    """Fit and predict together: nothing is kept between the two."""
    seconds, scores = processor_timed(lambda: method(_dense(data)))
    return _scored(data, scores, seconds, np.nan, np.nan)


def _dense(data: TrainTestSplit) -> TrainTestSplit:
    """Dense features on one scale, missing ones at their mean, and texts as rows of an SVD."""
    if not isinstance(data.X_train, np.ndarray):
        return embedded(data, N_DIMENSIONS)
    scaler = StandardScaler().fit(data.X_train)
    X_train, X_test = (np.nan_to_num(scaler.transform(X)) for X in (data.X_train, data.X_test))
    return TrainTestSplit(X_train, data.Y_train, X_test, data.Y_test)


def _measure_other(
    other: Callable[[TrainTestSplit, Options], ModelAdapter], options: Options, data: TrainTestSplit
) -> AccuracyResult:
    X_train, X_test = sparse.csr_array(data.X_train), sparse.csr_array(data.X_test)
    model = other(TrainTestSplit(X_train, data.Y_train, X_test, data.Y_test), options)
    fit_seconds, _ = processor_timed(model.fit)
    model.prepare_predictions()
    predict_seconds, prediction = processor_timed(partial(model.predict, model.X_test))
    return _scored(data, model.scores(prediction), fit_seconds, predict_seconds, model.n_bytes())


def _scored(
    data: TrainTestSplit,
    scores: np.ndarray,
    fit_seconds: float,
    predict_seconds: float,
    n_bytes: float,
) -> AccuracyResult:
    truth, at = data.Y_test, partial(min, data.Y_test.shape[1])
    return AccuracyResult(
        lrap=lrap(truth, scores),
        p1=precision_at_k(truth, scores, 1),
        p3=precision_at_k(truth, scores, at(3)),
        p5=precision_at_k(truth, scores, at(5)),
        ndcg5=ndcg_at_k(truth, scores, at(5)),
        psp5=psp_at_k(truth, scores, propensities(data.Y_train), at(5)),
        log_loss=np.nan,
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        megabytes=n_bytes / 1e6,
    )
