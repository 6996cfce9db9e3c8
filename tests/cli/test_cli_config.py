"""Options from a file: any of them, with what is typed on top, and a file beside each model."""

import json
import tomllib
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from data_files import NAMED, QUICK

from sketchforest import load_forest
from sketchforest.cli.config import PATHS
from sketchforest.datasets import write

ROWS = "text,tags\n" + "red fox,a|b\nred cat,b\n" * 10


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    write(NAMED, tmp_path / "data.npz")
    return tmp_path


def test_the_file_next_to_a_model_repeats_its_training(command, data):
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


@pytest.mark.parametrize("is_whole", [False, True])
def test_training_can_be_repeated_from_any_folder(is_whole, command, data, monkeypatch):
    for name in ("models", "elsewhere"):
        (data / name).mkdir()
    file = data / "data.csv" if is_whole else "data.csv"
    out = data / "models" / "m.sf" if is_whole else "models/m.sf"
    columns = ("--text-column", "text", "--tags-column", "tags", "--tag-separator", "|")
    assert command("train", file, "-o", out, *columns, *QUICK, "--test", file)[0] == 0
    model, options = data / "models" / "m.sf", (data / "models" / "m.sf.toml")
    first, noted = model.read_bytes(), tomllib.loads(options.read_text())["train"]
    for folder, typed in (
        (data / "elsewhere", "../models/m.sf.toml"),
        (data / "models", "m.sf.toml"),
        (data, options),
    ):
        model.unlink()
        monkeypatch.chdir(folder)
        code, _, err = command("train", "--config", typed)
        assert code == 0, err
        assert model.read_bytes() == first
        assert tomllib.loads(options.read_text())["train"] == noted


def test_a_configuration_may_name_a_known_data_set_or_standard_input(command, data):
    (data / "folder").mkdir()
    options = data / "folder" / "my.toml"
    options.write_text('data-home = ".."\nfile = "data"\nbudget = "9 trees"\nn-estimators = 3\n')
    code, _, err = command("tune", "--config", options)
    assert code == 0, err
    options.write_text('file = "-"\nout = "m.sf"\ntags-column = "tags"\ntext-column = ["text"]\n')
    more = ("--tag-separator", "|", "--n-estimators", 3)
    code, _, err = command("train", "--config", options, *more, stdin=ROWS)
    assert code == 0, err
    assert (data / "folder" / "m.sf").is_file()


def test_the_command_line_overrides_the_configuration_file(command, data):
    (data / "my.toml").write_text(
        'n-estimators = 7\n[train]\nout = "model.sf"\nmax_depth = 3\n[predict]\ntop = 2\n'
    )
    code, _, err = command("train", "data.npz", "--config", "my.toml", "--max-depth", 2)
    assert code == 0, err
    forest = load_forest(data / "model.sf")
    assert (forest.n_estimators, forest.max_depth) == (7, 2)


def test_a_configuration_file_may_have_options_of_several_commands(command, data):
    (data / "my.toml").write_text(
        '[train]\nfile = "data.csv"\nout = "model.sf"\ntext-column = ["text"]\n'
        'tags-column = "tags"\ntag-separator = "|"\nn-estimators = 5\n'
        "[predict]\ntop = 1\njson = true\n"
    )
    assert command("train", "--config", "my.toml")[0] == 0
    code, out, err = command("predict", "model.sf", "data.csv", "--config", "my.toml")
    assert code == 0, err
    assert len(json.loads(out.splitlines()[0])["labels"]) == 1


@pytest.mark.parametrize("name", ["train", "predict", "evaluate", "report", "tune"])
def test_every_path_option_is_listed_in_paths(name):
    hints = get_type_hints(getattr(import_module(f"sketchforest.cli.{name}"), name))
    paths = {option for option, kind in hints.items() if Path in (kind, *get_args(kind))}
    assert paths - {"config"} <= PATHS


WRONG_FILES = {
    "no option": ("n-estimator = 3\n", "train has no option 'n-estimator'"),
    "no toml": ("n-estimators 3\n", "is not a valid TOML file"),
    "no value": ('max-depth = "deep"\n', "--max-depth: must be an int"),
}


@pytest.mark.parametrize("kind", WRONG_FILES)
def test_an_invalid_configuration_file_is_wrong_usage(kind, command, data):
    text, reason = WRONG_FILES[kind]
    (data / "my.toml").write_text(text)
    code, _, err = command("train", "data.npz", "-o", "model.sf", "--config", "my.toml")
    assert code == 2
    assert reason in " ".join(err.replace("│", " ").split())
    code, _, err = command("train", "data.npz", "-o", "model.sf", "--config", "none.toml")
    assert code == 2
    assert "No such file" in err
