"""Boosting inside a tagger, and on the command line."""

import json

import numpy as np
import pytest

from sketchforest import SketchBoostingClassifier, Tagger, load_forest
from sketchforest.evaluation import evaluate

WORDS = ("egg", "bread", "milk", "rye")
TAGS = {"egg": ["eggs", "food"], "bread": ["baking", "food"], "milk": ["drink"], "rye": ["baking"]}


@pytest.fixture(name="rows")
def texts_and_tags():
    rng = np.random.default_rng(0)
    drawn = [WORDS[at] for at in rng.integers(4, size=160)]
    return [f"{word} {number % 7} now" for number, word in enumerate(drawn)], [
        TAGS[word] for word in drawn
    ]


@pytest.fixture(name="table")
def table_of_texts(rows, tmp_path):
    lines = [f"{text},{';'.join(tags)}" for text, tags in zip(*rows, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["text,tags", *lines, ""]))
    return path


def boosting():
    return SketchBoostingClassifier(max_iter=20, min_samples_leaf=5, random_state=0)


def test_a_tagger_boosts(rows, tmp_path):
    texts, tags = rows
    tagger = Tagger(boosting(), keep_texts=True).fit(texts[:120], tags[:120])
    assert sorted(tagger.predict(["rye", "egg"])[1]) == ["eggs", "food"]
    assert tagger.evaluate(texts[120:], tags[120:]).scores["lrap"] == 1
    assert np.abs(tagger.explain("egg", "eggs").contributions).sum() > 0
    tagger.save(tmp_path / "tagger.sf")
    loaded = load_forest(tmp_path / "tagger.sf")
    assert loaded.suggest(texts[:5], 2) == tagger.suggest(texts[:5], 2)
    with pytest.raises(AttributeError, match="similar needs leaves of training rows"):
        tagger.similar(texts[:1])


def test_a_description_counts_rows_but_not_their_labels(rows, tmp_path):
    texts, tags = rows
    tagger = Tagger(boosting()).fit(texts, tags)
    tagger.save(tmp_path / "tagger.sf")
    for model in (tagger.estimator_, load_forest(tmp_path / "tagger.sf").estimator_):
        facts = model.describe().facts
        assert facts["training rows"] == "160"
        assert "labels per row" not in facts
        assert model.to_frame()["importance"].sum() == pytest.approx(1)


def test_training_rows_are_left_out_of_an_evaluation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    Y = (X[:, :3] > 0).astype(int)
    model = boosting().fit(X[:150], Y[:150])
    found = evaluate(model, X, Y)
    assert (found.n_trained_on, found.scores["rows"]) == (150, 50)
    with pytest.raises(ValueError, match="no out-of-bag predictions"):
        evaluate(model, X[:150], Y[:150])


def train(command, table, out, *options):
    columns = ("--text-column", "text", "--tags-column", "tags", "--min-samples-leaf", 5)
    return command(
        *("train", table, "--out", out, "--forest", "boosting", "--quiet", "--json"),
        *(*columns, *options),
    )


def test_all_commands_take_a_boosted_model(command, table, tmp_path):
    model = tmp_path / "model.sf"
    code, out, errors = train(
        command, table, model, "--holdout", 0.25, "--max-iter", 30, "--learning-rate", 0.2
    )
    assert code == 0, errors
    trained = json.loads(out)
    assert (trained["trees"], trained["training_rows"]) == (30, 120)
    assert trained["parameters"]["learning_rate"] == 0.2
    code, out, errors = command("evaluate", model, table, "--json", "-q")
    assert json.loads(out)["lrap"] == pytest.approx(trained["test"]["lrap"]), errors
    assert command("predict", model, table)[0] == 0
    code, out, _ = command("explain", model, table, "--json")
    assert json.loads(out)["labels"][0]["label"] in {tag for tags in TAGS.values() for tag in tags}
    page = tmp_path / "report.html"
    assert command("report", model, table, "--out", page, "-q")[0] == 0
    assert "SketchBoostingClassifier" in page.read_text()
    assert json.loads(command("info", model, "--json")[1])["estimator"] == (
        "SketchBoostingClassifier"
    )


def test_real_outputs_are_boosted_on_the_command_line(command, tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 2))
    lines = [f"{a},{b},{a - b},{a + b}" for a, b in rows]
    table, model = tmp_path / "numbers.csv", tmp_path / "model.sf"
    table.write_text("\n".join(["a,b,y,z", *lines, ""]))
    code, out, errors = command(
        *("train", table, "--out", model, "--forest", "boosting-regressor", "--quiet", "--json"),
        *("--label-columns", "y,z", "--holdout", 0.25),
    )
    assert code == 0, errors
    assert json.loads(out)["test"]["r2"] > 0.5
    assert command("predict", model, table)[0] == 0
    assert command("report", model, table, "--out", tmp_path / "report.html", "-q")[0] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--n-estimators", 9), "--n-estimators: is not a parameter of boosting"),
        (("--threshold", "f1"), "which needs out-of-bag rows"),
        (("--tune",), "--forest: must be left out with --tune"),
        (("--workers", 2), "--workers: is for forests; got a SketchBoostingClassifier"),
        (("--forest", "sketch", "--subsample", 0.5), "--subsample: is not a parameter of sketch"),
    ],
)
def test_what_boosting_cannot_do_is_refused_in_one_sentence(
    command, table, tmp_path, options, words
):
    code, _, errors = train(command, table, tmp_path / "model.sf", *options)
    assert code == 2
    assert words in " ".join(errors.replace("│", " ").split())
