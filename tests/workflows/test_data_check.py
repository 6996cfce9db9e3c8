"""The data check of `train`: what may be wrong with rows, texts and tags, and how to fix it."""

import csv
import json

import pytest

from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.training import read_training_file
from sketchforest.datasets import Columns

COLUMNS = Columns(text="text", tags="tags")
GOOD = [("one text", "a;b"), ("two texts", "a;b"), ("three texts", "a;b")]


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "tags"), *rows])
    return path


def findings(tmp_path, *rows):
    path = write(tmp_path / "t.csv", [*GOOD, *rows])
    check = read_training_file(DataFile(path, None, COLUMNS)).check
    assert check.n_rows == 3 + len(rows)
    return {found.what: (found.n, found.example) for found in check.findings}


def test_good_data_have_no_findings(tmp_path):
    assert findings(tmp_path) == {}


@pytest.mark.parametrize(
    ("rows", "what", "n", "example"),
    [
        ([("x", ""), ("y", "NaN"), ("z", "none")], "rows without labels", 3, "row 3"),
        ([("one text", "a"), ("one text ", "b")], "repeated rows", 2, "row 3 repeats row 0"),
        ([("", "a"), (" ", "b")], "empty texts", 2, "row 3"),
        (
            [("x", "A;B"), ("y", "A;B")],
            "labels that differ only in case or spacing",
            4,
            "'A' and 'a'",
        ),
        (
            [("x", "web-app;web app"), ("y", "web-app;web app")],
            "labels that differ only in case or spacing",
            2,
            "'web app' and 'web-app'",
        ),
        ([("x", '["c"x;c'), ("y", '["c"x;c')], "labels that look like parts of lists", 1, '["c"x'),
        ([("x", "a;none"), ("y", "b;none")], "labels that mean a missing value", 1, "'none'"),
        ([("x", "a,b"), ("y", "a,b")], "labels that consist of other labels", 1, "'a,b'"),
        ([("x", "c"), ("y", "d")], "labels of a single row", 2, "'c'"),
    ],
)
def test_what_is_suspicious_is_counted_with_an_example(rows, what, n, example, tmp_path):
    found = findings(tmp_path, *rows)
    assert list(found) == [what]
    assert found[what][0] == n
    assert example in found[what][1]


def test_texts_with_other_numbers_are_no_repeats(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,n,tags\nx,1,a\nx,2,a\nx,1,a\n")
    columns = Columns(text="text", numbers="n", tags="tags")
    (found,) = read_training_file(DataFile(path, None, columns)).check.findings
    assert (found.n, found.example) == (1, "row 2 repeats row 0")


def test_train_ends_with_the_data_check(command, tmp_path):
    rows = [*GOOD, ("two texts", "NaN"), ("text", "A"), ("text", "rare;A")]
    words = ("--text-column", "text", "--tags-column", "tags", "--n-estimators", "2", "-q")
    path, model = write(tmp_path / "t.csv", rows), tmp_path / "m.sf"
    code, out, _ = command("train", path, "--out", model, *words)
    assert code == 0
    checked = out[out.index("Data check:") :].splitlines()
    assert checked[0] == "Data check: 6 rows, 4 labels, 1.5 labels per row:"
    assert "      1  rows without labels: row 3" in checked
    assert "         1 of them hold 'NaN', read as a missing value." in checked
    assert "         --min-label-count 2 leaves them out." in checked
    assert all(len(line) <= 80 for line in checked)
    code, out, _ = command("train", path, "--out", model, *words, "--min-label-count", 2, "--json")
    content = json.loads(out)
    assert content["label_names"] == ["A", "a", "b"]
    assert {found["what"] for found in content["data_check"]["findings"]} >= {"repeated rows"}
