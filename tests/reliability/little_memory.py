"""Every operation with little memory left: it is done, or a MemoryError says that it cannot be.

    python tests/reliability/little_memory.py --steps 100

Each case is a fork of this process that may take a few more pages than it has, in steps.
"""

import argparse
import os
import resource
import select
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from sketchforest import (
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)

MOST_SECONDS = 60.0  # without an answer
LARGEST_STEP = 64 << 20

RNG = np.random.default_rng(0)
X, Y = RNG.random((20_000, 50)), (RNG.random((20_000, 100)) < 0.05).astype(np.uint8)
X_SPARSE = sparse.csr_array(np.where(X > 0.9, X, 0))
FOLDER = tempfile.TemporaryDirectory()
PATH = Path(FOLDER.name) / "model.sf"


def operations() -> dict[str, Callable[[], object]]:
    forest = RandomForestClassifier(8, n_components=8, max_depth=9, random_state=0, n_jobs=2).fit(
        X, Y
    )
    sketch = SketchForestClassifier(4, max_depth=6, random_state=0, n_jobs=2).fit(X, Y)
    forest.save(PATH)
    return {
        "fit": lambda: RandomForestClassifier(4, n_components=8, max_depth=5, n_jobs=2).fit(X, Y),
        "fit on many threads": lambda: RandomForestClassifier(
            40, n_components=1, max_depth=2, n_jobs=32
        ).fit(X, Y),
        "fit sparse": lambda: RandomForestClassifier(4, n_components=8, max_depth=5, n_jobs=2).fit(
            X_SPARSE, Y
        ),
        "fit a sketch forest": lambda: SketchForestClassifier(4, max_depth=4, n_jobs=2).fit(X, Y),
        "fit extra-trees": lambda: ExtraTreesRegressor(4, max_depth=5, n_jobs=2).fit(X, X[:, :5]),
        "fit a tree": lambda: DecisionTreeRegressor(max_depth=5).fit(X, X[:, 0]),
        "predict": lambda: forest.predict_proba(X),
        "predict by a sketch forest": lambda: sketch.predict_proba(X),
        "predict sparse": lambda: forest.predict_sparse(X_SPARSE, 5),
        "explain": lambda: repr(forest.explain(X[:1])),
        "describe": lambda: repr(forest.describe()),
        "save": lambda: forest.save(PATH.with_name(f"{os.getpid()}.sf")),
        "load": lambda: load_forest(PATH).predict(X[:50]),
        "load, not mapped": lambda: load_forest(PATH, mmap=False).predict(X[:50]),
    }


def use_up_the_heap() -> list[np.ndarray]:
    """What was freed before and is still there would serve for long."""
    hog: list[np.ndarray] = []
    for size in (1 << 20, 1 << 16, 1 << 12):
        try:
            while True:
                hog.append(np.empty(size, np.uint8))
        except MemoryError:
            continue
    return hog


def in_child(operation: Callable[[], object], more: int, answer: int) -> None:
    """Never returns."""
    warnings.simplefilter("ignore")
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    taken = pages * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (taken, resource.RLIM_INFINITY))
    hog = use_up_the_heap()
    resource.setrlimit(resource.RLIMIT_AS, (taken + more, resource.RLIM_INFINITY))
    said = b"done"
    try:
        operation()
        assert hog
    except MemoryError as error:
        # The interpreter's own has no words; it is raised wherever an object finds no room.
        said = b"MemoryError, with a sentence" if str(error) else b"MemoryError of the interpreter"
        error.__traceback__ = None
    except BaseException as error:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        said = f"other: {type(error).__name__}: {str(error)[:100]}".encode()
    os.write(answer, said)
    os._exit(0)


def run_case(operation: Callable[[], object], more: int) -> str:
    reading, writing = os.pipe()
    silent = os.open(os.devnull, os.O_WRONLY)
    child = os.fork()
    if child == 0:
        os.dup2(silent, 2)
        in_child(operation, more, writing)
    os.close(writing)
    os.close(silent)
    is_ready, _, _ = select.select([reading], [], [], MOST_SECONDS)
    if not is_ready:
        os.kill(child, signal.SIGKILL)
    said = os.read(reading, 1000).decode() if is_ready else "hang"
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said or f"ended with {status}"


GOOD = {"done", "MemoryError, with a sentence", "MemoryError of the interpreter"}


def run_ladder(steps: int) -> dict[str, Counter[str]]:
    found = {}
    for name, operation in operations().items():
        outcomes: Counter[str] = Counter()
        for step in range(steps):
            more = int(LARGEST_STEP * (step / max(steps - 1, 1)) ** 2)  # finer where there is less
            outcome = run_case(operation, more)
            if outcome not in GOOD:
                print(f"problem: {name} with {more} bytes more: {outcome}", flush=True)
                outcome = outcome.split(":")[0]
            outcomes[outcome] += 1
        found[name] = outcomes
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    began = time.monotonic()
    found = run_ladder(parser.parse_args().steps)
    for name, outcomes in found.items():
        print(f"{name}: {dict(outcomes)}")
    total = sum(found.values(), Counter())
    print(dict(total), f"{time.monotonic() - began:.0f} s")
    sys.exit(bool(total.keys() - GOOD))
