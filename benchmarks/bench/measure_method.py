"""One method on one data set, measured once in a worker process."""

import os
import statistics
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.bench.methods import Method, find_method
from benchmarks.data import TrainTestSplit, better_dense, given_split, load_split
from benchmarks.measure import PRECISION_DEPTHS, fit_costs, ranking_quality, timed
from sketchforest.datasets import make_multilabel

TRIAL_ROWS = 4000
_SINGLE_ROWS = 100
_SINGLE_ROWS_SECONDS = 10.0  # stop after this time if rows are slow


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
    """Measure the costs of fitting and predicting, and the quality if all trees are grown."""
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
    del data  # do not count what the method does not use
    costs = fit_costs(model.fit)
    costs["model_bytes"] = model.n_bytes()
    n_grown = min(options.n_grown, model.n_estimators)
    if model.predicts_labels:
        costs |= _measure_predictions(model, Y_test, n_grown < model.n_estimators)
    return {
        "pid": os.getpid(),
        "n_estimators": model.n_estimators,
        "n_grown": n_grown,
        "x_format": model.x_format,
        "nodes_per_tree": model.nodes_per_tree,
        **costs,
    }


def trial(
    method: str,
    dataset: str,
    n_jobs: int,
    data_home: str | None = None,
    quick: bool = False,
) -> dict[str, float]:
    """Estimate what a tree will cost from a few trees on some rows, and choose the form of X."""
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
    """Use the method on a tiny data set, so that lazy imports are not timed."""
    data = make_multilabel(90, 20, 12, labels_per_row=3, features_per_row=6)
    few = Options(2, 2, options.n_jobs, is_dense=options.is_dense)
    model = method.build(given_split(data), few)
    model.fit()
    if model.predicts_labels:
        model.prepare_predictions()
        model.predict(model.X_test)
    return method


def _measure_predictions(
    model: ModelAdapter, Y_test: sparse.csr_array, is_scaled: bool
) -> dict[str, float]:
    model.prepare_predictions()
    model.predict(model.X_test[:1])  # one-time preparations do not count
    seconds, prediction = timed(partial(model.predict, model.X_test))
    costs = {"predict_seconds": seconds}
    if not is_scaled:  # a few trees rank worse than many
        costs["lrap"], precision = ranking_quality(Y_test, model.scores(prediction))
        names = [f"precision_at_{k}" for k in PRECISION_DEPTHS]
        costs |= dict(zip(names, precision, strict=True))
    model.use_one_thread()
    return costs | {"row_milliseconds": 1000 * _seconds_for_one_row(model, Y_test.shape[0])}


def _seconds_for_one_row(model: ModelAdapter, n_rows: int) -> float:
    chosen = np.random.default_rng(0).permutation(n_rows)[:_SINGLE_ROWS]
    rows = [model.X_test[i : i + 1] for i in chosen]
    model.predict(rows[0])  # starts the single thread
    seconds: list[float] = []
    for row in rows:
        seconds.append(timed(partial(model.predict, row))[0])
        if sum(seconds) > _SINGLE_ROWS_SECONDS:
            break
    return statistics.median(seconds)
