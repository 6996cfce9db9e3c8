"""Eight threads that fit, predict, explain and save at the same time give what one alone gives.

    python tests/reliability/threads.py --rounds 20

`make sanitize-threads` runs it with the core under the thread sanitizer, which ends the process at
the first two accesses that nothing puts in order.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from sketchforest import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)

Operations = list[Callable[[], np.ndarray]]

N_THREADS = 8
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 20)), (RNG.random((300, 30)) < 0.1).astype(int)
WORDS = sparse.random_array((300, 200), density=0.05, format="csr", rng=1)
SHARED = [
    RandomForestClassifier(10, n_components=4, random_state=0).fit(WORDS, Y),
    SketchForestClassifier(10, random_state=0).fit(X, Y),
]


def fresh() -> list[object]:
    """Forests that have not predicted yet: what they derive once, many threads ask for."""
    return [load_forest(path) for path in PATHS]


FOLDER = tempfile.TemporaryDirectory()
PATHS = [Path(FOLDER.name) / f"{number}.sf" for number in range(len(SHARED))]
for path, forest in zip(PATHS, SHARED, strict=True):
    forest.save(path)


def operations(words: object, numbers: object) -> Operations:
    """Fits of their own, and questions to the two forests that all threads share."""
    return [
        lambda: RandomForestClassifier(6, n_jobs=2, random_state=1).fit(X, Y).predict_proba(X),
        lambda: SketchForestClassifier(4, n_jobs=2, random_state=1).fit(WORDS, Y).predict(WORDS),
        lambda: ExtraTreesRegressor(6, random_state=1, n_jobs=2).fit(X, X[:, :3]).predict(X),
        lambda: words.predict_proba(WORDS),
        lambda: words.predict_sparse(WORDS, 3).toarray(),
        lambda: numbers.predict_topk(X, 3)[1],
        lambda: numbers.explain(X[:1]).scores,
        lambda: load_forest(PATHS[1]).predict_proba(X),
    ]


def ask(work: Operations, known: list[np.ndarray], first: int) -> int:
    """How many answers are others; each thread begins with another question."""
    order = [(first + at) % len(work) for at in range(len(work))]
    return sum(not np.array_equal(work[at](), known[at]) for at in order)


def run_rounds(n_rounds: int) -> int:
    """How many answers were others."""
    known = [operation() for operation in operations(*SHARED)]
    n_other = 0
    with ThreadPoolExecutor(N_THREADS) as threads:
        for _ in range(n_rounds):
            asking = partial(ask, operations(*fresh()), known)
            n_other += sum(threads.map(asking, range(N_THREADS)))
    return n_other


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    n_other = run_rounds(rounds)
    print(f"{rounds * N_THREADS * len(operations(*SHARED))} answers, {n_other} differ")
    sys.exit(bool(n_other))
