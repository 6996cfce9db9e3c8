"""Searches over forests of oblique trees and extra-trees, and their settings."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from tuning_data import PLAIN, X, Y, same_trees, tuned

from sketchforest import SketchForestClassifier, SketchForestRegressor
from sketchforest._estimators.parameters import n_features_sampled
from sketchforest.datasets import make_multilabel
from sketchforest.tuning import Setting, tune


def test_the_search_starts_from_the_default_of_the_flagship():
    result = tuned(estimators=["sketch_forest"], budget="30 trees", n_estimators=30)
    params = result.trials[-1].setting.params()
    usual = SketchForestClassifier().get_params()
    differing = {name for name in params if params[name] != usual[name]}
    assert differing == {"max_features"}
    assert params["max_features"] == n_features_sampled(usual["max_features"], X.shape[1])


def test_share_ridge_nodes_and_m_are_searched():
    result = tuned(estimators=["sketch_forest"], budget="1500 trees", n_estimators=30)
    tried = [trial.setting for trial in result.trials]
    for name in ("oblique", "ridge", "min_samples_split", "n_components", "max_features"):
        assert len({getattr(setting, name) for setting in tried}) > 1, name


@pytest.mark.parametrize("kind", ["sketch_forest", SketchForestRegressor()])
def test_a_tuned_sketch_forest_is_the_forest_its_parameters_fit(kind):
    metric = "lrap" if isinstance(kind, str) else "squared_error"
    result = tuned(estimators=[kind], metric=metric, budget="250 trees", n_estimators=20)
    again = clone(result.forest).fit(X, Y)
    assert same_trees(again, result.forest)
    difference = again.predict(X) - result.forest.predict(X)
    assert difference.nnz == 0 or np.abs(difference).max() == 0


def test_kinds_are_searched_side_by_side():
    result = tuned(estimators=["sketch_forest", *PLAIN], budget="600 trees")
    kinds = {trial.setting.estimator for trial in result.trials}
    assert kinds == {"sketch_forest", *PLAIN}


def test_given_values_of_a_sketch_forest_are_kept_to():
    space = {"oblique": [0.5, 1.0], "ridge": [3.0], "n_components": [4], "min_samples_split": [5]}
    result = tuned(estimators=["sketch_forest"], space=space)
    assert {t.setting.oblique for t in result.trials} == {0.5, 1.0}
    assert {t.setting.ridge for t in result.trials} == {3.0}
    assert {t.setting.n_components for t in result.trials} == {4}
    assert {t.setting.min_samples_split for t in result.trials} == {5}


def test_values_that_only_sketch_forests_have_are_refused_without_one():
    with pytest.raises(ValueError, match=r"^space must have keys among .*; got 'oblique'\.$"):
        tuned(space={"oblique": [0.5]})


def test_original_outputs_have_no_m():
    space = {"projection": [None, "gaussian"]}
    result = tuned(estimators=["sketch_forest"], space=space, budget="1500 trees")
    for setting in (trial.setting for trial in result.trials):
        assert setting.projection is not None or setting.n_components is None
    assert {trial.setting.projection for trial in result.trials} == {None, "gaussian"}


def test_settings_say_how_they_differ():
    result = tuned(estimators=["sketch_forest", *PLAIN], budget="900 trees")
    settings = [trial.setting for trial in result.trials]
    words = {", ".join(setting.words().values()) for setting in settings}
    assert len(words) == len(settings)
    for other in settings[1:]:
        assert set(other.difference_from(settings[0]).split(", ")) <= {
            *other.words().values(),
            other.rows,
        }


def test_settings_are_named_by_the_parameters_to_set():
    forest = Setting("sketch_forest", "gaussian", 64, 97, None, oblique=0.7, ridge=2.0)
    assert str(forest) == "sketch forest, oblique=0.7, ridge=2, n_components=64, max_features=97"
    other = replace(forest, max_features=20, row_share=0.75)
    assert other.difference_from(forest) == "max_features=20, max_samples=0.75"
    assert forest.difference_from(other) == "max_features=97, default max_samples"


def test_a_result_shows_itself():
    data = make_multilabel(150, 20, 12, labels_per_row=2, features_per_row=6, random_state=0)
    found = tune(data.X, data.Y, n_estimators=10, budget="60 trees", random_state=0)
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert "lrap" in text
    assert len(found.to_frame()) == len(found.trials)
    assert found._repr_html_().count("<tr>") == len(found.trials) + 1
    assert found.plot().get_xlabel() == "seconds to fit 10 trees"
