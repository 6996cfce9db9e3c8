"""Documents and tags: from raw text to a model, and from raw text to tags."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from sklearn.base import clone

from sketchforest import SketchForestClassifier, Tagger, load_forest
from sketchforest._features.encoder import trained_columns
from sketchforest.datasets import Columns

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "examples" / "questions.csv"
COLUMNS = ("--text-column", "question", "--tags-column", "tags")
QUICK = ("--n-estimators", "20", "--n-jobs", "1")


def readme_commands():
    [block] = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return block.splitlines()


@pytest.mark.slow
def test_the_commands_in_the_readme_work(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = readme_commands()
    assert len(commands) == 2
    printed = []
    for line in commands:
        done = subprocess.run(
            line,
            shell=True,
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        printed.append(done.stdout)
    assert "123 rows" in printed[0]
    rows = list(csv.DictReader(printed[1].splitlines()))
    assert len(rows) == 12
    assert rows[0]["labels"].startswith("seasoning")  # when to add pepper


def test_keep_texts_stores_the_texts_of_the_training_rows(command, tmp_path):
    path = tmp_path / "model.sf"
    wanted = ("--keep-texts", "--holdout", "0.2", "--quiet")
    assert command("train", QUESTIONS, "--out", path, *COLUMNS, *QUICK, *wanted)[0] == 0
    forest = load_forest(path)
    with QUESTIONS.open(newline="") as file:
        questions = [row["question"] for row in csv.DictReader(file)]
    assert list(forest.row_texts_) == [questions[row] for row in forest.row_numbers_]
    assert len(forest.row_texts_) < len(questions)


@pytest.fixture
def model(command, tmp_path):
    path = tmp_path / "model.sf"
    code, _, _ = command("train", QUESTIONS, "--out", path, *COLUMNS, *QUICK)
    assert code == 0
    return path


def test_text_from_tables_lines_and_standard_input_is_predicted_alike(command, model, tmp_path):
    with QUESTIONS.open(newline="") as file:
        questions = [row["question"] for row in csv.DictReader(file)]
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(questions) + "\n")
    expected = command("predict", model, QUESTIONS, "--top", 2)
    assert expected[0] == 0
    assert len(expected[1].splitlines()) == 124
    assert command("predict", model, lines, "--top", 2) == expected
    assert command("predict", model, "-", "--top", 2, stdin=lines.read_text()) == expected
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(QUESTIONS.read_text().replace("question,", "body,", 1))
    again = command("predict", model, renamed, "--text-column", "body", "--top", 2)
    assert again == expected


def test_features_are_the_terms_of_the_vectorizer(command, model):
    forest = load_forest(model)
    terms = forest.vectorizer_.get_feature_names_out()
    assert forest.feature_names_.tolist() == terms.tolist()
    assert "oven" in terms
    _, out, _ = command("explain", model, QUESTIONS, "--row", 0, "--top", 1, "--json")
    [label] = json.loads(out)["labels"]
    assert label["label"] in ("bread", "baking")
    single = [line["feature"] for line in label["features"] if line["value"] is not None]
    assert single
    assert set(single) <= set(terms)


def test_held_out_rows_do_not_affect_the_vocabulary(command, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("text,tags\n" + "".join(f"common word{i} word{i},t\n" for i in range(40)))
    options = ("--text-column", "text", "--tags-column", "tags", "--min-count", 1)
    _, _, err = command(
        "train", file, "--out", tmp_path / "m.sf", *options, *QUICK, "--holdout", 0.25
    )
    assert "Error" not in err
    assert len(load_forest(tmp_path / "m.sf").feature_names_) == 1 + 30


def test_text_options_shape_the_vocabulary(command, tmp_path):
    path = tmp_path / "model.sf"
    options = ("--ngrams", 2, "--min-count", 3, "--max-terms", 50)
    command("train", QUESTIONS, "--out", path, *COLUMNS, *QUICK, *options)
    vectorizer = load_forest(path).vectorizer_
    assert len(vectorizer.vocabulary_) == 50
    assert vectorizer.min_df == 3
    assert any(" " in term for term in vectorizer.vocabulary_)


def test_tag_separator_and_spaces_are_handled(command, tmp_path):
    file, path = tmp_path / "data.csv", tmp_path / "model.sf"
    file.write_text("x,tags\n" + '1,"red | wine | red"\n2,wine\n3,\n' * 5)
    command(
        *("train", file, "--out", path, "--tags-column", "tags", "--tag-separator", "|"), *QUICK
    )
    forest = load_forest(path)
    assert forest.label_names_.tolist() == ["red", "wine"]
    assert forest.fitted_.labels.to_csr().toarray()[:3].tolist() == [[1, 1], [0, 1], [0, 0]]
    _, out, _ = command("predict", path, file, "--top", 2)
    assert "|" in out.splitlines()[1]


@pytest.mark.parametrize("noted", [{}, {"tag_separator": ""}, {"tag_separator": None}])
def test_a_model_without_a_noted_separator_uses_the_default(noted, command, tmp_path):
    path, table = tmp_path / "model.sf", tmp_path / "data.csv"
    table.write_text("x,tags\n" + "1,a;b\n2,b\n" * 5)
    command("train", table, "--out", path, "--tags-column", "tags", *QUICK)
    forest = load_forest(path)
    forest.save(path, notes={"columns": {"tags": "tags", "labels": [], "ignored": [], **noted}})
    assert trained_columns(load_forest(path)) == Columns(tags="tags", tag_separator=";")
    _, out, _ = command("predict", path, table, "--top", 2)
    assert out.splitlines()[1].startswith("a;b,")


def test_long_documents_and_newlines_in_quotes_are_one_cell(command, tmp_path):
    file, path = tmp_path / "data.csv", tmp_path / "model.sf"
    long = "word " * 60_000
    rows = '"first\nline, and ""more""",a\n' * 3 + f"{long},b\n" * 3
    file.write_text("text,tags\n" + rows)
    command("train", file, "--out", path, "--text-column", "text", "--tags-column", "tags", *QUICK)
    assert load_forest(path).feature_names_.tolist() == ["and", "first", "line", "more", "word"]


