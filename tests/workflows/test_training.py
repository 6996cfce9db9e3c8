"""Training on files: what a model stores about its training rows."""

import csv
import json

import pytest
from typer.testing import CliRunner

from sketchforest import load_forest
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
    outcome = train_file(file, tmp_path / "model.sf", columns=COLUMNS, params=params, **options)
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
