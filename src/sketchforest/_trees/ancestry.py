"""Who is below whom in the trees: the nodes above a leaf, the training rows below a node.

Nodes of all trees are counted on, then the leaves of all trees.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sketchforest._trees.model import Forest


class Steps(NamedTuple):
    """Steps from a node to one of its children, those of all trees together."""

    tree: np.ndarray
    node: np.ndarray
    child: np.ndarray
    goes_right: np.ndarray


@dataclass(frozen=True)
class Ancestry:
    """The members of each node and leaf lie side by side, in an order of their own."""

    children: np.ndarray  # (n_nodes, 2)
    parents: np.ndarray  # (n_nodes + n_leaves,), -1 for a root
    roots: np.ndarray  # (n_trees,), the only leaf of a tree without nodes
    first_leaves: np.ndarray  # (n_trees,)
    order: np.ndarray  # (n_members,) places in the forest's members
    start: np.ndarray  # (n_nodes + n_leaves,) first and last place in that order
    end: np.ndarray

    @classmethod
    def of(cls, forest: Forest) -> "Ancestry":
        n_nodes, n_leaves = len(forest.nodes), forest.n_leaves
        first_leaves = n_nodes + forest.first_leaves
        children = _children(forest, first_leaves)
        parents = np.full(n_nodes + n_leaves, -1)
        parents[children.ravel()] = np.repeat(np.arange(n_nodes), 2)
        is_leaf_alone = np.diff(forest.node_start) == 0
        roots = np.where(is_leaf_alone, first_leaves, forest.node_start[:-1])
        bounds = forest.leaf_bounds()
        sizes = np.zeros(n_nodes + n_leaves, np.int64)
        sizes[n_nodes:] = np.diff(bounds)
        levels = _levels(children, roots[~is_leaf_alone])
        # From the deepest level up: what is below a node is known when its parent asks.
        for level in reversed(levels):
            sizes[level] = sizes[children[level]].sum(axis=1)
        start = np.zeros(n_nodes + n_leaves, np.int64)
        start[roots] = forest.tree_members[:-1]
        for level in levels:
            left, right = children[level].T
            start[left] = start[level]
            start[right] = start[level] + sizes[left]
        order = np.empty(len(forest.members), np.int64)
        moved = np.repeat(start[n_nodes:] - bounds[:-1], sizes[n_nodes:])
        order[np.arange(len(order)) + moved] = np.arange(len(order))
        return cls(children, parents, roots, first_leaves, order, start, start + sizes)

    def steps_to(self, leaves: np.ndarray) -> Steps:
        """From the roots of all trees to the leaves, (n_trees,), that are numbered in their own."""
        tree, child = np.arange(len(leaves)), self.first_leaves + leaves
        found = []
        while True:
            node = self.parents[child]
            below = node >= 0
            if not below.any():
                break
            tree, node, child = tree[below], node[below], child[below]
            found.append((tree, node, child, self.children[node, 1] == child))
            child = node
        if not found:
            nothing = np.zeros(0, np.int64)
            return Steps(nothing, nothing, nothing, np.zeros(0, bool))
        return Steps(*map(np.concatenate, zip(*found, strict=True)))

    def means(self, forest: Forest, Y: np.ndarray) -> "NodeMeans":
        """Of outputs Y, (n_train, k), over the training rows below nodes."""
        weights = np.ones(len(self.order))
        if forest.weights is not None:
            weights = forest.weights[self.order].astype(float)
        rows = forest.members[self.order]
        sums = np.zeros((len(rows) + 1, Y.shape[1] + 1))
        np.cumsum(weights[:, None] * Y[rows], axis=0, out=sums[1:, :-1])
        np.cumsum(weights, out=sums[1:, -1])
        return NodeMeans(self.start, self.end, sums)


@dataclass(frozen=True)
class NodeMeans:
    """Sums of weighted outputs, and of weights, up to each place."""

    start: np.ndarray
    end: np.ndarray
    sums: np.ndarray

    def of(self, nodes: np.ndarray) -> np.ndarray:
        """(len(nodes), k) weighted means of the rows below each node or leaf."""
        below = self.sums[self.end[nodes]] - self.sums[self.start[nodes]]
        return below[:, :-1] / below[:, -1:]


def _children(forest: Forest, first_leaves: np.ndarray) -> np.ndarray:
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_start))
    children = forest.nodes[:, 2:].astype(np.int64)
    return np.where(
        children >= 0,
        forest.node_start[tree][:, None] + children,
        first_leaves[tree][:, None] - 1 - children,
    )


def _levels(children: np.ndarray, roots: np.ndarray) -> list[np.ndarray]:
    """The nodes of all trees by their distance from the root."""
    levels = []
    level = roots
    while len(level):
        levels.append(level)
        below = children[level].ravel()
        level = below[below < len(children)]
    return levels
