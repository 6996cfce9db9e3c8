"""The value "auto" of parameters."""

import pytest
from tuning_data import X, Y, same_trees

from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest._selection.comparison import Comparison

FORESTS = [RandomForestClassifier, ExtraTreesClassifier]


# ---- "auto" values


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(
    "names", [["n_components"], ["max_features"], ["n_components", "max_features"]]
)
def test_auto_fits_what_the_values_it_chose_fit(kind, names):
    auto = kind(60, random_state=1, **dict.fromkeys(names, "auto")).fit(X, Y)
    chosen = {name: getattr(auto, f"{name}_") for name in names}
    assert auto.get_params()[names[0]] == "auto"
    assert same_trees(auto, kind(60, random_state=1, **chosen).fit(X, Y))


@pytest.mark.parametrize("kind", FORESTS)
def test_auto_compares_with_no_more_trees_than_the_forest_has(kind, monkeypatch):
    grown = []
    grow = Comparison.grow

    def spy(self, candidates, n_trees):
        grown.extend([n_trees] * len(candidates))
        grow(self, candidates, n_trees)

    monkeypatch.setattr(Comparison, "grow", spy)
    kind(100, random_state=1, n_components="auto", max_features="auto").fit(X, Y)
    assert 40 <= sum(grown) <= 100
    grown.clear()
    kind(10, random_state=1, n_components="auto", max_features="auto").fit(X, Y)
    assert not grown


def test_auto_goes_on_with_what_it_chose():
    params = {"n_components": "auto", "max_features": "auto", "random_state": 1}
    steps = RandomForestClassifier(60, warm_start=True, **params).fit(X, Y)
    steps.set_params(n_estimators=70).fit(X, Y)
    chosen = {"n_components": steps.n_components_, "max_features": steps.max_features_}
    assert same_trees(steps, RandomForestClassifier(70, random_state=1, **chosen).fit(X, Y))


def test_auto_numbers_of_trees_end_where_more_gain_little():
    forest = RandomForestClassifier("auto", random_state=0).fit(X, Y)
    n_trees = forest.n_estimators_
    assert 32 < n_trees <= 1024
    assert forest.n_estimators == "auto"
    assert same_trees(forest, RandomForestClassifier(n_trees, random_state=0).fit(X, Y))
    scores = [
        RandomForestClassifier(n, oob_score=True, random_state=0).fit(X, Y).oob_score_
        for n in (n_trees, 2 * n_trees)
    ]
    assert scores[1] - scores[0] < 0.01


def test_auto_numbers_of_trees_need_rows_left_out():
    with pytest.raises(ValueError, match=r"^n_estimators must be an int if bootstrap=False"):
        ExtraTreesClassifier("auto").fit(X, Y)
    assert (
        ExtraTreesClassifier("auto", max_samples=0.8, random_state=0).fit(X, Y).n_estimators_ > 31
    )


# ---- rows drawn without replacement


@pytest.mark.parametrize("kind", FORESTS)
def test_without_a_bootstrap_max_samples_draws_each_row_at_most_once(kind):
    forest = kind(50, bootstrap=False, max_samples=0.75, oob_score=True, random_state=0).fit(X, Y)
    for index in range(5):
        tree = forest.fitted_.forest.tree(index)
        assert len(tree.members) == len(set(tree.members)) == 180
        assert tree.weights is None
    assert 0 < forest.oob_score_ < 1
    assert set(forest.fitted_.forest.tree(0).members) != set(forest.fitted_.forest.tree(1).members)
