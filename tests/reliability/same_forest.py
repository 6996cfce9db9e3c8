"""One seed, one forest: for any number of threads, backend, storage of X, instruction set and order
of growth, models and predictions are the same, bit by bit.

    python tests/reliability/same_forest.py --seeds 20
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict

import joblib
import numpy as np
from scipy import sparse

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    _core,
)

KINDS = {
    "random forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "sketch forest": SketchForestClassifier,
    "regressor": RandomForestRegressor,
}
PROJECTIONS = ("gaussian", "hadamard", None)
RNG = np.random.default_rng(0)
X = np.where(RNG.random((150, 12)) < 0.6, 0, RNG.random((150, 12))).astype(np.float32)
Y = (RNG.random((150, 30)) < 0.15).astype(int)
N_TREES = 5


def digest(forest) -> str:
    """Of all arrays of the trees, and of what they predict."""
    found = hashlib.sha256()
    for array in forest.fitted_.forest.fields().values():
        if isinstance(array, np.ndarray):
            found.update(np.ascontiguousarray(array).tobytes())
    found.update(np.asarray(forest.predict(X)).tobytes())
    if hasattr(forest, "predict_proba"):
        found.update(forest.predict_proba(X).tobytes())
    return found.hexdigest()


def forests(seed: int):
    """(what must be the same, how it was made, its digest)"""
    for name, kind in KINDS.items():
        for projection in PROJECTIONS:
            m = None if projection is None else 8
            settings = {"projection": projection, "n_components": m, "random_state": seed}
            for n_jobs in (1, 2, 3, 8):
                for storage in (np.asarray, sparse.csr_array, sparse.csc_array, np.asfortranarray):
                    forest = kind(N_TREES, n_jobs=n_jobs, **settings).fit(storage(X), Y)
                    how = f"{n_jobs} threads, {storage.__name__}"
                    yield (name, projection), how, digest(forest)
            grown = kind(2, warm_start=True, n_jobs=2, **settings).fit(X, Y)
            grown.set_params(n_estimators=N_TREES).fit(X, Y)
            yield (name, projection), "warm start", digest(grown)
    for backend in ("threading", "loky") if seed % 10 == 0 else ():
        for name, kind in KINDS.items():
            with joblib.parallel_config(backend, n_jobs=2):
                forest = kind(N_TREES, n_components=8, random_state=seed, n_jobs=2).fit(X, Y)
            yield (name, "gaussian"), backend, digest(forest)


def compare(seeds: range) -> tuple[int, list[str]]:
    """The number of forests, and those that differ from the first of their kind."""
    n_forests, differing = 0, []
    for seed in seeds:
        seen: dict[object, str] = {}
        for what, how, found in forests(seed):
            n_forests += 1
            if seen.setdefault(what, found) != found:
                differing.append(f"seed {seed}, {what}: {how}")
    return n_forests, differing


def digests(seeds: range) -> dict[str, str]:
    """By kind and seed, with the instruction set that is in use."""
    return {
        f"{name} {seed}": digest(kind(N_TREES, n_components=8, random_state=seed).fit(X, Y))
        for name, kind in KINDS.items()
        for seed in seeds
    }


def compare_instruction_sets(seeds: range) -> tuple[int, list[str]]:
    n_forests, by_kind = 0, defaultdict(set)
    for kernels in _core.available_kernels():
        command = [sys.executable, __file__, "--digests", str(seeds.stop)]
        environment = os.environ | {"SKETCHFOREST_KERNELS": kernels}
        told = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        for name, found in json.loads(told.stdout).items():
            n_forests += 1
            by_kind[name].add(found)
    return n_forests, [name for name, found in by_kind.items() if len(found) > 1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--digests", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.digests is not None:
        print(json.dumps(digests(range(given.digests))))
        sys.exit()
    counts = Counter()
    for compared in (compare, compare_instruction_sets):
        n_forests, differing = compared(range(given.seeds))
        print(f"{compared.__name__}: {n_forests} forests, {len(differing)} differ", *differing[:20])
        counts[bool(differing)] += 1
    sys.exit(counts[True] > 0)
