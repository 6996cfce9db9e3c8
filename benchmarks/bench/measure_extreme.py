"""One library on a generated data set with very many labels, measured in a worker process."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.bench.adapter import Options
from benchmarks.bench.other_libraries import NapkinXC, Omikuji
from benchmarks.data import TrainTestSplit, take_rows
from benchmarks.measure import PRECISION_DEPTHS, fit_costs, processor_timed, timed
from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest.datasets import make_amazon_670k_like, make_wiki10_31k_like
from sketchforest.metrics import precision_at_k

SHAPES = {"wiki10-31k": make_wiki10_31k_like, "amazon-670k": make_amazon_670k_like}
FORESTS = {"rf": RandomForestClassifier, "et": ExtraTreesClassifier, "sf": SketchForestClassifier}
OTHERS = {"napkinxc": NapkinXC, "omikuji": Omikuji}
TOP = max(PRECISION_DEPTHS)


def measure_extreme(
    shape: str,
    method: str,
    sizes: dict[str, int],
    n_estimators: int,
    n_components: int,
    n_jobs: int,
) -> dict[str, float]:
    """Fit, save, load and rank: wall-clock and processor seconds, bytes, and precision."""
    generated = SHAPES[shape](**sizes)
    data = take_rows(generated, generated.splits["train"], generated.splits["test"])
    del generated
    with tempfile.TemporaryDirectory() as folder:
        model: _Forest | _Other
        if method in FORESTS:
            forest = FORESTS[method](n_estimators, n_components=n_components, n_jobs=n_jobs)
            model = _Forest(forest.set_params(random_state=0), data, Path(folder) / "model.sf")
        else:
            model = _Other(method, data, Options(n_jobs=n_jobs))
        fit_processor_seconds, costs = processor_timed(partial(fit_costs, model.fit))
        save_seconds, n_bytes = timed(model.save)
        load_seconds, _ = timed(model.load)
        top_seconds, (top_processor_seconds, found) = timed(partial(processor_timed, model.top))
    scores = _as_scores(found, data.Y_test.shape)
    return {
        "fit_seconds": costs["fit_seconds"],
        "fit_processor_seconds": fit_processor_seconds,
        "top_seconds": top_seconds,
        "top_processor_seconds": top_processor_seconds,
        "save_seconds": save_seconds,
        "load_seconds": load_seconds,
        "model_bytes": n_bytes,
        "baseline_bytes": costs["baseline_bytes"],
        "fit_peak_bytes": costs["peak_bytes"],
        "n_test": data.Y_test.shape[0],
        **{f"precision_at_{k}": precision_at_k(data.Y_test, scores, k) for k in PRECISION_DEPTHS},
    }


class _Forest:
    def __init__(self, forest: Any, data: TrainTestSplit, path: Path):
        self.forest, self.data, self.path = forest, data, path

    def fit(self) -> None:
        self.forest.fit(self.data.X_train, self.data.Y_train)

    def save(self) -> int:
        self.forest.save(self.path)
        return os.path.getsize(self.path)

    def load(self) -> None:
        self.forest = load_forest(self.path)

    def top(self) -> tuple[np.ndarray, np.ndarray]:
        found: tuple[np.ndarray, np.ndarray] = self.forest.predict_topk(self.data.X_test, TOP)
        return found


class _Other:
    """Another library, which saves the model as it fits."""

    def __init__(self, method: str, data: TrainTestSplit, options: Options):
        make: Callable[..., Any] = OTHERS[method]
        self.model = make(data, options)
        self.model.top_k = TOP
        self.fit, self.save, self.load = (
            self.model.fit,
            self.model.n_bytes,
            self.model.prepare_predictions,
        )

    def top(self) -> tuple[np.ndarray, np.ndarray]:
        rows = self.model.predict(self.model.X_test)
        labels, scores = np.zeros((2, len(rows), TOP))
        for at, pairs in enumerate(rows):
            for place, (label, score) in enumerate(pairs[:TOP]):
                labels[at, place], scores[at, place] = label, score
        return labels.astype(np.int64), scores


def _as_scores(found: tuple[np.ndarray, np.ndarray], shape: tuple[int, int]) -> sparse.csr_array:
    labels, scores = found
    rows = np.repeat(np.arange(len(labels)), labels.shape[1])
    is_there = scores.ravel() > 0  # a label tree may return fewer labels
    entries = scores.ravel()[is_there], (rows[is_there], labels.ravel()[is_there])
    return sparse.csr_array(entries, shape=shape)
