"""What one process measures: one method on one data set, once."""

import os
import statistics
from dataclasses import asdict, replace
from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.bench.data import given_split, load_split
from benchmarks.bench.methods import Method, find_method
from benchmarks.bench.results import Costs
from benchmarks.data import TrainTestSplit, better_dense
from benchmarks.measure import ranking_quality, timed
from benchmarks.memory import current_bytes, peak_bytes, reset_peak
from sketchforest.datasets import make_multilabel

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
) -> dict[str, object]:
    """Costs of fitting and predicting, and the ranking quality if all trees were grown."""
    data = load_split(dataset, data_home, quick=quick)
    options = Options(
        n_estimators=n_estimators,
        n_grown=n_grown or n_estimators,
        n_jobs=n_jobs,
        seed=seed,
        is_dense=better_dense(data.X_train) if is_dense is None else is_dense,
    )
    model = _warmed_up(find_method(method), options).build(data, options)
    Y_test = data.Y_test
    del data  # what the method does not use is not to be counted
    costs = _measure_fit(model, options.n_grown)
    if model.predicts_labels:
        costs = _measure_predictions(model, Y_test, costs)
    return {"pid": os.getpid(), **asdict(costs)}


def trial(
    method: str,
    dataset: str,
    n_jobs: int,
    data_home: str | None = None,
    quick: bool = False,
) -> dict[str, float]:
    """What a tree will cost, judged from a few on some of the rows, and the faster form of X."""
    data = load_split(dataset, data_home, quick=quick)
    n_rows = data.X_train.shape[0]
    # The cost of a tree grows about as n log n, its size as n.
    size_factor = max(1.0, n_rows / TRIAL_ROWS)
    time_factor = size_factor * np.log(max(2, n_rows)) / np.log(max(2, n_rows / size_factor))
    some = _first_rows(data, TRIAL_ROWS)
    found = find_method(method)
    trials = []
    for is_dense in [True] if better_dense(data.X_train) else [False, True]:
        options = Options(n_jobs, n_jobs, n_jobs, is_dense=is_dense)
        model = _warmed_up(found, options).build(some, options)
        seconds, _ = timed(model.fit)
        trials.append((seconds / n_jobs, is_dense, model.n_bytes() / n_jobs))
    seconds, is_dense, n_bytes = min(trials)
    return {
        "seconds_per_tree": seconds * time_factor,
        "bytes_per_tree": n_bytes * size_factor,
        "is_dense": is_dense,
    }


def _first_rows(data: TrainTestSplit, n_train: int) -> TrainTestSplit:
    return replace(data, X_train=data.X_train[:n_train], Y_train=data.Y_train[:n_train])


def _warmed_up(method: Method, options: Options) -> Method:
    """The method, after a tiny data set: what is loaded or compiled late is not to be timed."""
    data = make_multilabel(90, 20, 12, labels_per_row=3, features_per_row=6)
    few = Options(2, 2, options.n_jobs, is_dense=options.is_dense)
    model = method.build(given_split(data), few)
    model.fit()
    if model.predicts_labels:
        model.prepare_predictions()
        model.predict(model.X_test)
    return method


def _measure_fit(model: ModelAdapter, n_grown: int) -> Costs:
    baseline = current_bytes()
    reset_peak()
    seconds, _ = timed(model.fit)
    # Before anything else is done with the model: saving takes memory, too.
    peak = peak_bytes()
    return Costs(
        n_estimators=model.n_estimators,
        n_grown=min(n_grown, model.n_estimators),
        x_format=model.x_format,
        fit_seconds=seconds,
        baseline_bytes=baseline,
        peak_bytes=peak,
        model_bytes=model.n_bytes(),
        nodes_per_tree=model.nodes_per_tree,
    )


def _measure_predictions(model: ModelAdapter, Y_test: sparse.csr_array, costs: Costs) -> Costs:
    model.prepare_predictions()
    model.predict(model.X_test[:1])  # what a model prepares once is not a row's cost
    seconds, prediction = timed(partial(model.predict, model.X_test))
    costs = replace(costs, predict_seconds=seconds)
    if not costs.is_scaled:  # a few trees rank worse than many
        lrap, (at_1, at_3, at_5) = ranking_quality(Y_test, model.scores(prediction))
        costs = replace(
            costs, lrap=lrap, precision_at_1=at_1, precision_at_3=at_3, precision_at_5=at_5
        )
    model.use_one_thread()
    row_seconds = _seconds_for_one_row(model, Y_test.shape[0])
    return replace(costs, row_milliseconds=1000 * row_seconds)


def _seconds_for_one_row(model: ModelAdapter, n_rows: int) -> float:
    chosen = np.random.default_rng(0).permutation(n_rows)[:_SINGLE_ROWS]
    rows = [model.X_test[i : i + 1] for i in chosen]
    model.predict(rows[0])  # with one thread for the first time
    seconds: list[float] = []
    for row in rows:
        seconds.append(timed(partial(model.predict, row))[0])
        if sum(seconds) > _SINGLE_ROWS_SECONDS:
            break
    return statistics.median(seconds)
