"""Forests in processes that were made after a fit: fork, spawn, loky and a pool of multiprocessing.

python tests/reliability/forked.py --count 200
"""

import argparse
import multiprocessing
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import joblib
import numpy as np

from sketchforest import RandomForestClassifier, SketchForestClassifier

MOST_SECONDS = 120
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    found = run_cases(parser.parse_args().count)
    print(dict(found))
    sys.exit(not all(name.endswith("the same") for name in found))
