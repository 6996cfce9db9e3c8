"""The studies of components and of tuning, on two small generated sets; and the command tune."""

import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import sparse
from sklearn.metrics import f1_score
from typer.testing import CliRunner

from benchmarks.data import random_split
from benchmarks.experiments import Workspace, run_experiments
from benchmarks.store import ResultStore
from benchmarks.studies import predicted_scores
from benchmarks.studies.accuracy import FORESTS, TUNED, run_accuracy
from benchmarks.studies.accuracy_page import METHODS, accuracy_page, draw_accuracy
from benchmarks.studies.components import components_page, run_components
from benchmarks.studies.embeddings import METHODS as EMBEDDING_METHODS
from benchmarks.studies.embeddings import embedded, embeddings_page, run_embeddings
from benchmarks.studies.partitions import partitions_page, run_partitions
from benchmarks.studies.projections import PROJECTIONS, projections_page, run_projections
from benchmarks.studies.regression import arrmse, regression_page, regressors, run_regression
from benchmarks.studies.study import FIRST_SEED, FitResult, MethodExperiment, Study, by_method
from benchmarks.studies.thresholds import (
    best_micro_f1,
    macro_f1,
    micro_f1,
    run_thresholds,
    thresholds_page,
)
from benchmarks.studies.tuning import run_tuning
from sketchforest import RandomForestClassifier, load_forest
from sketchforest.cli import app
from sketchforest.dask.partitioned import share_of_part
from sketchforest.datasets import load, make_multilabel
from sketchforest.metrics import lrap


@pytest.fixture(scope="module")
def data_home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, n_labels in (("few", 5), ("some", 40)):
        data = make_multilabel(150, 20, n_labels, labels_per_row=2, features_per_row=6, n_topics=6)
        arrays = {"X_data": data.X.data, "X_indices": data.X.indices, "X_indptr": data.X.indptr}
        arrays |= {"Y_indices": data.Y.indices, "Y_indptr": data.Y.indptr}
        shapes = {"X_shape": data.X.shape, "Y_shape": data.Y.shape}
        split = {"train_rows": np.arange(100), "test_rows": np.arange(100, 150)}
        np.savez(folder / f"{name}.npz", **arrays, **shapes, **split)
    return str(folder)


@pytest.fixture
def study(data_home, tmp_path):
    def make(*datasets, n_splits=2, n_estimators=5):
        where = {"data_home": data_home, "console": Console(quiet=True)}
        return Study(datasets, tmp_path, n_splits, n_estimators, n_jobs=1, **where)

    return make


def test_splits_have_the_sizes_of_the_source_and_differ():
    data = make_multilabel(90, 10, 5, labels_per_row=2, features_per_row=4)
    first, second = random_split(data, 0), random_split(data, 1)
    assert first.X_train.shape[0] == second.X_train.shape[0] == 60
    assert (first.Y_train != second.Y_train).nnz > 0
    assert (first.Y_train != random_split(data, 0).Y_train).nnz == 0


def test_thresholds_are_measured_for_every_set(tmp_path, study):
    assert run_thresholds(study("few", "some"))
    rows = ResultStore(tmp_path).frame("thresholds-5-trees")
    assert len(rows) == 4
    assert (rows["f1"] > 0).all()
    assert (rows["f1"] <= rows["hindsight"] + 0.1).all()
    page = (tmp_path / "thresholds.md").read_text()
    assert page == thresholds_page(rows)
    assert "of 2 data sets" in page


def test_f1_of_decisions_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, scores = rng.random((40, 6)) < 0.3, rng.random((40, 6)).round(1).astype(np.float32)
    sparse_truth, sparse_scores = sparse.csr_array(truth), sparse.csr_array(scores)
    tried = [f1_score(truth, scores > t, average="micro") for t in np.arange(0, 1, 0.05)]
    assert best_micro_f1(sparse_truth, sparse_scores) == pytest.approx(max(tried))
    predicted = scores > 0.6
    found = sparse.csr_array(predicted)
    assert micro_f1(sparse_truth, found) == f1_score(truth, predicted, average="micro")
    expected = f1_score(truth, predicted, average="macro")
    assert macro_f1(sparse_truth, found) == pytest.approx(expected)


