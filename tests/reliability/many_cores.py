"""Fits on real data with any number of threads, over and over: one hash for each data set and
estimator, and no process that dies.

    python tests/reliability/many_cores.py --threads 1 8 16 32 --repeats 20 --parallel 16
    python tests/reliability/many_cores.py --flagship-crash 40

The data are in the folder that SKETCHFOREST_DATA names. Fits of one combination share a process,
but for every few, which have a fresh one each.
"""

import argparse
import hashlib
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from sketchforest import ExtraTreesClassifier, RandomForestClassifier, SketchForestClassifier
from sketchforest.datasets import load

ESTIMATORS = {
    "rf": RandomForestClassifier,
    "et": ExtraTreesClassifier,
    "sketch": SketchForestClassifier,
}


class Process(NamedTuple):
    """What one process has to do."""

    dataset: str
    estimator: str
    n_threads: int
    n_fits: int


class Outcome(NamedTuple):
    hashes: list[str]
    seconds: list[float]
    death: str  # empty, or how the process ended and the last that it said


def digest(forest, X) -> str:
    """Of the leaf of each row in each tree, and of the predictions."""
    found = hashlib.sha256(np.ascontiguousarray(forest.apply(X)).tobytes())
    found.update(np.ascontiguousarray(forest.predict_proba(X)).tobytes())
    return found.hexdigest()[:16]


def work(given: Process, n_estimators: int) -> None:
    """Prints a line of JSON for each fit: a process that dies has told what was before."""
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
    return Outcome([line["hash"] for line in lines], [line["seconds"] for line in lines], death)


def processes(whole: Process, fresh_every: int, n_parallel: int) -> Iterator[Process]:
    """Those of one combination. Fits of one thread are dealt out to processes side by side."""
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
        whole = Process(dataset, estimator, n_threads, given.repeats)
        n_parallel = given.parallel if n_threads == 1 else 1
        with ThreadPoolExecutor(n_parallel) as pool:
            outcomes = list(pool.map(watching, processes(whole, given.fresh_every, n_parallel)))
        hashes = {each for outcome in outcomes for each in outcome.hashes}
        seconds = [each for outcome in outcomes for each in outcome.seconds]
        deaths = [outcome.death for outcome in outcomes if outcome.death]
        seen.setdefault((dataset, estimator), set()).update(hashes)
        n_deaths += len(deaths)
        median = f"median {statistics.median(seconds):.2f} s" if seconds else "no time"
        print(
            f"{dataset}, {estimator}, {n_threads} threads: {len(seconds)} fits, {median}, "
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
    parser.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flagship_crash is not None:
        given.datasets, given.estimators, given.threads = ["delicious"], ["sketch"], [16, 32]
        given.repeats = given.flagship_crash
    return given


if __name__ == "__main__":
    given = arguments()
    if given.work:
        dataset, estimator, n_threads, n_fits = given.work
        work(Process(dataset, estimator, int(n_threads), int(n_fits)), given.n_estimators)
    else:
        sys.exit(not run(given))
