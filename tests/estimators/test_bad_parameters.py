"""Bad parameters, and fits and calls that the data or an earlier fit rule out."""

import numpy as np
import pytest
from bad_input import (
    N_FEATURES,
    N_LABELS,
    X,
    Y,
    nothing_changes,
    one_sentence,
    predictions,
    refuse_to_fit,
    small,
)
from every_kind import CLASSIFIERS, ESTIMATORS, FORESTS, REGRESSORS

from sketchforest import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from sketchforest.projection import Projection

RULES = {
    "max_depth": ([0, -1, 2.5, "deep", True], "an int of at least 1 or None"),
    "min_samples_split": ([1, 0.0, 1.5, "two", None], "an int of at least 2 or a fraction"),
    "min_samples_leaf": ([0, 0.0, 1.5, None, np.nan], "an int of at least 1 or a fraction"),
    "min_weight_fraction_leaf": ([-0.1, 0.6, None, "x"], r"a number in \[0, 0.5\]"),
    "max_features": (
        [0, 0.0, 1.5, "all", True],
        r"'sqrt', '4sqrt', 'log2', 'auto', an int of at least 1",
    ),
    "max_leaf_nodes": ([1, 0, 3.5, "x"], "an int of at least 2 or None"),
    "min_impurity_decrease": ([-1, np.inf, None, "x"], "a number of at least 0"),
    "random_state": ([-1, 2**32, 1.5, "x", np.random.default_rng(0)], "an int from 0 to"),
    "projection": (["gauss", 3, Projection, object()], "'gaussian', 'rademacher', .*, None, a"),
    "n_components": ([0, -1, 0.0, 1.5, "many", True, np.nan], "an int of at least 1, a fraction"),
}
FOREST_RULES = {
    "n_estimators": ([0, -1, 2.5, "x", None, True], "an int of at least 1"),
    "bootstrap": ([1, None, "x"], "True or False"),
    "max_samples": ([0, 0.0, -0.5, np.inf, "x"], "an int of at least 1, a share above 0 or None"),
    "oob_score": ([None, 3], "True, False, the name of a metric or a callable"),
    "shared_projection": ([1, None, "x"], "True or False"),
    "n_jobs": ([0, 1.5, "x"], "an int other than 0 or None"),
    "verbose": ([-1, 0.5, "x", None], "an int of at least 0"),
    "warm_start": ([1, None, "x"], "True or False"),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_bad_parameter_is_named_with_its_rule_and_value(kind, name):
    values, rule = RULES[name]
    for value in values:
        if "Sketch" in kind.__name__ and name.startswith("min_samples") and value is None:
            continue  # as is best for each kind of tree
        refuse_to_fit(kind, f"^{name} must be {rule}.*; got ", **{name: value})


@pytest.mark.parametrize("name", FOREST_RULES)
@pytest.mark.parametrize("kind", FORESTS)
def test_a_bad_parameter_of_a_forest_is_named_with_its_rule_and_value(kind, name):
    values, rule = FOREST_RULES[name]
    for value in values:
        refuse_to_fit(kind, f"^{name} must be {rule}.*; got {value!r}", **{name: value})


@pytest.mark.parametrize("kind", [RandomForestClassifier, DecisionTreeRegressor])
def test_bad_numbers_of_bins_are_refused(kind):
    for value in (1, 256, 2.5, "x", True):
        refuse_to_fit(kind, "^max_bins must be an int from 2 to 255 or None; got", max_bins=value)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if "Sketch" not in kind.__name__])
def test_another_criterion_a_bad_ccp_alpha_and_constraints_of_monotonicity_are_refused(kind):
    own, other = "'gini', 'entropy' or 'log_loss'", ("squared_error", "Gini", None)
    if kind in REGRESSORS:
        own = "'squared_error', 'friedman_mse', 'absolute_error' or 'poisson'"
        other = ("mse", "gini", 3)
    for value in other:
        refuse_to_fit(kind, f"^criterion must be {own}; got {value!r}", criterion=value)
    for value in (-0.1, np.inf, np.nan, "x", None):
        refuse_to_fit(kind, "^ccp_alpha must be a number of at least 0; got", ccp_alpha=value)
    constraints = [0] * N_FEATURES
    refuse_to_fit(kind, "^monotonic_cst must be None, .*; got", monotonic_cst=constraints)


