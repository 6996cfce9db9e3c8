"""Bad input gets one clear sentence and changes nothing; odd input that makes sense is taken."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from every_kind import trees_alone
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)
from sketchforest.projection import Projection

FORESTS = (
    SketchForestClassifier,
    SketchForestRegressor,
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
)
CLASSIFIERS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    SketchForestClassifier,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
)
REGRESSORS = (
    RandomForestRegressor,
    ExtraTreesRegressor,
    SketchForestRegressor,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
)
ESTIMATORS = (*CLASSIFIERS, *REGRESSORS)

N_ROWS, N_FEATURES, N_LABELS = 40, 6, 34
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES))
Y = (RNG.random((N_ROWS, N_LABELS)) < 0.2).astype(float)
ONES = np.ones(N_ROWS)


def small(kind, **params):
    if kind in FORESTS:
        params = {"n_estimators": 3} | params
    return kind(**({"random_state": 0} | params))


def predictions(estimator, features=X):
    probabilities = getattr(estimator, "predict_proba", None)
    guess = probabilities(features) if probabilities else estimator.predict(features)
    return guess.toarray() if sparse.issparse(guess) else guess


@contextmanager
def nothing_changes(estimator):
    before = dict(vars(estimator))
    yield
    after = vars(estimator)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


@contextmanager
def one_sentence(message, error=ValueError):
    with pytest.raises(error, match=message) as caught:
        yield
    assert "\n" not in str(caught.value)


def replaced(array, value, at=(3, 1)):
    array = array.astype(object if isinstance(value, str | dict) else np.float64)
    array[at] = value
    return array


def refuse_to_fit(kind, message, X=X, y=Y, sample_weight=None, error=ValueError, **params):
    """fit says so and changes nothing, of an estimator without a fit and of one with."""
    fresh = small(kind, **params)
    with nothing_changes(fresh), one_sentence(message, error):
        fresh.fit(X, y, sample_weight)

    good = small(kind)
    fitted = small(kind).fit(globals()["X"], Y)
    before = predictions(fitted)
    fitted.set_params(**params)
    with nothing_changes(fitted), one_sentence(message, error):
        fitted.fit(X, y, sample_weight)
    fitted.set_params(**good.get_params())
    assert np.array_equal(predictions(fitted), before)


# ---- X


BAD_X = {
    "inf": (replaced(X, np.inf), r"X must not contain infinity; .*NaN, which means missing"),
    "minus inf": (replaced(X, -np.inf), "X must not contain infinity"),
    "both": (replaced(replaced(X, np.inf), -np.inf, (0, 0)), "X must not contain infinity"),
    "float32 inf": (replaced(X, np.inf).astype(np.float32), "X must not contain infinity"),
    "sparse inf": (sparse.csr_array(replaced(X, np.inf)), "X must not contain infinity"),
    "sparse columns inf": (sparse.csc_array(replaced(X, np.inf)), "X must not contain infinity"),
    "strings": (X.astype(str), "X must hold numbers; got strings. Encode categories"),
    "objects": (replaced(X, "red"), "X must hold numbers; .*'red'. Encode categories"),
    "complex": (X * 1j, "X must hold real numbers; got complex ones"),
    "dates": (np.zeros(X.shape, "M8[D]"), r"X must hold numbers; got dtype datetime64\[D\]"),
    "no rows": (X[:0], r"X must not be empty; found array with 0 sample\(s\) \(shape=\(0, 6\)\)"),
    "no features": (X[:, :0], r"X must not be empty; found array with 0 feature\(s\)"),
    "one dimension": (X[:, 0], r"X must have two dimensions; got one.*reshape\(-1, 1\)"),
    "three dimensions": (X[:, :, None], "X must have at most two dimensions; .*dim 3"),
}


@pytest.mark.parametrize("which", BAD_X)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_features_are_refused_by_fit(kind, which):
    features, message = BAD_X[which]
    refuse_to_fit(kind, message, X=features)


@pytest.mark.parametrize("which", BAD_X)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_features_are_refused_by_every_prediction(kind, which):
    features, message = BAD_X[which]
    estimator = small(kind).fit(X, Y)
    before = predictions(estimator)
    methods = ["predict", "apply", "leaf_weights"]
    if kind in CLASSIFIERS:
        methods += ["predict_proba", "predict_log_proba", "predict_sparse", "predict_topk"]
    for method in methods:
        with nothing_changes(estimator), one_sentence(message):
            getattr(estimator, method)(features)
    assert np.array_equal(predictions(estimator), before)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_things_that_are_no_numbers_are_refused(kind):
    refuse_to_fit(
        kind, "X must hold numbers; .*not 'dict'", X=replaced(X, {"a": 1}), error=TypeError
    )


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_another_number_of_features_is_refused(kind, layout):
    estimator = small(kind).fit(X, Y)
    before = predictions(estimator)
    for n_features in (N_FEATURES - 1, N_FEATURES + 1):
        message = f"X has {n_features} features, but {kind.__name__} is expecting 6 features"
        with nothing_changes(estimator), one_sentence(message):
            estimator.predict(layout(np.ones((4, n_features))))
    assert np.array_equal(predictions(estimator), before)


# ---- Y


BAD_Y = {
    "nan": (replaced(Y, np.nan), "Y must not contain missing or infinite values; .*Leave out rows"),
    "inf": (replaced(Y, np.inf), "Y must not contain missing or infinite values"),
    "sparse nan": (sparse.csr_array(replaced(Y, np.nan)), "Y must not contain missing or infinite"),
    "1-d nan": (replaced(ONES, np.nan, 3), "Y must not contain missing or infinite values"),
    "too few": (Y[:-1], "X and Y must have the same number of rows; got 40 and 39"),
    "too many": (np.vstack([Y, Y]), "X and Y must have the same number of rows; got 40 and 80"),
    "sparse, too few": (sparse.csr_array(Y[:-1]), "the same number of rows; got 40 and 39"),
    "1-d, too few": (ONES[1:], "the same number of rows; got 40 and 39"),
    "no rows": (Y[:0], r"Y must not be empty; found array with 0 sample\(s\)"),
    "no columns": (Y[:, :0], r"Y must have at least one column; got shape \(40, 0\)"),
    "sparse, no columns": (sparse.csr_array(Y[:, :0]), "Y must have at least one column"),
    "none": (None, "requires y to be passed, but the target y is None"),
    "three dimensions": (Y[:, :, None], "Y must have at most two dimensions; .*dim 3"),
    "complex": (Y * 1j, "Y must hold real numbers; got complex ones"),
    "sparse complex": (sparse.csr_array(Y * 1j), "Y must hold real numbers; got complex ones"),
    "lists": ([[1, 2], [3]] * 20, "Y must have rows of equal length; .*MultiLabelBinarizer"),
    "1-d sparse": (sparse.coo_array(ONES), "Y must be 2-d if it is sparse"),
}
NO_INDICATOR = (
    "Sparse Y must be an indicator matrix of zeros and ones; got the value {}. Use toarray"
)
BAD_LABELS = {
    "counts": (sparse.csr_array(2 * Y), NO_INDICATOR.format("2.0")),
    "negative": (sparse.csr_array(replaced(Y, -1).astype(int)), NO_INDICATOR.format("-1")),
    "halves": (sparse.csr_array(Y / 2), NO_INDICATOR.format("0.5")),
    "columns of halves": (Y / 2, "Unknown label type: continuous"),
    "columns of objects": (Y.astype(object), "Unknown label type: unknown"),
    "real numbers": (X[:, 0], "Unknown label type: continuous"),
    "types that do not mix": (np.array(["a", 1] * 20, object), "Y must hold classes of one type"),
    "unknown classes": (np.array(["a", None] * 20), "Y must hold classes of one type"),
    "missing classes": (np.array(["a", np.nan] * 20, object), "Y must not contain missing"),
}
BAD_OUTPUTS = {
    "strings": (np.array(["red"] * N_ROWS), "Y must hold numbers; got dtype .*Use a classifier"),
    "objects": (replaced(Y, "red"), "Y must hold numbers; got dtype object. Use a classifier"),
    "beyond single precision": (
        sparse.csr_array(Y * 1e300),
        "Y must not contain missing or infinite",
    ),
}


@pytest.mark.parametrize("which", BAD_Y)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_targets_are_refused(kind, which):
    targets, message = BAD_Y[which]
    refuse_to_fit(kind, message, y=targets)


@pytest.mark.parametrize("which", BAD_LABELS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_what_is_no_indicator_matrix_and_no_class_is_refused(kind, which):
    targets, message = BAD_LABELS[which]
    refuse_to_fit(kind, message, y=targets)


@pytest.mark.parametrize("which", BAD_OUTPUTS)
@pytest.mark.parametrize("kind", REGRESSORS)
def test_outputs_that_are_no_numbers_are_refused(kind, which):
    targets, message = BAD_OUTPUTS[which]
    refuse_to_fit(kind, message, y=targets)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_scalar_is_no_target(kind):
    refuse_to_fit(kind, "Y must have one or two dimensions; got a scalar", y=3, error=TypeError)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_relabel_refuses_what_fit_refuses(kind):
    estimator = small(kind).fit(X, Y)
    before = predictions(estimator)
    bad = BAD_Y | (BAD_LABELS if kind in CLASSIFIERS else BAD_OUTPUTS)
    for which, (targets, message) in bad.items():
        if "too" in which:
            n_rows = targets.shape[0]
            message = f"Y_new must have one row for each of the 40 training rows; got {n_rows}"
        with nothing_changes(estimator), one_sentence(message):
            estimator.relabel(targets)
    assert np.array_equal(predictions(estimator), before)


# ---- weights


BAD_WEIGHTS = {
    "negative": (replaced(ONES, -0.5, 3), "sample_weight must not be negative; got -0.5"),
    "all zero": (0 * ONES, "sample_weight must not be all zero; .*Use None for equal weights"),
    "nan": (replaced(ONES, np.nan, 3), "sample_weight must be finite; got NaN or inf"),
    "inf": (replaced(ONES, np.inf, 3), "sample_weight must be finite; got NaN or inf"),
    "too few": (ONES[1:], r"one number for each of the 40 rows; got shape \(39,\)"),
    "a matrix": (ONES[:, None], r"one number for each of the 40 rows; got shape \(40, 1\)"),
    "a number": (-1.0, "sample_weight must not be negative; got -1.0"),
    "strings": (["heavy"] * N_ROWS, "sample_weight must hold numbers; .*'heavy'"),
}


@pytest.mark.parametrize("which", BAD_WEIGHTS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_weights_are_refused(kind, which):
    weights, message = BAD_WEIGHTS[which]
    refuse_to_fit(kind, message, sample_weight=weights)


# ---- parameters


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
        other = small(kind, criterion="friedman_mse")
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


# ---- not errors


def same_as(kind, given, clean, sample=X):
    """What is fitted on the given X and Y predicts as what is fitted on the clean ones."""
    ours, theirs = small(kind).fit(*given), small(kind).fit(*clean)
    assert np.array_equal(ours.apply(sample), theirs.apply(sample))
    assert np.array_equal(predictions(ours, sample), predictions(theirs, sample))
    return ours


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_rows_and_columns_without_labels_are_taken(kind, layout):
    empty = Y.copy()
    empty[:10] = 0
    empty[:, :5] = 0
    guess = predictions(small(kind).fit(X, layout(empty)))
    assert guess.shape == (N_ROWS, N_LABELS)
    assert not guess[:, :5].any()
    assert guess[:, 5:].any()
    assert not predictions(small(kind).fit(X, layout(0 * Y))).any()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_constant_features_are_taken(kind, layout):
    constant = np.hstack([np.full((N_ROWS, 2), 7.0), np.zeros((N_ROWS, 2))])
    estimator = small(kind).fit(layout(constant), Y)
    assert not estimator.apply(layout(constant)).any()  # a single leaf
    assert not estimator.feature_importances_.any()
    mixed = small(kind, max_features=None).fit(layout(np.hstack([constant, X])), Y)
    assert not mixed.feature_importances_[:4].any()
    assert mixed.feature_importances_[4:].sum() == pytest.approx(1)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_row_is_enough(kind, layout):
    estimator = small(kind).fit(layout(X[:1]), layout(Y[:1]))
    assert np.array_equal(predictions(estimator, X), np.repeat(Y[:1], N_ROWS, axis=0))
    assert len(predictions(small(kind).fit(X[:1], [1]), X)) == N_ROWS


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_label_and_one_class_are_enough(kind):
    column = sparse.csr_array(Y[:, :1])
    params = {"threshold": 0.5} if "threshold" in kind().get_params() else {}  # all trees see all
    params |= trees_alone(kind)
    estimator = small(kind, **params).fit(X, column)
    assert predictions(estimator).shape == (N_ROWS, 1)
    assert estimator.n_outputs_ == 1
    if kind in CLASSIFIERS:
        same = small(kind, **trees_alone(kind)).fit(X, Y[:, 0])
        assert np.allclose(predictions(same)[:, 1], predictions(estimator)[:, 0])
        assert small(kind).fit(X, ["only"] * N_ROWS).predict(X).tolist() == ["only"] * N_ROWS


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_feature_is_enough(kind):
    assert predictions(small(kind).fit(X[:, :1], Y), X[:, :1]).shape == (N_ROWS, N_LABELS)


def with_explicit_zeros(matrix):
    filled = sparse.csr_array(np.ones_like(matrix))
    filled.data[:] = matrix.ravel()
    return filled


def with_unsorted_indices(matrix):
    csr = sparse.csr_array(matrix)
    for begin, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        csr.indices[begin:end] = csr.indices[begin:end][::-1].copy()
        csr.data[begin:end] = csr.data[begin:end][::-1].copy()
    csr.has_sorted_indices = False
    csr.has_canonical_format = False
    return csr


def with_duplicates(matrix, share):
    """Every entry twice: `share` of it, and the rest."""
    csr = sparse.csr_array(matrix)
    pairs = np.column_stack([share * csr.data, (1 - share) * csr.data]).ravel()
    return sparse.csr_array((pairs, csr.indices.repeat(2), 2 * csr.indptr), shape=csr.shape)


ODD_X = {
    "explicit zeros": with_explicit_zeros(np.maximum(X, 0)),
    "unsorted indices": with_unsorted_indices(np.maximum(X, 0)),
    "duplicates": with_duplicates(np.maximum(X, 0), 0.25),
    "long indices": sparse.csr_array(np.maximum(X, 0)),
}
ODD_X["long indices"].indices = ODD_X["long indices"].indices.astype(np.int64)
ODD_X["long indices"].indptr = ODD_X["long indices"].indptr.astype(np.int64)


@pytest.mark.parametrize("which", ODD_X)
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_odd_sparse_features_are_taken_and_left_alone(kind, columns, which):
    odd = ODD_X[which]
    odd = sparse.csc_array(odd) if columns else odd.copy()
    arrays = odd.data.copy(), odd.indices.copy(), odd.indptr.copy()
    clean = np.maximum(X, 0)
    estimator = same_as(kind, (odd, Y), (clean, Y), sample=clean)
    assert np.array_equal(predictions(estimator, odd), predictions(estimator, clean))
    for before, after in zip(arrays, (odd.data, odd.indices, odd.indptr), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_odd_sparse_targets_are_taken_and_left_alone(kind, layout):
    twice = with_duplicates(Y, 0.25)
    if kind in CLASSIFIERS:  # a label given twice is a label
        twice.data[:] = 1
    for odd in (with_explicit_zeros(Y), with_unsorted_indices(Y), twice):
        odd = layout(odd)
        arrays = odd.data.copy(), odd.indices.copy(), odd.indptr.copy()
        same_as(kind, (X, odd), (X, sparse.csr_array(Y)))
        for before, after in zip(arrays, (odd.data, odd.indices, odd.indptr), strict=True):
            assert np.array_equal(before, after)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_numbers_as_objects_are_numbers(kind):
    same_as(kind, (X.astype(object), Y), (X, Y))
    if kind in REGRESSORS:
        same_as(kind, (X, Y.astype(object)), (X, Y))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_huge_and_tiny_values_are_not_infinite(kind):
    far = X.copy()
    far[:, 0] = np.where(X[:, 0] > 0, 1.7e308, -1.7e308)
    far[:, 1] = np.where(X[:, 1] > 0, 5e-324, 0)
    leaves = small(kind, max_features=None).fit(far, Y).apply(far)
    near = np.sign(far) * (np.arange(N_FEATURES) < 2) + far * (np.arange(N_FEATURES) >= 2)
    assert np.array_equal(leaves, small(kind, max_features=None).fit(near, Y).apply(near))


# ---- what people try, and the way out


TRIED = {
    "lists of tags": ([["a", "b"], ["b"]] * 20, "MultiLabelBinarizer"),
    "sets of tags": (
        [{"a", "b"}, {"b"}] * 20,
        r"such as .*MultiLabelBinarizer\(sparse_output=True",
    ),
    "lists of equal length": ([["a", "b"], ["b", "c"]] * 20, "such as \\['a', 'b'\\].* or Tagger"),
    "sparse columns of classes": (
        sparse.csr_array([[0, 2], [1, 1]] * 20),
        "got the value 2. Use toarray",
    ),
}


@pytest.mark.parametrize(("y", "way_out"), TRIED.values(), ids=TRIED)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_other_forms_of_labels_name_the_way_out(kind, y, way_out):
    refuse_to_fit(kind, f"Y must .*{way_out}", y=y)


def test_a_series_of_lists_names_the_way_out():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    tags = [["a"], ["b"]] * 20
    for series in (pandas.Series(tags), polars.Series(tags), polars.Series([[], *tags[1:]])):
        refuse_to_fit(ExtraTreesClassifier, "such as .*MultiLabelBinarizer.* or Tagger", y=series)


@pytest.mark.parametrize("separator", [";", ",", "|"])
def test_classes_that_look_like_joined_labels_give_a_warning(separator):
    y = [separator.join(row) for row in (["a", "b"], ["b", "c"], ["a", "c"], ["c"])] * 10
    with pytest.warns(UserWarning, match=f"4 classes, .* split into 3 labels at '[{separator}]'"):
        small(RandomForestClassifier).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(RandomForestClassifier).fit(X, ["Paris, France", "Rome, Italy", "Lima", "Oslo"] * 10)


@pytest.mark.parametrize("dtype", ["string", "category", "object"])
def test_a_column_of_strings_is_named_where_the_model_has_numbers(dtype):
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"size": X[:, 0], "colour": X[:, 1]})
    forest = small(RandomForestClassifier).fit(numbers, Y)
    strings = numbers.assign(colour=pandas.Series(["red"] * N_ROWS, dtype=dtype))
    with one_sentence("X must hold numbers; .*column 'colour'"):
        forest.predict(strings)


COLUMNS = {
    "datetime": (lambda p: p.date_range("2020-01-01", periods=N_ROWS), "of datetime64.*its year"),
    "with a zone": (lambda p: p.date_range("2020", periods=N_ROWS, tz="UTC"), "of datetime64"),
    "timedelta": (lambda p: p.to_timedelta(range(N_ROWS), unit="s"), "of timedelta64.*seconds"),
    "period": (lambda p: p.period_range("2020", periods=N_ROWS, freq="D"), r"of period\[D\]"),
}


@pytest.mark.parametrize("which", COLUMNS)
def test_a_column_that_is_no_number_is_named(which):
    pandas = pytest.importorskip("pandas")
    made, reason = COLUMNS[which]
    frame = pandas.DataFrame({"size": X[:, 0], "other": made(pandas)})
    refuse_to_fit(RandomForestClassifier, f"got column 'other' {reason}", X=frame)


def test_a_text_among_objects_is_named_by_its_column():
    pandas = pytest.importorskip("pandas")
    cells = np.array([1, 2.5, None, "red"] * 10, dtype=object)
    frame = pandas.DataFrame({"size": X[:, 0].astype(object), "colour": cells})
    refuse_to_fit(RandomForestClassifier, "in column 'colour', could not .*: 'red'", X=frame)


def test_categories_that_are_numbers_are_categories():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"code": pandas.Categorical([1, 2] * 20)})
    taken = small(RandomForestClassifier).fit(frame, Y)
    assert taken.fitted_.feature_names.tolist() == ["code=1", "code=2"]


@pytest.mark.parametrize("layout", [list, tuple, np.array])
def test_texts_without_a_vectorizer_name_the_way_out(layout):
    texts, said = (
        layout(["cannot login"] * N_ROWS),
        r"got texts, such as 'cannot login'.*attach\(vector",
    )
    refuse_to_fit(RandomForestClassifier, said, X=texts)
    fitted = small(RandomForestClassifier).fit(X, Y)
    for rows in (texts, "cannot login"):
        with one_sentence(said):
            fitted.suggest(rows)


def test_strings_of_numpy_are_shown_as_strings():
    strings = np.array([[np.str_("z")] * N_FEATURES] * N_ROWS, dtype=object)
    refuse_to_fit(RandomForestClassifier, "could not convert string to float: 'z'", X=strings)
    fitted = small(RandomForestClassifier).fit(X, Y)
    with one_sentence(r"label must be a name or a number .*; got 'z'\."):
        fitted.explain(X[:1], label=np.str_("z"))


def test_a_lazy_frame_names_the_way_out():
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"a": [1.0] * N_ROWS, "b": [0] * N_ROWS})
    for kind in (RandomForestClassifier, RandomForestRegressor):
        refuse_to_fit(kind, r"X must hold rows; got a LazyFrame, .* Use its collect\(\)", X=lazy)
        refuse_to_fit(kind, r"Y must hold rows; got a LazyFrame, .* Use its collect\(\)", y=lazy)


@pytest.mark.parametrize("largest", [2**53 + 1, -(2**60)])
def test_whole_numbers_that_fall_together_are_told(largest):
    X = np.array([[largest], [largest + 1], [0]])
    with pytest.warns(UserWarning, match=r"X has integers beyond 2\*\*53"):
        DecisionTreeClassifier().fit(X, [0, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTreeClassifier().fit(np.array([[2**53], [1], [0]]), [0, 1, 0])
