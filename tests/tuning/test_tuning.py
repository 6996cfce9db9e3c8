"""Tuning: what is predicted, what is kept, what is spent."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import label_ranking_average_precision_score

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._estimators.parameters import n_features_sampled
from sketchforest._selection.comparison import PROBE_SHARE, Comparison
from sketchforest._selection.learning_curve import LearningCurve, predict_score
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest.datasets import make_multilabel
from sketchforest.metrics import lrap, precision_at_k
from sketchforest.tuning import Setting, tune, tuner
from sketchforest.tuning import budget as budget_module
from sketchforest.tuning.budget import LAST, Budget
from sketchforest.tuning.space import Space

DATA = make_multilabel(240, 30, 40, labels_per_row=4, features_per_row=8, n_topics=8)
X, Y = DATA.X, DATA.Y
FORESTS = [RandomForestClassifier, ExtraTreesClassifier]


PLAIN = ("random_forest", "extra_trees")


def tuned(**params):
    given = {"budget": "300 trees", "n_estimators": 40, "random_state": 0, "n_jobs": 1}
    given["estimators"] = PLAIN
    return tune(X, Y, **(given | params))


def same_trees(a, b):
    arrays = ("nodes", "members", "member_start", "tree_members")
    return all(
        np.array_equal(getattr(a.fitted_.forest, name), getattr(b.fitted_.forest, name))
        for name in arrays
    )


@pytest.fixture(scope="module")
def result():
    return tuned()


# ---- what is predicted


def curve_of(score, sizes, n_groups=10, n_trees_of_row=12.0):
    """A curve without noise."""
    counts = np.full(n_groups, 5.0)
    points = np.stack([[score(size) * counts, counts] for size in sizes])
    return LearningCurve(
        sizes=np.array(sizes, float),
        points=points,
        blocks=np.full(4, score(sizes[0])),
        whole=np.stack([score(n_trees_of_row) * counts, counts]),
        n_trees_of_row=np.full(50, n_trees_of_row),
    )


@pytest.mark.parametrize("offset", [-0.5, 0.0, 1.7, 6.0])
def test_a_hyperbola_is_followed_exactly(offset):
    def score(t):
        return 0.8 - 0.9 / (t + offset)

    curve = curve_of(score, (3, 6, 12))
    assert curve.offset[0] == pytest.approx(offset)
    estimate = predict_score(curve, 500, (99.0, 1.0), False)
    assert estimate.score == pytest.approx(score(500))
    assert estimate.current == pytest.approx(score(12))


def test_squared_error_is_followed_along_a_straight_line_whatever_the_offset():
    curve = curve_of(lambda t: -0.3 - 2 / t, (2, 4, 8))
    estimate = predict_score(curve, 100, (5.0, 1.0), True)
    assert estimate.score == pytest.approx(-0.3 - 2 / 100)
    assert estimate.se == pytest.approx(0, abs=1e-12)


def candidate_of(kind, metric, n_trees, **params):
    forest = kind(random_state=3, **params)
    problem = prepare(forest, X, Y if is_classifier(forest) else Y.astype(float)).problem
    scorer = OutOfBagScorer(problem, ScoreMetric.of(metric), 0)
    comparison = Comparison(scorer, problem, 100, 1)
    candidate = comparison.add(problem.settings)
    comparison.grow([candidate], n_trees)
    comparison.score(candidate)
    return comparison, candidate


@pytest.mark.parametrize("metric", ["lrap", "squared_error"])
def test_the_score_of_many_trees_is_predicted_within_two_standard_errors(metric):
    comparison, candidate = candidate_of(RandomForestClassifier, metric, 24)
    predicted = comparison.predict_score(candidate, 150)
    comparison.grow([candidate], 400)
    comparison.score(candidate)  # about 150 of 400 trees did not see a row
    measured = comparison.predict_score(candidate, 150)
    assert abs(measured.score - measured.current) < 0.01 * abs(measured.current)
    assert abs(predicted.score - measured.score) < 2 * predicted.se
    assert abs(predicted.score - measured.score) < abs(predicted.current - measured.score)


def test_rows_score_only_trees_that_did_not_see_them():
    forest = RandomForestClassifier(30, oob_score=True, random_state=3).fit(X, Y)
    _, candidate = candidate_of(RandomForestClassifier, "lrap", 30)
    sums, counts = candidate.curve.whole
    assert sums.sum() / counts.sum() == pytest.approx(forest.oob_score_)
    assert np.array_equal(
        np.count_nonzero(candidate.leaves >= 0, axis=1).sum(), candidate.curve.n_trees_of_row.sum()
    )


def test_a_callable_scores_as_the_metric_of_that_name():
    _, by_name = candidate_of(RandomForestClassifier, "precision_at_5", 30)
    _, by_call = candidate_of(RandomForestClassifier, lambda Y, S: precision_at_k(Y, S, 5), 30)
    assert np.allclose(by_name.curve.whole, by_call.curve.whole)
    assert np.allclose(by_name.curve.points, by_call.curve.points)


@pytest.mark.parametrize("leaf", [1, 2])
def test_dense_and_sparse_scores_give_the_same_curve(leaf, monkeypatch):
    given = (RandomForestClassifier, "lrap", 30)
    kept = candidate_of(*given, min_samples_leaf=leaf)[1].curve
    monkeypatch.setattr("sketchforest._selection.out_of_bag.DENSE_LABELS", 0)
    other = candidate_of(*given, min_samples_leaf=leaf)[1].curve
    assert np.array_equal(kept.whole, other.whole)
    assert np.array_equal(kept.points, other.points)


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
        for setting in space.neighbours(start):
            assert setting != start
            assert 1 <= setting.max_features <= n_features
            assert setting.n_components is None or 1 <= setting.n_components <= n_labels
            assert start in space.neighbours(setting) or start.projection != setting.projection


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


# ---- forests of oblique and other trees


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
