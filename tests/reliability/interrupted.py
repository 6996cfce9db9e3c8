"""Ctrl-C at moments that are drawn, in fits, predictions, searches, saves and commands.

    python tests/reliability/interrupted.py --count 300

The work stops with KeyboardInterrupt, or is done; how long it takes to stop is measured; no thread
is left at work, and the next fit gives the forest that it always gave.
"""

import argparse
import random
import signal
import subprocess
import sys
import time
from collections import Counter

WORK = """
import os, signal, sys, tempfile, time, warnings
import numpy as np
from scipy import sparse
from sketchforest import ExtraTreesRegressor, RandomForestClassifier, SketchForestClassifier, _core
from sketchforest.tuning import tune
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.SIG_IGN)
rng = np.random.default_rng(0)
X, Y = rng.random((300, 8)), (rng.random((300, 20)) < 0.2).astype(int)
known = RandomForestClassifier(4, random_state=0, n_jobs=2).fit(X, Y).predict_proba(X)
large = rng.random((60_000, 30)).astype(np.float32)
large_Y = sparse.csr_array((rng.random((60_000, 40)) < 0.05).astype(np.uint8))
words = sparse.random_array((40_000, 3000), density=0.01, format="csr", rng=0)
forest = RandomForestClassifier(60, n_components=4, n_jobs=2).fit(large[:5000], large_Y[:5000])
path = tempfile.mkdtemp() + "/model.sf"
kinds = {
    "small fits": lambda: [RandomForestClassifier(20, n_jobs=2).fit(X, Y) for _ in range(9999)],
    "large fit": lambda: RandomForestClassifier(500, n_jobs=2).fit(large, large_Y),
    "sparse fit": lambda: RandomForestClassifier(500, n_jobs=2).fit(words, large_Y[:40_000]),
    "sketch fit": lambda: SketchForestClassifier(500, n_jobs=2).fit(large, large_Y),
    "extra-trees": lambda: ExtraTreesRegressor(900, n_jobs=2).fit(large, large[:, :3]),
    "predict": lambda: [forest.predict_proba(large) for _ in range(999)],
    "predict sparse": lambda: [forest.predict_sparse(large, 5) for _ in range(999)],
    "tune": lambda: tune(X, Y, n_estimators=200, n_jobs=2),
    "save": lambda: [forest.save(path) for _ in range(99999)],
}
n_threads = lambda: len(os.listdir("/proc/self/task"))
n_before = n_threads()
for line in sys.stdin:
    work = kinds[line.strip()]
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("begins", flush=True)
        work()
        end = "done"
    except KeyboardInterrupt:
        end = "interrupted"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it may come after the work is done
    print(end, time.monotonic(), flush=True)
    again = RandomForestClassifier(4, random_state=0, n_jobs=2).fit(X, Y).predict_proba(X)
    for _ in range(100):  # a thread that has ended is in the list a moment longer
        if (n_left := n_threads() - n_before) <= 0:
            break
        time.sleep(0.01)
    print("right" if np.array_equal(again, known) else "wrong", max(n_left, 0), flush=True)
"""
KINDS = (
    *("small fits", "large fit", "sparse fit", "sketch fit", "extra-trees"),
    *("predict", "predict sparse", "tune", "save"),
)


def run_cases(count: int, seed: int = 0) -> tuple[Counter[str], list[float]]:
    """How the work ended, and the seconds from the signal to the end."""
    rng, outcomes, seconds = random.Random(seed), Counter(), []
    child = subprocess.Popen(
        [sys.executable, "-c", WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        child.stdin.write(kind + "\n")
        child.stdin.flush()
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.01 + rng.random() * 0.6)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        end, at = child.stdout.readline().split()
        next_fit, n_threads = child.stdout.readline().split()
        took = max(float(at) - sent, 0.0)
        seconds.append(took)
        outcome = f"{end}, next fit {next_fit}, {n_threads} threads left"
        if took > 0.5:
            print(f"slow: {kind}: {took:.2f} s", flush=True)
        outcomes[outcome] += 1
    child.communicate()
    return outcomes, seconds


def is_clean(outcomes: Counter[str]) -> bool:
    return all(name.endswith("next fit right, 0 threads left") for name in outcomes)


def say(outcomes: Counter[str], seconds: list[float]) -> None:
    ranked = sorted(seconds)
    print(dict(outcomes))
    print(
        f"{len(ranked)} interrupts; half within {ranked[len(ranked) // 2]:.3f} s, 99% within "
        f"{ranked[int(0.99 * (len(ranked) - 1))]:.3f} s, all within {ranked[-1]:.3f} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=18)
    outcomes, seconds = run_cases(parser.parse_args().count)
    say(outcomes, seconds)
    sys.exit(not is_clean(outcomes))
