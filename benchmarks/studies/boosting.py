"""Boosting beside other libraries: regression, many labels, and time against the number of outputs.

Where memory is measured, each fit runs in a process of its own, with a limited number of threads.
`OMP_NUM_THREADS=1 python -m benchmarks bench boosting` writes the tables below docs/study.
"""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, train_test_split

from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.data import better_dense
from benchmarks.measure import fit_costs, processor_timed
from sketchforest import (
    SketchBoostingClassifier,
    SketchBoostingRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)
from sketchforest.datasets import load

REGRESSION_SETS = ("atp1d", "edm", "enb", "jura", "oes97", "scpf", "sf2", "wq")
LABEL_SETS = ("mediamill", "delicious")
METHODS_OF_REGRESSION = (
    "xgboost, multi-output trees",
    "xgboost, single-output trees",
    "sketch boosting",
    "sketch boosting on all outputs",
    "sketch forest",
)
OUTPUTS = (10, 30, 100, 300, 1000, 3000, 10_000)
N_FOLDS, N_SEEDS = 5, 2
MOST_TREES, PATIENCE, HELD_OUT = 500, 10, 0.1  # with early stopping
DEPTH, LEARNING_RATE, BINS = 6, 0.1, 255  # side by side


# ---- methods


def _xgboost(kind: str, method: str, n_trees: int, **params: Any) -> Any:
    import xgboost

    strategies = {
        "xgboost, single-output trees": "one_output_per_tree",
        "xgboost, multi-output trees": "multi_output_tree",
    }
    return getattr(xgboost, f"XGB{kind}")(
        n_estimators=n_trees,
        learning_rate=LEARNING_RATE,
        max_depth=DEPTH,
        max_bin=BINS,
        tree_method="hist",
        multi_strategy=strategies[method],
        **params,
    )


def fit_regression(method: str, X: np.ndarray, Y: np.ndarray, seed: int) -> Any:
    """A model that stops by a tenth of the rows; a forest sees all."""
    if method == "sketch forest":
        return SketchForestRegressor(random_state=seed, n_jobs=1).fit(X, Y)
    if "xgboost" not in method:
        projection = "gaussian" if method == "sketch boosting" else None
        model = SketchBoostingRegressor(
            max_iter=MOST_TREES,
            projection=projection,
            early_stopping=True,
            validation_fraction=HELD_OUT,
            n_iter_no_change=PATIENCE,
            random_state=seed,
        )
        return model.fit(X, Y)
    X_train, X_held, Y_train, Y_held = train_test_split(X, Y, test_size=HELD_OUT, random_state=seed)
    model = _xgboost(
        "Regressor", method, MOST_TREES, early_stopping_rounds=PATIENCE, n_jobs=1, random_state=seed
    )
    return model.fit(X_train, Y_train, eval_set=[(X_held, Y_held)], verbose=False)


def classifier(method: str, n_trees: int, n_jobs: int, seed: int) -> Any:
    """Trees of the same number, depth and bins; a forest has its defaults."""
    if method == "sketch forest":
        return SketchForestClassifier(n_trees, n_jobs=n_jobs, random_state=seed)
    if "xgboost" in method:
        return _xgboost("Classifier", method, n_trees, n_jobs=n_jobs, random_state=seed)
    return SketchBoostingClassifier(
        max_iter=n_trees,
        learning_rate=LEARNING_RATE,
        max_depth=DEPTH,
        max_leaf_nodes=None,
        projection="gaussian" if method == "sketch boosting" else None,
        early_stopping=False,
        n_jobs=n_jobs,
        random_state=seed,
    )


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
    """One row of a table, in the process of the caller."""
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "labels": _measure_labels,
        "outputs": _measure_outputs,
    }
    return measures[what](**request)


