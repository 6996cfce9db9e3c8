"""Fits, predictions, saves and loads, over and over: memory stays where it was.

python tests/reliability/cycles.py --count 1000
"""

import argparse
import gc
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy import sparse

from sketchforest import RandomForestClassifier, SketchForestClassifier, load_forest

RNG = np.random.default_rng(0)
X, Y = RNG.random((400, 10)), (RNG.random((400, 30)) < 0.1).astype(int)
MOST_GROWTH = 0.01


def cycle(folder: Path) -> None:
    path = folder / "model.sf"
    RandomForestClassifier(8, n_components=4, n_jobs=2).fit(X, sparse.csr_array(Y)).save(path)
    twin = load_forest(path)
    twin.predict_sparse(X, 3)
    twin.explain(X[:1])
    SketchForestClassifier(4, n_jobs=2).fit(X, Y).predict_proba(X)
    with suppress(ValueError):
        RandomForestClassifier(2).fit(X, Y[:-1])


def resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def run_cycles(count: int) -> tuple[int, int]:
    """Resident bytes after a fifth of the cycles, by when all is imported, and after all."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count // 5):
            cycle(Path(folder))
        before = resident()
        for _ in range(count - count // 5):
            cycle(Path(folder))
    return before, resident()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    before, after = run_cycles(parser.parse_args().count)
    growth = after / before - 1
    print(f"{before / 1e6:.1f} MB, then {after / 1e6:.1f} MB: {growth:+.2%}")
    sys.exit(growth > MOST_GROWTH)
