"""Boosting beside other libraries and forests: accuracy, time, memory and size of the model.

Each fit runs in a process of its own, with a limited number of threads.
`OMP_NUM_THREADS=1 python -m benchmarks bench boosting` writes the tables below docs/study.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.data import better_dense
from benchmarks.measure import fit_costs, pickled_size, processor_timed, timed
from benchmarks.studies.boosting_methods import (
    CATBOOST,
    HISTOGRAMS,
    LIGHTGBM,
    METHODS,
    OURS,
    XGBOOST,
    as_taken,
    of_all_outputs,
    probabilities,
    stopped_early,
)
from sketchforest.datasets import load

REGRESSION_SETS = ("atp1d", "edm", "enb", "jura", "oes97", "scpf", "sf2", "wq")
LABEL_SETS = ("mediamill", "delicious")
# On which errors are measured by time and by number of trees.
CURVES = ("bibtex", "mediamill", "delicious", "wq")
CURVE_TREES = (10, 30, 100, 300)
METHODS_OF_REGRESSION = (
    *("sketch boosting", "sketch boosting on all outputs", *XGBOOST),
    *(LIGHTGBM, CATBOOST, HISTOGRAMS, "random forest", "sketch forest"),
)
OUTPUTS = (10, 30, 100, 300, 1000, 3000, 10_000)
N_FOLDS, N_SEEDS = 5, 2


# ---- measures


def relative_error(Y_train: np.ndarray, Y_test: np.ndarray, found: np.ndarray) -> float:
    """aRRMSE: root mean squared errors relative to the mean of the training rows, averaged over
    outputs that vary in the test rows."""
    squares = ((Y_test - found) ** 2).sum(axis=0)
    of_mean = ((Y_test - Y_train.mean(axis=0)) ** 2).sum(axis=0)
    varies = of_mean > 0
    return float(np.sqrt(squares[varies] / of_mean[varies]).mean())


def cross_entropy(Y: Any, p: np.ndarray) -> float:
    """The mean over rows and labels."""
    p = np.clip(np.asarray(p, np.float64), 1e-15, 1 - 1e-15)
    present = Y.toarray() != 0
    return float(-np.where(present, np.log(p), np.log1p(-p)).mean())


def measure_boosting(what: str, **request: Any) -> dict[str, Any]:
    """What a row of a table measures, in the process of the caller."""
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "regression": _measure_regression,
        "labels": _measure_labels,
        "curves": _measure_split,
        "outputs": _measure_outputs,
    }
    return {"measured": measures[what](**request)}


def _measure_regression(folder: str, dataset: str, method: str, seed: int) -> dict[str, Any]:
    X, Y = _regression_set(folder, dataset)
    errors, seconds = [], 0.0
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(X):
        took, predict = processor_timed(
            lambda train=train: stopped_early(method, X[train], Y[train], seed)  # type: ignore[misc]
        )
        seconds += took
        errors.append(relative_error(Y[train], Y[test], predict(X[test])))
    return {"error": float(np.mean(errors)), "cpu_seconds": seconds}


def _measure_labels(
    folder: str, dataset: str, method: str, n_trees: int, n_jobs: int, seed: int
) -> dict[str, Any]:
    found = _measure_split(folder, dataset, method, n_trees, n_jobs, seed)
    return {"loss" if name == "error" else name: value for name, value in found.items()}


def _measure_split(
    folder: str, dataset: str, method: str, n_trees: int, n_jobs: int, seed: int
) -> dict[str, Any]:
    """Cross-entropy or aRRMSE on a fifth of the rows, and the costs of a fit to the others."""
    is_classifier = dataset not in REGRESSION_SETS
    if is_classifier:
        data = load(dataset)
        X, Y = data.X.toarray() if better_dense(data.X) else data.X, data.Y
    else:
        X, Y = _regression_set(folder, dataset)
    rows = np.random.default_rng(seed).permutation(X.shape[0])
    test, train = np.split(rows, [len(rows) // 5])
    X, Y_taken = as_taken(method, X, Y)
    X_train, Y_train, X_test = X[train], Y_taken[train], X[test]
    model = of_all_outputs(method, is_classifier, n_trees, n_jobs, seed)
    cpu, costs = processor_timed(lambda: fit_costs(lambda: model.fit(X_train, Y_train)))
    if is_classifier:
        prediction, p = timed(lambda: probabilities(model, X_test))
        error = cross_entropy(Y[test], p)
    else:
        prediction, found = timed(lambda: model.predict(X_test))
        error = relative_error(Y[train], Y[test], found)
    return {
        "error": error,
        "seconds": costs["fit_seconds"],
        "cpu_seconds": cpu,
        "fit_bytes": costs["peak_bytes"] - costs["baseline_bytes"],
        "model_bytes": pickled_size(model),
        "predict_seconds": prediction,
    }


def _regression_set(folder: str, dataset: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(Path(folder) / f"{dataset}.npz") as arrays:
        return arrays["X"], arrays["Y"]


def _measure_outputs(folder: str, method: str, n_outputs: int, n_trees: int) -> dict[str, Any]:
    """Labels that depend on a few random directions of 50 features, 2,000 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50)).astype(np.float32)
    Z = np.tanh(X @ rng.normal(size=(50, 10))) @ rng.normal(size=(10, n_outputs))
    Y = (np.quantile(Z[:500], 0.98, axis=0) < Z).astype(np.uint8)
    model = of_all_outputs(method, True, n_trees, 1, 0)
    cpu, found = processor_timed(lambda: fit_costs(lambda: model.fit(X, Y)))
    return {
        "cpu_seconds": cpu,
        "fit_bytes": found["peak_bytes"] - found["baseline_bytes"],
    }


