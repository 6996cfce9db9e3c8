"""What the estimators promise: shapes, types, and the identities between their methods."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
import sklearn.tree
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.random_projection import GaussianRandomProjection

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
    load_forest,
)
from sketchforest._estimators import growing as _growing
from sketchforest._trees import predict as _predict
from sketchforest.datasets import make_multilabel
from sketchforest.metrics import lrap, precision_at_k, top_k
from sketchforest.projection import DEFAULT_N_COMPONENTS, PROJECTIONS, Projection

FOREST_CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier)
FOREST_REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor, SketchForestRegressor)
CLASSIFIERS = (*FOREST_CLASSIFIERS, DecisionTreeClassifier)
REGRESSORS = (*FOREST_REGRESSORS, DecisionTreeRegressor)
FORESTS = (*FOREST_CLASSIFIERS, *FOREST_REGRESSORS)
ESTIMATORS = (*CLASSIFIERS, *REGRESSORS)

N_TRAIN, N_LABELS = 150, 70  # more than are kept as they are
LEAVES = pytest.mark.parametrize("leaf_size", [1, 12])  # of training rows, and of a table of means


@pytest.fixture(scope="module")
def data():
    """Sparse X and Y of 200 rows, 30 features and 50 labels; the first 150 are for training."""
    return make_multilabel(200, 30, N_LABELS, labels_per_row=4, features_per_row=8, random_state=0)


@pytest.fixture(scope="module", name="X")
def features(data):
    noise = np.random.default_rng(0).normal(size=data.X.shape)
    return (data.X.toarray() + 0.1 * noise)[:N_TRAIN]


@pytest.fixture(scope="module", name="X_new")
def new_features(data):
    noise = np.random.default_rng(1).normal(size=data.X.shape)
    return (data.X.toarray() + 0.1 * noise)[N_TRAIN:]


@pytest.fixture(scope="module", name="Y")
def labels(data):
    return data.Y.toarray().astype(np.int64)[:N_TRAIN]


@pytest.fixture(scope="module")
def outputs(X, Y):
    """Real outputs, (150, 50)."""
    return Y * 2.5 + X[:, :1]


@pytest.fixture(scope="module")
def names(X):
    return np.array(["ash", "birch", "cedar", "date"])[np.digitize(X[:, 0] + X[:, 1], [0, 0.5, 1])]


def fitted(kind, X, Y, sample_weight=None, **params):
    if kind in FORESTS:
        params = {"n_estimators": 7} | params
    return kind(**({"random_state": 0} | params)).fit(X, Y, sample_weight)


def predictions(estimator, X):
    return (
        estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.predict(X)
    )


def targets(kind, Y, outputs):
    return Y if kind in CLASSIFIERS else outputs


# ---- many labels


@LEAVES
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_many_labels_have_one_array_of_probabilities(kind, leaf_size, X, Y, X_new):
    estimator = fitted(kind, X, Y, min_samples_leaf=leaf_size)
    P = estimator.predict_proba(X_new)
    assert P.shape == (len(X_new), N_LABELS)
    assert P.dtype == np.float32
    assert P.min() >= 0
    assert P.max() <= 1
    guess = estimator.predict(X_new)
    assert guess.dtype == Y.dtype
    assert np.array_equal(guess, P > 0.5)
    assert guess.any()
    with np.errstate(divide="ignore"):
        assert np.array_equal(estimator.predict_log_proba(X_new), np.log(P))


@LEAVES
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_predictions_are_sparse_where_labels_were_and_equal_the_dense(kind, leaf_size, X, Y, X_new):
    dense = fitted(kind, X, Y, min_samples_leaf=leaf_size)
    for layout in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        estimator = fitted(kind, X, layout(Y.astype(np.int8)), min_samples_leaf=leaf_size)
        guess = estimator.predict(X_new)
        assert sparse.issparse(guess)
        assert guess.dtype == np.int8
        assert (guess.data == 1).all()
        assert np.array_equal(guess.toarray(), dense.predict(X_new))
        assert np.array_equal(estimator.predict_proba(X_new), dense.predict_proba(X_new))


@LEAVES
@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("k", [1, 3, N_LABELS])
def test_the_k_best_are_those_of_a_sort_of_the_probabilities(kind, leaf_size, k, X, Y, X_new):
    estimator = fitted(kind, X, Y, min_samples_leaf=leaf_size)
    P = estimator.predict_proba(X_new)
    labels, scores = estimator.predict_topk(X_new, k)
    order = np.argsort(-P, axis=1, kind="stable")[:, :k]  # equal ones by label
    assert np.array_equal(labels, order)
    assert np.array_equal(scores, np.take_along_axis(P, order, axis=1))
    assert scores.dtype == np.float32


def test_the_k_best_are_filled_up_with_the_first_labels_of_probability_zero():
    X = np.array([[0.0], [1.0], [2.0]])
    Y = np.array([[0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]])
    tree = DecisionTreeClassifier().fit(X, Y)
    labels, scores = tree.predict_topk(X, 4)
    assert labels.tolist() == [[2, 0, 1, 3], [0, 1, 2, 3], [1, 4, 0, 2]]
    assert scores.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]]


@LEAVES
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_sparse_predictions_hold_the_probabilities(kind, leaf_size, X, Y, X_new):
    estimator = fitted(kind, X, sparse.csr_array(Y), min_samples_leaf=leaf_size)
    P = estimator.predict_proba(X_new)
    whole = estimator.predict_sparse(X_new)
    assert isinstance(whole, sparse.csr_array)
    assert whole.dtype == np.float32
    assert whole.has_canonical_format
    assert (whole.data > 0).all()
    assert np.array_equal(whole.toarray(), P)
    best = estimator.predict_sparse(X_new, k=3)
    labels, scores = estimator.predict_topk(X_new, 3)
    expected = np.zeros_like(P)
    np.put_along_axis(expected, labels, scores, axis=1)
    assert np.array_equal(best.toarray(), expected)
    assert np.diff(best.indptr).max() <= 3


# ---- classes


CLASS_TARGETS = {
    "strings": lambda names: names,
    "objects": lambda names: names.astype(object),
    "integers": lambda names: np.unique(names, return_inverse=True)[1] * 5 - 3,
    "two": lambda names: np.where(names == "ash", "no", "yes"),
    "booleans": lambda names: names == "ash",
    "floats": lambda names: (names == "ash").astype(float),
    "one": lambda names: np.full(len(names), "ash"),
    "many": lambda names: np.arange(len(names)) % 60 + 100,  # past 32: projected
}


@LEAVES
@pytest.mark.parametrize("which", CLASS_TARGETS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_have_probabilities_that_sum_to_one(kind, which, leaf_size, X, X_new, names):
    y = CLASS_TARGETS[which](names)
    estimator = fitted(kind, X, y, min_samples_leaf=leaf_size)
    assert np.array_equal(estimator.classes_, np.unique(y))
    assert estimator.n_classes_ == len(np.unique(y))
    assert estimator.n_outputs_ == 1
    P = estimator.predict_proba(X_new)
    assert P.shape == (len(X_new), estimator.n_classes_)
    assert P.dtype == np.float64
    assert P.max() <= 1
    assert np.allclose(P.sum(axis=1), 1, atol=1e-6)
    guess = estimator.predict(X_new)
    assert np.array_equal(guess, estimator.classes_[P.argmax(axis=1)])
    assert guess.dtype == estimator.classes_.dtype
    best, scores = estimator.predict_topk(X_new, 1)
    assert np.array_equal(scores[:, 0], P.max(axis=1).astype(np.float32))
    assert set(best.ravel()) <= set(estimator.classes_)
    assert np.allclose(estimator.predict_sparse(X_new).toarray(), P)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classes_are_learnt(kind, X, names):
    assert fitted(kind, X, names).score(X, names) == pytest.approx(1, abs=0.05)
    many = np.arange(len(X)) // 3
    tree = fitted(kind, X, many, n_components=20, max_features=None)
    assert tree.score(X, many) > 0.4  # chance is 1/50


def test_a_class_predicts_as_the_indicator_matrix_of_the_classes(X, X_new, names):
    one_hot = (names[:, None] == np.unique(names)).astype(int)
    by_class = fitted(RandomForestClassifier, X, names)
    by_label = fitted(RandomForestClassifier, X, one_hot)
    assert np.array_equal(by_class.apply(X_new), by_label.apply(X_new))
    assert np.allclose(by_class.predict_proba(X_new), by_label.predict_proba(X_new))


def test_the_first_of_equally_probable_classes_is_predicted():
    X = np.zeros((4, 1))
    assert DecisionTreeClassifier().fit(X, ["b", "a", "c", "c"]).predict(X[:1]) == ["c"]
    assert DecisionTreeClassifier().fit(X, ["b", "a", "b", "a"]).predict(X[:1]) == ["a"]


def test_a_single_column_is_taken_for_classes_with_a_warning(X, Y):
    column = Y[:, :1]
    with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
        tree = fitted(DecisionTreeClassifier, X, column)
    assert caught[0].filename == __file__
    assert tree.predict(X).shape == (len(X),)
    with pytest.warns(DataConversionWarning):
        assert fitted(DecisionTreeRegressor, X, column).predict(X).shape == (len(X),)


# ---- real outputs


@LEAVES
@pytest.mark.parametrize("kind", REGRESSORS)
def test_real_outputs_are_predicted_in_their_shape(kind, leaf_size, X, X_new, outputs):
    many = fitted(kind, X, outputs, min_samples_leaf=leaf_size)
    assert many.predict(X_new).shape == (len(X_new), N_LABELS)
    assert many.predict(X_new).dtype == np.float64
    assert many.n_outputs_ == N_LABELS
    one = fitted(kind, X, outputs[:, 0], min_samples_leaf=leaf_size)
    assert one.predict(X_new).shape == (len(X_new),)
    assert one.n_outputs_ == 1
    with pytest.warns(DataConversionWarning):
        column = fitted(kind, X, outputs[:, :1], min_samples_leaf=leaf_size)
    assert np.array_equal(one.predict(X_new), column.predict(X_new))


@LEAVES
@pytest.mark.parametrize("kind", REGRESSORS)
def test_sparse_outputs_are_predicted_sparse_and_equal_the_dense(kind, leaf_size, X, Y, X_new):
    real = Y * (np.arange(N_LABELS) - 20) / 4  # exact in single precision
    params = {"min_samples_leaf": leaf_size, "projection": None}
    dense = fitted(kind, X, real, **params)
    lean = fitted(kind, X, sparse.csr_array(real), **params)
    guess = lean.predict(X_new)
    assert isinstance(guess, sparse.csr_array)
    assert np.array_equal(lean.apply(X_new), dense.apply(X_new))
    assert np.allclose(guess.toarray(), dense.predict(X_new), atol=1e-6)
    assert lean.score(X, sparse.csr_array(real)) == pytest.approx(dense.score(X, real), abs=1e-6)
    assert lean.score(X, real) == pytest.approx(dense.score(X, real), abs=1e-6)


def test_a_large_offset_of_the_outputs_changes_no_tree(X, X_new, outputs):
    exact = np.round(64 * outputs) / 64  # no digit is lost by the addition
    near = fitted(DecisionTreeRegressor, X, exact)
    far = fitted(DecisionTreeRegressor, X, exact + 2.0**33)
    assert np.array_equal(near.apply(X_new), far.apply(X_new))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_model_does_not_change_with_the_users_arrays(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    for layout in (np.array, sparse.csr_array):
        mine, my_X = layout(y), X.copy()
        estimator = fitted(kind, my_X, mine)
        before = predictions(estimator, X)
        values = mine.data if sparse.issparse(mine) else mine
        values[:] = 0
        my_X[:] = 0
        assert np.array_equal(
            *(P.toarray() if sparse.issparse(P) else P for P in (predictions(estimator, X), before))
        )


# ---- leaves


@LEAVES
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_predictions_are_weighted_means_of_training_labels(kind, leaf_size, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    estimator = fitted(kind, X, y, min_samples_leaf=leaf_size)
    W = estimator.leaf_weights(X_new)
    assert isinstance(W, sparse.csr_array)
    assert W.shape == (len(X_new), N_TRAIN)
    assert (W.data > 0).all()
    assert np.allclose(W.sum(axis=1), 1)
    assert np.allclose(W @ y, predictions(estimator, X_new), atol=1e-6)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_leaves_that_rows_share_are_what_weights_them(kind, X, Y, X_new, outputs):
    """The weights, by hand: in each tree, the rows of its bag that fall into the same leaf."""
    estimator = fitted(kind, X, targets(kind, Y, outputs), min_samples_leaf=3)
    leaves, leaves_new = (np.reshape(estimator.apply(rows), (len(rows), -1)) for rows in (X, X_new))
    expected = np.zeros((len(X_new), N_TRAIN))
    for tree in range(leaves.shape[1]):
        counts = np.bincount(*bag(estimator, tree), minlength=N_TRAIN)
        together = (leaves_new[:, [tree]] == leaves[:, tree]) * counts
        expected += together / together.sum(axis=1, keepdims=True) / leaves.shape[1]
    assert np.allclose(estimator.leaf_weights(X_new).toarray(), expected)


def bag(estimator, index):
    """Rows in the bag of a tree, and their weights there."""
    tree = estimator._forest.tree(index)
    return tree.members, np.ones(len(tree.members)) if tree.weights is None else tree.weights


@pytest.mark.parametrize("kind", FORESTS)
def test_apply_numbers_the_leaves_of_each_tree(kind, X, Y, X_new, outputs):
    forest = fitted(kind, X, targets(kind, Y, outputs), max_leaf_nodes=9)
    leaves = forest.apply(X_new)
    assert leaves.shape == (len(X_new), 7)
    assert leaves.dtype.kind == "i"
    for column, tree in zip(leaves.T, forest.estimators_, strict=True):
        assert tree.get_n_leaves() == 9
        assert column.min() >= 0
        assert column.max() < 17  # nodes
        assert np.array_equal(tree.apply(X_new), column)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_a_single_tree_knows_its_size(kind, splitter, X, Y, outputs):
    tree = fitted(kind, X, targets(kind, Y, outputs), splitter=splitter)
    assert tree.apply(X).shape == (N_TRAIN,)
    assert len(set(tree.apply(X))) == tree.get_n_leaves()
    assert np.log2(tree.get_n_leaves()) <= tree.get_depth() < tree.get_n_leaves()
    stump = fitted(kind, X, targets(kind, Y, outputs), splitter=splitter, max_depth=2)
    assert stump.get_depth() == 2
    assert stump.get_n_leaves() <= 4


# ---- other labels on the same trees


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("n_labels", [3, N_LABELS, 200])
def test_other_labels_on_the_same_trees_are_their_weighted_means(
    kind, n_labels, X, Y, X_new, outputs
):
    estimator = fitted(kind, X, targets(kind, Y, outputs))
    before, state = predictions(estimator, X_new), dict(vars(estimator))
    other = (np.random.default_rng(5).random((N_TRAIN, n_labels)) < 0.2).astype(float)
    twin = estimator.relabel(other)
    assert type(twin) is kind
    assert twin.n_outputs_ == n_labels
    assert np.array_equal(twin.apply(X_new), estimator.apply(X_new))
    assert np.array_equal(twin.feature_importances_, estimator.feature_importances_)
    assert np.allclose(predictions(twin, X_new), estimator.leaf_weights(X_new) @ other, atol=1e-6)
    assert vars(estimator) == state
    assert np.array_equal(predictions(estimator, X_new), before)


def test_labels_of_another_kind_are_taken(X, Y, X_new, names):
    forest = fitted(RandomForestClassifier, X, Y, oob_score=True, n_estimators=20)
    lean = forest.relabel(sparse.csr_array(Y[:, ::-1]))
    assert sparse.issparse(lean.predict(X_new))
    assert np.array_equal(lean.predict_proba(X_new), forest.predict_proba(X_new)[:, ::-1])
    named = forest.relabel(names)
    assert named.classes_.tolist() == ["ash", "birch", "cedar", "date"]
    assert named.score(X, names) > 0.8
    assert np.array_equal(named.relabel(Y).predict_proba(X_new), forest.predict_proba(X_new))
    assert hasattr(forest, "oob_score_")
    assert not hasattr(lean, "oob_score_")


def test_the_projection_of_replaced_labels_is_not_known(X, Y):
    forest = fitted(RandomForestClassifier, X, Y, n_components=4)
    with pytest.raises(ValueError, match=r"replaced by relabel\. Ask the estimator before relabel"):
        forest.relabel(Y[:, :9]).projection_matrix()
    assert forest.relabel(Y[:, :9]).fit(X, Y).projection_matrix().shape == (N_LABELS, 4)


# ---- importances and single trees


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_importances_sum_to_one_and_find_the_informative_features(kind):
    X = np.random.default_rng(0).normal(size=(400, 10))
    y = 3 * (X[:, 2] > 0) + (X[:, 7] > 0)
    importances = fitted(kind, X, y, max_features=None, max_depth=3).feature_importances_
    assert importances.shape == (10,)
    assert importances.min() >= 0
    assert importances.sum() == pytest.approx(1)
    assert set(importances.argsort()[::-1][:2]) == {2, 7}
    nothing = fitted(kind, np.ones((5, 3)), [0, 1, 0, 1, 0]).feature_importances_
    assert nothing.tolist() == [0, 0, 0]


@pytest.mark.parametrize("n_outputs", [None, 1, 4])
@pytest.mark.parametrize("kind", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_importances_are_scikit_learns_for_the_same_tree(kind, n_outputs):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    signal = X @ rng.normal(size=(5, n_outputs or 1)) + rng.normal(size=(300, n_outputs or 1))
    Y = signal if kind == "DecisionTreeRegressor" else (signal > 0.3).astype(int)
    Y = Y.ravel() if n_outputs in (None, 1) else Y
    weights = rng.integers(1, 4, size=300)
    ours = {"DecisionTreeClassifier": DecisionTreeClassifier}.get(kind, DecisionTreeRegressor)
    tree = ours(projection=None, min_samples_leaf=9).fit(X, Y, weights)
    reference = getattr(sklearn.tree, kind)(min_samples_leaf=9, random_state=0).fit(X, Y, weights)
    assert tree.get_n_leaves() == reference.get_n_leaves()
    assert np.allclose(tree.predict(X), reference.predict(X))
    assert np.allclose(tree.feature_importances_, reference.feature_importances_, rtol=1e-4)


@pytest.mark.parametrize("kind", FORESTS)
def test_importances_are_the_mean_over_the_trees_that_split(kind, X, Y, outputs):
    forest = fitted(kind, X, targets(kind, Y, outputs))
    by_tree = [tree.feature_importances_ for tree in forest.estimators_]
    assert np.allclose(forest.feature_importances_, np.mean(by_tree, axis=0))


@LEAVES
@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_predicts_the_mean_of_its_trees(kind, leaf_size, X, Y, X_new, outputs):
    forest = fitted(kind, X, targets(kind, Y, outputs), min_samples_leaf=leaf_size, n_components=3)
    trees = forest.estimators_
    assert len(trees) == 7
    mean = np.mean([predictions(tree, X_new) for tree in trees], axis=0)
    assert np.allclose(predictions(forest, X_new), mean, atol=1e-6)
    for index, tree in enumerate(trees):
        assert isinstance(tree, DecisionTreeClassifier | DecisionTreeRegressor)
        kinds = {"Extra": {"random"}, "Rando": {"best"}, "Sketc": {"random", "oblique"}}
        assert tree.splitter in kinds[kind.__name__[:5]]
        assert tree.min_samples_leaf == leaf_size
        assert np.array_equal(tree.projection_matrix(), forest.projection_matrix(index))
    assert not np.array_equal(trees[0].apply(X_new), trees[1].apply(X_new))


def test_labels_are_the_classes_zero_and_one_each(X, Y):
    forest = fitted(RandomForestClassifier, X, Y.astype(bool))
    assert forest.n_outputs_ == N_LABELS
    assert forest.n_features_in_ == 30
    assert forest.n_classes_ == [2] * N_LABELS
    assert len(forest.classes_) == N_LABELS
    assert all(classes.tolist() == [False, True] for classes in forest.classes_)
    assert forest.predict(X).dtype == bool


# ---- out-of-bag


def predict_out_of_bag(forest, X):
    """By hand: for each row, the mean over the trees whose bag it is not in."""
    total, n_trees = 0, np.zeros((len(X), 1))
    for index, tree in enumerate(forest.estimators_):
        is_out = np.ones((len(X), 1))
        is_out[bag(forest, index)[0]] = 0
        prediction = predictions(tree, X)
        prediction = prediction.toarray() if sparse.issparse(prediction) else prediction
        total = total + is_out * prediction.reshape(len(X), -1)
        n_trees += is_out
    return total / n_trees


OOB = {"n_estimators": 40, "bootstrap": True}


@LEAVES
@pytest.mark.parametrize("kind", FOREST_CLASSIFIERS)
def test_out_of_bag_scores_of_labels_are_those_computed_by_hand(kind, leaf_size, X, Y):
    params = OOB | {"min_samples_leaf": leaf_size}
    forest = fitted(kind, X, Y, oob_score=True, **params)
    expected = predict_out_of_bag(forest, X)
    assert isinstance(forest.oob_decision_function_, np.ndarray)
    assert np.allclose(forest.oob_decision_function_, expected, atol=1e-6)
    assert forest.oob_score_ == pytest.approx(lrap(Y, forest.oob_decision_function_))
    assert 0.2 < forest.oob_score_ < lrap(Y, forest.predict_proba(X))
    lean = fitted(kind, X, sparse.csr_array(Y), oob_score=True, **params)
    assert isinstance(lean.oob_decision_function_, sparse.csr_array)
    assert np.array_equal(lean.oob_decision_function_.toarray(), forest.oob_decision_function_)
    assert lean.oob_score_ == pytest.approx(forest.oob_score_)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_out_of_bag_scores_take_any_metric(layout, X, Y):
    named = fitted(RandomForestClassifier, X, layout(Y), oob_score="precision_at_3", **OOB)
    assert named.oob_score_ == pytest.approx(
        precision_at_k(Y, named.oob_decision_function_, k=3), abs=1e-9
    )
    seen = []

    def metric(Y_true, Y_pred):
        seen.append((Y_true, Y_pred))
        return 0.25

    called = fitted(RandomForestClassifier, X, layout(Y), oob_score=metric, **OOB)
    assert called.oob_score_ == 0.25
    (_, (truth, predicted)) = seen  # once before the trees are grown
    assert type(truth) is type(predicted) is type(layout(Y))
    assert truth.dtype == predicted.dtype == Y.dtype
    assert np.array_equal(truth.toarray() if sparse.issparse(truth) else truth, Y)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", FOREST_CLASSIFIERS)
@pytest.mark.parametrize("threshold", [0.2, "top-3", "oob-f1", "oob-f1-global"])
def test_a_callable_is_given_predictions_out_of_bag(kind, layout, threshold, X, Y):
    metric = partial(f1_score, average="micro")
    forest = fitted(kind, X, layout(Y), oob_score=metric, threshold=threshold, **OOB)
    scores = forest.oob_decision_function_
    scores = scores.toarray() if sparse.issparse(scores) else scores
    if threshold == "top-3":
        predicted = np.zeros_like(Y)
        np.put_along_axis(predicted, top_k(scores, 3)[0], 1, axis=1)
        predicted[scores == 0] = 0
    else:
        predicted = scores > getattr(forest, "thresholds_", threshold)
    assert 0 < forest.oob_score_ == pytest.approx(metric(Y, predicted))


def test_our_ranking_metrics_are_given_scores(X, Y):
    by_name = fitted(RandomForestClassifier, X, Y, oob_score="lrap", **OOB)
    assert fitted(RandomForestClassifier, X, Y, oob_score=lrap, **OOB).oob_score_ == pytest.approx(
        by_name.oob_score_
    )
    forest = fitted(RandomForestClassifier, X, Y, oob_score=partial(precision_at_k, k=3), **OOB)
    assert forest.oob_score_ == pytest.approx(
        precision_at_k(Y, forest.oob_decision_function_, k=3), abs=1e-9
    )


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("metric", [f1_score, lambda one: 1.0, lambda a, b: "good", np.linalg.inv])
def test_a_wrong_callable_fails_before_a_tree_is_grown(kind, metric, X, Y, outputs, monkeypatch):
    y = targets(kind, Y, outputs)
    monkeypatch.setattr(_growing, "grow_trees", None)
    with pytest.raises(ValueError, match=r"oob_score must be a callable f\(Y_true, Y_pred\)"):
        fitted(kind, X, y, oob_score=metric, **OOB)


CONTAINERS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_predictions_have_the_container_of_sparse_outputs(kind, container, X, Y, tmp_path):
    y = container(Y if kind in CLASSIFIERS else Y * 2.5)
    expected = sparse.csr_matrix if sparse.isspmatrix(y) else sparse.csr_array
    estimator = fitted(kind, X, y)
    estimator.save(tmp_path / "model.sf")
    for model in (estimator, load_forest(tmp_path / "model.sf")):
        assert type(model.predict(X)) is expected
    if kind in FORESTS:
        scored = fitted(kind, X, y, oob_score=True, **OOB)
        kinds = [type(v) for name, v in vars(scored).items() if name.startswith("oob_")]
        assert expected in kinds


def test_out_of_bag_scores_of_classes(X, names):
    forest = fitted(RandomForestClassifier, X, names, oob_score=True, **OOB)
    expected = predict_out_of_bag(forest, X)
    assert np.allclose(forest.oob_decision_function_, expected)
    guess = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == accuracy_score(names, guess)
    assert 0.5 < forest.oob_score_ < 1
    wrong = fitted(RandomForestClassifier, X, names, oob_score=lambda a, b: (a != b).mean(), **OOB)
    assert wrong.oob_score_ == pytest.approx(1 - forest.oob_score_)
    ranked = fitted(RandomForestClassifier, X, names, oob_score="precision_at_1", **OOB)
    assert ranked.oob_score_ == pytest.approx(forest.oob_score_)


@pytest.mark.parametrize("kind", FOREST_REGRESSORS)
def test_out_of_bag_scores_of_real_outputs(kind, X, Y, outputs):
    forest = fitted(kind, X, outputs, oob_score=True, **OOB)
    assert np.allclose(forest.oob_prediction_, predict_out_of_bag(forest, X))
    assert forest.oob_score_ == pytest.approx(r2_score(outputs, forest.oob_prediction_))
    assert fitted(kind, X, outputs, oob_score="r2", **OOB).oob_score_ == forest.oob_score_
    one = fitted(kind, X, outputs[:, 0], oob_score=lambda a, b: len(a.shape + b.shape), **OOB)
    assert one.oob_prediction_.shape == (N_TRAIN,)
    assert one.oob_score_ == 2
    lean = fitted(kind, X, sparse.csr_array(Y * 2.5), oob_score=True, **OOB)
    assert isinstance(lean.oob_prediction_, sparse.csr_array)
    assert np.allclose(lean.oob_prediction_.toarray(), predict_out_of_bag(lean, X))
    assert lean.oob_score_ == pytest.approx(r2_score(Y * 2.5, lean.oob_prediction_.toarray()))


def test_rows_in_every_bag_are_left_out_of_the_score_with_a_warning(X, Y):
    with pytest.warns(UserWarning, match=r"OOB scores: \d+ of 150 rows.*more trees") as w:
        forest = fitted(RandomForestClassifier, X, Y, oob_score=True, n_estimators=2)
    assert w[0].filename == __file__
    in_both = np.intersect1d(bag(forest, 0)[0], bag(forest, 1)[0])
    assert not forest.oob_decision_function_[in_both].any()
    others = np.setdiff1d(np.arange(N_TRAIN), in_both)
    assert forest.oob_score_ == pytest.approx(
        lrap(Y[others], forest.oob_decision_function_[others])
    )
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        assert np.isnan(fitted(RandomForestClassifier, X[:1], Y[:1], oob_score=True).oob_score_)


# ---- warm start


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_grown_in_steps_is_the_forest_grown_at_once(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    params = {"bootstrap": True, "oob_score": True}
    at_once = fitted(kind, X, y, n_estimators=30, **params)
    with pytest.warns(UserWarning, match="Some inputs"):
        in_steps = fitted(kind, X, y, n_estimators=3, warm_start=True, **params)
    first = in_steps.apply(X_new)
    in_steps.set_params(n_estimators=11, oob_score=False).fit(X, y)
    assert not hasattr(in_steps, "oob_score_")
    in_steps.set_params(n_estimators=30, oob_score=True).fit(X, y)
    assert np.array_equal(in_steps.apply(X_new)[:, :3], first)
    assert np.array_equal(predictions(in_steps, X_new), predictions(at_once, X_new))
    assert in_steps.oob_score_ == at_once.oob_score_


@pytest.mark.parametrize("kind", FORESTS)
def test_later_trees_go_on_with_the_stream_of_the_first(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    at_once = fitted(kind, X, y, n_estimators=6, random_state=np.random.RandomState(5))
    in_steps = fitted(
        kind, X, y, n_estimators=2, warm_start=True, random_state=np.random.RandomState(5)
    )
    in_steps.set_params(n_estimators=6).fit(X, y)
    assert np.array_equal(in_steps.apply(X_new), at_once.apply(X_new))


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("density", [0.1, 0.9])
def test_a_warm_start_knows_its_rows_in_any_storage(kind, X, Y, X_new, outputs, density):
    thinned = np.where(np.random.default_rng(0).random(X.shape) < density, X, 0).astype(np.float32)
    y = targets(kind, Y, outputs)
    at_once = fitted(kind, thinned, y, n_estimators=7)
    in_steps = fitted(kind, thinned, y, n_estimators=2, warm_start=True)
    for n_estimators, again, weights in [
        (3, np.asfortranarray(thinned), None),
        (4, thinned.astype(np.float64), np.ones(len(X))),
        (5, sparse.csr_array(thinned), None),
        (7, sparse.csc_matrix(thinned), None),
    ]:
        in_steps.set_params(n_estimators=n_estimators).fit(again, y, sample_weight=weights)
    assert np.array_equal(in_steps.apply(X_new), at_once.apply(X_new))


@pytest.mark.parametrize("kind", FORESTS)
def test_a_warm_start_goes_on_with_the_labels_of_relabel(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    other = y[::-1]
    forest = fitted(kind, X, y, n_estimators=2, warm_start=True).relabel(other)
    first = forest.apply(X)
    forest.set_params(n_estimators=4).fit(X, other)
    assert np.array_equal(forest.apply(X)[:, :2], first)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_warm_start_without_more_trees_only_warns(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    forest = fitted(kind, X, y, warm_start=True)
    before = predictions(forest, X_new)
    with pytest.warns(UserWarning, match="without increasing n_estimators") as caught:
        forest.fit(X, y)
    assert caught[0].filename == __file__
    assert np.array_equal(predictions(forest, X_new), before)
    forest.set_params(warm_start=False, random_state=1).fit(X, y)
    assert not np.array_equal(predictions(forest, X_new), before)


# ---- weights and draws


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_row_of_weight_zero_is_as_good_as_removed(kind, X, Y, X_new, outputs):
    kept = np.random.default_rng(0).random(N_TRAIN) < 0.7
    y = targets(kind, Y, outputs + 1e6).copy()
    if kind in REGRESSORS:
        y[~kept] = 1e9
    params = {"min_samples_leaf": 3}
    if kind in FORESTS:
        params |= OOB | {"oob_score": True, "max_samples": 0.8}
    weighted = fitted(kind, X, y, kept.astype(float), **params)
    removed = fitted(kind, X[kept], y[kept], **params)
    assert np.array_equal(weighted.apply(X_new), removed.apply(X_new))
    assert np.array_equal(predictions(weighted, X_new), predictions(removed, X_new))
    assert not weighted.leaf_weights(X_new)[:, ~kept].nnz
    if kind in FORESTS:
        assert weighted.oob_score_ == pytest.approx(removed.oob_score_)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_only_ratios_of_weights_matter(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    weights = np.random.default_rng(0).integers(1, 5, N_TRAIN).astype(float)
    params = {"min_weight_fraction_leaf": 0.02, "min_impurity_decrease": 1e-4, "projection": None}
    first = fitted(kind, X, y, weights, **params)
    for same in (4 * weights, weights.astype(int), list(weights)):
        second = fitted(kind, X, y, same, **params)
        assert np.array_equal(first.apply(X_new), second.apply(X_new)) or (same == weights).all()
        assert np.allclose(predictions(first, X_new), predictions(second, X_new))
    assert not np.allclose(predictions(fitted(kind, X, y), X_new), predictions(first, X_new))


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_leaf_is_the_weighted_mean_of_its_rows(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    weights = np.random.default_rng(0).random(N_TRAIN)
    tree = fitted(kind, np.ones_like(X), y, weights)
    mean = np.average(y, axis=0, weights=weights)
    assert np.allclose(predictions(tree, X[:1]), mean, atol=1e-6)


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(("max_samples", "n_draws"), [(None, 150), (40, 40), (0.5, 75), (0.001, 1)])
def test_each_tree_draws_max_samples_rows(kind, max_samples, n_draws, X, Y, outputs):
    y = targets(kind, Y, outputs)
    forest = fitted(kind, X, y, bootstrap=True, max_samples=max_samples)
    drawn = [bag(forest, index) for index in range(7)]
    assert [counts.sum() for _, counts in drawn] == [n_draws] * 7
    assert all(len(set(rows)) == len(rows) for rows, _ in drawn)
    if n_draws > 1:
        assert set(drawn[0][0]) != set(drawn[1][0])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fraction_of_the_rows_is_rounded_up(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    for name in ("min_samples_leaf", "min_samples_split"):
        by_share = fitted(kind, X, y, **{name: 8.01 / N_TRAIN}).apply(X_new)
        assert np.array_equal(by_share, fitted(kind, X, y, **{name: 9}).apply(X_new))
        assert not np.array_equal(by_share, fitted(kind, X, y, **{name: 8}).apply(X_new))


@pytest.mark.parametrize(
    ("max_features", "n_drawn"),
    [("sqrt", 5), ("log2", 4), (None, 30), (0.5, 15), (1e-9, 1), (7, 7), (99, 30)],
)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_max_features_means_what_it_means_in_scikit_learn(
    kind, max_features, n_drawn, X, Y, outputs
):
    estimator = fitted(kind, X, targets(kind, Y, outputs), max_features=max_features)
    assert estimator._settings.max_features == n_drawn


@pytest.mark.parametrize("kind", FORESTS)
def test_the_bootstrap_is_the_default_of_random_forests_alone(kind, X, Y, outputs):
    forest = fitted(kind, X, targets(kind, Y, outputs))
    takes_all = [len(bag(forest, index)[0]) == N_TRAIN for index in range(7)]
    assert takes_all == ["Random" not in kind.__name__] * 7


# ---- projections


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", [*PROJECTIONS, None])
@pytest.mark.parametrize("kind", FORESTS)
def test_every_projection_grows_forests_that_rank_labels(kind, name, shared, X, Y, X_new, outputs):
    """Better than the labels' frequencies, on training rows."""
    y = targets(kind, Y, outputs)
    forest = fitted(kind, X, y, projection=name, n_components=5, shared_projection=shared)
    scores = predictions(forest, X)
    assert lrap(Y, scores) > lrap(Y, np.tile(Y.mean(axis=0), (N_TRAIN, 1))) + 0.1
    if name is None:
        with pytest.raises(ValueError, match="grown on the original outputs"):
            forest.projection_matrix()
        return
    matrices = [forest.projection_matrix(tree) for tree in range(7)]
    matrices = [P.toarray() if sparse.issparse(P) else P for P in matrices]
    assert all(P.shape == (N_LABELS, 5) for P in matrices)
    is_same = np.array_equal(matrices[0], matrices[1])
    assert is_same == (shared or name == "pca")


