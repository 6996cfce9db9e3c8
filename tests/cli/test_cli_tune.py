"""The command tune, and train --tune."""

import io
import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from data_files import NAMED, TAGS
from rich.console import Console

from sketchforest import ExtraTreesClassifier, SketchForestClassifier, load_forest
from sketchforest.cli.tuning_views import tuning_table
from sketchforest.datasets import write
from sketchforest.tuning import tune


@pytest.mark.parametrize("is_complete", [True, False])
def test_tuning_chooses_the_forest_that_is_saved(is_complete, command, tmp_path, monkeypatch):
    called = {}

    def recorded(X, Y, **settings):
        called.update(settings)
        forest = ExtraTreesClassifier(4, random_state=1).fit(X, Y)
        return SimpleNamespace(forest=forest, advice="Use extra trees.", is_complete=is_complete)

    monkeypatch.setitem(sys.modules, "sketchforest.tuning", SimpleNamespace(tune=recorded))
    write(NAMED, tmp_path / "data.npz")
    model = tmp_path / "model.sf"
    code, out, _ = command(
        *("train", tmp_path / "data.npz", "--out", model, "--tune", "--budget", 7),
        *("--n-estimators", 4, "--threshold", 0.3),
    )
    assert code == (0 if is_complete else 130)
    assert "Use extra trees." in out
    assert called["budget"] == 7
    assert called["n_estimators"] == 4
    assert load_forest(model).get_params()["threshold"] == 0.3
    assert type(load_forest(model)) is ExtraTreesClassifier
    code, _, err = command(
        "train", tmp_path / "data.npz", "--out", model, "--tune", "--threshold", "f1-per-label"
    )
    assert code == 2
    assert "or 'top-K' with --tune" in " ".join(err.replace("│", "").split())


def test_a_tuned_sketch_forest_uses_f1_thresholds_like_an_untuned_one(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    model = tmp_path / "model.sf"
    code, _, err = command(
        *("train", tmp_path / "data.npz", "--out", model, "--tune", "--budget", "30 trees"),
        *("--n-estimators", 8, "--n-jobs", 1),
    )
    assert code == 0, err
    forest = load_forest(model)
    assert isinstance(forest, SketchForestClassifier)
    assert forest.get_params()["threshold"] == "f1"
    assert forest.predict(NAMED.X).nnz  # and knows the thresholds


def test_a_tuned_model_predicts_the_file_it_was_tuned_on(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    command("convert", tmp_path / "data.npz", tmp_path / "data.csv")
    # The numbers of features start at 1, as they often do.
    lines = ["1 1:0.5 2:1", "2 1:2 3:1", "1,2 2:3", "0 3:1"] * 10
    (tmp_path / "data.svm").write_text("\n".join(lines))
    settings = ("--budget", "40 trees", "--n-estimators", 10, "--n-jobs", 1)
    for name, options in (("data.csv", TAGS), ("data.svm", ()), ("data.npz", ())):
        code, _, err = command(
            "tune", tmp_path / name, "-o", tmp_path / name[-3:], *options, *settings
        )
        assert code == 0, err
        model = tmp_path / name[-3:] / "model.sf"
        code, out, err = command("predict", model, tmp_path / name, "--top", 1, "--json")
        assert code == 0, err
        known = NAMED.label_names.tolist() if options or name == "data.npz" else ["0", "1", "2"]
        found = {label for line in out.splitlines() for label in json.loads(line)["labels"]}
        assert found
        assert found <= set(known)


def test_the_table_of_settings_fits_into_80_columns():
    rng = np.random.default_rng(0)
    X, Y = rng.random((200, 400)), rng.random((200, 1500)) < 0.01
    found = tune(X, Y, budget="60 trees", n_estimators=12, random_state=0)
    wide = [
        replace(
            trial,
            setting=replace(
                trial.setting, projection="rademacher", n_components=1500, max_features=123_456
            ),
            fit_seconds=12345.0,
        )
        for trial in found.trials
    ]
    screen = Console(file=io.StringIO(), width=80)
    screen.print(tuning_table(replace(found, trials=wide)))
    lines = screen.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