def test_errors_of_a_text_model_name_the_expected_input(command, model, tmp_path):
    (tmp_path / "numbers.svm").write_text("1 2:3\n")
    assert command("predict", model, tmp_path / "numbers.svm")[0] == 0  # terms by their number
    (tmp_path / "other.csv").write_text("x\n1\n")
    code, _, err = command("predict", model, tmp_path / "other.csv")
    assert code == 1
    assert "there is no column 'question'; the columns are x" in err


@pytest.mark.parametrize("more", [(), ("--category-column", "site")])
def test_a_model_of_texts_is_a_tagger_in_python(more, command, tmp_path):
    path = tmp_path / "tickets.csv"
    with QUESTIONS.open(newline="") as file, path.open("w", newline="") as copied:
        rows = [
            (*row, "site" if at == 0 else "abc"[at % 3]) for at, row in enumerate(csv.reader(file))
        ]
        csv.writer(copied).writerows(rows)
    assert command("train", path, "--out", tmp_path / "m.sf", *COLUMNS, *QUICK, *more)[0] == 0
    tagger = load_forest(tmp_path / "m.sf")
    assert isinstance(tagger, Tagger)
    frame = pandas.read_csv(path)
    printed = command("predict", tmp_path / "m.sf", path)[1]
    tags = [row["labels"].split(";") for row in csv.DictReader(printed.splitlines())]
    assert [";".join(row).split(";") for row in tagger.predict(frame)] == tags
    found = tagger.evaluate(frame, frame.tags)
    evaluated = json.loads(command("evaluate", tmp_path / "m.sf", path, "--json")[1])
    assert {name: evaluated[name] for name in found.scores} == pytest.approx(found.scores)
    refitted = clone(tagger).fit(frame, frame.tags)
    assert refitted.predict(frame) == tagger.predict(frame)


def test_the_command_and_the_class_fit_the_same_model(command, model):
    with QUESTIONS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    texts, tags = [row["question"] for row in rows], [row["tags"].split(";") for row in rows]
    estimator = SketchForestClassifier(20, n_jobs=1, random_state=0)
    made = Tagger(estimator).fit(texts, tags)
    loaded = load_forest(model)
    assert made.suggest(texts) == loaded.suggest(texts)


def test_a_text_without_a_known_word_has_no_label(command, model, tmp_path):
    (tmp_path / "new.txt").write_text("xyzzy plugh\nrye bread\n")
    _, out, _ = command("predict", model, tmp_path / "new.txt")
    first, second = list(csv.DictReader(out.splitlines()))
    assert first == {"labels": "", "scores": ""}
    assert second["labels"]
    tagger = load_forest(model)
    assert tagger.predict(["xyzzy plugh", "", "rye bread"])[:2] == [[], []]
    assert tagger.predict(["xyzzy plugh"], threshold="top-1") != [[]]