@pytest.mark.parametrize(
    ("n_components", "m"),
    [(1, 1), (np.int64(7), 7), (50, 50), (80, 80), (0.1, 7), (1.0, 70), ("log", 4), ("sqrt", 8),
     ("all", 70), (None, DEFAULT_N_COMPONENTS)],
)  # fmt: skip
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_number_of_components_has_many_forms(kind, n_components, m, X, Y, outputs):
    if "Sketch" in kind.__name__ and n_components is None:
        m = 32  # of both kinds of trees, for fewer than 256 labels
    estimator = fitted(kind, X, targets(kind, Y, outputs), n_components=n_components)
    assert estimator.projection_matrix().shape == (N_LABELS, m)


@pytest.mark.parametrize("kind", [kind for kind in ESTIMATORS if "Sketch" not in kind.__name__])
def test_few_outputs_are_kept_unless_a_number_is_asked_for(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)[:, :DEFAULT_N_COMPONENTS]
    by_default = fitted(kind, X, y)
    with pytest.raises(ValueError, match="original outputs"):
        by_default.projection_matrix()
    exact = fitted(kind, X, y, projection=None)
    assert np.array_equal(by_default.apply(X_new), exact.apply(X_new))
    asked = fitted(kind, X, y, n_components="all")
    assert asked.projection_matrix().shape == (DEFAULT_N_COMPONENTS,) * 2
    assert not np.array_equal(asked.apply(X_new), exact.apply(X_new))
    one_more = fitted(kind, X, targets(kind, Y, outputs)[:, : DEFAULT_N_COMPONENTS + 1])
    shape = (DEFAULT_N_COMPONENTS + 1, DEFAULT_N_COMPONENTS)
    assert one_more.projection_matrix().shape == shape


