"""Tuning: what is predicted, what is kept, what is spent."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import label_ranking_average_precision_score
from tuning_data import X, Y, same_trees, tuned

from sketchforest import RandomForestClassifier, RandomForestRegressor
from sketchforest._selection.comparison import PROBE_SHARE, Comparison
from sketchforest.datasets import make_multilabel
from sketchforest.metrics import lrap
from sketchforest.tuning import budget as budget_module
from sketchforest.tuning import tune, tuner
from sketchforest.tuning.budget import LAST, Budget
from sketchforest.tuning.space import Space

# ---- what is kept


def test_the_winner_is_the_forest_that_its_own_parameters_fit(result):
    assert same_trees(result.forest, clone(result.forest).fit(X, Y))
    assert result.forest.n_estimators_ == 40
    assert np.allclose(
        result.forest.predict_proba(X), clone(result.forest).fit(X, Y).predict_proba(X)
    )


def test_the_first_trees_of_the_winner_are_those_of_the_search(monkeypatch):
    finished = []
    finish = tuner.Tuner._finish

    def spy(self, winner):
        finished.extend(winner.trees)
        finish(self, winner)

    monkeypatch.setattr(tuner.Tuner, "_finish", spy)
    forest = tuned(estimators=["random_forest"]).forest
    assert 0 < len(finished) <= 40
    for index, tree in enumerate(finished):
        kept = forest.fitted_.forest.tree(index)
        assert np.array_equal(tree.nodes, kept.nodes)
        assert np.array_equal(tree.members, kept.members)


def test_trees_see_all_rows_where_half_of_them_are_worse():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 6)  # so small that each row counts
    X = rng.normal(size=(60, 20))[group] + rng.normal(scale=0.8, size=(360, 20))
    Y = np.eye(60)[group]
    result = tune(X, Y, "lrap", "500 trees", ["extra_trees"], n_estimators=40, random_state=0)
    winner, forest = result.winner, result.forest
    assert winner.setting.sees_all_rows
    assert forest.max_samples is None
    assert same_trees(forest, clone(forest).fit(X, Y))
    half = next(t for t in result.trials if t.setting.row_share == PROBE_SHARE / 2)
    same = replace(winner.setting, row_share=None)
    probe = next(t for t in result.trials if t.setting == same)
    assert winner.expected > probe.expected > half.expected  # assumed, not scored
    assert np.isnan(winner.score)
    assert winner.expected_se > 0
    assert all(trial.behind_se > 0 for trial in result.trials if not trial.is_winner)
    assert np.isnan(winner.score)
    assert "all rows" in result.advice


def test_trees_see_some_rows_where_the_labels_are_noise():
    noise = np.random.default_rng(0).random(Y.shape) < 0.1
    result = tune(X, noise, "lrap", "500 trees", ["extra_trees"], n_estimators=40, random_state=0)
    assert not result.winner.setting.sees_all_rows
    assert result.forest.max_samples in (PROBE_SHARE, PROBE_SHARE / 2)


def test_a_seed_and_a_budget_in_trees_give_one_winner_for_any_number_of_threads(result):
    other = tuned(n_jobs=2)
    assert [t.setting for t in other.trials] == [t.setting for t in result.trials]
    assert [t.expected for t in other.trials] == [t.expected for t in result.trials]
    assert same_trees(other.forest, result.forest)
    assert other.n_trees_grown == result.n_trees_grown


@pytest.mark.parametrize("seed", range(4))
def test_the_winner_has_all_trees(seed):
    result = tuned(random_state=seed)
    assert result.winner.n_trees == result.forest.n_estimators_ == 40


@pytest.mark.parametrize("n_trees", [60, 90, 120, 300])
def test_all_rows_are_not_begun_without_the_trees_for_them(n_trees):
    given = {"estimators": ["extra_trees"], "n_estimators": 10, "budget": f"{n_trees} trees"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tuned(**given)
    assert result.forest.n_estimators_ == 10
    assert result.n_trees_grown <= n_trees


def test_no_tree_is_grown_twice(monkeypatch):
    grown = []
    grow = Comparison.grow

    def spy(self, candidates, n_trees):
        grown.extend(n_trees - candidate.n_trees for candidate in candidates)
        grow(self, candidates, n_trees)

    monkeypatch.setattr(Comparison, "grow", spy)
    result = tuned()
    assert sum(grown) == sum(trial.n_trees for trial in result.trials) == result.n_trees_grown


def test_the_tuned_forest_ranks_new_rows_no_worse_than_the_usual_one():
    data = make_multilabel(900, 120, 60, labels_per_row=4, features_per_row=12, n_topics=20)
    X, Y, X_new, Y_new = data.X[:450], data.Y[:450], data.X[450:], data.Y[450:]
    best = tune(X, Y, budget="1200 trees", random_state=0, n_jobs=1).forest
    usual = RandomForestClassifier(random_state=0, projection=None, n_jobs=1).fit(X, Y)
    score, usual_score = (lrap(Y_new, f.predict_proba(X_new)) for f in (best, usual))
    assert score > usual_score - 0.005


# ---- what is spent


@pytest.mark.parametrize("n_trees", [7, 45, 100, 333])
def test_a_budget_in_trees_is_never_exceeded(n_trees):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tuned(budget=f"{n_trees} trees")
    assert result.n_trees_grown <= n_trees
    assert result.forest.n_estimators_ == result.forest.n_estimators == min(n_trees, 40)


class FakeClock:
    """A second for each tree that is grown; a tenth for each look at the clock."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        grow = Comparison.grow

        def timed(comparison, candidates, n_trees):
            cost = sum((n_trees - c.n_trees) * c.settings.max_features for c in candidates)
            grow(comparison, candidates, n_trees)
            self.now += cost

        monkeypatch.setattr(Comparison, "grow", timed)
        monkeypatch.setattr(budget_module, "clock", self)

    def __call__(self):
        self.now += 0.01
        return self.now


