"""Every command on a small file of every format: what is trained is what predicts."""

import csv
import io
import json
import os

import numpy as np
import pytest
from data_files import DATA, FILES, LABELS, NAMED, QUICK, TAGS, label_columns_file
from scipy import sparse

from sketchforest import RandomForestClassifier, load_forest
from sketchforest.datasets import Dataset, read, write, write_table


@pytest.mark.parametrize("kind", FILES)
def test_every_command_reads_every_format(kind, command, tmp_path):
    make, options = FILES[kind]
    file, model = make(tmp_path), tmp_path / "model.sf"

    code, out, err = command("train", file, "--out", model, *options, *QUICK)
    assert (code, err) == (0, "") or "OOB scores" in err
    assert "5 trees on 60 rows" in out

    code, out, _ = command("info", model, "--json")
    about = json.loads(out)
    assert code == 0
    assert about["training_rows"] == 60
    assert about["features"] == 12
    assert len(about["label_names"]) == about["labels"] == (5 if kind == "clus" else 8)
    assert len(about["important_features"]) == 10

    code, out, _ = command("predict", model, file, "--top", 3)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert len(rows) == 60
    forest = load_forest(model)
    first = rows[0]["labels"].split(";")
    assert set(first) <= set(about["label_names"])

    _, lines, _ = command("predict", model, file, "--top", 3, "--output", "jsonl")
    assert json.loads(lines.splitlines()[0])["labels"] == first
    _, sparse_lines, _ = command("predict", model, file, "--top", 3, "--output", "sparse")
    best = int(sparse_lines.splitlines()[0].split(":")[0])
    assert about["label_names"][best] == first[0]
    if kind != "clus":  # whose features are others
        labels, scores = forest.predict_topk(DATA.X, 3)
        expected = [about["label_names"][label] for label in labels[0][scores[0] > 0]]
        assert first == expected

    code, out, _ = command("evaluate", model, file, "--include-training-rows", "--json")
    scores = json.loads(out)
    assert code == 0
    assert scores["rows"] == 60
    assert scores["lrap"] > 0.6
    assert scores["unknown_labels"] == 0

    code, out, _ = command("explain", model, file, "--row", 3, "--json")
    explained = json.loads(out)
    assert code == 0
    assert explained["row"] == 3
    assert len(explained["labels"]) == 3
    assert explained["training_rows"][0]["weight"] > 0


@pytest.mark.parametrize("target", ["copy.npz", "copy.arff", "copy.txt", "copy.svm.gz", "copy.csv"])
@pytest.mark.parametrize("kind", ["csv", "label columns", "mulan", "xc", "npz"])
def test_conversion_keeps_features_and_labels(kind, target, command, tmp_path):
    make, options = FILES[kind]
    code, out, err = command("convert", make(tmp_path), tmp_path / target, *options)
    assert (code, err) == (0, "")
    assert "60 rows, 12 features, 8 labels" in out
    if target == "copy.csv":
        command("convert", tmp_path / target, tmp_path / "back.npz", *TAGS)
        target = "back.npz"
    copy = read(tmp_path / target)
    assert np.allclose(copy.X.toarray(), DATA.X.toarray())
    names = NAMED.label_names.tolist()
    order = list(range(8))
    if copy.label_names is not None and copy.label_names[0].startswith("tag"):
        order = [names.index(name) for name in copy.label_names]
    assert np.array_equal(copy.Y.toarray(), DATA.Y.toarray()[:, order])


def test_labels_are_matched_by_name_and_unknown_labels_are_ignored(command, tmp_path):
    write_table(NAMED, tmp_path / "train.csv")
    keep = [5, 2, 7]
    other = Dataset("test", DATA.X, DATA.Y[:, keep], NAMED.feature_names, NAMED.label_names[keep])
    text = tmp_path / "test.csv"
    write_table(other, text)
    text.write_text(text.read_text().replace("tag 7", "never seen"))
    model = tmp_path / "model.sf"
    command("train", tmp_path / "train.csv", "--out", model, *TAGS, *QUICK)
    options = ("--include-training-rows", "--json", "--labels-out", tmp_path / "labels.csv")
    code, out, _ = command("evaluate", model, text, *options)
    assert code == 0
    assert json.loads(out)["unknown_labels"] == 1
    table = list(csv.DictReader((tmp_path / "labels.csv").open()))
    n_true = {row["label"]: int(row["true"]) for row in table}
    assert n_true["tag 5"] == DATA.Y[:, [5]].sum()
    assert n_true["tag 2"] == DATA.Y[:, [2]].sum()
    assert n_true["tag 7"] == n_true["tag 0"] == 0


