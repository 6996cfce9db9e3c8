"""The steps to a leaf, and the training rows below a node, in all trees at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sketchforest import _core
from sketchforest._trees.model import Forest


class Steps(NamedTuple):
    """Steps from a node to one of its children, those of all trees together."""

    tree: np.ndarray
    node: np.ndarray
    child: np.ndarray
    goes_right: np.ndarray


class Ancestry:
    """The members of each node and leaf lie side by side, in an order of their own."""

    def __init__(self, forest: Forest) -> None:
        self._forest, self.hierarchy = forest, forest.hierarchy
        self.first_leaves = self.hierarchy.n_inner + forest.first_leaves  # (n_trees,)
        bounds = forest.leaf_bounds()
        moved = self.hierarchy.member_begin[self.hierarchy.n_inner :] - bounds[:-1]
        every = np.arange(len(forest.members))
        self.order = np.empty_like(every)  # (n_members,) places in the forest's members
        self.order[every + np.repeat(moved, np.diff(bounds))] = every

    def steps_to(self, leaves: np.ndarray) -> Steps:
        """From the roots of all trees to the leaves, (n_trees,), that are numbered in their own."""
        steps = []
        tree, child = np.arange(len(leaves)), self.first_leaves + leaves
        while len(child):
            node = self.hierarchy.parents[child]
            is_below = node >= 0
            tree, node, child = tree[is_below], node[is_below], child[is_below]
            steps.append((tree, node, child, self.hierarchy.right[node] == child))
            child = node
        return Steps(*map(np.concatenate, zip(*steps, strict=True)))

    def members_of(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places in the forest's members of those below each node, one node after the other, and
        (len(nodes) + 1,) where those of each begin."""
        begin = self.hierarchy.member_begin[nodes]
        sizes = self.hierarchy.member_end[nodes] - begin
        start = np.append(0, np.cumsum(sizes)).astype(np.int64)
        return self.order[np.arange(start[-1]) + np.repeat(begin - start[:-1], sizes)], start

    def means(self, Y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function of nodes: (len(nodes), k) weighted means of outputs Y, (n_train, k), over the
        training rows below each node or leaf."""
        weights = self._forest.member_weights(self.order)
        # Sums of weighted outputs, and of weights, up to each place.
        sums = np.zeros((len(weights) + 1, Y.shape[1] + 1))
        weighted = weights[:, None] * Y[self._forest.members[self.order]]
        np.cumsum(weighted, axis=0, out=sums[1:, :-1])
        np.cumsum(weights, out=sums[1:, -1])

        def of(nodes: np.ndarray) -> np.ndarray:
            end, begin = self.hierarchy.member_end[nodes], self.hierarchy.member_begin[nodes]
            below = sums[end] - sums[begin]
            return below[:, :-1] / below[:, -1:]

        return of

    def medians(self, Y: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """(len(nodes), k) weighted medians of the outputs below each node or leaf."""
        places, start = self.members_of(nodes)
        weights = self._forest.member_weights(places)
        return _core.weighted_medians(Y, self._forest.members[places], weights, start)
