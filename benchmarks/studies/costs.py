"""Rules of thumb for time and memory, compared with measurements.

`python -m benchmarks bench costs` measures five data sets and writes docs/study/costs.csv. A test
checks that the rules are right within `TOLERANCE`.
"""

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.bench.process import in_own_process
from benchmarks.data import better_dense
from benchmarks.measure import fit_costs, processor_timed
from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.datasets import load

SETS = ("delicious", "bibtex", "mediamill", "stackex_cooking", "imdb")
KINDS = {
    "random forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "sketch forest": SketchForestClassifier,
}
TOLERANCE = 0.3
# Bytes per row and tree in the model file of fully grown trees: nodes, and rows in leaves.
MODEL_BYTES = {"random forest": 16, "extra-trees": 26, "sketch forest": 43}
LEVELS = 256  # at most, of a dense feature in oblique trees; 12 bytes each
PILOT_TREES, N_TREES = 20, 50


class Problem(NamedTuple):
    """The sizes that costs depend on."""

    n_rows: int
    n_features: int
    n_x: int  # stored values of X; all values if it is dense
    n_y: int  # non-zeros of Y
    is_dense: bool
    n_components: int


def predicted_seconds(pilot_seconds: float, n_rows: int, n_trees: int, pilot_trees: int) -> float:
    """Predict the time of a fit from that of a few trees on half of the rows: n log n."""
    growth = 2 * math.log(n_rows) / math.log(n_rows / 2)
    return pilot_seconds * growth * n_trees / pilot_trees


def predicted_model_bytes(kind: str, problem: Problem, n_trees: int) -> float:
    """Predict the size of a model file: trees, labels of training rows, levels of features."""
    trees = MODEL_BYTES[kind] * problem.n_rows * n_trees
    has_levels = kind == "sketch forest" and problem.is_dense
    levels = 12 * LEVELS * problem.n_features if has_levels else 0
    return trees + 4 * problem.n_y + 8 * problem.n_rows + levels


def predicted_fit_bytes(kind: str, problem: Problem, n_trees: int) -> float:
    """Predict the memory of a fit on one thread: model, binned X and the sketch of one tree."""
    copies = 3 if kind == "sketch forest" else 2
    x = problem.n_x * (5 if problem.is_dense else 16)
    sketch = 4 * problem.n_rows * problem.n_components
    return copies * predicted_model_bytes(kind, problem, n_trees) + x + sketch


def table(path: Path) -> Iterator[dict[str, object]]:
    """Pair each measured cost with what the rules predict."""
    for row in pd.read_csv(path).itertuples():
        problem = Problem(*(getattr(row, name) for name in Problem._fields))
        kind, n_trees = row.method, row.n_trees
        seconds = predicted_seconds(row.pilot_seconds, row.n_rows, n_trees, PILOT_TREES)
        yield {
            "dataset": row.dataset,
            "method": kind,
            "seconds": (row.seconds, seconds),
            "model_bytes": (row.model_bytes, predicted_model_bytes(kind, problem, n_trees)),
            "fit_bytes": (row.fit_bytes, predicted_fit_bytes(kind, problem, n_trees)),
        }


def measure_costs(name: str, kind: str) -> dict[str, object]:
    """Measure one line of the table, in a process of its own because memory is measured."""
    data = load(name)
    order = np.random.default_rng(0).permutation(data.X.shape[0])[:40_000]
    X, Y = data.X[order], data.Y[order]
    n_rows, n_features = X.shape
    is_dense = bool(better_dense(X))
    X = X.toarray() if is_dense else X
    half = n_rows // 2
    estimator = KINDS[kind](N_TREES, n_jobs=1, random_state=0)
    KINDS[kind](1).fit(X[:100], Y[:100])  # lazy imports do not count
    first, found = processor_timed(lambda: fit_costs(lambda: estimator.fit(X, Y)))
    pilot = KINDS[kind](PILOT_TREES, n_jobs=1, random_state=0)
    pilots = [processor_timed(lambda: pilot.fit(X[:half], Y[:half]))[0] for _ in range(3)]
    seconds = [first, *(processor_timed(lambda: estimator.fit(X, Y))[0] for _ in range(2))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.sf")
        estimator.save(path)
        size = path.stat().st_size
    n_stored = X.size if isinstance(X, np.ndarray) else X.nnz
    m = min(64, Y.shape[1])
    problem = Problem(n_rows, n_features, n_stored, int(Y.nnz), is_dense, m)
    return {
        "dataset": name,
        "method": kind,
        **problem._asdict(),
        "n_trees": N_TREES,
        "pilot_seconds": round(min(pilots), 4),
        "seconds": round(min(seconds), 4),
        "model_bytes": size,
        "fit_bytes": found["peak_bytes"] - found["baseline_bytes"],
    }


def run_costs(out: Path) -> None:
    rows = []
    for name in SETS:
        for kind in KINDS:
            rows.append(in_own_process("measure_costs", 1, name=name, kind=kind))
            print(rows[-1], flush=True)
    pd.DataFrame(rows).to_csv(out, index=False)