@pytest.mark.parametrize("kind", [kind for kind in REGRESSORS if "Sketch" not in kind.__name__])
def test_friedman_mse_is_another_name_of_the_squared_error(kind):
    with pytest.warns(FutureWarning, match=r"criterion='friedman_mse' is deprecated") as caught:
        other = kind(**small(kind).get_params() | {"criterion": "friedman_mse"})
    assert caught[0].filename == __file__
    usual, other = small(kind).fit(X, Y), other.fit(X, Y)
    assert np.array_equal(usual.predict(X), other.predict(X))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_bad_splitter_is_refused(kind):
    refuse_to_fit(
        kind, "^splitter must be 'best', 'random' or 'oblique'; got 'worst'", splitter="worst"
    )


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_more_components_than_there_can_be_are_refused(kind):
    for name in ("hadamard", "subsample"):
        message = f"n_components must be at most n_labels=34 for projection='{name}'; got 35. Use"
        refuse_to_fit(kind, message, projection=name, n_components=35)
    message = r"at most min\(n_samples, n_labels\)=34 for projection='pca'; got 41. Use"
    refuse_to_fit(kind, message, projection="pca", n_components=41)


@pytest.mark.parametrize("kind", FORESTS)
def test_errors_of_threads_are_those_of_the_trees(kind):
    message = "n_components must be at most n_labels=34"
    refuse_to_fit(kind, message, projection="hadamard", n_components=99, n_jobs=2)


class Wrong(Projection):
    def draw(self, n_labels, n_components, rng):
        return np.zeros((n_labels, n_components + 1))


class Broken(Projection):
    def draw(self, n_labels, n_components, rng):
        raise RuntimeError("no projection today")


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_projection_that_fails_changes_nothing(kind):
    message = r"projection must return P of shape .*returned \(34, 6\)"
    refuse_to_fit(kind, message, projection=Wrong(), n_components=5)
    message = "no projection today"
    refuse_to_fit(kind, message, projection=Broken(), n_components=5, error=RuntimeError)


@pytest.mark.parametrize("kind", [kind for kind in FORESTS if "Sketch" not in kind.__name__])
def test_what_needs_a_bootstrap_is_refused_without(kind):
    message = "Out of bag estimation only available if bootstrap=True; got bootstrap=False"
    refuse_to_fit(kind, message, bootstrap=False, oob_score=True)


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("max_samples", [41, 1.5])
def test_more_draws_than_rows_are_refused_without_replacement(kind, max_samples):
    message = "max_samples must be at most the number of rows, 40, .*; got .* Use bootstrap=True"
    refuse_to_fit(kind, message, bootstrap=False, max_samples=max_samples)


@pytest.mark.parametrize("kind", FORESTS)
def test_unknown_metrics_are_refused_before_trees_are_grown(kind, monkeypatch):
    grown = []
    message = "oob_score must be True, False, .*; got 'f1'"
    with monkeypatch.context() as patch:
        patch.setattr("sketchforest._estimators.base.grow", grown.append)
        with pytest.raises(ValueError, match=message):
            small(kind, bootstrap=True, oob_score="f1").fit(X, Y)
    assert not grown
    refuse_to_fit(kind, message, bootstrap=True, oob_score="f1")
    if kind in CLASSIFIERS:
        message = "got 'precision_at_35': k must be an integer from 1 to n_labels=34; got 35"
        refuse_to_fit(kind, message, bootstrap=True, oob_score="precision_at_35")


