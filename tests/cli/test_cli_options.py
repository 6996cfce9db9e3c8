"""The options of commands, and the parameters that they set."""

from data_files import NAMED

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest.datasets import write

# Taken for the sake of programs that were written for scikit-learn.
FROM_PYTHON_ALONE = ("criterion", "ccp_alpha", "monotonic_cst")


def test_every_parameter_of_the_forests_is_an_option(command):
    _, help, _ = command("train", "--help")
    for kind in (RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier):
        for name in set(kind().get_params()) - {"verbose", "warm_start", *FROM_PYTHON_ALONE}:
            assert f"--{name.replace('_', '-')}" in help
    assert "…" not in help


def test_parameters_reach_the_forest(command, tmp_path):
    write(NAMED, tmp_path / "data.npz")
    params = {
        "n_estimators": 3,
        "projection": None,
        "n_components": "log",
        "max_features": 0.5,
        "max_depth": 4,
        "min_samples_split": 3,
        "min_samples_leaf": 2,
        "max_leaf_nodes": 9,
        "bootstrap": True,
        "max_samples": 0.9,
        "class_weight": "balanced",
        "threshold": "top-2",
        "oob_score": "precision_at_1",
        "random_state": 5,
    }
    options = [x for n, v in params.items() for x in (f"--{n.replace('_', '-')}", v)]
    model = tmp_path / "model.sf"
    code, _, _ = command(
        "train", tmp_path / "data.npz", "--out", model, "--estimator", "extra-trees", *options
    )
    assert code == 0
    forest = load_forest(model)
    assert type(forest).__name__ == "ExtraTreesClassifier"
    assert forest.get_params().items() >= params.items()


def test_options_have_the_same_name_in_all_commands(command):
    helps = {
        name: command(name, "--help")[1]
        for name in ("train", "predict", "evaluate", "explain", "tune", "demo")
    }
    for name in ("train", "tune", "demo"):
        assert "--random-state,--seed" in helps[name].replace(" ", "")
    for name in ("train", "predict", "evaluate", "explain", "tune"):
        assert "--n-jobs" in helps[name]
        assert "--encoding" in helps[name]
        assert "--text-column" in helps[name]
        assert "--format" in helps[name]
    assert not any("<bool>" in text for text in helps.values())
