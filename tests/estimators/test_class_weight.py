"""class_weight is scikit-learn's for classes; "balanced" weights each label by itself."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.class_weight import compute_sample_weight

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._estimators.fitting.class_weight import row_weights
from sketchforest._trees.model import SparseRows
from sketchforest._trees.predict import ForestPredictor
from sketchforest.datasets import make_multilabel
from sketchforest.evaluation import evaluate
from sketchforest.metrics import top_k

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier, DecisionTreeClassifier)
N_ROWS, N_LABELS = 90, 6


@pytest.fixture(name="X", scope="module")
def features():
    return np.random.default_rng(0).normal(size=(N_ROWS, 5))


@pytest.fixture(name="Y", scope="module")
def labels(X):
    Y = (X @ np.random.default_rng(1).normal(size=(5, N_LABELS)) > 1.5).astype(int)
    Y[:, 0] = 0  # a label that is never there
    Y[:, 1] = 1  # and one that always is
    return Y


@pytest.fixture(name="y", scope="module")
def classes(X):
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [0, 1.2])]


EACH_LABEL = [{0: 1 + j / 8, 1: 4.0 - j / 4} for j in range(N_LABELS)]
FOR_CLASSES = ["balanced", {"a": 1, "b": 2.5, "c": 0}, {"b": 8}]


def fitted(kind, X, Y, sample_weight=None, **params):
    params = {"random_state": 0} | params
    if kind is not DecisionTreeClassifier:
        params = {"n_estimators": 5} | params
    return kind(**params).fit(X, Y, sample_weight)


@pytest.mark.parametrize("class_weight", FOR_CLASSES, ids=str)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_weights_of_classes_are_weights_of_their_rows(kind, class_weight, X, y):
    rows = compute_sample_weight(class_weight, y)
    by_class = fitted(kind, X, y, class_weight=class_weight, max_depth=3)
    by_row = fitted(kind, X, y, rows, max_depth=3)
    assert np.allclose(by_class.predict_proba(X), by_row.predict_proba(X))
    given = np.random.default_rng(2).random(N_ROWS)
    if class_weight == "balanced" and kind is not DecisionTreeClassifier:
        codes = np.unique(y, return_inverse=True)[1]
        rows = given.sum() / np.bincount(codes, given)[codes]
    both = fitted(kind, X, y, given, class_weight=class_weight, max_depth=3)
    assert np.allclose(
        both.predict_proba(X), fitted(kind, X, y, given * rows, max_depth=3).predict_proba(X)
    )
    assert not np.allclose(both.predict_proba(X), by_class.predict_proba(X))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_weights_of_labels_multiply(kind, layout, X, Y):
    class_weight = EACH_LABEL
    by_label = fitted(kind, X, layout(Y), class_weight=class_weight, max_depth=3)
    if kind is RandomForestClassifier:  # its rows are drawn alike, and then weighted
        params = {"max_depth": 3, "bootstrap": False}
        by_label = fitted(kind, X, layout(Y), class_weight=class_weight, **params)
        by_row = fitted(kind, X, Y, compute_sample_weight(class_weight, Y), **params)
    else:
        by_row = fitted(kind, X, Y, compute_sample_weight(class_weight, Y), max_depth=3)
    assert np.allclose(by_label.predict_proba(X), by_row.predict_proba(X))
    assert not np.allclose(
        by_label.predict_proba(X), fitted(kind, X, Y, max_depth=3).predict_proba(X)
    )


def test_one_dict_serves_every_label(Y):
    rows = SparseRows.from_csr(sparse.csr_array(Y.astype(float)))
    same = {0: 0.5, 1: 3}
    assert np.allclose(
        row_weights(same, rows, None, None), compute_sample_weight([same] * N_LABELS, Y)
    )


def test_each_bag_is_balanced_by_its_own_counts(X, y):
    forest = fitted(RandomForestClassifier, X, y, class_weight="balanced_subsample")
    plain = fitted(RandomForestClassifier, X, y)
    for index in range(5):
        tree, counted = forest.fitted_.forest.tree(index), plain.fitted_.forest.tree(index)
        counts = np.zeros(N_ROWS, int)
        counts[counted.members] = counted.weights
        drawn = np.repeat(np.arange(N_ROWS), counts)
        expected = counts * compute_sample_weight("balanced", y, indices=drawn)
        weights = np.zeros(N_ROWS)
        weights[tree.members] = tree.weights
        assert np.allclose(weights, expected)


@pytest.mark.parametrize("which", ["classes", "labels"])
def test_without_a_bootstrap_all_rows_are_the_bag(which, X, Y, y):
    target = y if which == "classes" else Y
    whole = fitted(ExtraTreesClassifier, X, target, class_weight="balanced")
    by_bag = fitted(ExtraTreesClassifier, X, target, class_weight="balanced_subsample")
    assert np.allclose(whole.predict_proba(X), by_bag.predict_proba(X))


def test_rows_of_weight_zero_are_not_counted_when_classes_are_balanced(X, y):
    kept = np.arange(N_ROWS) % 3 > 0
    assert set(y[kept]) == set(y)
    weighted = fitted(RandomForestClassifier, X, y, kept.astype(float), class_weight="balanced")
    removed = fitted(RandomForestClassifier, X[kept], y[kept], class_weight="balanced")
    assert np.allclose(weighted.predict_proba(X), removed.predict_proba(X))


def test_products_over_thousands_of_labels_stay_numbers():
    rng = np.random.default_rng(0)
    Y = sparse.csr_array((rng.random((50, 3000)) < 0.5).astype(float))
    rows = SparseRows.from_csr(Y)
    for class_weight in ({0: 1.0, 1: 1e30}, {0: 1e30, 1: 1e29}, {1: 1e-30}):
        weights = row_weights(class_weight, rows, None, None)
        assert np.isfinite(weights).all()
        assert np.isfinite(weights.sum())
    # Where nothing overflows, nothing is scaled.
    few = SparseRows.from_csr(Y[:, :4])
    assert np.allclose(row_weights({1: 3.0}, few, None, None), 3.0 ** Y[:, :4].sum(axis=1))


# ---- labels are balanced one by one


@pytest.fixture(scope="module", params=[np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def balanced(request, X, Y):
    return fitted(
        SketchForestClassifier, X, request.param(Y), n_estimators=20, class_weight="balanced"
    )


def test_rows_with_a_balanced_label_count_by_its_weight(balanced, X, Y):
    fitted_model = balanced.fitted_
    shares = ForestPredictor(fitted_model.forest, fitted_model.labels).average(X, 1, np.float64)
    weights = ((N_ROWS + 2) / (Y.sum(axis=0) + 1)) ** 0.3
    weights /= np.exp((Y @ np.log(weights)).sum() / Y.sum())
    expected = shares * weights / (shares * weights + 1 - shares)
    assert np.allclose(balanced.predict_proba(X), expected, atol=1e-6)
    assert weights[2:].max() > 1 > weights[1]  # the label that all rows have


def test_all_ways_to_predict_agree_on_balanced_labels(balanced, X, tmp_path):
    expected = np.asarray(balanced.predict_proba(X))
    assert np.array_equal(balanced.predict_sparse(X).toarray(), expected)
    labels, scores = balanced.predict_topk(X, 3)
    best, values = top_k(expected, 3)
    assert np.array_equal(labels, best)
    assert np.allclose(scores, values)
    three = balanced.predict_sparse(X, 3).toarray()
    assert np.array_equal(np.sort(three)[:, -3:], np.sort(expected)[:, -3:])
    found = balanced.explain(X[:1], k=N_LABELS)
    assert np.allclose(found.scores, expected[0, found.labels])
    assert np.allclose(found.base + found.contributions.sum(axis=0), found.scores)
    balanced.save(tmp_path / "model.sf")
    for model in (load_forest(tmp_path / "model.sf"), pickle.loads(pickle.dumps(balanced))):
        assert np.array_equal(model.predict_proba(X), expected)


def test_balanced_labels_rank_rare_ones_higher_and_rows_as_well():
    data = make_multilabel(1500, 60, 80, labels_per_row=3, features_per_row=10, random_state=1)
    train, test = slice(1000), slice(1000, None)
    plain, by_label = (
        evaluate(
            SketchForestClassifier(40, random_state=0, class_weight=class_weight).fit(
                data.X[train], data.Y[train]
            ),
            data.X[test],
            data.Y[test],
        ).scores
        for class_weight in (None, "balanced")
    )
    for name in ("psp_at_1", "psp_at_5", "macro_f1"):
        assert by_label[name] > plain[name]
    assert by_label["lrap"] > plain["lrap"] - 0.02


def test_reweighted_trees_are_not_converted(X, Y):
    forest = fitted(RandomForestClassifier, X.astype(np.float32), Y, class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight must be None for to_sklearn"):
        forest.to_sklearn()


BAD = [
    ("heavy", "class_weight must be 'balanced', .*; got 'heavy'"),
    (5, "class_weight must be 'balanced', .*; got 5"),
    ([{0: 1}, "balanced"], "a list of dicts or None; got"),
    ({"a": -1}, "class_weight must hold numbers of at least 0; got -1"),
    ({"a": np.nan}, "class_weight must hold numbers of at least 0; got nan"),
    ({"a": "much"}, "class_weight must hold numbers of at least 0; got 'much'"),
    ({"q": 1}, "class_weight must have classes of Y as keys, 'a', 'b', 'c'; got 'q'"),
    ([{0: 1}], "must not be a list if Y has one dimension; .* Use a dict"),
    ({"a": 0, "b": 0, "c": 0}, "must give some row a weight above 0; got"),
]


@pytest.mark.parametrize(("class_weight", "message"), BAD)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_wrong_weights_of_classes_are_refused(kind, class_weight, message, X, y):
    with pytest.raises(ValueError, match=message):
        fitted(kind, X, y, class_weight=class_weight)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ([{0: 1}] * 5, "one dict for each of the 6 labels if it is a list; got 5"),
        ([{0: 1}] * 5 + [{2: 1}], "classes of Y as keys, 0, 1; got 2"),
        ({0: 0}, r"must be positive for an absent label \(0\); got 0. Use sample_weight"),
    ],
)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_wrong_weights_of_labels_are_refused(kind, class_weight, message, X, Y):
    with pytest.raises(ValueError, match=message):
        fitted(kind, X, Y, class_weight=class_weight)


def test_a_class_that_a_fold_lacks_may_have_a_weight(X, y):
    rare = {"a": 1, "b": 2, "c": 3, "d": 4}
    assert set(fitted(DecisionTreeClassifier, X, y, class_weight=rare).classes_) == {"a", "b", "c"}


def test_a_tree_has_no_subsample_to_balance(X, y):
    with pytest.raises(ValueError, match="got 'balanced_subsample'"):
        fitted(DecisionTreeClassifier, X, y, class_weight="balanced_subsample")
