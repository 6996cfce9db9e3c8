"""Minimal cost-complexity pruning: the weakest split of a tree is undone, then the next.

A tree costs the impurity of its leaves, each by its share of the rows, and alpha for each leaf. A
split is undone from that alpha on at which the node costs no more as a leaf than its branch does.
"""

import heapq
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sketchforest._trees.encoding import MOST_FEATURES
from sketchforest._trees.hierarchy import Hierarchy
from sketchforest._trees.model import Directions, Forest, Tree
from sketchforest._trees.node_means import NodeMeans
from sketchforest._trees.targets import Targets


class PruningStep(NamedTuple):
    """A tree on the way from the whole one to its root alone."""

    alpha: float  # from which on it is the cheapest
    impurity: float  # of its leaves
    node: int  # that became a leaf, as `Hierarchy` counts


def leaf_costs(tree: Forest, targets: Targets) -> np.ndarray:
    """(all nodes,) impurity that each node of a single tree would add as a leaf."""
    means = NodeMeans(tree, targets)
    costs = means.weights * means.impurity() / means.weights[0]
    return costs[tree.hierarchy.numbers]


def pruning_steps(
    hierarchy: Hierarchy, costs: np.ndarray, most: float = np.inf
) -> Iterator[PruningStep]:
    """All steps of which alpha is at most `most`. Of equally weak splits, the one that scikit-learn
    counts first is undone first."""
    n_inner = hierarchy.n_inner
    branch_costs = hierarchy.add_up(costs[n_inner:])
    branch_leaves = hierarchy.add_up(np.ones(hierarchy.n_leaves, np.int64))
    alphas = (costs - branch_costs)[:n_inner] / (branch_leaves[:n_inner] - 1)
    weak = np.flatnonzero(alphas <= most)
    heap = [(float(alphas[node]), int(hierarchy.numbers[node]), int(node)) for node in weak]
    heapq.heapify(heap)
    own, branch, n_leaves = costs.tolist(), branch_costs.tolist(), branch_leaves.tolist()
    parents, last = hierarchy.parents.tolist(), 0.0
    while heap:
        known, number, node = heapq.heappop(heap)
        above = _above(node, parents)
        if any(n_leaves[at] == 1 for at in above):
            continue  # gone with a node above it
        alpha = (own[node] - branch[node]) / (n_leaves[node] - 1)
        if alpha > known:  # it rises with each split that is undone below the node
            if alpha <= most:
                heapq.heappush(heap, (alpha, number, node))
            continue
        more, fewer = own[node] - branch[node], n_leaves[node] - 1
        for at in (node, *above):
            branch[at] += more
            n_leaves[at] -= fewer
        last = max(last, alpha)  # rounding may say a bit less
        yield PruningStep(last, branch[above[-1] if above else node], node)


def pruning_path(tree: Forest, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """Of a single tree, the whole one first: the alphas from which on a smaller tree is cheaper,
    and the impurities of these trees."""
    hierarchy, costs = tree.hierarchy, leaf_costs(tree, targets)
    whole = float(hierarchy.add_up(costs[hierarchy.n_inner :])[hierarchy.roots[0]])
    steps = list(pruning_steps(hierarchy, costs))
    alphas = np.array([0.0, *(step.alpha for step in steps)])
    return alphas, np.array([whole, *(step.impurity for step in steps)])


def _above(node: int, parents: list[int]) -> list[int]:
    found = []
    while (node := parents[node]) >= 0:
        found.append(node)
    return found


def prune(tree: Tree, targets: Targets, alpha: float) -> Tree:
    """The smallest of the trees, cut off at some nodes, that are cheapest at this alpha."""
    single = Forest.from_trees([tree], MOST_FEATURES, targets.labels.shape[0])
    steps = pruning_steps(single.hierarchy, leaf_costs(single, targets), alpha)
    undone = [step.node for step in steps]
    return _cut_off(tree, single.hierarchy, undone) if undone else tree


def _cut_off(tree: Tree, hierarchy: Hierarchy, undone: list[int]) -> Tree:
    """The tree with leaves where these inner nodes were, which hold the rows below them."""
    n_inner, n_nodes = hierarchy.n_inner, hierarchy.n_inner + hierarchy.n_leaves
    ends = np.full(n_nodes, -1)  # the leaf that a node is, or is part of; -1: it stays a split
    ends[undone] = undone
    ends[n_inner:] = np.arange(n_inner, n_nodes)
    depth = 0
    for level in hierarchy.levels:
        of_level = ends[level]
        depth += bool((of_level < 0).any())
        below = hierarchy.children[level]
        ends[below] = np.where(of_level[:, None] >= 0, of_level[:, None], ends[below])
    stays = ends[:n_inner] < 0
    leaves, leaf = np.unique(ends[n_inner:], return_inverse=True)
    places = np.empty(n_nodes, np.int64)
    places[:n_inner][stays] = np.arange(stays.sum())
    places[leaves] = -1 - np.arange(len(leaves))
    nodes = tree.nodes[stays]
    nodes[:, 2:] = places[hierarchy.children[stays]]
    leaf_of_member = np.repeat(leaf, np.diff(tree.member_start))
    order = np.lexsort((tree.members, leaf_of_member))
    sizes = np.bincount(leaf_of_member, minlength=len(leaves))
    return replace(
        tree,
        nodes=nodes,
        thresholds=None if tree.thresholds is None else tree.thresholds[stays],
        gains=None if tree.gains is None else tree.gains[stays],
        member_start=np.append(0, np.cumsum(sizes)).astype(tree.member_start.dtype),
        members=tree.members[order],
        weights=None if tree.weights is None else tree.weights[order],
        depth=depth,
        directions=None if tree.directions is None else _only(tree.directions, stays),
    )


def _only(directions: Directions, stays: np.ndarray) -> Directions:
    """Of these nodes alone."""
    sizes: np.ndarray = np.diff(directions.start.astype(np.int64))
    entries = np.repeat(stays, sizes)
    return replace(
        directions,
        start=np.append(0, np.cumsum(sizes[stays])).astype(directions.start.dtype),
        columns=directions.columns[entries],
        weights=directions.weights[entries],
    )
