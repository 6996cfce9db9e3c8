"""Options from a file: any of them, with what is typed on top, and a file beside each model."""

import json

import pytest
from data_files import NAMED, QUICK

from sketchforest import load_forest
from sketchforest.datasets import write

ROWS = "text,tags\n" + "red fox,a|b\nred cat,b\n" * 10


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    write(NAMED, tmp_path / "data.npz")
    return tmp_path


def test_a_training_is_repeated_by_the_file_beside_its_model(command, data):
    options = (
        "--text-column",
        "text",
        "--tags-column",
        "tags",
        "--tag-separator",
        "|",
        "--compact",
    )
    code, _, err = command(
        "train", "data.csv", "-o", "model.sf", *options, *QUICK, "--ngrams", 2, "--quiet"
    )
    assert code == 0, err
    first = (data / "model.sf").read_bytes()
    (data / "model.sf").unlink()
    code, _, err = command("train", "--config", "model.sf.toml")
    assert code == 0, err
    assert (data / "model.sf").read_bytes() == first


def test_what_is_typed_counts_more_than_the_file(command, data):
    (data / "my.toml").write_text(
        'n-estimators = 7\n[train]\nout = "model.sf"\nmax_depth = 3\n[predict]\ntop = 2\n'
    )
    code, _, err = command("train", "data.npz", "--config", "my.toml", "--max-depth", 2)
    assert code == 0, err
    forest = load_forest(data / "model.sf")
    assert (forest.n_estimators, forest.max_depth) == (7, 2)


def test_a_file_may_hold_options_of_several_commands(command, data):
    (data / "my.toml").write_text(
        '[train]\nfile = "data.csv"\nout = "model.sf"\ntext-column = ["text"]\n'
        'tags-column = "tags"\ntag-separator = "|"\nn-estimators = 5\n'
        "[predict]\ntop = 1\njson = true\n"
    )
    assert command("train", "--config", "my.toml")[0] == 0
    code, out, err = command("predict", "model.sf", "data.csv", "--config", "my.toml")
    assert code == 0, err
    assert len(json.loads(out.splitlines()[0])["labels"]) == 1


WRONG_FILES = {
    "no option": ("n-estimator = 3\n", "train has no option 'n-estimator'"),
    "no toml": ("n-estimators 3\n", "is no TOML file"),
    "no value": ('max-depth = "deep"\n', "--max-depth: must be an int"),
}


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_a_wrong_file_is_a_wrong_call(kind, command, data):
    text, reason = WRONG_FILES[kind]
    (data / "my.toml").write_text(text)
    code, _, err = command("train", "data.npz", "-o", "model.sf", "--config", "my.toml")
    assert code == 2
    assert reason in " ".join(err.replace("│", " ").split())
    code, _, err = command("train", "data.npz", "-o", "model.sf", "--config", "none.toml")
    assert code == 2
    assert "No such file" in err
