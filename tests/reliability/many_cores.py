"""Fit on real data with any number of threads, over and over: one hash for each data set and
estimator, and no process that dies.

    python tests/reliability/many_cores.py --threads 1 8 16 32 --repeats 20 --parallel 16
    python tests/reliability/many_cores.py --flagship-crash 40
    python tests/reliability/many_cores.py --threads 16 32 --repeats 1 --loads 50

The data are in the folder that SKETCHFOREST_DATA names. Fits of one combination share a process,
except for every fifth (--fresh-every), which has its own. With --loads, each forest is also saved
and loaded: its first predictions, by all threads at once, must have the same hash.
"""

import argparse
import hashlib
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest.datasets import load

ESTIMATORS = {
    "rf": RandomForestClassifier,
    "et": ExtraTreesClassifier,
    "sketch": SketchForestClassifier,
}


class Process(NamedTuple):
    """The work of one process."""

    dataset: str
    estimator: str
    n_threads: int
    n_fits: int
    n_loads: int  # of each fitted forest


class Outcome(NamedTuple):
    hashes: list[str]
    seconds: list[float]  # of fits
    death: str  # empty, or how the process ended and its last output


def digest(forest, X) -> str:
    """Hash the leaf of each row in each tree, and the predictions."""
    found = hashlib.sha256(np.ascontiguousarray(forest.apply(X)).tobytes())
    found.update(np.ascontiguousarray(forest.predict_proba(X)).tobytes())
    return found.hexdigest()[:16]


def digests_of_fresh(path, X, n_threads, is_one_call) -> Iterator[str]:
    """Load a forest and ask it for the first time: n_threads calls at once, or one that uses
    n_threads."""
    forest = load_forest(path).set_params(n_jobs=n_threads if is_one_call else 1)
    if is_one_call:
        yield digest(forest, X)
        return
    barrier = threading.Barrier(n_threads)

    def ask(_: int) -> str:
        barrier.wait()
        return digest(forest, X)

    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(ask, range(n_threads))


def work(given: Process, n_estimators: int) -> None:
    """Print a line of JSON for each hash: a process that dies has told what was before."""
    data = load(given.dataset)
    everything = np.arange(data.X.shape[0])
    train, test = (data.splits.get(name, everything) for name in ("train", "test"))
    X, Y, X_test = data.X[train], data.Y[train], data.X[test]
    for _ in range(given.n_fits):
        forest = ESTIMATORS[given.estimator](n_estimators, n_jobs=given.n_threads, random_state=0)
        begin = time.perf_counter()
        forest.fit(X, Y)
        seconds = time.perf_counter() - begin
        print(json.dumps({"hash": digest(forest, X_test), "seconds": seconds}), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "forest.sf")
            if given.n_loads:
                forest.save(path)
            for number in range(given.n_loads):
                for found in digests_of_fresh(path, X_test, given.n_threads, number % 2 == 1):
                    print(json.dumps({"hash": found}), flush=True)


def watch(process: Process, n_estimators: int, most_seconds: float) -> Outcome:
    command = [sys.executable, "-X", "faulthandler", __file__, "--n-estimators", str(n_estimators)]
    command += ["--work", *map(str, process)]
    death = ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=most_seconds)
        out, code = done.stdout, done.returncode
        if code:
            death = f"ended with {code}:\n{done.stderr[-4000:]}"
    except subprocess.TimeoutExpired as error:
        out = (error.stdout or b"").decode()
        death = f"no end after {most_seconds:.0f} s"
    lines = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
    seconds = [line["seconds"] for line in lines if "seconds" in line]
    return Outcome([line["hash"] for line in lines], seconds, death)


def processes(whole: Process, fresh_every: int, n_parallel: int) -> Iterator[Process]:
    """Split one combination. Fits with one thread run in several processes side by side."""
    n_fresh = whole.n_fits // fresh_every if fresh_every else 0
    n_shared, n_groups = whole.n_fits - n_fresh, n_parallel if whole.n_threads == 1 else 1
    for group in range(n_groups):
        n_fits = len(range(group, n_shared, n_groups))
        if n_fits:
            yield whole._replace(n_fits=n_fits)
    for _ in range(n_fresh):
        yield whole._replace(n_fits=1)


def run(given: argparse.Namespace) -> bool:
    """Whether all hashes of each data set and estimator are equal, and no process died."""
    seen: dict[tuple[str, str], set[str]] = {}
    n_deaths = 0
    watching = partial(
        watch, n_estimators=given.n_estimators, most_seconds=60 * given.minutes_per_process
    )
    combinations = itertools.product(given.datasets, given.estimators, given.threads)
    for dataset, estimator, n_threads in combinations:
        whole = Process(dataset, estimator, n_threads, given.repeats, given.loads)
        n_parallel = given.parallel if n_threads == 1 else 1
        with ThreadPoolExecutor(n_parallel) as pool:
            outcomes = list(pool.map(watching, processes(whole, given.fresh_every, n_parallel)))
        all_hashes = [each for outcome in outcomes for each in outcome.hashes]
        hashes = set(all_hashes)
        seconds = [each for outcome in outcomes for each in outcome.seconds]
        deaths = [outcome.death for outcome in outcomes if outcome.death]
        seen.setdefault((dataset, estimator), set()).update(hashes)
        n_deaths += len(deaths)
        median = f"median {statistics.median(seconds):.2f} s" if seconds else "no time"
        print(
            f"{dataset}, {estimator}, {n_threads} threads: {len(seconds)} fits, {median}, "
            f"{len(all_hashes) - len(seconds)} predictions of loaded forests, "
            f"{len(deaths)} processes died, hash {' '.join(sorted(hashes))}",
            *deaths[:1],
            sep="\n",
            flush=True,
        )
    differing = [" on ".join(reversed(name)) for name, hashes in seen.items() if len(hashes) != 1]
    print(f"{n_deaths} processes died; not one hash: {', '.join(differing) or 'none'}")
    return not (n_deaths or differing)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ["delicious", "bibtex", "mediamill", "imdb"]
    parser.add_argument("--datasets", nargs="+", default=names)
    parser.add_argument("--estimators", nargs="+", default=list(ESTIMATORS), choices=ESTIMATORS)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 8, 16, 32])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument(
        "--loads", type=int, default=0, help="how many times each forest is saved and loaded"
    )
    parser.add_argument("--n-estimators", type=int, default=100)
    parser.add_argument(
        "--fresh-every", type=int, default=5, help="every how many fits one has a fresh process"
    )
    parser.add_argument(
        "--parallel", type=int, default=1, help="processes of one thread, side by side"
    )
    parser.add_argument("--minutes-per-process", type=float, default=120)
    parser.add_argument(
        "--flagship-crash",
        type=int,
        metavar="N",
        help="N fits of the flagship on Delicious with 16 threads and N with 32, nothing else",
    )
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flagship_crash is not None:
        given.datasets, given.estimators, given.threads = ["delicious"], ["sketch"], [16, 32]
        given.repeats = given.flagship_crash
    return given


if __name__ == "__main__":
    given = arguments()
    if given.work:
        work(Process(*given.work[:2], *map(int, given.work[2:])), given.n_estimators)
    else:
        sys.exit(not run(given))
