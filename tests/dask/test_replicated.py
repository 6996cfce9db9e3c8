"""A forest grown on a cluster equals one grown on one machine, even when workers are killed."""

import os
import random
import signal
import threading

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
)

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

from sketchforest.dask import fit, replicated  # noqa: E402


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    return X, (X[:, :1] + rng.normal(size=(300, 40)) > 1).astype(np.uint8)


FORESTS = {
    "random forest": RandomForestClassifier(30, n_components=5, random_state=0),
    "one projection": RandomForestClassifier(
        30, n_components=5, shared_projection=True, oob_score=True, random_state=0
    ),
    "original outputs": ExtraTreesRegressor(30, projection=None, random_state=0),
    "oblique": SketchForestClassifier(30, random_state=0),
    "pruned": ExtraTreesRegressor(30, ccp_alpha=0.001, random_state=0),
    "settings chosen": RandomForestClassifier(60, max_features="auto", random_state=0),
}


@pytest.mark.parametrize("by", ["task", "file"])
@pytest.mark.parametrize("name", FORESTS)
def test_a_cluster_grows_the_same_forest_as_one_machine(name, by, data, client, tmp_path):
    plain = clone(FORESTS[name]).fit(*data)
    forest = clone(FORESTS[name])
    assert fit(forest, *data, client, shared_dir=tmp_path if by == "file" else None) is forest
    reference.assert_same_forest(forest, plain)
    np.testing.assert_array_equal(forest.predict(data[0]), plain.predict(data[0]))
    assert not list(tmp_path.iterdir())


def test_sparse_data_weights_and_the_default_client(data, client):
    X, Y = sparse.csr_array(data[0] * (data[0] > 1)), sparse.csr_array(data[1])
    weights = np.arange(len(data[0])) % 3
    forest = clone(FORESTS["random forest"])
    fit(forest, X, Y, sample_weight=weights)
    reference.assert_same_forest(
        forest, clone(FORESTS["random forest"]).fit(X, Y, sample_weight=weights)
    )


def test_a_warm_start_adds_trees(data, client):
    forest = clone(FORESTS["oblique"]).set_params(n_estimators=10, warm_start=True)
    fit(forest, *data, client)
    fit(forest.set_params(n_estimators=30), *data, client)
    reference.assert_same_forest(forest, clone(FORESTS["oblique"]).fit(*data))


def test_a_worker_maps_the_shared_file_once(data, client, tmp_path):
    def opened():
        from sketchforest.dask.broadcasting import _load

        found = _load.cache_info().misses
        _load.cache_clear()
        return found

    client.run(opened)
    fit(
        clone(FORESTS["random forest"]).set_params(n_estimators=60),
        *data,
        client,
        shared_dir=tmp_path,
    )
    assert set(client.run(opened).values()) <= {0, 1}


def test_invalid_arguments_are_refused(data, client, tmp_path):
    X, Y = data
    with pytest.raises(ValueError, match="forest must be a sketchforest forest; got Decision"):
        fit(DecisionTreeClassifier(), X, Y, client)
    with pytest.raises(ValueError, match="n_estimators must be an int on a cluster"):
        fit(RandomForestClassifier("auto"), X, Y, client)
    with pytest.raises(ValueError, match="shared_dir must be an existing folder"):
        fit(RandomForestClassifier(), X, Y, client, shared_dir=tmp_path / "none")
    array = pytest.importorskip("dask.array").from_array(X)
    with pytest.raises(ValueError, match="X must be in memory on this machine"):
        fit(RandomForestClassifier(), array, Y, client)


def test_an_error_on_a_worker_is_raised_and_leaves_the_forest_unfitted(data, client):
    forest = RandomForestClassifier(5, projection=FunctionTransformer(np.linalg.inv))
    with pytest.raises(np.linalg.LinAlgError):
        fit(forest, *data, client)
    assert not hasattr(forest, "n_features_in_")


