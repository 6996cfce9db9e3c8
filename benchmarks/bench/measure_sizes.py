"""Forests on data of a given size, measured in a worker process."""

import time
from functools import partial

import numpy as np

from benchmarks.data import as_array, better_dense, load_split
from benchmarks.measure import current_bytes, fit_costs, peak_bytes, pickled_size, timed
from sketchforest import RandomForestClassifier
from sketchforest.datasets import Dataset, make_sparse_multilabel

TOP = 5
_TEST_ROWS = 2000
_LABELS_PER_ROW, _FEATURES_PER_ROW = 5, 30


def measure_point(
    point: dict[str, int],
    seed: int,
    dataset: str | None = None,
    data_home: str | None = None,
) -> dict[str, float]:
    """Measure seconds to fit and to rank labels of 2,000 rows, and memory without data."""
    n, p, m, d, t, threads = (point[name] for name in ("n", "p", "m", "d", "t", "threads"))
    if dataset is None:
        data = make_sparse_multilabel(
            n + _TEST_ROWS,
            p,
            d,
            labels_per_row=min(_LABELS_PER_ROW, d),
            features_per_row=min(_FEATURES_PER_ROW, p),
            random_state=seed,
            n_topics=100,
        )
        X, Y, X_test = data.X[:n], data.Y[:n], data.X[n:]
    else:
        split = load_split(dataset, data_home)
        rows = np.random.default_rng(seed).permutation(split.X_train.shape[0])[:n]
        X, Y, X_test = split.X_train[rows], split.Y_train[rows], split.X_test[:_TEST_ROWS]
        if better_dense(split.X_train):
            X, X_test = as_array(X), as_array(X_test)
    forest = _forest(t, m, threads, seed)
    _warm_up(threads)
    costs = fit_costs(partial(forest.fit, X, Y))
    forest.predict_topk(X_test[:1], k=1)
    predict_seconds, _ = timed(partial(forest.predict_topk, X_test, k=min(TOP, Y.shape[1])))
    return {
        "fit_seconds": costs["fit_seconds"],
        "predict_seconds": predict_seconds,
        "added_bytes": max(0, costs["peak_bytes"] - costs["baseline_bytes"]),
        "peak_bytes": costs["peak_bytes"],
        "model_bytes": pickled_size(forest),
    }


def measure_large(
    n_samples: int,
    n_features: int,
    n_labels: int,
    n_estimators: int,
    n_components: int,
    n_jobs: int,
    features_per_row: int = 50,
    labels_per_row: int = 5,
    seed: int = 0,
) -> dict[str, float]:
    """Fit, then rank the labels of a tenth as many test rows; peaks are of the whole process."""
    n_test = max(1, n_samples // 10)
    start = time.perf_counter()
    data: Dataset = make_sparse_multilabel(
        n_samples + n_test,
        n_features,
        n_labels,
        labels_per_row=labels_per_row,
        features_per_row=features_per_row,
        random_state=seed,
        n_topics=max(10, n_labels // 20),
    )
    X, Y = data.X[:n_samples], data.Y[:n_samples]
    X_test, Y_test = data.X[n_samples:], data.Y[n_samples:]
    del data
    generate_seconds = time.perf_counter() - start
    baseline = current_bytes()
    forest = _forest(n_estimators, n_components, n_jobs, seed)
    fit_seconds, _ = timed(partial(forest.fit, X, Y))
    fit_peak = peak_bytes()
    predict_seconds, ranked = timed(partial(forest.predict_topk, X_test, k=min(TOP, n_labels)))
    labels, _ = ranked
    peak = peak_bytes()
    is_right = np.asarray(Y_test[np.arange(n_test)[:, np.newaxis], labels].todense())
    return {
        "generate_seconds": generate_seconds,
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
        "n_test": n_test,
        "baseline_bytes": baseline,
        "fit_peak_bytes": fit_peak,
        "peak_bytes": peak,
        "model_bytes": pickled_size(forest),
        "precision_at_1": float(is_right[:, 0].mean()),
        "precision_at_5": float(is_right.mean()),
    }


def _forest(n_estimators: int, n_components: int, n_jobs: int, seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(
        n_estimators=n_estimators,
        n_components=n_components,
        n_jobs=n_jobs,
        random_state=seed,
    )


def _warm_up(n_jobs: int) -> None:
    data = make_sparse_multilabel(50, 20, 10, labels_per_row=2, features_per_row=5)
    _forest(2, 2, n_jobs, 0).fit(data.X, data.Y).predict_topk(data.X, k=2)
