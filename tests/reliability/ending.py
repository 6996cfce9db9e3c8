"""A process that ends while eight threads fit and predict ends with 0, and says nothing.

python tests/reliability/ending.py --count 200
"""

import argparse
import subprocess
import sys
from collections import Counter

BUSY = """
import sys, threading, time
import numpy as np
from sketchforest import RandomForestClassifier, SketchForestClassifier
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(400, 20)), rng.random((400, 30)) < 0.1
kinds = [RandomForestClassifier, SketchForestClassifier]
fitted = [kind(20, n_jobs=2, random_state=0).fit(X, Y) for kind in kinds]
def fit(kind):
    while True:
        kind(20, n_jobs=2).fit(X, Y)
def predict(forest):
    while True:
        forest.predict_proba(X)
jobs = [(fit, kind) for kind in kinds] + [(predict, forest) for forest in fitted]
for work, what in 2 * jobs:
    threading.Thread(target=work, args=(what,), daemon=True).start()
time.sleep(float(sys.argv[1]))
"""


def run_cases(count: int) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for number in range(count):
        delay = number * 0.00731 % 0.3
        command = [sys.executable, "-c", BUSY, str(delay)]
        try:
            found = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            outcomes["hang"] += 1
            continue
        is_good = (found.returncode, found.stderr) == (0, "")
        outcome = "ended with 0" if is_good else f"ended with {found.returncode}"
        if not is_good:
            print(f"problem {number}: {outcome}: {found.stderr[-500:]}", flush=True)
        outcomes[outcome] += 1
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10)
    found = run_cases(parser.parse_args().count)
    print(dict(found))
    sys.exit(set(found) != {"ended with 0"})