def test_columns_may_be_in_any_order_with_extra_columns(command, tmp_path):
    write_table(NAMED, tmp_path / "train.csv")
    model = tmp_path / "model.sf"
    command("train", tmp_path / "train.csv", "--out", model, *TAGS, *QUICK)
    header, *rows = list(csv.reader((tmp_path / "train.csv").open()))
    with (tmp_path / "turned.csv").open("w", newline="") as file:
        turned = [[*row[::-1], "a name"] for row in (header, *rows)]
        turned[0][-1] = "who"
        csv.writer(file).writerows(turned)
    expected = command("predict", model, tmp_path / "train.csv")[1]
    assert command("predict", model, tmp_path / "turned.csv")[1] == expected


def test_standard_input_is_read_like_a_file(command, tmp_path):
    for name, options in (("data.csv", TAGS), ("data.svm", ())):
        file, model = tmp_path / name, tmp_path / "model.sf"
        (write_table if options else write)(NAMED, file)
        command("train", file, "--out", model, *options, *QUICK)
        expected = command("predict", model, file, "--top", 2)
        assert command("predict", model, "-", "--top", 2, stdin=file.read_text()) == expected


def test_predictions_do_not_depend_on_the_block_size(command, tmp_path, monkeypatch):
    write(NAMED, tmp_path / "data.svm")
    model = tmp_path / "model.sf"
    command("train", tmp_path / "data.svm", "--out", model, *QUICK)
    for file in ("data.svm", "data.txt", "data.csv", "data.npz"):
        (write_table if file.endswith("csv") else write)(DATA, tmp_path / file)
        whole = command("predict", model, tmp_path / file, "--ignore-columns", "tags")
        monkeypatch.setattr("sketchforest._workflows.model_input.BLOCK_ROWS", 7)
        assert command("predict", model, tmp_path / file, "--ignore-columns", "tags") == whole
        assert whole[0] == 0
        assert len(whole[1].splitlines()) == 61
        monkeypatch.undo()