# ---- the study

Request = dict[str, Any]


def _requests() -> Iterator[tuple[str, list[Request]]]:
    """Lists of fits to measure, with the table they belong to. Fits of a list differ only in the
    number of trees; once one takes too long, those with more trees are skipped."""
    for dataset, method in product(CURVES, METHODS):
        curve = [
            {"dataset": dataset, "method": method, "n_trees": n, "n_jobs": 1, "seed": 0}
            for n in CURVE_TREES
        ]
        yield "curves", curve
    for dataset, method in product(LABEL_SETS, ("sketch boosting", "xgboost, multi-output trees")):
        request = {"dataset": dataset, "method": method, "n_trees": 5, "n_jobs": 1, "seed": 0}
        yield "labels", [request]
    for method, name, seed in product(METHODS_OF_REGRESSION, REGRESSION_SETS, range(N_SEEDS)):
        yield "regression", [{"dataset": name, "method": method, "seed": seed}]
    for n_outputs in OUTPUTS:
        yield "outputs", [{"method": next(iter(OURS)), "n_outputs": n_outputs, "n_trees": 10}]


def run_boosting(folder: Path, out: Path, n_processes: int = 1, limit: float | None = None) -> None:
    """Measure what is missing in the tables, `n_processes` fits at a time. A fit that takes longer
    than `limit` seconds is stopped, and those with more trees are skipped."""
    lock = threading.Lock()

    def work(item: tuple[str, list[Request]]) -> None:
        table, requests = item
        path = out / f"boosting-{table}.csv"
        for request in requests:
            with lock:
                known = _rows(path)
            if len(known) and (known[list(request)] == pd.Series(request)).all(axis=1).any():
                continue
            n_threads, given = request.get("n_jobs", 1), {"what": table, "folder": str(folder)}
            try:
                answer = in_own_process(
                    "measure_boosting", n_threads, timeout=limit, **given, **request
                )
            except MeasurementError as error:
                print(f"{request}: {error}", flush=True)
                return
            found = answer["measured"]
            print(table, request, found, flush=True)
            with lock:
                row = pd.DataFrame([request | found])
                pd.concat([_rows(path), row]).to_csv(path, index=False)

    with ThreadPoolExecutor(n_processes) as pool:
        list(pool.map(work, _requests()))


def _rows(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if os.path.exists(path) else pd.DataFrame()
