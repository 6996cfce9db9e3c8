"""Sketch forests on rows such as embeddings, measured in a worker process.

python -m benchmarks.bench.measure_embeddings '{"n_samples": 20000, "device": "cuda"}'
"""

import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from benchmarks.measure import peak_bytes, timed
from sketchforest import SketchForestClassifier
from sketchforest._estimators import forest_mixin

LABELS_PER_ROW, NOISE = 5, 0.35
_BLOCK_ROWS, _TEST_ROWS = 10_000, 2_000


def measure_embeddings(
    n_samples: int,
    n_features: int = 512,
    n_labels: int = 10_000,
    n_estimators: int = 100,
    oblique: float = 0.7,
    n_jobs: int = 1,
    device: Literal["cpu", "cuda"] | None = None,
    folder: str | None = None,
) -> dict[str, float | str]:
    """Fit, and rank the labels of 2,000 other rows. `folder` keeps the data for other fits."""
    X, Y = _load(n_samples, n_features, n_labels, n_jobs, folder)
    X_test, Y_test = _draw(_TEST_ROWS, n_features, n_labels, seed=1, n_jobs=n_jobs)
    forest = SketchForestClassifier(
        n_estimators, oblique=oblique, device=device, n_jobs=n_jobs, random_state=0, threshold=0.5
    )
    with _watched_gpu(device) as gpu, _timed_growth() as growth:
        fit_seconds, _ = timed(partial(forest.fit, X, Y))
    ranked: Any
    predict_seconds, ranked = timed(partial(forest.predict_topk, X_test, k=1))
    trees = forest.fitted_.forest
    hashed = sha256(trees.nodes.tobytes() + trees.members.tobytes()).hexdigest()
    return {
        "fit_seconds": fit_seconds,
        "grow_seconds": growth[0],
        "predict_seconds": predict_seconds,
        "peak_bytes": peak_bytes(),
        "gpu_bytes": gpu[0],
        "precision_at_1": float(np.mean(Y_test[np.arange(_TEST_ROWS), ranked[0][:, 0]])),
        "n_leaves": len(trees.member_start) - trees.n_trees,
        "hash": hashed[:12],
    }


def make_embeddings(
    n_samples: int, n_features: int, n_labels: int, seed: int = 0, n_jobs: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length near the mean of the vectors of their labels, as those of sentences are;
    and these labels, (n_samples, 5), drawn by Zipf's law and perhaps twice in a row."""
    vectors = np.random.default_rng(0).standard_normal((n_labels, n_features), dtype=np.float32)
    share = 1 / np.arange(1, n_labels + 1)
    X = np.empty((n_samples, n_features), np.float32)
    labels = np.empty((n_samples, LABELS_PER_ROW), np.int64)

    def fill(first: int) -> None:
        rng = np.random.default_rng([seed + 1, first])
        rows = slice(first, min(first + _BLOCK_ROWS, n_samples))
        labels[rows] = rng.choice(n_labels, size=labels[rows].shape, p=share / share.sum())
        X[rows] = NOISE * rng.standard_normal(X[rows].shape, dtype=np.float32)
        for drawn in labels[rows].T:
            X[rows] += vectors[drawn] / np.float32(LABELS_PER_ROW)
        X[rows] /= np.linalg.norm(X[rows], axis=1, keepdims=True)

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(fill, range(0, n_samples, _BLOCK_ROWS)))
    return X, labels


def _load(
    n_samples: int, n_features: int, n_labels: int, n_jobs: int, folder: str | None
) -> tuple[np.ndarray, sparse.csr_array]:
    if folder is None:
        return _draw(n_samples, n_features, n_labels, 0, n_jobs)
    name = f"embeddings-{n_samples}-{n_features}-{n_labels}"
    paths = [Path(folder, f"{name}-{part}.npy") for part in ("x", "labels")]
    if not all(path.exists() for path in paths):
        for path, values in zip(
            paths, make_embeddings(n_samples, n_features, n_labels, 0, n_jobs), strict=True
        ):
            np.save(path, values)
    X, labels = (np.load(path) for path in paths)
    return X, _indicators(labels, n_labels)


def _draw(
    n_samples: int, n_features: int, n_labels: int, seed: int, n_jobs: int
) -> tuple[np.ndarray, sparse.csr_array]:
    X, labels = make_embeddings(n_samples, n_features, n_labels, seed, n_jobs)
    return X, _indicators(labels, n_labels)


def _indicators(labels: np.ndarray, n_labels: int) -> sparse.csr_array:
    rows = np.repeat(np.arange(len(labels)), labels.shape[1])
    ones = np.ones(labels.size, np.float32)
    Y = sparse.csr_array((ones, (rows, labels.ravel())), shape=(len(labels), n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Y


@contextmanager
def _timed_growth() -> Iterator[list[float]]:
    """A list with the seconds of a fit in which its trees are grown."""
    module: Any = forest_mixin
    grow, seconds = module.grow, [0.0]

    def timed_grow(*args: Any) -> Any:
        seconds[0], grown = timed(partial(grow, *args))
        return grown

    module.grow = timed_grow
    try:
        yield seconds
    finally:
        module.grow = grow


@contextmanager
def _watched_gpu(device: str | None) -> Iterator[list[int]]:
    """A list with the most bytes that were in use at a time."""
    most, is_over = [0], threading.Event()
    if device != "cuda":
        yield most
        return
    import cupy

    def watch() -> None:
        while not is_over.wait(0.02):
            free, total = cupy.cuda.runtime.memGetInfo()
            most[0] = max(most[0], total - free)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        is_over.set()
        watcher.join()


if __name__ == "__main__":
    start = time.perf_counter()
    request = json.loads(sys.argv[1])
    answer = measure_embeddings(**request)
    print(json.dumps({**request, **answer, "all_seconds": time.perf_counter() - start}), flush=True)
