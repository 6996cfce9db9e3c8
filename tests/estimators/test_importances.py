"""Feature importances, and forests as the mean of their trees."""

import numpy as np
import pytest
import sklearn.tree
from every_kind import ESTIMATORS, FORESTS, LEAVES, fitted, predictions, targets, trees_alone

from sketchforest import DecisionTreeClassifier, DecisionTreeRegressor


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
    params = {"min_samples_leaf": leaf_size, "n_components": 3} | trees_alone(kind)
    forest = fitted(kind, X, targets(kind, Y, outputs), **params)
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
