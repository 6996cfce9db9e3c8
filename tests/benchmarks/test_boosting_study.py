"""The study of boosting: its measures, and that it asks for every method."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import log_loss

from benchmarks.bench.process import MeasurementError
from benchmarks.studies import boosting
from benchmarks.studies.boosting_methods import FORESTS, HISTOGRAMS, OURS


def test_the_relative_error_of_means_is_one():
    rng = np.random.default_rng(0)
    Y_train, Y_test = rng.normal(size=(2, 50, 3))
    Y_test[:, 2] = Y_train[:, 2].mean()  # does not vary
    means = np.tile(Y_train.mean(axis=0), (50, 1))
    assert boosting.relative_error(Y_train, Y_test, means) == pytest.approx(1)
    assert boosting.relative_error(Y_train, Y_test, Y_test) == 0


def test_cross_entropy_is_the_mean_log_loss_of_labels():
    rng = np.random.default_rng(0)
    Y, p = rng.integers(0, 2, size=(40, 3)), rng.random((40, 3))
    expected = np.mean([log_loss(y, q) for y, q in zip(Y.T, p.T, strict=True)])
    assert boosting.cross_entropy(sparse.csr_array(Y), p) == pytest.approx(expected)


def test_the_study_resumes_where_it_was_stopped(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    np.savez(tmp_path / "edm.npz", X=X, Y=Y)
    requests = [
        ("regression", [{"dataset": "edm", "method": "sketch boosting", "seed": seed}])
        for seed in (0, 1)
    ]

    def in_this_process(task, n_threads, *, timeout, **request):
        return getattr(boosting, task)(**request)

    monkeypatch.setattr(boosting, "in_own_process", in_this_process)
    monkeypatch.setattr(boosting, "_requests", lambda: iter(requests[:1]))
    boosting.run_boosting(tmp_path, tmp_path)
    first = pd.read_csv(tmp_path / "boosting-regression.csv")
    monkeypatch.setattr(boosting, "_requests", lambda: iter(requests))
    boosting.run_boosting(tmp_path, tmp_path)
    both = pd.read_csv(tmp_path / "boosting-regression.csv")
    assert both["seed"].tolist() == [0, 1]
    pd.testing.assert_frame_equal(both[:1], first)


def test_fits_of_more_trees_than_one_that_took_too_long_are_not_tried(monkeypatch, tmp_path):
    tried = []

    def measure(task, n_threads, *, timeout, n_trees, **request):
        tried.append(n_trees)
        if n_trees > timeout:
            raise MeasurementError("too long")
        return {"measured": {"error": 1 / n_trees}}

    curve = [{"dataset": "wq", "method": "xgboost", "n_trees": n} for n in (10, 30, 100, 300)]
    monkeypatch.setattr(boosting, "in_own_process", measure)
    monkeypatch.setattr(boosting, "_requests", lambda: iter([("curves", curve)]))
    boosting.run_boosting(tmp_path, tmp_path, limit=50)
    assert tried == [10, 30, 100]
    assert pd.read_csv(tmp_path / "boosting-curves.csv")["n_trees"].tolist() == [10, 30]


@pytest.mark.parametrize("method", [*OURS, HISTOGRAMS, *FORESTS])
def test_every_method_learns_labels_and_numbers(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    Y = X @ rng.normal(size=(4, 3))
    predict = boosting.stopped_early(method, X[:150], Y[:150], 0)
    assert boosting.relative_error(Y[:150], Y[150:], predict(X[150:])) < 1
    labels = sparse.csr_array((Y > 0).astype(np.uint8))
    taken = boosting.as_taken(method, sparse.csr_array(X), labels)
    model = boosting.of_all_outputs(method, True, 30, 1, 0).fit(*(each[:150] for each in taken))
    p = boosting.probabilities(model, taken[0][150:])
    assert p.shape == (50, 3)
    assert ((p > 0.5) == labels[150:].toarray()).mean() > 0.7
