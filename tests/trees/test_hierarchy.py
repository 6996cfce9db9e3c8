"""Which node is above which, in the core, against a walk down each tree."""

import numpy as np
import pytest

from sketchforest import ExtraTreesRegressor, RandomForestRegressor, _core

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 6))
Y = rng.normal(size=(200, 3))
FORESTS = {
    "deep": RandomForestRegressor(4, random_state=0),
    "best first": ExtraTreesRegressor(3, random_state=0, max_leaf_nodes=9),
    "stumps": RandomForestRegressor(3, random_state=0, min_samples_split=1000),
}


@pytest.fixture(params=FORESTS, scope="module")
def forest(request):
    return FORESTS[request.param].fit(X, Y).fitted_.forest


def in_preorder(forest, index):
    """(node or leaf, parent) of a tree, as the hierarchy counts, in scikit-learn's order."""
    tree = forest.tree(index)
    first_leaf = len(forest.nodes) + forest.first_leaves[index]
    waiting, found = [(0 if len(tree.nodes) else -1, -1)], []
    while waiting:
        reference, parent = waiting.pop()
        is_leaf = reference < 0
        at = first_leaf - 1 - reference if is_leaf else forest.node_start[index] + reference
        found.append((int(at), int(parent)))
        if not is_leaf:
            left, right = tree.nodes[reference, 2:].tolist()
            waiting += [(right, at), (left, at)]
    return found


def test_numbers_are_those_of_a_walk(forest):
    for index in range(forest.n_trees):
        nodes = [node for node, _ in in_preorder(forest, index)]
        assert forest.hierarchy.numbers[nodes].tolist() == list(range(len(nodes)))


def rows_of_nodes(single):
    """The places of each node's members, in the order of the nodes' numbers."""
    walk, bounds = in_preorder(single, 0), single.leaf_bounds()
    below = {node: [] for node, _ in walk}
    above = dict(walk)
    for node in below:
        leaf, at = node - len(single.nodes), node
        while leaf >= 0 and at >= 0:
            below[at] += range(bounds[leaf], bounds[leaf + 1])
            at = above[at]
    return list(below.values())


def test_a_node_has_the_rows_of_the_leaves_below(forest):
    for index in range(forest.n_trees):
        single = forest.only(index)
        n_rows, weights = _core.node_sizes(single)
        means = _core.node_values(single, Y, False)
        medians = _core.node_values(single, Y, True)
        variances = _core.node_impurity(single, Y, _core.Impurity.variance, False)
        for number, places in enumerate(rows_of_nodes(single)):
            own, weight = Y[single.members[places]], single.tree(0).member_weights[places]
            assert n_rows[number] == len(places)
            assert weights[number] == weight.sum()
            mean = np.average(own, axis=0, weights=weight)
            np.testing.assert_allclose(means[number], mean, atol=1e-12)
            each = np.repeat(own, weight.astype(int), axis=0)
            np.testing.assert_allclose(medians[number], np.median(each, axis=0), atol=1e-12)
            np.testing.assert_allclose(variances[number], each.var(axis=0), atol=1e-12)


def test_arrays_outlive_the_forest():
    forest = RandomForestRegressor(2, random_state=0).fit(X, Y).fitted_.forest
    numbers, expected = forest.hierarchy.numbers, forest.hierarchy.numbers.copy()
    del forest
    assert np.array_equal(numbers, expected)
    assert not numbers.flags.writeable


def test_arrays_of_another_length_are_refused(forest):
    n_nodes = forest.hierarchy.n_inner + forest.n_leaves
    with pytest.raises(ValueError, match="a row for each training row"):
        _core.node_values(forest.only(0), np.zeros((len(X) + 1, 1)), False)
    with pytest.raises(ValueError, match="must have one tree"):
        _core.node_sizes(forest)
    with pytest.raises(ValueError, match="a cost for each node"):
        forest.hierarchy.prune(np.zeros(n_nodes - 1), 0.0)
    with pytest.raises(ValueError, match="a gain for each split"):
        _core.importances(forest, np.zeros(n_nodes, np.float32))
    with pytest.raises(ValueError, match="another shape"):
        _core.decision_paths(forest, np.zeros((1, forest.n_trees + 1), np.int32))
    with pytest.raises(ValueError, match="must be those of the forest"):
        _core.decision_paths(forest, np.full((1, forest.n_trees), forest.n_leaves, np.int32))
