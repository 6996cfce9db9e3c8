"""The steps to a leaf, and the training rows below a node, in all trees at once."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sketchforest import _core
from sketchforest._trees.hierarchy import Hierarchy
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

    hierarchy: Hierarchy
    first_leaves: np.ndarray  # (n_trees,)
    order: np.ndarray  # (n_members,) places in the forest's members
    start: np.ndarray  # (n_nodes + n_leaves,) first and last place in that order
    end: np.ndarray

    @classmethod
    def of(cls, forest: Forest) -> "Ancestry":
        hierarchy, bounds = forest.hierarchy, forest.leaf_bounds()
        sizes = hierarchy.add_up(np.diff(bounds))
        start = np.zeros(len(sizes), np.int64)
        start[hierarchy.roots] = forest.tree_members[:-1]
        for level in hierarchy.levels:
            left, right = hierarchy.children[level].T
            start[left] = start[level]
            start[right] = start[level] + sizes[left]
        n_inner = hierarchy.n_inner
        order = np.empty(len(forest.members), np.int64)
        moved = np.repeat(start[n_inner:] - bounds[:-1], sizes[n_inner:])
        order[np.arange(len(order)) + moved] = np.arange(len(order))
        return cls(hierarchy, n_inner + forest.first_leaves, order, start, start + sizes)

    def steps_to(self, leaves: np.ndarray) -> Steps:
        """From the roots of all trees to the leaves, (n_trees,), that are numbered in their own."""
        tree, child = self.hierarchy.paths(self.first_leaves + leaves)
        node = self.hierarchy.parents[child]
        tree, node, child = tree[node >= 0], node[node >= 0], child[node >= 0]
        return Steps(tree, node, child, self.hierarchy.children[node, 1] == child)

    def members_of(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places in the forest's members of those below each node, one node after the other, and
        (len(nodes) + 1,) where those of each begin."""
        sizes = self.end[nodes] - self.start[nodes]
        start = np.append(0, np.cumsum(sizes)).astype(np.int64)
        moved = np.repeat(self.start[nodes] - start[:-1], sizes)
        return self.order[np.arange(start[-1]) + moved], start

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


@dataclass(frozen=True)
class NodeMedians:
    """Of outputs Y, (n_train, k), over the training rows below nodes."""

    ancestry: Ancestry
    forest: Forest
    Y: np.ndarray

    def of(self, nodes: np.ndarray) -> np.ndarray:
        """(len(nodes), k) weighted medians of the rows below each node or leaf."""
        places, start = self.ancestry.members_of(nodes)
        weights = self.forest.weights
        of_places = np.ones(len(places)) if weights is None else weights[places].astype(float)
        return _core.weighted_medians(self.Y, self.forest.members[places], of_places, start)
