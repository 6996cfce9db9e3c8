"""Trees on projections that change nothing, and on those that change everything."""

import numpy as np
import pytest
import reference
from scipy import stats
from sketched_data import label_data, regression_data

from sketchforest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest.projection import Projection


class Fixed(Projection):
    """A matrix that is given, but treated as if drawn for each tree."""

    def __init__(self, P):
        self.P = P

    def draw(self, n_labels, n_components, rng):
        return self.P


class Identity(Projection):
    def draw(self, n_labels, n_components, rng):
        return np.eye(n_labels, n_components, dtype=np.float32)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("shared", [False, True])
def test_identity_projection_grows_the_same_trees_as_no_projection(kind, shared):
    X, Y = label_data()
    plain = kind(10, projection=None, random_state=1).fit(X, Y)
    same = kind(10, projection=Identity(), n_components="all", shared_projection=shared)
    same.set_params(random_state=1).fit(X, Y)
    reference.assert_same_forest(plain, same)
    np.testing.assert_array_equal(plain.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_a_full_orthogonal_projection_leaves_every_split_unchanged(kind):
    X, Y = regression_data(15, n_outputs=6)
    rotation = stats.ortho_group.rvs(6, random_state=0).astype(np.float32)
    settings = {"min_samples_leaf": 12, "random_state": 2, "max_features": 3}
    plain = kind(10, projection=None, **settings).fit(X, Y)
    turned = kind(10, projection=Fixed(rotation), n_components="all", **settings).fit(X, Y)
    np.testing.assert_array_equal(plain.fitted_.forest.nodes, turned.fitted_.forest.nodes)
    np.testing.assert_array_equal(plain.fitted_.forest.members, turned.fitted_.forest.members)
    np.testing.assert_allclose(
        plain.fitted_.forest.gains, turned.fitted_.forest.gains, rtol=1e-4, atol=1e-6
    )


def test_each_tree_of_algorithm_2_has_a_matrix_of_its_own():
    X, Y = label_data()
    for projection in ("gaussian", "rademacher", "achlioptas", "hadamard", "subsample"):
        forest = RandomForestClassifier(4, projection=projection, n_components=7, random_state=0)
        forest.fit(X, Y)
        matrices = [reference.dense(forest.projection_matrix(t)) for t in range(4)]
        for i in range(4):
            for j in range(i):
                assert (matrices[i] != matrices[j]).any(), projection


def test_all_trees_of_algorithm_1_have_one_matrix():
    X, Y = label_data()
    forest = RandomForestClassifier(4, n_components=7, shared_projection=True, random_state=0)
    forest.fit(X, Y)
    for t in range(1, 4):
        np.testing.assert_array_equal(forest.projection_matrix(t), forest.projection_matrix(0))


@pytest.mark.parametrize("projection", ["gaussian", "rademacher", "achlioptas", "hadamard"])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_trees_of_algorithm_2_are_grown_on_their_own_matrices(projection, kind):
    X, Y = label_data()
    settings = {"n_components": 7, "random_state": 3}
    forest = kind(3, projection=projection, **settings).fit(X, Y)
    for t in range(3):
        P = reference.dense(forest.projection_matrix(t))
        again = kind(3, projection=Fixed(P), **settings).fit(X, Y)
        assert_same_tree_arrays(forest.fitted_.forest.tree(t), again.fitted_.forest.tree(t))
        other = (t + 1) % 3
        assert not np.array_equal(
            forest.fitted_.forest.tree(other).members, again.fitted_.forest.tree(other).members
        )


def test_the_trees_of_algorithm_1_are_grown_on_the_one_matrix():
    X, Y = label_data()
    settings = {"n_components": 7, "random_state": 3, "shared_projection": True}
    forest = RandomForestClassifier(3, **settings).fit(X, Y)
    again = RandomForestClassifier(3, projection=Fixed(forest.projection_matrix(2)), **settings)
    reference.assert_same_forest(forest, again.fit(X, Y))


def assert_same_tree_arrays(ours, theirs):
    for name in ("nodes", "gains", "member_start", "members", "weights"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_every_split_of_a_projected_tree_is_the_best_on_its_projection():
    """The whole way by hand: bootstrap, projection, search."""
    X, Y = label_data(n=120, p=8)
    X = reference.dense(X)
    forest = RandomForestClassifier(2, n_components=5, max_features=None, random_state=4)
    forest.fit(X, Y)
    for t in range(2):
        counts = reference.bootstrap_counts(forest.fitted_.settings.seed, t, len(X), len(X))
        Z = reference.project(Y, forest.projection_matrix(t))
        grown = forest.fitted_.forest.tree(t)
        waiting = [(0, np.flatnonzero(counts))]
        while waiting:
            at, rows = waiting.pop()
            if at < 0:
                continue
            node = reference.inner_node(grown, at)
            left = np.array([node.goes_left(x) for x in X[rows]])
            np.testing.assert_array_equal(rows[left], reference.rows_below(grown, node.left))
            weights = counts[rows].astype(float)
            best = reference.best_split(X[rows], Z[rows], weights).score
            assert reference.split_score(Z[rows], weights, left) == pytest.approx(best, rel=1e-5)
            waiting += [(node.left, rows[left]), (node.right, rows[~left])]
