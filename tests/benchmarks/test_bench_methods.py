"""The methods of the benchmark, and the data they are given."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks.bench.adapter import Options
from benchmarks.bench.methods import DEFAULT_METHODS, find_method
from benchmarks.bench.other_libraries import Omikuji, _scores, _without_missing
from benchmarks.data import TrainTestSplit, better_dense, choose_datasets, load_split
from sketchforest.datasets import make_multilabel


def test_names_lead_to_methods_and_to_what_they_are_compared_with():
    references = {name: find_method(name).reference for name in DEFAULT_METHODS}
    assert {name for name, other in references.items() if other == "sklearn-et"} == {"et", "et-m5"}
    assert references["rf-z25"] == "sklearn-z25"
    assert {
        references[name] for name in ("rf", "rf-m1", "omikuji", "sklearn-et", "sklearn-z25")
    } == {"sklearn-rf"}
    scaled = {name for name in DEFAULT_METHODS if find_method(name).can_be_scaled}
    assert scaled == {"sklearn-rf", "sklearn-et", "sklearn-z25"}
    assert find_method("et-m137").build.keywords == {"kind": "ExtraTrees", "n_components": 137}
    for name in ("rf-m", "rf-m0", "sklearn", "et-z5", "forest"):
        with pytest.raises(ValueError, match=f"got '{name}'"):
            find_method(name)


def test_both_libraries_split_on_the_very_same_shared_outputs():
    data = make_multilabel(40, 20, 15, labels_per_row=3, features_per_row=5)
    data = TrainTestSplit(data.X, data.Y, data.X, data.Y)
    options = Options(2, 2, n_jobs=1, seed=3)
    theirs, ours = (find_method(name).build(data, options) for name in ("sklearn-z5", "rf-z5"))
    assert theirs.Y.shape == (40, 5)
    np.testing.assert_array_equal(theirs.Y, ours.Y)
    assert not ours.predicts_labels


def test_few_trees_predict_at_the_cost_of_all(data_home):
    model = find_method("sklearn-rf").build(load_split("tiny", data_home), Options(7, 3, n_jobs=1))
    model.fit()
    model.prepare_predictions()
    assert len(model.estimator.estimators_) == 7


def test_a_set_without_a_split_gets_the_same_one_every_time(data_home):
    first, again = (load_split("tiny", data_home) for _ in range(2))
    assert (first.X_train.shape[0], first.X_test.shape[0]) == (100, 50)
    assert (first.X_train != again.X_train).nnz == 0
    assert not better_dense(first.X_train)


def test_datasets_are_checked_by_name(data_home, monkeypatch):
    monkeypatch.delenv("SKETCHFOREST_DATA", raising=False)
    assert choose_datasets(None) == ["generated"]
    assert choose_datasets(["all"], data_home) == ["tiny", "generated"]
    with pytest.raises(ValueError, match="got other"):
        choose_datasets(["tiny", "other"], data_home)


@pytest.mark.parametrize("name", ["napkinxc", "omikuji"])
def test_installed_peers_fit_and_score_every_row(name, data_home):
    pytest.importorskip(name)
    data = load_split("tiny", data_home)
    model = find_method(name).build(data, Options(n_jobs=1))
    model.fit()
    assert model.n_bytes() > 0
    model.prepare_predictions()
    scores = model.scores(model.predict(model.X_test))
    assert scores.shape == data.Y_test.shape
    assert np.isfinite(scores).all()
    model.use_one_thread()
    one = model.scores(model.predict(model.X_test[3:4]))
    np.testing.assert_allclose(one, scores[3:4], rtol=1e-5)


@pytest.mark.parametrize("name", ["napkinxc", "omikuji"])
def test_installed_peers_take_rows_without_features_or_labels_and_missing_values(name):
    pytest.importorskip(name)
    data = make_multilabel(150, 30, 12, labels_per_row=3, features_per_row=6)
    X, Y = data.X.toarray().astype(np.float32), data.Y.toarray()
    X[[0, 3, 110, 149]] = 0
    X[5, 2] = X[120, 4] = np.nan
    Y[[3, 7]] = 0
    X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    model = find_method(name).build(
        TrainTestSplit(X[:100], Y[:100], X[100:], Y[100:]), Options(n_jobs=1)
    )
    model.fit()
    model.prepare_predictions()
    scores = model.scores(model.predict(model.X_test))
    assert scores.shape == (50, 12)
    assert np.isfinite(scores).all()


def test_a_row_without_features_is_a_line_with_a_zero_for_omikuji():
    X = sparse.csr_array(np.array([[0, 0], [0, 2], [0, 0], [1, 1], [0, 0]], float))
    Y = sparse.csr_array(np.ones((5, 1), np.uint8))
    omikuji = Omikuji(TrainTestSplit(X, Y, X, Y), Options())  # whose folder lives as long
    lines = Path(omikuji.data_path).read_text().splitlines()
    assert lines == ["5 2 1", "0 0:0", "0 1:2", "0 0:0", "0 0:1 1:1", "0 0:0"]


def test_a_missing_value_is_the_mean_of_the_training_rows_for_peers():
    X = sparse.csr_array(np.array([[np.nan, 1], [4, np.nan], [2, 0], [0, np.nan]]))
    Y = sparse.csr_array(np.ones((4, 1), np.uint8))
    X_train, X_test = _without_missing(TrainTestSplit(X[:3], Y[:3], X[3:], Y[3:]))
    assert X_train.toarray().tolist() == [[3, 1], [4, 0.5], [2, 0]]
    assert X_test.toarray().tolist() == [[0, 0.5]]


def test_peers_read_and_answer_in_their_own_formats():
    data = make_multilabel(3, 20, 10, labels_per_row=2, features_per_row=3)
    split = TrainTestSplit(data.X, data.Y, data.X, data.Y)
    omikuji = Omikuji(split, Options())
    header, *lines = Path(omikuji.data_path).read_text().splitlines()
    assert header == "3 20 10"
    for i, line in enumerate(lines):
        labels, *pairs = line.split()
        assert labels == ",".join(map(str, data.Y[i : i + 1].indices))
        assert pairs == [f"{j}:1" for j in data.X[i : i + 1].indices]
    expected = np.array([[0, 0, 0.5], [0, 0, 0], [0.25, 1, 0]], np.float32)
    np.testing.assert_array_equal(_scores([[(2, 0.5)], [], [(1, 1.0), (0, 0.25)]], 3), expected)
