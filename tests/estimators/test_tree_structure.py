"""`tree_`, `apply` and `decision_path`: a tree by its nodes, as scikit-learn numbers them."""

import pickle

import numpy as np
import pytest
import sklearn_versions
from scipy import sparse
from sklearn import tree as sklearn_tree

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._trees import node_means

ATTRIBUTES = (
    *("node_count", "max_depth", "n_leaves", "n_features", "n_outputs", "n_classes"),
    *("max_n_classes", "children_left", "children_right", "feature", "threshold"),
    *("missing_go_to_left", "n_node_samples", "weighted_n_node_samples", "impurity", "value"),
)
N_TRAIN, N_LABELS = 240, 6


@pytest.fixture(scope="module", name="X")
def features():
    X = np.random.default_rng(0).normal(size=(N_TRAIN, 4)).astype(np.float32)
    if sklearn_versions.SPLITS_MISSING_VALUES:
        X[::7, 2] = np.nan
    return X


@pytest.fixture(scope="module", name="Y")
def outputs(X):
    """Real outputs, none of them near zero."""
    rng = np.random.default_rng(1)
    return 50 + np.nan_to_num(X) @ rng.normal(size=(4, N_LABELS)) + rng.normal(size=(N_TRAIN, 6))


def in_form(Y, form):
    return {
        "classes": np.array(["b", "a", "c"])[np.digitize(Y[:, 0], [49, 51])],
        "labels": (Y > 50).astype(int),
        "sparse labels": sparse.csr_array((Y > 51).astype(int)),
        "real": Y,
        "one real": Y[:, 0],
    }[form]


def tree_class(form):
    return DecisionTreeRegressor if "real" in form else DecisionTreeClassifier


FORMS = ["classes", "labels", "sparse labels", "real", "one real"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "limits", [{"min_samples_leaf": 9}, {"max_depth": 3, "min_samples_leaf": 20}], ids=str
)
def test_attributes_are_those_of_scikit_learns_tree(form, limits, X, Y):
    weights = np.random.default_rng(2).exponential(size=N_TRAIN) + 0.1
    y = in_form(Y, form)
    ours = tree_class(form)(projection=None, random_state=0, **limits)
    ours.fit(X, y, weights)
    theirs = getattr(sklearn_tree, tree_class(form).__name__)(random_state=0, **limits)
    theirs.fit(X, y.toarray() if sparse.issparse(y) else y, weights)
    for name in ATTRIBUTES:
        our, their = getattr(ours.tree_, name), getattr(theirs.tree_, name)
        assert np.shape(our) == np.shape(their), name
        assert np.asarray(our).dtype == np.asarray(their).dtype, name
        np.testing.assert_allclose(our, their, rtol=1e-6, atol=1e-9, err_msg=name)
    for normalize in (False, True):
        our, their = (fit.tree_.compute_feature_importances(normalize) for fit in (ours, theirs))
        np.testing.assert_allclose(our, their, rtol=1e-6, atol=1e-9)
    assert np.array_equal(ours.apply(X), theirs.apply(X))
    assert ours.apply(X).dtype == theirs.apply(X).dtype
    assert np.array_equal(ours.decision_path(X).toarray(), theirs.decision_path(X).toarray())
    np.testing.assert_allclose(ours.tree_.predict(X), theirs.tree_.predict(X), atol=1e-12)


def bag_of(tree):
    """The rows that a tree was grown on, and their weights."""
    grown = tree.fitted_.forest.tree(0)
    weights = np.ones(len(grown.members)) if grown.weights is None else grown.weights
    return grown.members, weights.astype(float)


def impurity_by_hand(rows, weights, form):
    means = np.average(rows, axis=0, weights=weights)
    variances = np.average((rows - means) ** 2, axis=0, weights=weights)
    if form == "classes":
        return variances.sum()
    return variances.mean() * (1 if "real" in form else 2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block_bytes", [1, 1 << 25], ids=["label by label", "all labels"])
def test_a_node_says_what_the_rows_that_come_through_it_have(form, block_bytes, X, Y, monkeypatch):
    """By hand, for trees of forests on a projection: from the paths of the rows in the bag."""
    monkeypatch.setattr(node_means, "BLOCK_BYTES", block_bytes)
    y = in_form(Y, form)
    kind = RandomForestRegressor if "real" in form else RandomForestClassifier
    forest = kind(3, random_state=0, n_components=2, min_samples_leaf=3).fit(X, y)
    rows = sparse.csr_array(y).toarray() if "labels" in form else np.reshape(y, (N_TRAIN, -1))
    if form == "classes":
        rows = (rows == forest.classes_).astype(float)
    for tree in forest.estimators_:
        members, weights = bag_of(tree)
        through = tree.decision_path(X[members]).toarray().astype(bool)
        assert np.array_equal(through.sum(axis=0), tree.tree_.n_node_samples)
        for node, comes in enumerate(through.T):
            of_node = rows[members[comes]].astype(float), weights[comes]
            assert tree.tree_.weighted_n_node_samples[node] == weights[comes].sum()
            means = np.average(of_node[0], axis=0, weights=of_node[1])
            value = tree.tree_.value[node]
            assert np.allclose(value[:, 1] if "labels" in form else value.ravel(), means)
            assert np.isclose(
                tree.tree_.impurity[node], impurity_by_hand(*of_node, form), atol=1e-12
            )


def test_outputs_that_are_large_and_alike_have_their_own_variance(X):
    y = 1e9 + np.arange(N_TRAIN) % 2
    tree = DecisionTreeRegressor(max_depth=1).fit(X, y)
    assert tree.tree_.impurity[0] == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize("splitter", ["best", "random", "oblique"])
def test_nodes_are_counted_depth_first_from_the_left(splitter, X, Y):
    tree = DecisionTreeRegressor(splitter=splitter, random_state=0).fit(np.nan_to_num(X), Y)
    left, right = tree.tree_.children_left, tree.tree_.children_right
    waiting, met = [0], []
    while waiting:
        at = waiting.pop()
        met.append(at)
        if left[at] >= 0:
            waiting += [right[at], left[at]]
    assert met == list(range(tree.tree_.node_count))
    assert (left >= 0).sum() + 1 == tree.get_n_leaves() == (left < 0).sum()


@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesRegressor], ids=str)
@pytest.mark.parametrize("n_trees", [1, 4])
def test_paths_of_a_forest_are_those_of_its_trees(make, n_trees, X, Y):
    forest = make(n_trees, random_state=0).fit(X, in_form(Y, "labels"))
    paths, starts = forest.decision_path(X[:50])
    leaves = forest.apply(X[:50])
    assert starts[0] == 0
    assert starts[-1] == paths.shape[1]
    assert paths.has_sorted_indices
    for i, tree in enumerate(forest.estimators_):
        of_tree = paths[:, starts[i] : starts[i + 1]]
        assert np.array_equal(of_tree.toarray(), tree.decision_path(X[:50]).toarray())
        assert np.array_equal(tree.apply(X[:50]), leaves[:, i])
        # The way ends in the leaf, which has the largest number on it.
        last = [of_tree[[row]].indices.max() for row in range(50)]
        assert np.array_equal(last, leaves[:, i])
        assert tree.tree_.node_count == of_tree.shape[1]


