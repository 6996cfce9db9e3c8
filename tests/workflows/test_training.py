"""From files to models: what a model knows of the rows that it was trained on."""

import csv

import pytest

from sketchforest import load_forest
from sketchforest._workflows.training import train_file
from sketchforest.datasets.table import Columns

COLUMNS = Columns(text="text", tags="tags")


@pytest.fixture
def file(tmp_path):
    """60 texts, each of which has a word of its own and its number as a tag."""
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


def test_after_a_holdout_rows_have_their_numbers_in_the_file(file, tmp_path):
    for model in train(file, tmp_path, holdout=0.5):
        assert len(model.row_numbers_) == 30
        rows, _ = model.similar(["word3 odd common"], k=30)
        assert sorted(rows[0]) == sorted(model.row_numbers_)
        found = model.explain(["odd common"])
        for row, labels in zip(found.rows, found.row_labels, strict=True):
            assert f"tag{row}" in labels  # the tag that the file has in this row


def test_without_a_holdout_rows_are_counted_as_they_are(file, tmp_path):
    for model in train(file, tmp_path):
        assert not hasattr(model, "row_numbers_")
        found = model.explain(["odd common"])
        assert all(
            f"tag{row}" in labels for row, labels in zip(found.rows, found.row_labels, strict=True)
        )
