"""Minimal cost-complexity pruning: remove the weakest split of a tree, then the next.

The cost of a tree is the impurity of its leaves, weighted by their shares of the rows, plus alpha
per leaf. A split is removed from the alpha on at which the node as a leaf costs no more than its
branch.
"""

from dataclasses import replace

import numpy as np

from sketchforest._trees.encoding import MOST_FEATURES, starts_of
from sketchforest._trees.model import Directions, Forest, Tree
from sketchforest._trees.node_means import NodeMeans
from sketchforest._trees.targets import Targets


def leaf_costs(tree: Forest, targets: Targets) -> np.ndarray:
    """(n_nodes,) impurity that each node of a single tree would add as a leaf."""
    means = NodeMeans(tree, targets)
    costs = means.weights * means.impurity() / means.weights[0]
    return costs[tree.hierarchy.numbers]


def pruning_path(tree: Forest, targets: Targets) -> tuple[np.ndarray, np.ndarray]:
    """The alphas at which smaller subtrees become cheaper, and the impurities of these subtrees.

    The whole tree comes first.
    """
    return tree.hierarchy.prune(leaf_costs(tree, targets), np.inf)[0]


def prune(tree: Tree, targets: Targets, alpha: float) -> Tree:
    """The smallest of the subtrees that are cheapest at this alpha.

    An inner node that becomes a leaf gets all rows below it.
    """
    single = Forest.from_trees([tree], MOST_FEATURES, targets.labels.shape[0])
    _, pruned, depth = single.hierarchy.prune(leaf_costs(single, targets), alpha)
    kept, children, leaf_of_leaf = pruned
    if len(kept) == len(tree.nodes):
        return tree
    nodes = tree.nodes[kept]
    nodes[:, 2:] = children.reshape(-1, 2)
    leaf_of_member = np.repeat(leaf_of_leaf, np.diff(tree.member_start))
    order = np.lexsort((tree.members, leaf_of_member))
    sizes = np.bincount(leaf_of_member)
    return replace(
        tree,
        nodes=nodes,
        thresholds=None if tree.thresholds is None else tree.thresholds[kept],
        gains=None if tree.gains is None else tree.gains[kept],
        member_start=starts_of(sizes).astype(tree.member_start.dtype),
        members=tree.members[order],
        weights=None if tree.weights is None else tree.weights[order],
        depth=depth,
        directions=None if tree.directions is None else _only(tree.directions, kept),
    )


def _only(directions: Directions, nodes: np.ndarray) -> Directions:
    """The directions of these nodes only, which are ascending."""
    sizes = np.diff(directions.start)
    is_kept = np.zeros(len(sizes), bool)
    is_kept[nodes] = True
    entries = np.repeat(is_kept, sizes)
    return replace(
        directions,
        start=starts_of(sizes[nodes]).astype(directions.start.dtype),
        columns=directions.columns[entries],
        weights=directions.weights[entries],
    )