def test_accuracy_of_some_methods_is_measured_alone(tmp_path, study):
    assert run_accuracy(study("few", n_splits=1), ["sketch forest"])
    rows = ResultStore(tmp_path).frame("accuracy-5-trees")
    assert list(rows["method"]) == ["sketch forest"]
    with pytest.raises(ValueError, match=r"^methods must be some of random forest, .*'forest'"):
        run_accuracy(study("few"), ["forest"])


def test_accuracy_is_measured_for_every_forest_and_set(tmp_path, study):
    assert run_accuracy(study("few", "some"))
    rows = ResultStore(tmp_path).frame("accuracy-5-trees")
    assert rows["method"].isin(FORESTS).sum() == 2 * 2 * len(FORESTS)
    assert {*rows["method"]} >= {*FORESTS, *TUNED}
    assert {*FORESTS, *TUNED} < set(METHODS)
    assert rows["lrap"].between(0, 1, "right").all()
    page = (tmp_path / "accuracy.md").read_text()
    assert page == accuracy_page(rows, 5)
    assert "Forests of 5 trees" in page
    assert "accuracy-5-trees.csv" in page
    assert "FastXML" not in page  # its scores are of sets that are not here
    assert all(f"| {name} |" in page for name in ("few", "some"))


def test_partitions_are_measured_and_the_first_line_is_all_rows(data_home, tmp_path, study):
    assert run_partitions(study("some", n_splits=1, n_estimators=8))
    rows = ResultStore(tmp_path).frame("partitions-8-trees")
    assert len(rows) == 2 * (1 + 3 * 3)
    page = (tmp_path / "partitions.md").read_text()
    assert page == partitions_page(rows)
    assert page.count("some, sketch forest") == 3
    plain = RandomForestClassifier(
        8, random_state=share_of_part(RandomForestClassifier(8), 0, 1, 0).random_state
    )
    data = random_split(load("some", data_home), FIRST_SEED)
    plain.fit(data.X_train, data.Y_train)
    expected = lrap(data.Y_test, plain.predict_proba(data.X_test))
    assert rows["lrap"][0] == pytest.approx(expected, rel=1e-12)


def test_a_verdict_counts_differences_of_more_than_one_sd():
    values = {
        ("a", "sketch forest"): (0.8, 0.81),  # better by .1 ± 0
        ("a", "random forest"): (0.7, 0.71),
        ("b", "sketch forest"): (0.5, 0.6),  # better by .05 ± .07
        ("b", "random forest"): (0.5, 0.5),
        ("c", "sketch forest"): (0.2, 0.2),  # worse by .1 ± .01
        ("c", "random forest"): (0.29, 0.31),
    }
    rows = [
        {"dataset": name, "split": i, "method": method, "lrap": value}
        for (name, method), scores in values.items()
        for i, value in enumerate(scores)
    ]
    rows += [
        {"dataset": "d", "split": 0, "method": method, "lrap": value}
        for method, value in (("sketch forest", 0.9), ("random forest", 0.1))
    ]
    page = accuracy_page(pd.DataFrame(rows), 100)
    assert "on 1 of 3 data sets, and is beaten by as much on 1." in page
    assert "one split has no standard deviation: d." in page


def test_tuned_methods_stand_beside_the_defaults_of_the_same_splits():
    scores = {
        "sketch forest": (0.7, 0.5),
        "random forest": (0.6, 0.2),
        "tuned sketch forest": [0.8],
    }
    rows = [
        {
            "dataset": "set",
            "split": i,
            "method": method,
            "lrap": value,
            "fit_seconds": 1,
        }
        for method, values in scores.items()
        for i, value in enumerate(values)
    ]
    page = accuracy_page(pd.DataFrame(rows), 100)
    assert "| set | 2 | 0.4000 ± 0.2828 | **0.6000 ± 0.1414** |" in page
    assert "| set | 1 | 0.6000 | 0.7000 | 0.8000 |" in page
    assert "+0.1000 on average over 1 data sets, better on 1, worse on 0." in page


