"""Trees against those of scikit-learn."""

import numpy as np
import pytest
import reference
import sklearn_versions
from scipy import sparse
from sketched_data import regression_data
from sklearn import tree

from sketchforest import DecisionTreeClassifier, DecisionTreeRegressor

# ---- scikit-learn's tree


def shape_of_sklearn(fitted):
    """As `reference.shape_of`."""
    grown = fitted.tree_
    shape, waiting = [], [0]
    while waiting:
        at = waiting.pop()
        left, right = grown.children_left[at], grown.children_right[at]
        if left < 0:
            shape.append(None)
        else:
            feature, threshold = int(grown.feature[at]), float(grown.threshold[at])
            shape.append((feature, threshold, bool(grown.missing_go_to_left[at])))
            waiting += [right, left]
    return shape


def assert_same_tree(ours, theirs, check_missing=True):
    """Same features in the same places, same thresholds up to the rounding of a float32, same
    sides for missing values."""
    ours, theirs = reference.shape_of(ours.fitted_.forest.tree(0)), shape_of_sklearn(theirs)
    assert len(ours) == len(theirs)
    assert len(ours) > 3
    for our, their in zip(ours, theirs, strict=True):
        if our is None or their is None:
            assert our is their
            continue
        assert our[0] == their[0]
        assert our[1] == pytest.approx(their[1], rel=1e-6, abs=1e-7)
        if check_missing:
            assert our[2] == their[2]


def leaves_as_sets(leaf_of_row):
    """How the leaves part the rows, whatever the leaves are called."""
    return {frozenset(np.flatnonzero(leaf_of_row == leaf)) for leaf in np.unique(leaf_of_row)}


# Nodes stay large: in a small one, two features may part the rows alike, and either may be taken.
LIMITS = [
    {"max_depth": 3},
    {"min_samples_split": 60, "min_samples_leaf": 5},
    {"min_samples_leaf": 12},
    {"min_samples_leaf": 0.03},
    {"min_weight_fraction_leaf": 0.03},
    {"max_leaf_nodes": 12},
    {"max_leaf_nodes": 40, "min_samples_leaf": 9, "max_depth": 5},
    {"min_impurity_decrease": 0.01, "min_samples_leaf": 9},
    {"min_impurity_decrease": 0.01, "max_leaf_nodes": 9, "min_samples_leaf": 9},
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weighted"])
def test_a_regression_tree_is_scikit_learns(limits, n_outputs, weighted):
    X, Y = regression_data(0, n_outputs)
    X_new = regression_data(1, n_outputs)[0]
    weights = np.random.default_rng(2).exponential(size=len(X)) if weighted else None
    ours = DecisionTreeRegressor(projection=None, **limits).fit(X, Y, weights)
    theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, Y, weights)
    assert_same_tree(ours, theirs)
    np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_full_tree_on_one_feature_is_scikit_learns(n_outputs):
    X, Y = regression_data(3, n_outputs, n=400, p=1)
    ours = DecisionTreeRegressor(projection=None).fit(X, Y)
    theirs = tree.DecisionTreeRegressor(random_state=0).fit(X, Y)
    assert_same_tree(ours, theirs)
    assert ours.get_n_leaves() == theirs.get_n_leaves() == 400
    assert ours.get_depth() == theirs.get_depth()


def test_some_rows_of_weight_zero_grow_the_tree_of_the_others():
    X, Y = regression_data(4)
    weights = np.random.default_rng(4).integers(0, 3, len(X)).astype(float)
    kept = weights > 0
    ours = DecisionTreeRegressor(projection=None, min_samples_leaf=9).fit(X, Y, weights)
    alone = DecisionTreeRegressor(projection=None, min_samples_leaf=9)
    alone.fit(X[kept], Y[kept], weights[kept])
    assert reference.shape_of(ours.fitted_.forest.tree(0)) == reference.shape_of(
        alone.fitted_.forest.tree(0)
    )
    np.testing.assert_allclose(ours.predict(X), alone.predict(X))


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
def test_a_regression_tree_on_sparse_features_is_scikit_learns(limits):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((800, 8)) < 0.2, rng.normal(size=(800, 8)), 0).astype(np.float32)
    X[:, 0] = np.abs(X[:, 0])
    X[:, 1] = -np.abs(X[:, 1])
    Y = X @ rng.normal(size=(8, 2)) + 0.5 * rng.normal(size=(800, 2))
    ours = DecisionTreeRegressor(projection=None, **limits).fit(sparse.csr_array(X), Y)
    theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(sparse.csc_matrix(X), Y)
    assert_same_tree(ours, theirs)
    X_new = X[::-1] * np.float32(1.1)
    np.testing.assert_allclose(ours.predict(sparse.csr_array(X_new)), theirs.predict(X_new))
    np.testing.assert_allclose(ours.predict(sparse.csc_array(X_new)), theirs.predict(X_new))


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.skipif(not sklearn_versions.SPLITS_MISSING_VALUES, reason="scikit-learn before 1.8")
def test_a_tree_on_missing_values_is_scikit_learns(limits, n_outputs):
    X, Y = regression_data(5, n_outputs)
    X_new = regression_data(6)[0]
    rng = np.random.default_rng(7)
    X[rng.random(X.shape) < [0, 0.02, 0.1, 0.3, 0.6]] = np.nan
    Y += 2 * np.isnan(X[:, 3]) if n_outputs == 1 else 2 * np.isnan(X[:, [3]])
    X_new[rng.random(X_new.shape) < 0.2] = np.nan
    ours = DecisionTreeRegressor(projection=None, **limits).fit(X, Y)
    theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, Y)
    assert_same_tree(ours, theirs)
    np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new))


