"""How accurate forests are, as they are and tuned, beside linear label trees, on every data set."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import sparse

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.bench.other_libraries import NapkinXC, Omikuji
from benchmarks.data import TrainTestSplit
from benchmarks.experiments import Workspace
from benchmarks.measure import processor_timed
from benchmarks.store import ResultStore
from benchmarks.studies.accuracy_page import accuracy_page, save_front
from benchmarks.studies.method_experiment import (
    MethodExperiment,
    Study,
    find_datasets,
)
from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.metrics import lrap, ndcg_at_k, precision_at_k, propensities, psp_at_k
from sketchforest.tuning import tune

Forest = RandomForestClassifier | ExtraTreesClassifier | SketchForestClassifier

FORESTS = {
    "random forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "sketch forest": SketchForestClassifier,
}
TUNED = {
    "tuned forest": ("random_forest", "extra_trees"),
    "tuned sketch forest": ("sketch_forest",),
}
OTHERS: dict[str, Callable[[TrainTestSplit, Options], ModelAdapter]] = {
    "napkinXC": NapkinXC,
    "omikuji": Omikuji,
}


@dataclass(frozen=True)
class AccuracyResult:
    """On the test rows; P@k, nDCG@k and PSP@k where there are k labels, else at all of them."""

    lrap: float
    p1: float
    p3: float
    p5: float
    ndcg5: float
    psp5: float
    fit_seconds: float  # of processors: other work on the machine does not count
    predict_seconds: float
    megabytes: float


def run_accuracy(
    datasets: Sequence[str],
    out: Path,
    *,
    methods: Sequence[str] = (),
    n_splits: int = 3,
    n_tuned_splits: int = 1,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes accuracy-T-trees.csv, accuracy.md and accuracy.svg into ``out``. Other
    libraries take part where they are installed; a search takes as long as ten fits. ``methods``
    are measured, or all."""
    measures = _measures()
    for method in methods:
        if method not in measures:
            known = ", ".join(measures)
            raise ValueError(f"methods must be some of {known}, where installed; got {method!r}.")
    study = Study("accuracy", out, n_estimators, partial(accuracy_page, n_estimators=n_estimators))
    options = Options(n_estimators, n_estimators, n_jobs)
    experiments = [
        MethodExperiment(
            name, split, method, study.table, AccuracyResult, partial(measure, options)
        )
        for name in find_datasets(datasets, data_home)
        for split in range(n_splits)
        for method, measure in measures.items()
        if method in (methods or measures)
        if method not in TUNED or split < n_tuned_splits
    ]
    is_complete = study.run(experiments, Workspace(data_home, n_jobs), console)
    if find_spec("matplotlib") is not None:
        save_front(ResultStore(out).rows(study.table), out / "accuracy.svg")
    return is_complete


def _measures() -> dict[str, Callable[[Options, TrainTestSplit], AccuracyResult]]:
    measures = {method: partial(_measure_forest, kind) for method, kind in FORESTS.items()}
    searches = {method: partial(_measure_tuned, kinds) for method, kinds in TUNED.items()}
    here = {method: other for method, other in OTHERS.items() if find_spec(method.lower())}
    others = {method: partial(_measure_other, other) for method, other in here.items()}
    return {**measures, **searches, **others}


def _measure_forest(kind: type[Forest], options: Options, data: TrainTestSplit) -> AccuracyResult:
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
        warnings.simplefilter("ignore")  # of a budget that ends early
        seconds, result = processor_timed(search)
    return _scored_forest(result.forest, seconds, data)


def _scored_forest(forest: Forest, fit_seconds: float, data: TrainTestSplit) -> AccuracyResult:
    predict_seconds, scores = processor_timed(partial(forest.predict_proba, data.X_test))
    arrays = [*forest.fitted_.forest.fields().values()]
    if forest.fitted_.forest.directions is not None:
        arrays += vars(forest.fitted_.forest.directions).values()
    n_bytes = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    return _scored(data, np.asarray(scores), fit_seconds, predict_seconds, n_bytes)


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
    n_bytes: int,
) -> AccuracyResult:
    truth, n_labels = data.Y_test, data.Y_test.shape[1]
    at = partial(min, n_labels)
    return AccuracyResult(
        lrap=lrap(truth, scores),
        p1=precision_at_k(truth, scores, 1),
        p3=precision_at_k(truth, scores, at(3)),
        p5=precision_at_k(truth, scores, at(5)),
        ndcg5=ndcg_at_k(truth, scores, at(5)),
        psp5=psp_at_k(truth, scores, propensities(data.Y_train), at(5)),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        megabytes=n_bytes / 1e6,
    )