def test_the_picture_of_accuracy_shows_what_its_table_has():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    scores = {"sketch forest": (0.7, 0.5, 0.1), "napkinXC": (0.4, 0.2), "tuned forest": [0.9]}
    rows = [
        {"dataset": "set", "split": i, "method": method, "lrap": value, "fit_seconds": 1 + i}
        for method, values in scores.items()
        for i, value in enumerate(values)
    ]
    figure = Figure()
    draw_accuracy(pd.DataFrame(rows), figure)
    shown = {line.get_label(): line.get_xydata()[0] for line in figure.axes[0].lines}
    assert shown.keys() == {"sketch forest", "napkinXC"}
    assert shown["sketch forest"] == pytest.approx([1.5, 0.6])


def test_a_study_goes_on_where_it_stopped(data_home, tmp_path):
    measured = []

    def run(n_before_the_end):
        def measure(data):
            if len(measured) == n_before_the_end:
                raise KeyboardInterrupt
            measured.append(data.X_train.shape)
            return FitResult(0.5, 1.0)

        experiments = [
            MethodExperiment("few", split, "method", "study", FitResult, measure)
            for split in range(3)
        ]
        store = ResultStore(tmp_path)
        return run_experiments(experiments, store, Workspace(data_home), Console(quiet=True)), store

    is_complete, store = run(1)
    assert not is_complete
    assert len(store.frame("study")) == 1
    is_complete, store = run(99)
    assert is_complete
    assert len(measured) == 3
    assert (tmp_path / "study.csv").read_text().startswith("dataset,split,method,lrap,seconds\n")
    assert by_method(store.frame("study"), "lrap").loc["few", "method"].tolist() == [0.5] * 3


def test_the_study_of_components_names_the_cheapest_that_holds(tmp_path, study, monkeypatch):
    # All sets that are here are meant: those of SKETCHFOREST_DATA would be among them.
    monkeypatch.delenv("SKETCHFOREST_DATA", raising=False)
    assert run_components(study())
    page = (tmp_path / "components.md").read_text()
    assert "| few |" in page
    assert "m=32" in page
    rows = ResultStore(tmp_path).frame("components-5-trees")
    # On five labels only m=1, ln d and 4 project; on forty 64 and 128 do not.
    per_split = {"few": 2 * (1 + 3), "some": 2 * (1 + 6)}
    assert len(rows) == 2 * sum(per_split.values())


def test_the_study_of_projections_compares_kinds_on_the_same_splits(tmp_path, study):
    assert run_projections(study("few", "some"))
    rows = ResultStore(tmp_path).frame("projections-5-trees")
    # m = 10 projects forty labels and not five; 64 projects neither.
    assert len(rows) == 2 * (1 + len(PROJECTIONS)) + 2 * (1 + 2 * len(PROJECTIONS))
    page = (tmp_path / "projections.md").read_text()
    assert page == projections_page(rows, 5)
    assert "| some | 10 |" in page
    assert "| few | 10 |" not in page


def test_projections_that_are_always_above_or_below_the_gaussian_one_are_marked():
    scores = {
        "gaussian": (0.5, 0.7),
        "sparse": (0.6, 0.8),
        "pca": (0.4, 0.6),
        "subsample": (0.4, 0.8),
    }
    rows = [
        {"dataset": "set", "split": i, "method": f"{kind}-1", "lrap": value, "seconds": 1}
        for kind, values in scores.items()
        for i, value in enumerate(values)
    ]
    row = next(
        line
        for line in projections_page(pd.DataFrame(rows), 5).splitlines()
        if line.startswith("| set")
    )
    assert row == "| set | 1 | – | 0.600 | – | – | **0.700** | 0.600 | – | *0.500* |"


def test_the_page_counts_sets_within_one_sd_of_the_plain_forest():
    rows = []
    for kind in ("rf", "et"):
        for split, plain in enumerate((0.5, 0.6)):  # mean 0.55, sd 0.07
            for method, score, seconds in (("plain", plain, 4), ("1", 0.4, 1), ("16", 0.5, 2)):
                where = {"dataset": "set", "split": split, "method": f"{kind}-{method}"}
                rows.append({**where, "lrap": score, "seconds": seconds})
    page = components_page(pd.DataFrame(rows), 100)
    assert "Forests of 100 trees" in page
    assert "means over 2 random splits" in page
    assert "n_components=16." in page
    assert "| 1 | 0% | 0% | 0.25 of the original's |" in page
    assert "| 16 | 100% | 100% | 0.50 of the original's |" in page


