"""Ctrl-C stops any work at once and leaves nothing half-done.

Each case runs work of several seconds in a subprocess, which prints when the work has begun and
what came of the signal.
"""

import signal
import subprocess
import sys
import time

import pytest

PRELUDE = """
import signal
import numpy as np
from sketchforest import DecisionTreeRegressor, RandomForestRegressor
from sketchforest._estimators.fitting import preparation
from sketchforest._trees import grow
from sketchforest._trees import predict as _predict

def tells(module, name, word):
    function = getattr(module, name)
    def telling(*args, **kwargs):
        print(word, flush=True)
        return function(*args, **kwargs)
    setattr(module, name, telling)

def state(estimator):
    return {name: id(value) for name, value in vars(estimator).items()}

def interrupted(work, *estimators):
    before = [state(estimator) for estimator in estimators]
    try:
        work()
    except KeyboardInterrupt:
        same = [state(estimator) for estimator in estimators] == before
        print("interrupted, unchanged" if same else "interrupted, changed", flush=True)
    else:
        print("finished", flush=True)

# A process that is started in the background of a shell may have been told to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
"""

FIT_MANY_TREES = """
X, Y = rng.normal(size=(2000, 20)), rng.normal(size=(2000, 3))
fresh = RandomForestRegressor(10**6, n_jobs={n_jobs})
fitted = RandomForestRegressor(3, n_jobs={n_jobs}).fit(X, Y)
before = fitted.predict(X)
fitted.set_params(n_estimators=10**6, warm_start={warm_start})
tells(grow, "run_all", "at it")
interrupted(lambda: {estimator}.fit(X, Y), fresh, fitted)
assert np.array_equal(fitted.predict(X), before)
assert not hasattr(fresh, "n_features_in_")
"""

FIT_LARGE_TREES = """
X, y = rng.normal(size=(400_000, 40)).astype(np.float32), rng.normal(size=400_000)
forest = RandomForestRegressor(2, max_features=None, n_jobs={n_jobs})
tells(grow, "run_all", "at it")
interrupted(lambda: forest.fit(X, y), forest)
"""

FIT_ONE_TREE = """
X, y = rng.normal(size=(400_000, 40)).astype(np.float32), rng.normal(size=400_000)
tree = DecisionTreeRegressor()
tells(grow, "run_all", "at it")
interrupted(lambda: tree.fit(X, y), tree)
"""

ENCODE = """
X, y = rng.normal(size=(1_000_000, 60)), rng.normal(size=1_000_000)  # doubles are ranked
tree = DecisionTreeRegressor()
tells(preparation, "encode", "at it")
tells(grow, "run_all", "too late")
interrupted(lambda: tree.fit(X, y), tree)
"""

PREDICT = """
X, y = rng.normal(size=(8000, 4)).astype(np.float32), rng.normal(size=8000)
forest = RandomForestRegressor(50, max_features=1, n_jobs=2).fit(X, y).set_params(n_jobs={n_jobs})
before = forest.predict(X[:9])
many = np.tile(rng.normal(size=(60_000, 4)).astype(np.float32), (100, 1))
tells(_predict, "run_blocks", "at it")
interrupted(lambda: forest.{method}(many), forest)
assert np.array_equal(forest.predict(X[:9]), before)
"""

PREDICT_WIDE = """
X, Y = rng.normal(size=(1000, 10)), rng.normal(size=(1000, 4000))
forest = RandomForestRegressor(200, max_features=1, n_jobs=2).fit(X, Y).set_params(n_jobs={n_jobs})
many = rng.normal(size=(30_000, 10))
tells(_predict, "run_blocks", "at it")
interrupted(lambda: forest.predict(many), forest)
"""

WEIGHTS_OF_LARGE_LEAVES = """
X, y = rng.normal(size=(100_000, 4)), rng.normal(size=100_000)
forest = RandomForestRegressor(100, max_depth=3, max_samples=0.5, n_jobs={n_jobs}).fit(X, y)
tells(_predict, "run_blocks", "at it")
interrupted(lambda: forest.leaf_weights(X), forest)
"""


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


def interrupt(script, wait=0.6):
    """Run a script, send it Ctrl-C once it says that its work has begun, and check how it ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = process.stdout.readline()
        assert said == "at it\n", said + process.stderr.read()
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        # If the signal were ignored, the work would be finished. If a thread did not stop, the
        # process would hang or fail.
        said, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert said.startswith("interrupted, unchanged\n"), said + errors
    assert process.returncode == 0, errors


@pytest.mark.parametrize(
    ("estimator", "n_jobs"),
    [slow("fresh", 1), ("fitted", 2), slow("fresh", 2), slow("fitted", 1)],
)
def test_fitting_many_trees_is_broken_off(n_jobs, estimator):
    interrupt(FIT_MANY_TREES.format(n_jobs=n_jobs, estimator=estimator, warm_start=False))


@pytest.mark.slow
def test_a_warm_start_is_broken_off_with_its_first_trees():
    interrupt(FIT_MANY_TREES.format(n_jobs=2, estimator="fitted", warm_start=True))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_trees_are_broken_off_in_the_middle(n_jobs):
    interrupt(FIT_LARGE_TREES.format(n_jobs=n_jobs), wait=1.5)


def test_a_single_tree_is_broken_off_in_the_middle():
    interrupt(FIT_ONE_TREE, wait=1.5)


@pytest.mark.slow
def test_encoding_is_broken_off():
    interrupt(ENCODE)


@pytest.mark.parametrize(
    ("method", "n_jobs"), [("predict", 1), slow("predict", 2), slow("apply", 2)]
)
def test_predicting_many_rows_is_broken_off(method, n_jobs):
    interrupt(PREDICT.format(n_jobs=n_jobs, method=method))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_predicting_many_outputs_is_broken_off(n_jobs):
    interrupt(PREDICT_WIDE.format(n_jobs=n_jobs))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_weights_of_large_leaves_are_broken_off(n_jobs):
    interrupt(WEIGHTS_OF_LARGE_LEAVES.format(n_jobs=n_jobs))