def test_a_tree_that_is_one_leaf_has_one_node(X):
    tree = DecisionTreeRegressor().fit(X, np.full(N_TRAIN, 3.0))
    assert tree.tree_.node_count == tree.tree_.n_leaves == 1
    assert tree.tree_.value.tolist() == [[[3.0]]]
    assert tree.tree_.children_left.tolist() == [-1]
    assert not tree.apply(X).any()
    assert tree.decision_path(X).toarray().tolist() == [[1]] * N_TRAIN
    assert not tree.tree_.compute_feature_importances().any()


def test_an_oblique_tree_has_paths_and_values_but_no_feature_of_a_node(X, Y):
    labels = in_form(Y, "labels")
    forest = SketchForestClassifier(4, random_state=0, oblique=0.5).fit(X, labels)
    oblique = next(tree for tree in forest.estimators_ if tree.splitter == "oblique")
    for name in ("feature", "threshold", "missing_go_to_left"):
        with pytest.raises(AttributeError, match=f"tree_.{name} needs a tree that splits on one"):
            getattr(oblique.tree_, name)
    with pytest.raises(AttributeError, match="no attribute 'shape'"):
        _ = oblique.tree_.shape
    expected = oblique.predict_proba(X)
    assert np.allclose(oblique.tree_.predict(X)[:, :, 1], expected)
    aligned = next(tree for tree in forest.estimators_ if tree.splitter != "oblique")
    assert aligned.tree_.feature.max() < 4
    assert forest.decision_path(X)[0].shape[0] == N_TRAIN


def test_values_that_do_not_fit_are_refused_with_their_size(X, Y, monkeypatch):
    tree = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    size = tree.tree_.node_count * N_LABELS * 8
    monkeypatch.setattr("sketchforest._trees.memory.memory_size", lambda: size - 1)
    with pytest.raises(MemoryError, match=r"tree_\.value must fit .* 15 nodes and 6 outputs"):
        _ = tree.tree_.value
    assert tree.tree_.impurity.shape == (15,)  # needs no table
    monkeypatch.setattr("sketchforest._trees.memory.memory_size", lambda: size)
    assert tree.tree_.value.nbytes == size


def test_the_structure_is_made_once_and_goes_with_the_trees(X, Y, tmp_path):
    tree = DecisionTreeRegressor(max_depth=3)
    assert not hasattr(tree, "tree_")
    tree.fit(X, Y)
    size = len(pickle.dumps(tree))
    first = tree.tree_
    assert tree.tree_ is first
    _ = first.value
    assert len(pickle.dumps(tree)) < size + 200  # the name, and no table
    assert np.array_equal(pickle.loads(pickle.dumps(tree)).tree_.value, first.value)
    assert np.array_equal(tree.relabel(-Y).tree_.value, -first.value)
    tree.save(tmp_path / "tree.sf")
    assert np.array_equal(load_forest(tmp_path / "tree.sf").tree_.impurity, first.impurity)
    assert tree.fit(X, Y[:, 0]).tree_.n_outputs == 1


def test_rows_for_tree_are_read_whatever_their_format_and_refused_by_another_width():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.4)
    tree = DecisionTreeClassifier(random_state=0).fit(X, (X[:, :3] > 0).astype(int)).tree_
    for container in (sparse.csr_array, sparse.csc_array, sparse.lil_matrix):
        np.testing.assert_array_equal(tree.apply(container(X)), tree.apply(X))
        np.testing.assert_array_equal(tree.predict(container(X)), tree.predict(X))
    for rows in (X[:, :3], sparse.csr_array(X[:, :3]), np.hstack([X, X])):
        for question in (tree.apply, tree.decision_path, tree.predict):
            with pytest.raises(ValueError, match="another number of features"):
                question(rows)
    beyond = sparse.csr_array(X)
    beyond.indices[:] = 10**6
    with pytest.raises(ValueError, match="indices lie within"):
        tree.apply(beyond)