@pytest.mark.parametrize("seconds", [1000, 2000, 9000])
def test_a_budget_in_seconds_is_kept_within_a_tenth(monkeypatch, seconds):
    clock = FakeClock(monkeypatch)
    result = tuned(budget=float(seconds))
    assert clock.now <= LAST * seconds + 1
    assert result.forest.n_estimators_ == 40
    assert len(result.trials) > 1


def test_the_default_budget_is_ten_usual_fits(monkeypatch):
    clock = FakeClock(monkeypatch)
    tuned(budget=None)
    usual_fit = 40 * 5  # trees with the root of 30 features each
    assert 4 * usual_fit < clock.now <= 10 * usual_fit


def test_too_small_a_budget_gives_fewer_trees_and_a_warning(monkeypatch):
    FakeClock(monkeypatch)
    with pytest.warns(UserWarning, match="budget ended at .* of the 40 trees"):
        result = tuned(budget=110.0)
    assert result.forest.n_estimators_ < 40


def test_ctrl_c_returns_the_best_so_far_with_a_warning(monkeypatch):
    grow, calls = Comparison.grow, []

    def interrupted(comparison, candidates, n_trees):
        calls.append(candidates)
        if len(calls) == 4:
            raise KeyboardInterrupt
        grow(comparison, candidates, n_trees)

    monkeypatch.setattr(Comparison, "grow", interrupted)
    with pytest.warns(UserWarning, match="Interrupted after .* the best of them so far"):
        result = tuned()
    assert result.forest.predict_proba(X).shape == Y.shape
    assert result.winner.expected == max(trial.expected for trial in result.trials)
    assert not result.is_complete


def test_ctrl_c_before_any_tree_is_an_interrupt(monkeypatch):
    def interrupted(comparison, candidates, n_trees):
        raise KeyboardInterrupt

    monkeypatch.setattr(Comparison, "grow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tuned()


# ---- what is told


def test_the_front_holds_what_nothing_beats_in_time_and_score(result):
    front = result.front
    for trial in front:
        assert not any(
            t.fit_seconds < trial.fit_seconds and t.expected > trial.expected for t in result.trials
        )
    assert max(result.trials, key=lambda t: t.expected) in front


def test_advice_is_one_sentence_that_names_the_winner(result):
    assert str(result.winner.setting) in result.advice
    assert result.advice.endswith(".")
    assert "\n" not in result.advice


def test_less_is_better_for_a_loss():
    result = tuned(metric="coverage_error")
    expected = [trial.expected for trial in result.trials]
    assert expected == sorted(expected)
    assert 1 < result.winner.expected < expected[-1]


def test_metrics_may_be_callables():
    def score(Y_true, Y_score):
        return label_ranking_average_precision_score(Y_true, Y_score)

    result = tuned(metric=score, budget="100 trees", n_estimators=25)
    assert result.metric == "score"
    assert 0 < result.winner.expected < 1


def test_forests_may_be_given_as_estimators():
    result = tune(
        X,
        Y.toarray().astype(float),
        metric="squared_error",
        estimators=[RandomForestRegressor(max_depth=5)],
        budget="200 trees",
        n_estimators=30,
        random_state=0,
    )
    assert isinstance(result.forest, RandomForestRegressor)
    assert result.forest.max_depth == 5
    assert result.winner.expected > 0


def test_a_space_restricts_what_is_tried():
    result = tuned(space={"projection": ["sparse"], "n_components": [4], "max_features": [3]})
    assert {(t.setting.projection, t.setting.n_components) for t in result.trials} == {
        ("sparse", 4)
    }
    assert {t.setting.max_features for t in result.trials} == {3}


@pytest.mark.parametrize("n_labels", [1, 2, 6, 40, 5000])
@pytest.mark.parametrize("n_features", [1, 3, 70, 100_000])
def test_steps_stay_inside_the_space_and_come_back(n_labels, n_features):
    space = Space(["random_forest", "extra_trees"], n_features, n_labels)
    for start in space.starts():
        for setting in space.neighbors(start):
            assert setting != start
            assert 1 <= setting.max_features <= n_features
            assert setting.n_components is None or 1 <= setting.n_components <= n_labels
            assert start in space.neighbors(setting) or start.projection != setting.projection


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"metric": "f1"}, "metric must be"),
        ({"budget": "many"}, "budget must be a number of seconds above 0, .*; got 'many'"),
        ({"budget": 0}, "budget must be .*; got 0"),
        ({"budget": True}, "budget must be .*; got True"),
        ({"estimators": "random_forest"}, "estimators must be a list"),
        ({"estimators": ["forest"]}, "estimators must be among .*; got 'forest'"),
        ({"estimators": ["extra_trees"] * 2}, "estimators must be of different classes"),
        ({"estimators": [RandomForestRegressor()]}, "metric must be 'squared_error'"),
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"n_estimators": "auto"}, "n_estimators must be an int in tune"),
        ({"space": {"depth": [1]}}, "space must have keys among"),
        ({"space": {"max_features": []}}, "space.'max_features'. must be a list"),
    ],
)
def test_bad_input_gets_one_sentence(params, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        tuned(**params)


def test_budgets_are_seconds_or_trees():
    assert Budget("2000 trees", 0.0).limit == 2000
    assert Budget(2.5, 0.0).limit == 2.5
    assert Budget(None, 0.0).limit is None
