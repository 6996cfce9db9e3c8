"""Forests in forked and spawned processes, loky and pools of multiprocessing: after a fit, and
while threads of the parent fit and predict.

    python tests/reliability/forked.py --count 200
"""

import argparse
import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import joblib
import numpy as np

from sketchforest import RandomForestClassifier, SketchForestClassifier

MOST_SECONDS = 120
N_THREADS = 8
RNG = np.random.default_rng(0)
X, Y = RNG.random((200, 8)), (RNG.random((200, 20)) < 0.2).astype(int)


def work(seed: int) -> np.ndarray:
    forest = RandomForestClassifier(6, random_state=seed, n_jobs=2).fit(X, Y)
    sketch = SketchForestClassifier(3, random_state=seed, n_jobs=2).fit(X, Y)
    return forest.predict_proba(X) + sketch.predict_proba(X)


def in_pool(start: str) -> list[np.ndarray]:
    with multiprocessing.get_context(start).Pool(2) as pool:
        return pool.map_async(work, range(3)).get(timeout=MOST_SECONDS)


def in_executor() -> list[np.ndarray]:
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        return list(pool.map(work, range(3), timeout=MOST_SECONDS))


def in_loky() -> list[np.ndarray]:
    parallel = joblib.Parallel(n_jobs=2, timeout=MOST_SECONDS)
    return parallel(joblib.delayed(work)(seed) for seed in range(3))


WAYS = {
    "a forked pool": lambda: in_pool("fork"),
    "a forked executor": in_executor,
    "loky": in_loky,
    "a spawned pool": lambda: in_pool("spawn"),
}


def run_cases(count: int, ways: tuple[str, ...] = tuple(WAYS)) -> Counter[str]:
    """After a fit."""
    expected, outcomes = [work(seed) for seed in range(3)], Counter()
    for number in range(count):
        # Spawned processes import everything anew: fewer of them say as much.
        name = ways[-1] if number % 20 == 19 else ways[number % max(len(ways) - 1, 1)]
        try:
            found = WAYS[name]()
            is_same = all(map(np.array_equal, found, expected))
            outcomes[f"{name}: {'the same' if is_same else 'another forest'}"] += 1
        except (multiprocessing.TimeoutError, TimeoutError):
            outcomes[f"{name}: hang"] += 1
    return outcomes


class Shared:
    """What threads of the parent use while it forks, and the child right after."""

    def __init__(self) -> None:
        self.refitted = RandomForestClassifier(6, random_state=0, n_jobs=2).fit(X, Y)
        self._pickled = pickle.dumps(self.refitted)
        self.renew()

    def renew(self) -> None:
        """A model that nobody asked yet: what it computes once is computed again."""
        self.fresh = pickle.loads(self._pickled)

    def use(self) -> list[np.ndarray]:
        fresh = self.fresh
        tree = fresh.estimators_[-1].tree_
        found = [tree.value, tree.impurity, fresh.explain(X[:1]).scores, fresh.predict_proba(X)]
        return [*found, self.refitted.fit(X, Y).predict_proba(X), work(0)]


@contextmanager
def busy_threads(shared: Shared, outcomes: Counter[str]) -> Iterator[None]:
    is_over = threading.Event()

    def be_busy() -> None:
        while not is_over.is_set():
            try:
                shared.renew()
                shared.use()
            except Exception as error:
                outcomes[f"a thread of the parent: {error!r}"] += 1

    threads = [threading.Thread(target=be_busy) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def as_child(shared: Shared, expected: list[np.ndarray], most_seconds: float) -> None:
    """Ends with 0 for the right answers, 2 for others and 3 for an exception; with 1, and the place
    where it is, if it hangs. Never returns into what the parent does."""
    code = 3
    try:
        faulthandler.dump_traceback_later(most_seconds, exit=True)
        code = 0 if all(map(np.array_equal, shared.use(), expected)) else 2
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def ends_with(pid: int, most_seconds: float) -> int | None:
    """Exit status; None for a child that must be killed."""
    end = time.monotonic() + most_seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def run_beside_threads(count: int, most_seconds: float = MOST_SECONDS) -> Counter[str]:
    """While threads fit and predict: os.fork, and a process of multiprocessing, in turn."""
    shared, outcomes = Shared(), Counter[str]()
    said = {0: "the same", 1: "hang", 2: "another forest", None: "hang"}
    expected = shared.use()
    with busy_threads(shared, outcomes):
        for number in range(count):
            if number % 2:
                name, given = "multiprocessing", (shared, expected, most_seconds)
                process = multiprocessing.get_context("fork").Process(target=as_child, args=given)
                process.start()
                process.join(2 * most_seconds)
                code = process.exitcode
                process.kill()
            elif (pid := os.fork()) == 0:
                as_child(shared, expected, most_seconds)
            else:
                name, code = "os.fork", ends_with(pid, 2 * most_seconds)
            outcomes[f"{name} beside threads: {said.get(code, f'ended with {code}')}"] += 1
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="that a child may take")
    given = parser.parse_args()
    sys.setswitchinterval(1e-6)
    # Python 3.12 and later warn of every fork beside threads, which is what is tried here.
    warnings.simplefilter("ignore", DeprecationWarning)
    beside = run_beside_threads(given.count, given.seconds)
    print(dict(beside), flush=True)
    after = run_cases(given.count)
    print(dict(after))
    sys.exit(not all(name.endswith("the same") for name in beside | after))