@pytest.mark.parametrize(
    ("n_broken", "by"),
    [
        (1, "task"),
        pytest.param(2, "task", marks=pytest.mark.slow),
        pytest.param(1, "file", marks=pytest.mark.slow),
        pytest.param(2, "file", marks=pytest.mark.slow),
    ],
)
def test_a_task_that_a_worker_cannot_unpickle_ends_the_fit_with_an_error(
    n_broken, by, data, two_workers, tmp_path
):
    def uninstall():
        """Make the worker one where sketchforest is not installed."""
        import sys

        class Refusing:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "sketchforest":
                    raise ModuleNotFoundError("No module named 'sketchforest'")

        sys.meta_path.insert(0, Refusing())
        for name in [name for name in sys.modules if name.startswith("sketchforest")]:
            del sys.modules[name]

    errors = []

    def run():
        with pytest.raises(ModuleNotFoundError) as raised:
            fit(clone(FORESTS["random forest"]), *data, two_workers, shared_dir=folder)
        errors.append(str(raised.value))

    folder = tmp_path if by == "file" else None
    two_workers.run(uninstall, workers=list(two_workers.nthreads())[:n_broken])
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert errors == ["No module named 'sketchforest'"]


def test_finished_trees_are_kept_and_not_grown_again(data, client, tmp_path, monkeypatch):
    forest, folder = FORESTS["oblique"], tmp_path / "checkpoint"
    as_done, asked = replicated._trees_as_done, []

    def broken_off(*arguments):
        asked.append(arguments[-1])
        for number, found in enumerate(as_done(*arguments)):
            if number == 12 and len(asked) == 1:
                raise KeyboardInterrupt
            yield found

    monkeypatch.setattr(replicated, "_trees_as_done", broken_off)
    with pytest.raises(KeyboardInterrupt):
        fit(clone(forest), *data, client, checkpoint_dir=folder)
    again = fit(clone(forest), *data, client, checkpoint_dir=folder)
    assert [len(numbers) for numbers in asked] == [30, 18]
    assert not folder.exists()
    reference.assert_same_forest(again, clone(forest).fit(*data))


class Killer(threading.Thread):
    """Kill a worker after some seconds, unless stopped earlier."""

    def __init__(self, client, delay):
        super().__init__(daemon=True)
        self.pid = random.choice(list(client.run(os.getpid).values()))
        self.delay, self.is_over, self.has_killed = delay, threading.Event(), False

    def run(self):
        if not self.is_over.wait(self.delay):
            os.kill(self.pid, signal.SIGKILL)
            self.has_killed = True

    def stop(self):
        self.is_over.set()
        self.join()


def fit_while_a_worker_dies(client, forest, data, delay):
    """Return whether the worker died during the fit."""
    killer = Killer(client, delay)
    killer.start()
    try:
        fit(forest, *data, client)
    finally:
        killer.stop()
    return killer.has_killed


@pytest.fixture(scope="module")
def long_fit():
    """A forest that takes some seconds to fit, its data, and the forest fitted on one machine."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60)).astype(np.float32)
    data = X, (X[:, :50] + rng.normal(size=(3000, 50)) > 1).astype(np.uint8)
    forest = RandomForestClassifier(200, n_components=32, random_state=0)
    return forest, data, clone(forest).fit(*data)


@pytest.mark.slow
def test_a_killed_worker_costs_only_its_trees(mortal_client, scheduler, long_fit):
    forest, data, plain = long_fit
    ours = clone(forest)
    assert fit_while_a_worker_dies(mortal_client, ours, data, 0.5)
    reference.assert_same_forest(ours, plain)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_a_worker_is_killed_at_ten_random_moments(number, mortal_client, scheduler, long_fit):
    forest, data, plain = long_fit
    draw = random.Random(number)
    while True:  # the fit may end first
        ours = clone(forest)
        if fit_while_a_worker_dies(mortal_client, ours, data, draw.uniform(0, 4)):
            break
    reference.assert_same_forest(ours, plain)
