"""Runs of the benchmark, their medians, and the ratios between methods."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.bench.methods import find_method

_GROUP = ["dataset", "method"]
_SETTINGS = ["n_estimators", "n_grown", "x_format"]
_COSTS = ["fit_seconds", "predict_seconds", "row_milliseconds"]
_COSTS += ["baseline_bytes", "peak_bytes", "model_bytes", "nodes_per_tree"]
_COSTS += ["lrap", "precision_at_1", "precision_at_3", "precision_at_5"]
RUN_COLUMNS = [*_GROUP, "repeat", *_SETTINGS, *_COSTS, "error"]
# The costs of which to compute ratios: how many times less than the reference's.
RATIOS = {
    "fit_seconds": "fit_ratio",
    "predict_seconds": "predict_ratio",
    "row_milliseconds": "row_ratio",
    "peak_bytes": "memory_ratio",
    "added_bytes": "added_memory_ratio",
    "model_bytes": "size_ratio",
}


def as_run(dataset: str, method: str, repeat: int, answer: dict[str, Any]) -> dict[str, Any]:
    """Make a row from the answer or the error of a worker."""
    values = {"error": "", **answer, "dataset": dataset, "method": method, "repeat": repeat}
    return {name: values.get(name) for name in RUN_COLUMNS}


def summarize(runs: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Compute medians of each method on each data set, scaled to all trees, and ratios."""
    frame = pd.DataFrame(runs, columns=RUN_COLUMNS)
    frame = frame[frame["error"] == ""]
    frame[_COSTS] = frame[_COSTS].astype(float)
    factor = (frame["n_estimators"] / frame["n_grown"]).clip(lower=1).astype(float)
    # A tree takes as much memory as it does in the model file. Predictions used all trees.
    frame["peak_bytes"] += (factor - 1) * frame["model_bytes"]
    frame["fit_seconds"] *= factor
    frame["model_bytes"] *= factor
    groups = frame.groupby(_GROUP, sort=False)
    found = pd.concat(
        [groups.size().rename("n_runs"), groups[_SETTINGS].first(), groups[_COSTS].median()], axis=1
    )
    found["added_bytes"] = found["peak_bytes"] - found["baseline_bytes"]
    found["is_scaled"] = found["n_grown"] < found["n_estimators"]
    found["reference"] = [find_method(method).reference for _, method in found.index]
    references = found.reindex([(row.Index[0], row.reference) for row in found.itertuples()])
    for cost, ratio in RATIOS.items():
        found[ratio] = references[cost].to_numpy() / found[cost].replace(0, np.nan)
    return found.reset_index()
