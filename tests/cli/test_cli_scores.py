"""What a model is said to be worth: predicted for the whole forest, and not on rows it has seen."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from sketchforest import load_forest
from sketchforest.datasets import Dataset, make_multilabel, read, write

TREES = ("--forest", "random-forest", "--n-estimators", "60", "--n-jobs", "1")


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    """Two files of rows of one kind."""
    data = make_multilabel(1200, 40, 30, labels_per_row=3, features_per_row=6, random_state=3)
    folder = tmp_path_factory.mktemp("halves")
    for name, rows in (("train", slice(0, 600)), ("test", slice(600, 1200))):
        write(Dataset(name, data.X[rows], data.Y[rows]), folder / f"{name}.npz")
    return folder


def test_train_predicts_the_score_of_the_whole_forest(command, halves, tmp_path):
    model = tmp_path / "model.sf"
    usual = ("--oob-score", "lrap")
    _, out, _ = command("train", halves / "train.npz", "-o", model, *TREES, *usual, "--json")
    about = json.loads(out)
    predicted = about["oob_predicted"]
    _, out, _ = command("evaluate", model, halves / "test.npz", "--json")
    on_test = json.loads(out)["lrap"]
    # Nearer to the truth than the score of the third of the trees that did not see a row.
    assert about["oob_score"] < predicted["score"]
    assert abs(on_test - predicted["score"]) < abs(on_test - about["oob_score"])
    assert abs(on_test - predicted["score"]) < 3 * predicted["standard_error"]
    assert load_forest(model).notes_["out_of_bag"] == predicted
    _, out, _ = command("train", halves / "train.npz", "-o", model, *TREES)
    said = " ".join(out.split())
    score = re.search(r"Expected LRAP on new rows \(out-of-bag\): (\d.\d+)", said)
    assert float(score[1]) == pytest.approx(predicted["score"], abs=1e-4)
    assert "expected LRAP" in command("info", model)[1]


def test_the_default_forest_predicts_its_score(command, halves, tmp_path):
    model = tmp_path / "model.sf"
    _, out, _ = command("train", halves / "train.npz", "-o", model, "--n-jobs", 1, "--json")
    predicted = json.loads(out)["oob_predicted"]
    _, out, _ = command("evaluate", model, halves / "test.npz", "--json")
    assert abs(json.loads(out)["lrap"] - predicted["score"]) < 3 * predicted["standard_error"]


@pytest.mark.parametrize(
    ("bootstrap", "said"), [("true", "(out-of-bag)"), ("false", "rows held out)")]
)
def test_info_names_the_rows_behind_the_expected_score(bootstrap, said, command, halves, tmp_path):
    model = tmp_path / "model.sf"
    more = ("--n-jobs", 1, "--bootstrap", bootstrap)
    command("train", halves / "train.npz", "-o", model, *more)
    [line] = [s for s in command("info", model)[1].splitlines() if "expected LRAP" in s]
    assert said in line
    assert "…" not in line


def test_nodes_are_counted_as_scikit_learn_counts_them(command, halves, tmp_path):
    model = tmp_path / "model.sf"
    command("train", halves / "train.npz", "-o", model, *TREES)
    expected = sum(tree.tree_.node_count for tree in load_forest(model).estimators_)
    assert json.loads(command("info", model, "--json")[1])["nodes"] == expected


def test_oob_score_selects_the_predicted_metric(command, halves, tmp_path):
    more = (*TREES, "--oob-score", "precision_at_1", "--json")
    _, out, _ = command("train", halves / "train.npz", "-o", tmp_path / "model.sf", *more)
    assert json.loads(out)["oob_predicted"]["metric"] == "precision_at_1"


def test_no_score_is_predicted_if_trees_see_all_rows(command, halves, tmp_path):
    more = ("--forest", "extra-trees", "--n-estimators", 5, "--threshold", 0.5, "--json")
    _, out, _ = command("train", halves / "train.npz", "-o", tmp_path / "model.sf", *more)
    assert json.loads(out)["oob_predicted"] is None


@pytest.mark.parametrize("forest", ["sketch", "random-forest"])
def test_the_headline_of_the_whole_file_is_that_of_the_held_out_rows(forest, command, tmp_path):
    model, file, again = (tmp_path / name for name in ("model.sf", "all.npz", "again.txt"))
    X = sparse.csr_array(np.random.default_rng(0).random((600, 6)))
    write(Dataset("all", X, sparse.csr_array((X.toarray() > 0.7).astype(np.uint8))), file)
    options = ("--forest", forest, "--n-estimators", 20, "--n-jobs", 1, "--holdout", 0.25)
    _, out, _ = command("train", file, "-o", model, *options, "--json")
    held_out = json.loads(out)["test"]
    write(read(file), again)  # the same rows in another file
    for name in (file, again):
        for more in (("evaluate",), ("report", "-o", tmp_path / "report.html")):
            _, out, _ = command(more[0], model, name, *more[1:], "--json")
            found = json.loads(out)
            assert {k: found[k] for k in held_out} == pytest.approx(held_out)
            assert found["basis"] == "held-out rows"
    _, out, _ = command("evaluate", model, file)
    said = "Scored on 150 held-out rows, without the 450 training rows."
    assert said in " ".join(out.split())


def test_a_file_of_training_rows_is_scored_out_of_bag(command, halves, tmp_path):
    model, copy = tmp_path / "model.sf", tmp_path / "copy.npz"
    _, out, _ = command(
        "train", halves / "train.npz", "-o", model, *TREES, "--oob-score", "lrap", "--json"
    )
    about = json.loads(out)
    copy.write_bytes((halves / "train.npz").read_bytes())
    for file in (halves / "train.npz", copy):
        _, out, _ = command("evaluate", model, file, "--json")
        found = json.loads(out)
        assert (found["basis"], found["rows_trained_on"]) == ("out-of-bag", 600)
        assert found["lrap"] == pytest.approx(about["oob_score"])
    command("report", model, file, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "evaluated out-of-bag on 600 rows of copy.npz" in page
    assert f'<span>LRAP, out-of-bag</span> <span class="value">{found["lrap"]:.4f}<' in page
    _, out, _ = command("evaluate", model, file, "--include-training-rows")
    assert "Training rows included: the model was trained on 600 of 600" in " ".join(out.split())
    command("report", model, file, "-o", tmp_path / "report.html", "--include-training-rows")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "evaluated on 600 rows, training rows included" in page
    assert "<span>LRAP, training rows included</span>" in page
    _, out, _ = command("evaluate", model, halves / "test.npz", "--json")
    assert (json.loads(out)["basis"], json.loads(out)["rows_trained_on"]) == ("new rows", 0)


def test_no_score_of_rows_that_every_tree_saw_is_reported(command, halves, tmp_path):
    model = tmp_path / "model.sf"
    more = ("--forest", "extra-trees", "--n-estimators", 5, "--n-jobs", 1)
    command("train", halves / "train.npz", "-o", model, *more)
    for name in ("evaluate", "report"):
        code, _, err = command(name, model, halves / "train.npz")
        assert code == 2
        said = " ".join(err.replace("│", " ").split())
        assert "--include-training-rows: must be True for rows that all trees" in said


# ---- which labels are predicted


def test_a_threshold_is_chosen_when_labels_are_predicted(command, halves, tmp_path):
    model = tmp_path / "model.sf"
    command("train", halves / "train.npz", "-o", model, "--n-estimators", 40, "--n-jobs", 1)
    forest, X = load_forest(model), read(halves / "test.npz").X
    scores = {}
    for threshold in ("0.2", "f1", "f1-per-label", "top-3"):
        chosen = float(threshold) if threshold == "0.2" else threshold
        expected = forest.set_params(threshold=chosen).predict(X)
        more = ("--threshold", threshold)
        code, out, err = command("predict", model, halves / "test.npz", *more, "--json")
        assert code == 0, err
        found = [json.loads(line)["labels"] for line in out.splitlines()]
        assert [len(labels) for labels in found] == expected.sum(axis=1).tolist()
        _, out, _ = command("evaluate", model, halves / "test.npz", *more, "--json")
        scores[threshold] = json.loads(out)["micro_f1"]
    # Without one, it is the one of the training.
    _, out, _ = command("evaluate", model, halves / "test.npz", "--json")
    assert json.loads(out)["micro_f1"] == scores["f1"]
    assert len(set(scores.values())) == 4


def test_a_random_forest_supports_f1_thresholds_after_training(command, halves, tmp_path):
    model = tmp_path / "model.sf"
    command("train", halves / "train.npz", "-o", model, *TREES)
    for threshold in ("f1", "f1-per-label"):
        assert command("predict", model, halves / "test.npz", "--threshold", threshold)[0] == 0


@pytest.mark.parametrize("threshold", ["1.5", "often", "top-0"])
def test_an_invalid_threshold_names_the_option(threshold, command, halves, tmp_path):
    model = tmp_path / "model.sf"
    command("train", halves / "train.npz", "-o", model, "--n-estimators", 5)
    code, _, err = command("predict", model, halves / "test.npz", "--threshold", threshold)
    assert code == 2
    assert "Invalid value for --threshold: must be a number in [0, 1]" in err.replace("│", "")
    more = ("--threshold", "0.1", "--top", 3)
    assert command("predict", model, halves / "test.npz", *more)[0] == 2
