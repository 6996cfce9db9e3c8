"""Minimal cost-complexity pruning against its definition, and against scikit-learn's."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn import tree as sklearn_tree

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    load_forest,
)

OUTPUTS = ("classes", "labels", "real", "many real")


def random_problem(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    signal = X[:, :3] + X[:, [0]] * X[:, [1]] + rng.normal(size=(n_rows, 3))
    Y = {
        "classes": np.searchsorted([-0.5, 1], signal[:, 0]),
        "labels": (signal > 0.3).astype(int),
        "real": signal[:, 0],
        "many real": signal,
    }[OUTPUTS[seed % 4]]
    weights = None if seed % 3 else rng.choice([0.5, 1, 3], n_rows)
    return X, Y, weights


def kinds(Y):
    kind = "DecisionTreeClassifier" if Y.dtype.kind == "i" else "DecisionTreeRegressor"
    ours = DecisionTreeClassifier if Y.dtype.kind == "i" else DecisionTreeRegressor
    return ours, getattr(sklearn_tree, kind)


def prunings(tree, node=0):
    """Every set of leaves that a tree, cut off at some nodes or none, can have."""
    yield [node]
    left, right = tree.children_left[node], tree.children_right[node]
    if left >= 0:
        for some in prunings(tree, left):
            yield from (some + others for others in prunings(tree, right))


def cheapest(tree, alpha):
    """The leaves of the cheapest tree: impurity by share of the rows, and alpha for each leaf."""
    costs = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return min(prunings(tree), key=lambda leaves: costs[leaves].sum() + alpha * len(leaves))


def rows_by_leaf(estimator, X):
    leaves = estimator.apply(X)
    return {frozenset(np.flatnonzero(leaves == leaf).tolist()) for leaf in np.unique(leaves)}


def between(alphas):
    """Without those between steps at the same alpha, where rounding decides."""
    pairs = pairwise(alphas)
    return [(low + high) / 2 for low, high in pairs if high - low > 1e-6 * high]


@pytest.mark.parametrize("splitter", ["best", "random", "oblique"])
@pytest.mark.parametrize("seed", range(12))
def test_a_pruned_tree_is_the_cheapest(seed, splitter):
    X, Y, weights = random_problem(seed)
    ours, _ = kinds(Y)
    params = {"max_leaf_nodes": 9, "random_state": seed, "splitter": splitter}
    whole = ours(**params).fit(X, Y, weights)
    paths = whole.decision_path(X).toarray().astype(bool)
    alphas = whole.cost_complexity_pruning_path(X, Y, weights).ccp_alphas
    sizes = set()
    for alpha in between(np.append(alphas, 2 * alphas[-1])):
        pruned = ours(**params, ccp_alpha=alpha).fit(X, Y, weights)
        expected = cheapest(whole.tree_, alpha)
        of_leaves = {frozenset(np.flatnonzero(paths[:, leaf]).tolist()) for leaf in expected}
        assert rows_by_leaf(pruned, X) == of_leaves
        assert pruned.get_n_leaves() == len(expected)
        sizes.add(len(expected))
    assert len(sizes) > 2


def test_paths_and_pruned_trees_are_those_of_scikit_learn():
    n_compared = 0
    for seed in range(40):
        X, Y, weights = random_problem(seed, n_rows=400)
        ours, theirs = (kind(min_samples_leaf=8, random_state=0) for kind in kinds(Y))
        ours.fit(X, Y, weights)
        theirs.fit(X, Y, weights)
        if not np.array_equal(ours.tree_.feature, theirs.tree_.feature):
            continue  # a tie between splits
        n_compared += 1
        path = ours.cost_complexity_pruning_path(X, Y, weights)
        their_path = theirs.cost_complexity_pruning_path(X, Y, weights)
        for name in path:
            np.testing.assert_allclose(path[name], their_path[name], rtol=1e-6, atol=1e-12)
        for alpha in between(path.ccp_alphas)[::5]:
            ours.set_params(ccp_alpha=alpha).fit(X, Y, weights)
            theirs.set_params(ccp_alpha=alpha).fit(X, Y, weights)
            assert_same_tree(ours.tree_, theirs.tree_)
            assert ours.get_depth() == theirs.get_depth()
            np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert n_compared > 20


def assert_same_tree(ours, theirs):
    for name in ("children_left", "children_right", "feature", "n_node_samples"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("threshold", "impurity", "value", "weighted_n_node_samples"):
        found, expected = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


def test_each_alpha_of_a_path_is_that_of_one_leaf_fewer_at_least():
    X, Y, _ = random_problem(2, n_rows=300)
    path = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X, Y)
    assert path.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) >= 0).all()
    assert (np.diff(path.impurities) >= 0).all()
    sizes = [
        DecisionTreeRegressor(random_state=0, ccp_alpha=alpha).fit(X, Y).get_n_leaves()
        for alpha in path.ccp_alphas[1::20]
    ]
    assert (np.diff(sizes) < 0).all()
    last = DecisionTreeRegressor(random_state=0, ccp_alpha=path.ccp_alphas[-1]).fit(X, Y)
    assert last.get_n_leaves() == 1
    assert last.get_depth() == 0
    np.testing.assert_allclose(last.predict(X[:2]), Y.mean(), rtol=1e-12)


def test_a_tree_of_one_node_has_a_path_of_one_step():
    path = DecisionTreeClassifier().cost_complexity_pruning_path([[1.0], [1.0]], [0, 1])
    assert path.ccp_alphas.tolist() == [0]
    assert path.impurities.tolist() == [0.5]


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_trees_of_a_forest_are_pruned_each_by_its_own_rows(kind, tmp_path):
    X, Y, _ = random_problem(1, n_rows=150)
    Y = sparse.csr_array(np.hstack([Y, 1 - Y]))
    params = {"n_estimators": 6, "random_state": 0, "n_components": 3}
    whole = kind(**params).fit(X, Y)
    pruned = kind(**params, ccp_alpha=0.01, n_jobs=2).fit(X, Y)
    assert pruned.fitted_.forest.n_leaves < whole.fitted_.forest.n_leaves
    alone = kind(**params, ccp_alpha=0.01).fit(X, Y)
    assert np.array_equal(alone.fitted_.forest.members, pruned.fitted_.forest.members)
    for before, after in zip(whole.estimators_, pruned.estimators_, strict=True):
        of_leaf = before.decision_path(X).toarray()[:, cheapest_by_levels(before.tree_, 0.01)]
        expected = {frozenset(np.flatnonzero(column).tolist()) for column in of_leaf.T}
        assert rows_by_leaf(after, X) == expected - {frozenset()}
    pruned.save(tmp_path / "model.sf")
    loaded = load_forest(tmp_path / "model.sf")
    assert loaded.ccp_alpha == 0.01
    assert np.array_equal(loaded.predict_proba(X), pruned.predict_proba(X))


def cheapest_by_levels(tree, alpha):
    """The same leaves as `cheapest`, from the bottom up, for trees too large to try all."""
    costs = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    best = {}
    for node in reversed(range(tree.node_count)):  # children come after their parents
        best[node] = (costs[node] + alpha, [node])
        if tree.children_left[node] >= 0:
            left, right = best[tree.children_left[node]], best[tree.children_right[node]]
            if left[0] + right[0] < best[node][0]:
                best[node] = (left[0] + right[0], left[1] + right[1])
    return best[0][1]


def test_a_warm_start_prunes_the_trees_that_it_adds():
    X, Y, weights = random_problem(6)
    at_once = RandomForestRegressor(6, ccp_alpha=0.05, random_state=0).fit(X, Y, weights)
    grown_on = RandomForestRegressor(2, ccp_alpha=0.05, random_state=0, warm_start=True)
    grown_on.fit(X, Y, weights).set_params(n_estimators=6).fit(X, Y, weights)
    assert np.array_equal(at_once.fitted_.forest.nodes, grown_on.fitted_.forest.nodes)


def test_a_pruned_tree_becomes_one_of_scikit_learn():
    X, Y, _ = random_problem(7)
    tree = ExtraTreeRegressor(ccp_alpha=0.02, random_state=0).fit(X, Y)
    assert 1 < tree.get_n_leaves() < ExtraTreeRegressor(random_state=0).fit(X, Y).get_n_leaves()
    twin = tree.to_sklearn()
    assert twin.ccp_alpha == 0.02
    np.testing.assert_allclose(twin.predict(X), tree.predict(X), rtol=1e-12)