class FirstLabels(Projection):
    is_random = False

    def draw(self, n_labels, n_components, rng):
        return np.eye(n_labels, n_components, dtype=np.float32)


class Duck:
    """Not a Projection, but draws like one."""

    def draw(self, n_labels, n_components, rng):
        return sparse.csr_array(rng.normal(size=(n_labels, n_components)))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_projections_of_ones_own_are_used(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    first = fitted(kind, X, y, projection=FirstLabels(), n_components=6)
    only = fitted(kind, X, y[:, :6], projection=FirstLabels(), n_components=6)
    assert np.array_equal(first.apply(X_new), only.apply(X_new))
    assert np.array_equal(first.projection_matrix(), np.eye(N_LABELS, 6))
    duck = fitted(kind, X, y, projection=Duck(), n_components=6)
    assert duck.projection_matrix().shape == (N_LABELS, 6)


@pytest.mark.parametrize(
    "transformer", [TruncatedSVD(5), PCA(5, svd_solver="full"), GaussianRandomProjection(5)]
)
@pytest.mark.parametrize("shared", [False, True])
def test_transformers_are_projections(transformer, shared, X, Y):
    params = {"projection": transformer, "shared_projection": shared}
    forest = fitted(RandomForestClassifier, X, Y, **params)
    assert lrap(Y, forest.predict_proba(X)) > 0.6
    assert not hasattr(transformer, "components_")  # a copy is fitted
    again = fitted(RandomForestClassifier, X, Y, **params)
    assert np.array_equal(again.predict_proba(X), forest.predict_proba(X))


def test_a_transformer_of_all_directions_leaves_every_split_as_it_is(X, Y, X_new):
    whole = fitted(DecisionTreeRegressor, X, Y, projection=PCA(), min_samples_leaf=8)
    exact = fitted(DecisionTreeRegressor, X, Y, projection=None, min_samples_leaf=8)
    assert np.allclose(whole.predict(X_new), exact.predict(X_new))


# ---- threads, processes, progress, memory


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("leaf_size", [1, 12])
def test_any_number_of_jobs_gives_the_same_bits(kind, leaf_size, X, Y, X_new, outputs, monkeypatch):
    monkeypatch.setattr(_predict, "BLOCK_CELLS", 32)  # blocks of a few rows
    y = targets(kind, Y, outputs)
    params = {"bootstrap": True, "oob_score": True, "n_estimators": 30}
    forests = [
        fitted(kind, X, y, n_jobs=n_jobs, min_samples_leaf=leaf_size, **params)
        for n_jobs in (None, 2, 5, -1)
    ]
    for forest in forests[1:]:
        assert np.array_equal(predictions(forest, X_new), predictions(forests[0], X_new))
        assert forest.oob_score_ == forests[0].oob_score_


@LEAVES
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_many_threads_may_predict_with_one_model(kind, leaf_size, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    expected = predictions(fitted(kind, X, y, min_samples_leaf=leaf_size), X_new)
    fresh = fitted(kind, X, y, min_samples_leaf=leaf_size)  # which has cached nothing yet
    with ThreadPoolExecutor(8) as pool:
        for guess in pool.map(lambda _: predictions(fresh, X_new), range(16)):
            assert np.array_equal(guess, expected)


def test_trees_grown_in_other_processes_are_the_same(X, Y, X_new):
    params = {"n_jobs": 2, "shared_projection": True}
    here = fitted(RandomForestClassifier, X, Y, **params)
    with joblib.parallel_config("loky", max_nbytes=0):  # everything through mapped files
        there = fitted(RandomForestClassifier, X, Y, **params)
        regressor = fitted(RandomForestRegressor, X, Y * 1.5, bootstrap=False, **params)
    assert np.array_equal(here.predict_proba(X_new), there.predict_proba(X_new))
    same = fitted(RandomForestRegressor, X, Y * 1.5, bootstrap=False, **params)
    assert np.array_equal(same.predict(X_new), regressor.predict(X_new))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking with threads is the point
def test_a_process_that_fitted_may_fork_and_its_child_may_fit(X, Y):
    expected = fitted(RandomForestClassifier, X, Y, n_jobs=2).predict_proba(X)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def fit_again():
        theirs.send(fitted(RandomForestClassifier, X, Y, n_jobs=2).predict_proba(X))

    child = context.Process(target=fit_again)
    child.start()
    assert ours.poll(30), "the child hangs"
    assert np.array_equal(ours.recv(), expected)
    child.join(30)
    assert child.exitcode == 0


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_is_shown_on_stderr_when_asked_for(n_jobs, X, Y, capfd):
    forest = fitted(RandomForestClassifier, X, Y, n_jobs=n_jobs)
    forest.predict(X)
    assert capfd.readouterr() == ("", "")
    fitted(RandomForestClassifier, X, Y, verbose=1, n_jobs=n_jobs)
    out, err = capfd.readouterr()
    assert out == ""
    assert "growing trees" in err
    assert "7/7" in err


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_probabilities_larger_than_the_memory_are_refused(kind, X, Y, X_new, monkeypatch):
    estimator = fitted(kind, X, sparse.csr_array(Y))
    labels, _ = estimator.predict_topk(X_new, 3)
    monkeypatch.setattr(_predict, "memory_size", lambda: 4 * len(X_new) * N_LABELS - 1)
    with pytest.raises(MemoryError, match=r"got 50 rows and 70 outputs, .*Use predict_sparse or"):
        estimator.predict_proba(X_new)
    assert np.array_equal(estimator.predict_topk(X_new, 3)[0], labels)
    assert estimator.predict_sparse(X_new).nnz
    assert estimator.predict(X_new).shape == (50, N_LABELS)
    monkeypatch.setattr(_predict, "memory_size", lambda: 4 * len(X_new) * N_LABELS)
    assert estimator.predict_proba(X_new).shape == (50, N_LABELS)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_outputs_larger_than_the_memory_are_refused(kind, X, X_new, outputs, monkeypatch):
    estimator = fitted(kind, X, outputs)
    monkeypatch.setattr(_predict, "memory_size", lambda: 1000)
    with pytest.raises(MemoryError, match="Predict fewer rows at a time"):
        estimator.predict(X_new)


def test_the_memory_of_this_machine_is_known():
    assert _predict.memory_size() > 2**24


# ---- input


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_layout_of_x_gives_the_same_forest(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    grid = np.round(X * 8)  # whole numbers from about -10 to 50
    expected = predictions(fitted(kind, grid, y), grid)
    wide = np.zeros((2 * N_TRAIN, 60))
    wide[::2, ::2] = grid
    layouts = [
        np.asfortranarray(grid),
        grid.astype(np.float32),
        grid.astype(np.float16),
        grid.astype(np.int8),
        grid.astype(np.int64),
        grid.astype(np.longdouble),
        grid.astype(object),
        grid.tolist(),
        wide[::2, ::2],
        sparse.csr_array(grid),
        sparse.csc_matrix(grid),
        sparse.coo_array(grid),
    ]
    long_indices = sparse.csr_array(grid)
    long_indices.indices = long_indices.indices.astype(np.int64)
    long_indices.indptr = long_indices.indptr.astype(np.int64)
    for layout in [*layouts, long_indices]:
        estimator = fitted(kind, layout, y)
        assert np.array_equal(predictions(estimator, layout), expected)
        assert np.array_equal(predictions(estimator, grid), expected)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_missing_values_are_taken_dense_and_sparse(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    is_missing = np.random.default_rng(0).random(X.shape) < 0.2
    with_holes = np.where(is_missing, np.nan, X)
    estimator = fitted(kind, with_holes, y)
    expected = predictions(estimator, with_holes)
    assert np.isfinite(expected).all()
    assert not np.array_equal(expected, predictions(estimator, X))
    lean = sparse.csr_array(with_holes)
    assert np.array_equal(predictions(fitted(kind, lean, y), lean), expected)


# ---- seeds


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_seeds_mean_what_they_mean_in_scikit_learn(kind, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)

    def leaves(random_state):
        return fitted(kind, X, y, random_state=random_state, max_features="sqrt").apply(X_new)

    assert np.array_equal(leaves(3), leaves(3))
    assert not np.array_equal(leaves(3), leaves(4))
    assert not np.array_equal(leaves(None), leaves(None))
    stream = np.random.RandomState(3)
    first = leaves(stream)
    assert np.array_equal(first, leaves(3))
    assert not np.array_equal(first, leaves(stream))


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_a_frame_of_sparse_columns_keeps_its_names(kind, X, Y):
    pd = pytest.importorskip("pandas")
    names = [f"tag {j}" for j in range(N_LABELS)]
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(Y), columns=names)
    assert kind(3).fit(X, frame).label_names_.tolist() == names