def test_predictions_without_top_are_those_above_the_threshold(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    model = tmp_path / "model.sf"
    options = ("--threshold", "f1-per-label", "--n-estimators", "30")
    command("train", tmp_path / "data.npz", "--out", model, *options)
    _, out, _ = command("predict", model, tmp_path / "data.npz", "--json")
    forest = load_forest(model)
    expected = forest.predict(DATA.X).toarray()
    for row, line in enumerate(out.splitlines()):
        labels, scores = json.loads(line).values()
        assert set(labels) == set(NAMED.label_names[expected[row] > 0])
        assert scores == sorted(scores, reverse=True)


def test_a_regressor_is_trained_and_scored(command, tmp_path):
    file, model = label_columns_file(tmp_path), tmp_path / "model.sf"
    options = ("--estimator", "random-forest-regressor", *LABELS, *QUICK)
    code, _, _ = command("train", file, "--out", model, *options)
    assert code == 0
    _, out, _ = command("predict", model, file)
    header, *rows = csv.reader(io.StringIO(out))
    assert header == NAMED.label_names.tolist()
    assert np.allclose(np.array(rows, float), load_forest(model).predict(DATA.X).toarray())
    _, out, _ = command("evaluate", model, file, "--include-training-rows", "--json")
    assert json.loads(out)["r2"] > 0
    for output in ("jsonl", "sparse"):
        _, out, _ = command("predict", model, file, "--output", output)
        assert len(out.splitlines()) == 60


def test_a_holdout_a_test_file_and_a_split_test_the_model(command, tmp_path):
    write(NAMED, tmp_path / "data.arff")
    split = {"train": np.arange(40), "test": np.arange(40, 60)}
    write(Dataset("data", DATA.X, DATA.Y, splits=split), tmp_path / "data.npz")
    write(
        Dataset("other", 2 * DATA.X, NAMED.Y, NAMED.feature_names, NAMED.label_names),
        tmp_path / "other.arff",
    )
    model = tmp_path / "model.sf"
    for arguments, n_train, n_test in (
        (("data.arff", "--holdout", "0.25"), 45, 15),
        (("data.arff", "--test", tmp_path / "other.arff"), 60, 60),
        (("data.npz",), 40, 20),
    ):
        file, *more = arguments
        code, out, _ = command("train", tmp_path / file, "--out", model, *more, *QUICK, "--json")
        outcome = json.loads(out)
        assert code == 0
        assert (outcome["training_rows"], outcome["test"]["rows"]) == (n_train, n_test)
        assert load_forest(model).notes_["test"] == outcome["test"]


def test_a_compact_model_has_no_importances(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    model = tmp_path / "model.sf"
    command("train", tmp_path / "data.npz", "--out", model, "--compact", *QUICK)
    code, out, _ = command("info", model)
    assert code == 0
    assert "No feature importances" in out


def test_tables_and_pictures_for_people(command, tmp_path):
    pytest.importorskip("matplotlib")
    write(NAMED, tmp_path / "data.npz")
    model, picture = tmp_path / "model.sf", tmp_path / "picture.png"
    _, out, _ = command("train", tmp_path / "data.npz", "--out", model, "--holdout", 0.2, *QUICK)
    assert "LRAP" in out
    _, out, _ = command("evaluate", model, tmp_path / "data.npz", "--picture", picture)
    assert all(name in out for name in ("LRAP", "nDCG@3", "PSP@5", "coverage error", "tag 0"))
    assert picture.read_bytes().startswith(b"\x89PNG")
    _, out, _ = command("info", model)
    assert "SketchForestClassifier" in out
    assert "test LRAP" in out
    _, out, _ = command("explain", model, tmp_path / "data.npz", "--row", 1, "--top", 1)
    assert "contribution" in out
    assert "weight" in out


def test_other_columns_of_a_test_table_are_not_read(command, tmp_path):
    write_table(NAMED, tmp_path / "train.csv")
    model = tmp_path / "model.sf"
    command("train", tmp_path / "train.csv", "--out", model, *TAGS, *QUICK)
    lines = (tmp_path / "train.csv").read_text().splitlines()
    (tmp_path / "test.csv").write_text(
        "\n".join(["who," + lines[0], *("x," + n for n in lines[1:])])
    )
    expected = command("evaluate", model, tmp_path / "train.csv")
    assert expected[0] == 0
    _, out, _ = command("evaluate", model, tmp_path / "test.csv")
    assert expected[1].endswith(out)  # after the sentence that these are training rows


def test_writing_to_a_device_creates_no_other_file(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    pipe = tmp_path / "device"
    pipe.symlink_to(os.devnull)
    assert command("train", tmp_path / "data.npz", "--out", pipe, *QUICK)[0] == 0
    assert pipe.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.npz", "device"]


def test_info_shows_resolved_auto_values_and_the_out_of_bag_score(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    model = tmp_path / "model.sf"
    auto = ("--forest", "random-forest", "--max-features", "auto", *QUICK)
    auto = (*auto, "--oob-score", "precision_at_1")
    code, out, err = command("train", tmp_path / "data.npz", "--out", model, *auto)
    assert code == 0, err
    assert "Out-of-bag P@1: 0." in out
    chosen = load_forest(model).max_features_
    assert f"chosen for 'auto': max_features={chosen}" in command("info", model)[1]
    assert json.loads(command("info", model, "--json")[1])["chosen"] == {"max_features": chosen}


def test_a_missing_value_is_null_in_json(command, tmp_path):
    text = "x,y,tags\n" + "1,2,a\n,3,b\n4,,a\n" * 6
    (tmp_path / "data.csv").write_text(text)
    model = tmp_path / "model.sf"
    command(
        "train", tmp_path / "data.csv", "--out", model, *TAGS, *QUICK, "--forest", "random-forest"
    )
    code, out, _ = command("explain", model, tmp_path / "data.csv", "--row", 1, "--json")
    assert code == 0
    assert "NaN" not in out
    assert "null" in out


def test_progress_display_does_not_change_the_model(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    model = tmp_path / "model.sf"
    code, _, _ = command("train", tmp_path / "data.npz", "--out", model, *QUICK)
    assert code == 0
    assert load_forest(model).verbose == 0


def test_a_model_fitted_on_data_frames_reads_columns_by_name(command, tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(DATA.X.toarray(), columns=NAMED.feature_names)
    Y = pandas.DataFrame(DATA.Y.toarray(), columns=NAMED.label_names)
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    model, file = tmp_path / "model.sf", tmp_path / "data.csv"
    forest.save(model)
    X[X.columns[::-1]].to_csv(file, index=False)
    code, out, err = command("predict", model, file, "--top", 1, "--output", "sparse")
    assert (code, err) == (0, "")
    labels, _ = forest.predict_topk(X, 1)
    assert [int(line.split(":")[0]) for line in out.splitlines()] == labels.ravel().tolist()
    _, out, _ = command("info", model, "--json")
    assert json.loads(out)["label_names"] == NAMED.label_names.tolist()


def test_evaluating_a_model_saved_in_python_requires_label_columns(command, tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer

    from sketchforest import RandomForestClassifier, RandomForestRegressor

    file, texts = tmp_path / "data.csv", ["red fox", "blue cat"] * 10
    file.write_text("text,x,tags\n" + "".join(f"{t},{i},{t[:3]}\n" for i, t in enumerate(texts)))
    vectorizer = TfidfVectorizer()
    words = RandomForestClassifier(5, random_state=0)
    words.fit(vectorizer.fit_transform(texts), [[1, 0], [0, 1]] * 10)
    words.save(tmp_path / "words.sf", vectorizer=vectorizer, label_names=["red", "blu"])
    numbers = RandomForestRegressor(5, random_state=0).fit([[i] for i in range(20)], range(20))
    numbers.save(tmp_path / "numbers.sf", feature_names=["x"], label_names=["y"])
    for model, given, reason in (
        ("words", ("--tags-column", "tags"), "the model needs text; name the text columns in"),
        ("words", ("--text-column", "text"), "name the tags in --tags-column"),
        ("numbers", (), "name the columns of the outputs, y, in --label-columns"),
    ):
        code, _, err = command("evaluate", tmp_path / f"{model}.sf", file, *given)
        assert code == 1
        assert f"data.csv: {reason}" in err
    named = ("--text-column", "text", "--tags-column", "tags")
    assert command("evaluate", tmp_path / "words.sf", file, *named)[0] == 0


def test_an_unusable_model_is_reported_before_any_output(command, tmp_path):
    from sketchforest import RandomForestClassifier

    forest = RandomForestClassifier(3, random_state=0).fit(NAMED.X, NAMED.Y)
    forest.save(tmp_path / "model.sf")
    write(NAMED, tmp_path / "data.npz")
    told = ("--threshold", "f1")  # which was not chosen in training
    code, out, err = command("predict", tmp_path / "model.sf", tmp_path / "data.npz", *told)
    assert (code, out) == (2, "")
    assert "threshold" in err


def test_a_multiclass_model_saved_in_python_works_in_every_command(command, tmp_path):
    classes = np.array(["oak", "ash", "yew"])[np.arange(60) % 3]
    forest = RandomForestClassifier(15, random_state=0, oob_score=True).fit(DATA.X, classes)
    model, file = tmp_path / "model.sf", tmp_path / "data.csv"
    forest.save(model)
    truth = sparse.csr_array(np.eye(3, dtype=int)[np.arange(60) % 3])
    names = np.array(["oak", "ash", "yew"])
    write_table(Dataset("data", DATA.X, truth, NAMED.feature_names, names), file)
    code, out, err = command("predict", model, file, "--ignore-columns", "tags")
    assert (code, err) == (0, "")
    expected = forest.predict(DATA.X)
    assert [row["labels"] for row in csv.DictReader(io.StringIO(out))] == expected.tolist()
    options = ("--tags-column", "tags", "--include-training-rows", "--json")
    code, out, _ = command("evaluate", model, file, *options)
    assert code == 0
    assert json.loads(out)["micro_f1"] == pytest.approx((expected == classes).mean())
    code, out, _ = command("explain", model, file, "--ignore-columns", "tags", "--json", "--top", 1)
    assert json.loads(out)["labels"][0]["label"] == "oak"
    assert command("info", model)[0] == 0