def test_a_missing_value_that_training_never_had_goes_where_scikit_learn_sends_it():
    X, Y = regression_data(8)
    X_new = np.full_like(X, np.nan)
    X_new[:, 2] = X[:, 2]
    for limits in LIMITS:
        ours = DecisionTreeRegressor(projection=None, **limits).fit(X, Y)
        theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, Y)
        np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new))


def test_missing_against_all_others_is_a_split():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan]])
    y = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    for fitted in (
        DecisionTreeRegressor(projection=None).fit(X, y),
        DecisionTreeRegressor(projection=None, splitter="random").fit(
            [[7.0]] * 3 + [[np.nan]] * 2, y
        ),
    ):
        assert fitted.get_n_leaves() == 2
        np.testing.assert_array_equal(fitted.predict([[np.nan], [-1e9], [1e9]]), [1, 0, 0])


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
def test_a_tree_of_classes_is_scikit_learns(limits):
    """Random weights make every partition's score its own."""
    X, _ = regression_data(9)
    rng = np.random.default_rng(9)
    y = np.array(["a", "b", "c", "d"])[np.digitize(X[:, 0] + rng.normal(size=len(X)), [-1, 0, 1])]
    weights = rng.exponential(size=len(X)) + 0.1
    ours = DecisionTreeClassifier(projection=None, **limits).fit(X, y, weights)
    theirs = tree.DecisionTreeClassifier(random_state=0, **limits).fit(X, y, weights)
    assert_same_tree(ours, theirs)
    X_new = regression_data(10)[0]
    # float32, as leaf means of labels are stored
    np.testing.assert_allclose(ours.predict_proba(X_new), theirs.predict_proba(X_new), atol=1e-7)
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense Y", "sparse Y"])
def test_a_tree_of_labels_is_scikit_learns(limits, is_sparse):
    X, Z = regression_data(11, n_outputs=12)
    Y = (Z > 1.5).astype(int)
    Y[:5] = 0
    weights = np.random.default_rng(11).exponential(size=len(X)) + 0.1
    ours = DecisionTreeClassifier(projection=None, **limits)
    ours.fit(X, sparse.csr_array(Y) if is_sparse else Y, weights)
    theirs = tree.DecisionTreeClassifier(random_state=0, **limits).fit(X, Y, weights)
    assert_same_tree(ours, theirs)
    X_new = regression_data(12)[0]
    expected = np.column_stack([p[:, 1] for p in theirs.predict_proba(X_new)])
    np.testing.assert_allclose(ours.predict_proba(X_new), expected, atol=1e-6)


def test_a_tree_of_labels_too_sparse_to_write_out_is_scikit_learns():
    X, Z = regression_data(13, n_outputs=60)
    Y = (Z > 4).astype(int)
    Y = Y[:, (Y.any(axis=0) & ~Y.all(axis=0))]
    weights = np.random.default_rng(13).exponential(size=len(X)) + 0.1
    for limits in LIMITS:
        limits = {"min_samples_leaf": 9, **limits}
        if "min_impurity_decrease" in limits:
            limits["min_impurity_decrease"] = 0.0005
        ours = DecisionTreeClassifier(projection=None, **limits).fit(X, Y, weights)
        theirs = tree.DecisionTreeClassifier(random_state=0, **limits).fit(X, Y, weights)
        assert_same_tree(ours, theirs)


def test_full_trees_part_the_training_rows_as_scikit_learns_do():
    """Where two features part a small node's rows alike, either may be taken."""
    X, Y = regression_data(14, n_outputs=2)
    weights = np.random.default_rng(14).exponential(size=len(X)) + 0.1
    ours = DecisionTreeRegressor(projection=None, min_samples_split=8).fit(X, Y, weights)
    theirs = tree.DecisionTreeRegressor(random_state=0, min_samples_split=8).fit(X, Y, weights)
    assert leaves_as_sets(ours.apply(X)) == leaves_as_sets(theirs.apply(X))
