"""Training on files: what a model stores about its training rows."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from sketchforest import SketchForestClassifier, Tagger, load_forest
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import train_file
from sketchforest.cli import app
from sketchforest.datasets.table import Columns

COLUMNS = Columns(text="text", tags="tags")


@pytest.fixture
def file(tmp_path):
    """Write 60 texts, each with a unique word and a unique tag."""
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "tags"])
        for row in range(60):
            kind = "even" if row % 2 == 0 else "odd"
            writer.writerow([f"word{row} word{row} {kind} common", f"tag{row};{kind}"])
    return path


def train(file, tmp_path, **options):
    params = {"n_estimators": 10, "random_state": 0}
    outcome = train_file(
        DataFile(file, columns=COLUMNS), tmp_path / "model.sf", params=params, **options
    )
    return outcome.model, load_forest(tmp_path / "model.sf")


def test_after_a_holdout_rows_keep_their_file_numbers(file, tmp_path):
    for model in train(file, tmp_path, holdout=0.5):
        assert len(model.row_numbers_) == 30
        rows, _ = model.similar(["word3 odd common"], k=30)
        assert sorted(rows[0]) == sorted(model.row_numbers_)
        found = model.explain(["odd common"])
        for row, labels in zip(found.rows, found.row_labels, strict=True):
            assert f"tag{row}" in labels  # the tag of this row in the file


def test_without_a_holdout_rows_are_numbered_from_zero(file, tmp_path):
    for model in train(file, tmp_path):
        assert not hasattr(model, "row_numbers_")
        found = model.explain(["odd common"])
        assert all(
            f"tag{row}" in labels for row, labels in zip(found.rows, found.row_labels, strict=True)
        )


def test_the_command_explains_unpredicted_labels_by_file_rows(file, tmp_path):
    train(file, tmp_path, holdout=0.5)
    runner = CliRunner()
    words = ["explain", str(tmp_path / "model.sf"), str(file), "--row", "3", "--label", "even"]
    content = json.loads(runner.invoke(app, [*words, "--json"]).stdout)
    (label,) = content["labels"]
    assert label["label"] == "even"
    added = sum(feature["adds"] for feature in label["features"])
    assert label["base"] + added == pytest.approx(label["score"])
    for row in content["training_rows"]:
        assert f"tag{row['row']}" in row["labels"]
    assert "even" in runner.invoke(app, words).stdout


def test_the_command_and_a_tagger_in_python_fit_the_same_model(file, tmp_path):
    params = {"n_estimators": 5, "random_state": 0, "oob_score": True}
    settings = Tagger(ngram_range=(1, 2), min_label_count=2, keep_texts=True)
    source = DataFile(file, columns=COLUMNS)
    train_file(source, tmp_path / "model.sf", tagger=settings, params=params)
    of_command = load_forest(tmp_path / "model.sf")
    with file.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    texts, tags = [row["text"] for row in rows], [row["tags"] for row in rows]
    settings.set_params(estimator=SketchForestClassifier(**params), tag_separator=";")
    of_python = settings.fit(texts, tags)
    assert of_command.label_names_.tolist() == of_python.label_names_.tolist() == ["even", "odd"]
    np.testing.assert_array_equal(of_command.predict_proba(texts), of_python.predict_proba(texts))
    assert list(of_command.row_texts_) == texts
    assert of_command.get_params()["ngram_range"] == (1, 2)


def test_files_are_read_in_the_encoding_of_the_training_file(command, file, tmp_path):
    model = tmp_path / "model.sf"
    file.write_text(file.read_text().replace("common", "caf\xe9"), encoding="latin-1")
    columns = ("--text-column", "text", "--tags-column", "tags", "--random-state", 0)
    assert command("train", file, *columns, "--encoding", "latin-1", "--out", model)[0] == 0
    assert "caf\xe9" in load_forest(model).feature_names_
    expected = command("predict", model, file, "--top", 1)
    assert expected[0] == 0
    content = file.read_text(encoding="latin-1")
    assert command("predict", model, "-", "--top", 1, stdin=content) == expected  # in UTF-8
    file.write_text(content, encoding="utf-8")
    assert command("predict", model, file, "--top", 1) == expected


def test_lower_case_merges_tags_in_training_and_in_evaluation(command, file, tmp_path):
    model = tmp_path / "model.sf"
    file.write_text(file.read_text().replace(";even", ";Even;EVEN"))
    columns = ("--text-column", "text", "--tags-column", "tags", "--random-state", 0)
    command("train", file, *columns, "--lowercase-tags", "--min-label-count", 2, "--out", model)
    assert load_forest(model).label_names_.tolist() == ["even", "odd"]
    code, out, _ = command("evaluate", model, file, "--json")
    assert (code, json.loads(out)["unknown_labels"]) == (0, 60)  # only those of a single row


def test_a_holdout_counts_the_labels_that_were_left_out_as_evaluate_does(command, file, tmp_path):
    model = tmp_path / "model.sf"
    columns = ("--text-column", "text", "--tags-column", "tags", "--random-state", 0)
    options = (*columns, "--min-label-count", 2, "--holdout", 0.5, "--out", model)
    _, trained, _ = command("train", file, *options)
    _, evaluated, _ = command("evaluate", model, file)
    said = "Ignored 60 labels that the model does not know."
    assert said in trained
    assert said in evaluated
