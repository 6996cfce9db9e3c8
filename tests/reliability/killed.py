"""Processes killed while they save: the file is always the old one or the new one, and what they
leave behind is gone after the next save.

    python tests/reliability/killed.py --count 500
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from sketchforest import DecisionTreeRegressor, RandomForestRegressor, load_forest

SAVES = """
import sys
import numpy as np
from sketchforest import RandomForestRegressor
rng = np.random.default_rng(0)
X = rng.random((4000, 5))
forests = [RandomForestRegressor(n, random_state=0).fit(X, X[:, 0]) for n in (3, 40)]
print("at it", flush=True)
while True:
    for forest in forests:
        forest.save(sys.argv[1])
"""
X_NEW = np.random.default_rng(1).random((20, 5))


def run_cases(count: int, seed: int = 0) -> Counter[str]:
    """Each process saves one model after the other until its moment, which is drawn."""
    rng, outcomes = random.Random(seed), Counter()
    rng_x = np.random.default_rng(0)
    X = rng_x.random((4000, 5))
    known = {
        n: RandomForestRegressor(n, random_state=0).fit(X, X[:, 0]).predict(X_NEW) for n in (3, 40)
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sf"
        RandomForestRegressor(3, random_state=0).fit(X, X[:, 0]).save(path)
        for number in range(count):
            child = subprocess.Popen(
                [sys.executable, "-c", SAVES, path], stdout=subprocess.PIPE, text=True
            )
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(rng.random() * 0.3)
            child.send_signal(signal.SIGKILL if number % 3 else signal.SIGTERM)
            child.wait()
            child.stdout.close()
            try:
                model = load_forest(path, mmap=bool(number % 2))
                n_trees = len(model.estimators_)
                is_whole = np.array_equal(model.predict(X_NEW), known[n_trees])
                outcome = f"a whole model of {n_trees} trees" if is_whole else "another model"
            except Exception as error:
                outcome = f"broken: {error}"
            outcomes[outcome] += 1
        left = len(list(Path(folder).iterdir())) - 1
        outcomes["drafts left by kills"] += left
        DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 4.0]).save(path)
        outcomes["files left after the next save"] += len(list(Path(folder).iterdir())) - 1
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10)
    found = run_cases(parser.parse_args().count)
    print(dict(found))
    is_bad = any(name.startswith(("broken", "another")) for name in found)
    sys.exit(is_bad or found["files left after the next save"] > 0)
