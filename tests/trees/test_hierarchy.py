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


def test_numbers_and_parents_are_those_of_a_walk(forest):
    hierarchy = forest.hierarchy
    for index in range(forest.n_trees):
        walk = in_preorder(forest, index)
        assert hierarchy.roots[index] == walk[0][0]
        nodes, parents = map(list, zip(*walk, strict=True))
        assert hierarchy.numbers[nodes].tolist() == list(range(len(walk)))
        assert hierarchy.parents[nodes].tolist() == parents


def test_sums_are_those_of_the_leaves_below(forest):
    hierarchy = forest.hierarchy
    values = rng.integers(0, 9, (forest.n_leaves, 2)).astype(float)
    sums = np.zeros((hierarchy.n_inner + forest.n_leaves, 2))
    for leaf in range(forest.n_leaves):
        node = hierarchy.n_inner + leaf
        while node >= 0:
            sums[node] += values[leaf]
            node = hierarchy.parents[node]
    assert np.array_equal(hierarchy.add_up(values), sums)


def test_arrays_outlive_the_forest():
    forest = RandomForestRegressor(2, random_state=0).fit(X, Y).fitted_.forest
    numbers, expected = forest.hierarchy.numbers, forest.hierarchy.numbers.copy()
    del forest
    assert np.array_equal(numbers, expected)
    assert not numbers.flags.writeable


def test_arrays_of_another_length_are_refused(forest):
    n_nodes = forest.hierarchy.n_inner + forest.n_leaves
    with pytest.raises(ValueError, match="a row for each leaf"):
        forest.hierarchy.add_up(np.zeros((forest.n_leaves + 1, 1)))
    with pytest.raises(ValueError, match="a cost for each node"):
        forest.hierarchy.prune(np.zeros(n_nodes - 1), 0.0)
    with pytest.raises(ValueError, match="a gain for each split"):
        _core.importances(forest, np.zeros(n_nodes, np.float32))
    with pytest.raises(ValueError, match="another shape"):
        _core.decision_paths(forest, np.zeros((1, forest.n_trees + 1), np.int32))
    with pytest.raises(ValueError, match="must be those of the forest"):
        _core.decision_paths(forest, np.full((1, forest.n_trees), forest.n_leaves, np.int32))