def test_the_study_of_tuning_compares_scores_and_times(tmp_path, study, monkeypatch):
    monkeypatch.setattr(predicted_scores, "N_PREDICTED", 40)
    assert run_tuning(study("some", n_estimators=20), ["some"])
    page = (tmp_path / "tuning.md").read_text()
    assert "of 1 sets" in page
    assert "## Training rows of each extra-tree" in page
    assert "Forests of 20 trees, means over 2 random splits" in page
    tried = ResultStore(tmp_path).frame("tuning-20-trees")["setting"].dropna()
    assert len(tried) == 2
    assert not tried.str.contains("sketch").any()
    assert "of 4." in page


def test_tune_writes_the_model_its_trials_and_pictures(data_home, tmp_path):
    arguments = ["tune", f"{data_home}/some.npz", "--budget", "120 trees", "--n-estimators", "25"]
    options = ["--n-jobs", "1", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments + options)
    assert result.exit_code == 0
    said = json.loads(result.stdout)
    assert said["winner"]["is_winner"]
    assert said["n_trees_grown"] <= 120
    names = {path.name for path in tmp_path.iterdir()}
    pictures = {f"{name}.{kind}" for name in ("cost", "components") for kind in ("png", "svg")}
    assert names == {"model.sf", "trials.csv", *pictures}
    data = random_split(make_multilabel(9, 20, 40, labels_per_row=2, features_per_row=6), 0)
    forest = load_forest(tmp_path / "model.sf")
    assert 0 < lrap(data.Y_train, forest.predict_proba(data.X_train)) <= 1


def test_tune_says_its_advice_and_the_score_on_test_rows(data_home):
    arguments = ["tune", "some", "--data-home", data_home, "--budget", "90 trees"]
    result = CliRunner().invoke(app, [*arguments, "--n-estimators", "25", "--n-jobs", "1"])
    assert result.exit_code == 0
    assert "Use " in result.output
    assert "lrap on the test rows: 0." in result.output


def test_embeddings_are_measured_for_every_method(tmp_path, study):
    assert run_embeddings(study("some", n_splits=1))
    rows = ResultStore(tmp_path).frame("embeddings-5-trees")
    assert rows["method"].tolist() == list(EMBEDDING_METHODS)
    assert rows["lrap"].between(0.2, 1).all()
    page = (tmp_path / "embeddings.md").read_text()
    assert page == embeddings_page(rows)
    best = rows["lrap"].max()
    assert f"**{best:.3f}**" in page


def test_texts_are_embedded_as_unit_rows_of_few_dimensions(data_home):
    data = random_split(load("some", data_home), FIRST_SEED)
    found = embedded(data)
    assert found.X_train.shape == (100, 19)  # fewer than features
    assert np.linalg.norm(found.X_test, axis=1) == pytest.approx(1, rel=1e-5)
    assert embedded(found) is found  # dense features stay


@pytest.fixture
def regression_home(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "regression").mkdir()
    for name in ("first", "second"):
        X = rng.normal(size=(60, 5))
        np.savez(tmp_path / "regression" / f"{name}.npz", X=X, Y=X[:, :2] + X[:, 2:4] ** 2)
    return tmp_path


def test_regressors_are_cross_validated_on_every_set_in_the_folder(regression_home, tmp_path):
    out = tmp_path / "out"
    quiet = Console(quiet=True)
    assert run_regression(out, str(regression_home), 1, n_estimators=5, console=quiet)
    rows = ResultStore(out).frame("regression-5-trees")
    assert len(rows) == 2 * len(regressors(5))
    assert rows["arrmse"].between(0.1, 1.2).all()
    page = (out / "regression.md").read_text()
    assert page == regression_page(rows, 5)
    assert "| first |" in page


def test_arrmse_is_relative_to_the_mean_and_averages_outputs():
    Y = np.array([[0.0, 0.0], [2.0, 4.0]])
    assert arrmse(Y, np.full((2, 2), 1.0), np.ones((2, 2))) == 1
    assert arrmse(Y, Y, np.ones((2, 2))) == 0
    assert arrmse(Y, Y + np.array([1.0, 0.0]), np.ones((2, 2))) == 0.5


def test_a_folder_without_regression_sets_is_refused(tmp_path):
    with pytest.raises(ValueError, match="data_home must have a folder regression"):
        run_regression(tmp_path / "out", str(tmp_path))
