"""Threads, processes, progress and memory change no result."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from every_kind import (
    CLASSIFIERS,
    ESTIMATORS,
    FORESTS,
    LEAVES,
    N_LABELS,
    REGRESSORS,
    fitted,
    predictions,
    targets,
)
from scipy import sparse

from sketchforest import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest._trees import predict as _predict
from sketchforest._trees.memory import memory_size


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("leaf_size", [1, 12])
def test_any_number_of_jobs_gives_the_same_bits(kind, leaf_size, X, Y, X_new, outputs, monkeypatch):
    monkeypatch.setattr(_predict, "BLOCK_CELLS", 32)  # blocks of a few rows
    y = targets(kind, Y, outputs)
    params = {"bootstrap": True, "oob_score": True, "n_estimators": 30}
    forests = [
        fitted(kind, X, y, n_jobs=n_jobs, min_samples_leaf=leaf_size, **params)
        for n_jobs in (None, 2, 5, -1)
    ]
    for forest in forests[1:]:
        assert np.array_equal(predictions(forest, X_new), predictions(forests[0], X_new))
        assert forest.oob_score_ == forests[0].oob_score_


@LEAVES
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_many_threads_may_predict_with_one_model(kind, leaf_size, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    expected = predictions(fitted(kind, X, y, min_samples_leaf=leaf_size), X_new)
    fresh = fitted(kind, X, y, min_samples_leaf=leaf_size)  # which has cached nothing yet
    with ThreadPoolExecutor(8) as pool:
        for guess in pool.map(lambda _: predictions(fresh, X_new), range(16)):
            assert np.array_equal(guess, expected)


def test_trees_grown_in_other_processes_are_the_same(X, Y, X_new):
    params = {"n_jobs": 2, "shared_projection": True}
    here = fitted(RandomForestClassifier, X, Y, **params)
    with joblib.parallel_config("loky", max_nbytes=0):  # everything through mapped files
        there = fitted(RandomForestClassifier, X, Y, **params)
        regressor = fitted(RandomForestRegressor, X, Y * 1.5, bootstrap=False, **params)
    assert np.array_equal(here.predict_proba(X_new), there.predict_proba(X_new))
    same = fitted(RandomForestRegressor, X, Y * 1.5, bootstrap=False, **params)
    assert np.array_equal(same.predict(X_new), regressor.predict(X_new))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking with threads is the point
def test_a_process_that_fitted_may_fork_and_its_child_may_fit(X, Y):
    expected = fitted(RandomForestClassifier, X, Y, n_jobs=2).predict_proba(X)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def fit_again():
        theirs.send(fitted(RandomForestClassifier, X, Y, n_jobs=2).predict_proba(X))

    child = context.Process(target=fit_again)
    child.start()
    assert ours.poll(30), "the child hangs"
    assert np.array_equal(ours.recv(), expected)
    child.join(30)
    assert child.exitcode == 0


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_is_shown_on_stderr_when_asked_for(n_jobs, X, Y, capfd):
    forest = fitted(RandomForestClassifier, X, Y, n_jobs=n_jobs)
    forest.predict(X)
    assert capfd.readouterr() == ("", "")
    fitted(RandomForestClassifier, X, Y, verbose=1, n_jobs=n_jobs)
    out, err = capfd.readouterr()
    assert out == ""
    assert "growing trees" in err
    assert "7 of 7" in err


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_probabilities_larger_than_the_memory_are_refused(kind, X, Y, X_new, monkeypatch):
    estimator = fitted(kind, X, sparse.csr_array(Y))
    labels, _ = estimator.predict_topk(X_new, 3)
    monkeypatch.setattr(
        "sketchforest._trees.memory.memory_size", lambda: 4 * len(X_new) * N_LABELS - 1
    )
    with pytest.raises(MemoryError, match=r"got 50 rows and 70 outputs, .*Use predict_sparse or"):
        estimator.predict_proba(X_new)
    assert np.array_equal(estimator.predict_topk(X_new, 3)[0], labels)
    assert estimator.predict_sparse(X_new).nnz
    assert estimator.predict(X_new).shape == (50, N_LABELS)
    monkeypatch.setattr("sketchforest._trees.memory.memory_size", lambda: 4 * len(X_new) * N_LABELS)
    assert estimator.predict_proba(X_new).shape == (50, N_LABELS)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_outputs_larger_than_the_memory_are_refused(kind, X, X_new, outputs, monkeypatch):
    estimator = fitted(kind, X, outputs)
    monkeypatch.setattr("sketchforest._trees.memory.memory_size", lambda: 1000)
    with pytest.raises(MemoryError, match="Predict fewer rows at a time"):
        estimator.predict(X_new)


def test_the_memory_of_this_machine_is_known():
    assert memory_size() > 2**24
