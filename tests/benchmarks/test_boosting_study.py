"""The study of boosting: its measures, and that it asks for every method."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import log_loss

from benchmarks.studies import boosting


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
    monkeypatch.setattr(boosting, "_requests", lambda: iter(requests[:1]))
    boosting.run_boosting(tmp_path, tmp_path)
    first = pd.read_csv(tmp_path / "boosting-regression.csv")
    monkeypatch.setattr(boosting, "_requests", lambda: iter(requests))
    boosting.run_boosting(tmp_path, tmp_path)
    both = pd.read_csv(tmp_path / "boosting-regression.csv")
    assert both["seed"].tolist() == [0, 1]
    pd.testing.assert_frame_equal(both[:1], first)
