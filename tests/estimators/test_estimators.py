"""What the estimators promise: shapes, types, and the identities between their methods."""

import inspect
from copy import copy

import numpy as np
import pytest
from every_kind import (
    CLASSIFIERS,
    ESTIMATORS,
    FORESTS,
    LEAVES,
    N_LABELS,
    N_TRAIN,
    REGRESSORS,
    bag,
    fitted,
    predictions,
    targets,
    trees_alone,
)
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from sketchforest import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier

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
    estimator.threshold = 0.5
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
        tree = DecisionTreeClassifier(random_state=0).fit(X, column)
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
    params = {"min_samples_leaf": leaf_size, "projection": None} | trees_alone(kind)
    dense = fitted(kind, X, real, **params)
    lean = fitted(kind, X, sparse.csr_array(real), **params)
    guess = lean.predict(X_new)
    assert isinstance(guess, sparse.csr_array)
    if (
        kind.__name__ == "SketchForestRegressor"
    ):  # standardized outputs are rounded, so ties may differ
        assert lean.score(X, real) == pytest.approx(dense.score(X, real), abs=0.02)
        return
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


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_copy_keeps_its_model_when_the_original_is_fitted_again(kind, X, Y, outputs):
    y = targets(kind, Y, outputs)
    estimator = fitted(kind, X, y)
    kept, before = copy(estimator), predictions(estimator, X)
    estimator.fit(X[:40], y[:40])
    assert np.array_equal(predictions(kept, X), before)
    assert not copy(kind()).__sklearn_is_fitted__()


@pytest.mark.parametrize("kind", FORESTS)
def test_a_copy_has_a_list_of_trees_of_its_own(kind, X, Y, outputs):
    forest = fitted(kind, X, targets(kind, Y, outputs))
    shorter = copy(forest)
    del shorter.estimators_[3:]
    assert (len(shorter), len(forest)) == (3, 7)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_only_the_first_parameter_of_a_constructor_is_positional(kind):
    first, *others = inspect.signature(kind).parameters.values()
    assert first.name == ("n_estimators" if kind in FORESTS else "splitter")
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {each.kind for each in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert not {each.name for each in others} & set(vars(kind))  # they belong to instances


# ---- leaves


@LEAVES
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_predictions_are_weighted_means_of_training_labels(kind, leaf_size, X, Y, X_new, outputs):
    y = targets(kind, Y, outputs)
    estimator = fitted(kind, X, y, min_samples_leaf=leaf_size, **trees_alone(kind))
    W = estimator.leaf_weights(X_new)
    assert isinstance(W, sparse.csr_array)
    assert W.shape == (len(X_new), N_TRAIN)
    assert (W.data > 0).all()
    assert np.allclose(W.sum(axis=1), 1)
    assert np.allclose(W @ y, predictions(estimator, X_new), atol=1e-6)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_leaves_that_rows_share_are_what_weights_them(kind, X, Y, X_new, outputs):
    """The weights, by hand: in each tree, the rows of its bag that fall into the same leaf. Trees
    of a sketch forest may have weights."""
    estimator = fitted(kind, X, targets(kind, Y, outputs), min_samples_leaf=3)
    leaves, leaves_new = (np.reshape(estimator.apply(rows), (len(rows), -1)) for rows in (X, X_new))
    votes = estimator.fitted_.forest.tree_weights
    votes = np.ones(leaves.shape[1]) if votes is None else votes
    expected = np.zeros((len(X_new), N_TRAIN))
    for tree, vote in enumerate(votes):
        counts = np.bincount(*bag(estimator, tree), minlength=N_TRAIN)
        together = (leaves_new[:, [tree]] == leaves[:, tree]) * counts
        expected += together / together.sum(axis=1, keepdims=True) * vote / votes.sum()
    assert np.allclose(estimator.leaf_weights(X_new).toarray(), expected)


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


def test_labels_are_the_classes_zero_and_one_each(X, Y):
    forest = fitted(RandomForestClassifier, X, Y.astype(bool))
    assert forest.n_outputs_ == N_LABELS
    assert forest.n_features_in_ == 30
    assert forest.n_classes_ == [2] * N_LABELS
    assert len(forest.classes_) == N_LABELS
    assert all(classes.tolist() == [False, True] for classes in forest.classes_)
    assert forest.predict(X).dtype == bool
