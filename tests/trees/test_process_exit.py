"""A process may exit or fork while other threads fit and predict."""

import os
import subprocess
import sys
import sysconfig

import pytest

# Free-threaded Python 3.14 can wait for locks of its own: see "Known problems" in
# docs/reliability.md.
waits_for_no_thread = pytest.mark.skipif(
    sysconfig.get_config_var("Py_GIL_DISABLED") == 1, reason="free-threaded Python can hang"
)

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
"""
ENDS = {
    "ends": "time.sleep({delay})",
    "exits": "time.sleep({delay}); sys.exit(0)",
    "predicts at exit": """
import atexit
atexit.register(lambda: print(fitted[0].predict_proba(X).shape))
time.sleep({delay})
""",
}


def run(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )


@waits_for_no_thread
@pytest.mark.parametrize("delay", [pytest.param(0.0, marks=pytest.mark.slow), 0.05])
@pytest.mark.parametrize(
    "end", ["ends", *(pytest.param(end, marks=pytest.mark.slow) for end in list(ENDS)[1:])]
)
def test_a_process_ends_while_threads_work(end, delay):
    found = run(BUSY + ENDS[end].format(delay=delay))
    assert (found.returncode, found.stderr) == (0, "")


AT_EXIT_BEFORE_IMPORT = """
import atexit
atexit.register(lambda: print(forest.predict_proba(X).shape))
import numpy as np
from sketchforest import RandomForestClassifier

X = np.random.default_rng(0).normal(size=(400, 20))
forest = RandomForestClassifier(20, n_jobs=2).fit(X, X[:, :3] > 0)
"""


def test_a_prediction_at_exit_is_made():
    found = run(AT_EXIT_BEFORE_IMPORT)
    assert (found.returncode, found.stderr, found.stdout) == (0, "", "(400, 3)\n")


FORKS = """
import os
pid = os.fork()
if pid == 0:
    forest = fitted[0]
    forest.predict_proba(X)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@waits_for_no_thread
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_does_not_wait_for_threads_of_its_parent():
    found = run(BUSY.replace("n_jobs=2", "n_jobs=1") + "time.sleep(0.05)\n" + FORKS)
    assert (found.returncode, found.stdout) == (0, "7\n"), found.stderr
