"""Rules of thumb for time and memory, beside what was measured.

`python -m benchmarks bench costs` measures five data sets into docs/study/costs.csv (some
minutes); a test holds the rules to it, within `TOLERANCE`.
"""

import csv
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import processor_timed
from benchmarks.memory import current_bytes, peak_bytes, reset_peak
from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.datasets import load

SETS = ("delicious", "bibtex", "mediamill", "stackex_cooking", "imdb")
KINDS = {
    "random forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "sketch forest": SketchForestClassifier,
}
TOLERANCE = 0.3
# Bytes of a model for each row and tree, of fully grown trees: nodes, and rows in leaves.
MODEL_BYTES = {"random forest": 16, "extra-trees": 26, "sketch forest": 43}
LEVELS = 256  # of a dense feature, at most, that oblique trees know, of 12 bytes each
PILOT_TREES, N_TREES = 20, 50


class Problem(NamedTuple):
    """What the rules are about."""

    n_rows: int
    n_features: int
    n_x: int  # values of X that are stored: all of them where it is dense
    n_y: int  # non-zeros of Y
    is_dense: bool
    n_components: int


def predicted_seconds(pilot_seconds: float, n_rows: int, n_trees: int, pilot_trees: int) -> float:
    """Of a fit on all rows, from that of a few trees on half of them: n log n."""
    growth = 2 * math.log(n_rows) / math.log(n_rows / 2)
    return pilot_seconds * growth * n_trees / pilot_trees


def predicted_model_bytes(kind: str, problem: Problem, n_trees: int) -> float:
    """Of a model file: trees, the labels of the training rows, and levels of dense features."""
    trees = MODEL_BYTES[kind] * problem.n_rows * n_trees
    has_levels = kind == "sketch forest" and problem.is_dense
    levels = 12 * LEVELS * problem.n_features if has_levels else 0
    return trees + 4 * problem.n_y + 8 * problem.n_rows + levels


def predicted_fit_bytes(kind: str, problem: Problem, n_trees: int) -> float:
    """Added by a fit on one thread: the model while its trees are put together, X as trees see it,
    and the sketch of one tree."""
    copies = 3 if kind == "sketch forest" else 2
    x = problem.n_x * (5 if problem.is_dense else 16)
    sketch = 4 * problem.n_rows * problem.n_components
    return copies * predicted_model_bytes(kind, problem, n_trees) + x + sketch


def table(path: Path) -> Iterator[dict[str, object]]:
    """What was measured, and what the rules say of it."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = {name: int(row[name]) for name in Problem._fields if name != "is_dense"}
            problem = Problem(**numbers, is_dense=row["is_dense"] == "True")
            kind, n_trees = row["method"], int(row["n_trees"])
            pilot = float(row["pilot_seconds"])
            yield {
                "dataset": row["dataset"],
                "method": kind,
                "seconds": (
                    float(row["seconds"]),
                    predicted_seconds(pilot, problem.n_rows, n_trees, PILOT_TREES),
                ),
                "model_bytes": (
                    float(row["model_bytes"]),
                    predicted_model_bytes(kind, problem, n_trees),
                ),
                "fit_bytes": (
                    float(row["fit_bytes"]),
                    predicted_fit_bytes(kind, problem, n_trees),
                ),
            }


def measure(name: str, kind: str) -> dict[str, object]:
    """A line of the table; in a process of its own, for the sake of memory."""
    data = load(name)
    order = np.random.default_rng(0).permutation(data.X.shape[0])[:40_000]
    X, Y = data.X[order], data.Y[order]
    n_rows, n_features = X.shape
    is_dense = bool(X.nnz > 0.5 * n_rows * n_features)
    X = X.toarray() if is_dense else X
    half = n_rows // 2
    estimator = KINDS[kind](N_TREES, n_jobs=1, random_state=0)
    KINDS[kind](1).fit(X[:100], Y[:100])  # what is loaded on the way is no cost of a fit
    before = current_bytes()
    reset_peak()
    first, forest = processor_timed(lambda: estimator.fit(X, Y))
    added = peak_bytes() - before
    pilot = KINDS[kind](PILOT_TREES, n_jobs=1, random_state=0)
    pilots = [processor_timed(lambda: pilot.fit(X[:half], Y[:half]))[0] for _ in range(3)]
    seconds = [first, *(processor_timed(lambda: estimator.fit(X, Y))[0] for _ in range(2))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.sf")
        forest.save(path)
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
        "fit_bytes": added,
    }


def run_costs(out: Path) -> None:
    rows = []
    for name in SETS:
        for kind in KINDS:
            command = [sys.executable, "-m", __name__, name, kind]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            rows.append(dict(zip(*csv.reader(done.stdout.splitlines()), strict=True)))
            print(rows[-1], flush=True)
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    row = measure(sys.argv[1], sys.argv[2])
    csv.writer(sys.stdout).writerows([list(row), list(row.values())])
