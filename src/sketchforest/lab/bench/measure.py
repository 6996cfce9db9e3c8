"""What one process measures: one method on one problem, once."""

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sketchforest.datasets import make_multilabel
from sketchforest.lab.bench.forests import Contender, Options
from sketchforest.lab.bench.methods import Method, find_method
from sketchforest.lab.data import load_problem, split_problem
from sketchforest.lab.measure import ranking_quality
from sketchforest.lab.memory import current_bytes, forget_peak, peak_bytes

TRIAL_ROWS = 4000
_SINGLE_ROWS = 100
_SINGLE_ROWS_SECONDS = 10.0  # enough of them, if each is slow


def measure(
    method: str,
    dataset: str,
    n_estimators: int,
    n_jobs: int,
    seed: int,
    n_grown: int | None = None,
    is_dense: bool | None = None,
    data_home: str | None = None,
    quick: bool = False,
) -> dict[str, Any]:
    """Costs of fitting and predicting, and the ranking quality if all trees were grown."""
    problem = load_problem(dataset, data_home, quick=quick)
    options = Options(
        n_estimators=n_estimators,
        n_grown=n_grown or n_estimators,
        n_jobs=n_jobs,
        seed=seed,
        is_dense=problem.is_dense if is_dense is None else is_dense,
    )
    contender = _warmed_up(find_method(method), options).build(problem, options)
    Y_test = problem.Y_test
    del problem  # what the method does not use is not to be counted
    fitted = _measure_fit(contender)
    n_trees = contender.n_estimators
    is_scaled = options.n_grown < n_trees
    return {
        "pid": os.getpid(),
        "n_estimators": n_trees,
        "n_grown": options.n_grown if is_scaled else n_trees,
        "x_format": contender.x_format,
        **fitted,
        **(_measure_predictions(contender, Y_test, is_scaled) if contender.predicts_labels else {}),
    }


def trial(
    method: str,
    dataset: str,
    n_jobs: int,
    data_home: str | None = None,
    quick: bool = False,
) -> dict[str, Any]:
    """What a tree will cost, judged from a few on some of the rows, and the faster form of X."""
    problem = load_problem(dataset, data_home, quick=quick)
    n_rows = problem.X_train.shape[0]
    # The cost of a tree grows about as n log n, its size as n.
    size_factor = max(1.0, n_rows / TRIAL_ROWS)
    time_factor = size_factor * np.log(max(2, n_rows)) / np.log(max(2, n_rows / size_factor))
    some = problem.first_rows(TRIAL_ROWS)
    found = find_method(method)
    trials = []
    for is_dense in [True] if problem.is_dense else [False, True]:
        options = Options(n_jobs, n_jobs, n_jobs, is_dense=is_dense)
        contender = _warmed_up(found, options).build(some, options)
        seconds = _timed(contender.fit)[0]
        trials.append((seconds / n_jobs, is_dense, contender.n_bytes() / n_jobs))
    seconds, is_dense, n_bytes = min(trials)
    return {
        "seconds_per_tree": seconds * time_factor,
        "bytes_per_tree": n_bytes * size_factor,
        "is_dense": is_dense,
    }


def _warmed_up(method: Method, options: Options) -> Method:
    """The method, after a tiny problem: what is loaded or compiled late is not to be timed."""
    data = make_multilabel(90, 20, 12, labels_per_row=3, features_per_row=6)
    few = Options(2, 2, options.n_jobs, is_dense=options.is_dense)
    contender = method.build(split_problem(data), few)
    contender.fit()
    if contender.predicts_labels:
        contender.prepare_predictions()
        contender.predict(contender.X_test)
    return method


def _measure_fit(contender: Contender) -> dict[str, Any]:
    baseline = current_bytes()
    forget_peak()
    seconds = _timed(contender.fit)[0]
    # Before anything else is done with the model: saving takes memory, too.
    peak = peak_bytes()
    return {
        "fit_seconds": seconds,
        "baseline_bytes": baseline,
        "peak_bytes": peak,
        "model_bytes": contender.n_bytes(),
        "nodes_per_tree": contender.nodes_per_tree,
    }


def _measure_predictions(contender: Contender, Y_test: Any, is_scaled: bool) -> dict[str, Any]:
    contender.prepare_predictions()
    contender.predict(contender.X_test[:1])  # what a model prepares once is not a row's cost
    seconds, prediction = _timed(partial(contender.predict, contender.X_test))
    measured: dict[str, Any] = {"predict_seconds": seconds}
    if not is_scaled:  # a few trees rank worse than many
        lrap, precision = ranking_quality(Y_test, contender.scores(prediction))
        names = ("precision_at_1", "precision_at_3", "precision_at_5")
        measured |= {"lrap": lrap, **dict(zip(names, precision, strict=True))}
    contender.use_one_thread()
    return {**measured, "row_milliseconds": 1000 * _seconds_for_one_row(contender, Y_test.shape[0])}


def _seconds_for_one_row(contender: Contender, n_rows: int) -> float:
    chosen = np.random.default_rng(0).permutation(n_rows)[:_SINGLE_ROWS]
    rows = [contender.X_test[i : i + 1] for i in chosen]
    contender.predict(rows[0])  # with one thread for the first time
    seconds: list[float] = []
    for row in rows:
        seconds.append(_timed(partial(contender.predict, row))[0])
        if sum(seconds) > _SINGLE_ROWS_SECONDS:
            break
    return statistics.median(seconds)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result