@pytest.mark.filterwarnings("ignore:Some inputs")
@pytest.mark.parametrize("kind", FORESTS)
def test_a_metric_that_fails_changes_nothing(kind):
    calls = []

    def fails(truth, prediction):
        calls.append(truth)
        if len(calls) % n_before == 0:  # of each fit
            raise RuntimeError("no score today")
        return 0.5

    n_before = 1
    message = "oob_score must be a callable f.*, which fails: no score today"
    refuse_to_fit(kind, message, bootstrap=True, oob_score=fails)
    calls.clear()
    n_before = 2  # it was tried, and fails when the trees are grown
    refuse_to_fit(kind, "no score today", bootstrap=True, oob_score=fails, error=RuntimeError)


@pytest.mark.parametrize("k", [0, -1, N_LABELS + 1, 2.0, "x", True, None])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_k_that_cannot_be_is_refused(kind, k):
    estimator = small(kind).fit(X, Y)
    message = f"k must be an int from 1 to the number of outputs, 34; got {k!r}"
    with nothing_changes(estimator), one_sentence(message):
        estimator.predict_topk(X, k)
    if k is not None:
        with nothing_changes(estimator), one_sentence(message):
            estimator.predict_sparse(X, k)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_warm_start_on_other_data_is_refused(kind):
    forest = small(kind, n_estimators=4, warm_start=True).fit(X, Y)
    before = predictions(forest)
    for n_estimators, features, targets, message in [
        (3, X, Y, "at least the 4 trees already grown; got 3"),
        (9, X[:30], Y[:30], "those of the first fit, with 40 rows and 34 .*got 30 and 34"),
        (9, X, Y[:, :9], "those of the first fit, .*got 40 and 9. Use warm_start=False"),
        (9, X[:, :3], Y, "X has 3 features, but .* is expecting 6"),
        (
            9,
            X[::-1],
            Y,
            "those of the first fit, .*same order; got a different X or sample_weight. Use",
        ),
        (9, X, Y[::-1], "got a different Y. Use warm_start=False"),
        (9, X[::-1], Y[::-1], "got a different X or sample_weight and a different Y. Use"),
    ]:
        forest.set_params(n_estimators=n_estimators)
        with nothing_changes(forest), one_sentence(message):
            forest.fit(features, targets)
        assert np.array_equal(predictions(forest), before)
    with nothing_changes(forest), one_sentence("got a different X or sample_weight"):
        forest.fit(X, Y, sample_weight=np.arange(1.0, 41))
    assert np.array_equal(predictions(forest), before)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_warm_start_without_new_trees_changes_nothing_whatever_it_is_given(kind):
    forest = small(kind, n_estimators=4, warm_start=True).fit(X, Y)
    with nothing_changes(forest), pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X[::-1], Y[:, :9])


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("kind", [kind for kind in FORESTS if "Sketch" not in kind.__name__])
def test_a_warm_start_without_new_trees_scores_those_that_were_not_scored(kind):
    forest = small(kind, n_estimators=9, warm_start=True, bootstrap=True).fit(X, Y)
    forest.set_params(oob_score=True)
    with nothing_changes(forest), one_sentence("got a different Y. Use warm_start=False"):
        forest.fit(X, Y[::-1])
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X, Y)
    assert np.isfinite(forest.oob_score_)
    assert forest._n_samples_bootstrap == len(X)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_weights_in_an_array_without_dimension_are_refused_in_scikit_learns_words(kind):
    with pytest.raises(TypeError, match=r"^Input should have at least 1 dimension"):
        small(kind).fit(X, Y, np.array(2.0))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fit_that_fails_gives_back_what_it_drew(kind):
    stream = np.random.RandomState(0)
    bad = {"projection": "hadamard", "n_components": 99}
    refuse_to_fit(kind, "at most n_labels=34", random_state=stream, **bad)
    assert stream.randint(2**31) == np.random.RandomState(0).randint(2**31)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_tree_that_is_not_there_has_no_matrix(kind):
    estimator = small(kind, n_components=3).fit(X, Y)
    for tree in (-1, 99):
        with one_sentence(f"tree must be from 0 to .*; got {tree}"):
            estimator.projection_matrix(tree)