def _measure_regression(path: Path, method: str, seed: int) -> dict[str, Any]:
    data = np.load(path)
    X, Y = data["X"], data["Y"]
    folds = KFold(N_FOLDS, shuffle=True, random_state=seed).split(X)
    errors, seconds = [], 0.0
    for train, test in folds:
        took, model = processor_timed(
            lambda train=train: fit_regression(method, X[train], Y[train], seed)  # type: ignore[misc]
        )
        seconds += took
        errors.append(relative_error(Y[train], Y[test], model.predict(X[test])))
    return {"error": float(np.mean(errors)), "cpu_seconds": seconds}


def _measure_labels(
    dataset: str, method: str, n_trees: int, n_jobs: int, seed: int
) -> dict[str, Any]:
    data = load(dataset)
    rows = np.random.default_rng(seed).permutation(data.X.shape[0])
    test, train = np.split(rows, [len(rows) // 5])
    X = data.X.toarray() if better_dense(data.X) else data.X
    model = classifier(method, n_trees, n_jobs, seed)
    X_train, Y_train = X[train], data.Y[train]
    if "xgboost" in method:
        Y_train = Y_train.toarray()
    cpu, found = processor_timed(lambda: fit_costs(lambda: model.fit(X_train, Y_train)))
    return {
        "loss": cross_entropy(data.Y[test], model.predict_proba(X[test])),
        "seconds": found["fit_seconds"],
        "cpu_seconds": cpu,
        "fit_bytes": found["peak_bytes"] - found["baseline_bytes"],
    }


def _measure_outputs(method: str, n_outputs: int, n_trees: int) -> dict[str, Any]:
    """Labels that depend on a few random directions of 50 features, 2,000 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50)).astype(np.float32)
    Z = np.tanh(X @ rng.normal(size=(50, 10))) @ rng.normal(size=(10, n_outputs))
    Y = (np.quantile(Z[:500], 0.98, axis=0) < Z).astype(np.uint8)
    model = classifier(method, n_trees, 1, 0)
    cpu, found = processor_timed(lambda: fit_costs(lambda: model.fit(X, Y)))
    return {
        "cpu_seconds": cpu,
        "fit_bytes": found["peak_bytes"] - found["baseline_bytes"],
    }


# ---- the study


def _requests() -> Iterator[tuple[str, dict[str, Any]]]:
    for method, name, seed in product(METHODS_OF_REGRESSION, REGRESSION_SETS, range(N_SEEDS)):
        yield "regression", {"dataset": name, "method": method, "seed": seed}
    for dataset, method in product(LABEL_SETS, ("sketch boosting", "xgboost, multi-output trees")):
        request = {"dataset": dataset, "method": method, "n_trees": 5, "n_jobs": 1, "seed": 0}
        yield "labels", request
    for dataset, method in product(LABEL_SETS, ("sketch boosting", "sketch forest")):
        request = {"dataset": dataset, "method": method, "n_trees": 100, "n_jobs": 2, "seed": 0}
        yield "labels", request
    for n_outputs in OUTPUTS:
        request = {"method": "sketch boosting", "n_outputs": n_outputs, "n_trees": 10}
        yield "outputs", request


def run_boosting(folder: Path, out: Path) -> None:
    """Measure what is missing in the tables, one row after the other."""
    for what, request in _requests():
        path = out / f"boosting-{what}.csv"
        known = pd.read_csv(path) if path.exists() else pd.DataFrame()
        if len(known) and (known[list(request)] == pd.Series(request)).all(axis=1).any():
            continue
        try:
            if what == "regression":
                path_of_set = folder / f"{request['dataset']}.npz"
                found = _measure_regression(path_of_set, request["method"], request["seed"])
            else:
                n_threads = request.get("n_jobs", 1)
                found = in_own_process("measure_boosting", n_threads, what=what, **request)
        except MeasurementError as error:
            print(f"{request}: {error}", flush=True)
            continue
        print(request, found, flush=True)
        pd.concat([known, pd.DataFrame([request | found])]).to_csv(path, index=False)
