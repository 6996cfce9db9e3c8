"""Which node is above which, in all trees at once.

Inner nodes of all trees are counted on, and after them leaves: the order of the flat arrays. Level
by level there are few steps, however many trees; nothing recurses.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from sketchforest._lazy import locked_property

if TYPE_CHECKING:
    from sketchforest._trees.model import Forest


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The nodes of a forest by their relations."""

    children: np.ndarray  # (inner nodes, 2)
    roots: np.ndarray  # (n_trees,)
    n_leaves: int

    @classmethod
    def of(cls, forest: "Forest") -> "Hierarchy":
        n_inner = len(forest.nodes)
        tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.node_start))
        references = forest.nodes[:, 2:].astype(np.int64)
        children = np.where(
            references >= 0,
            forest.node_start[tree][:, None] + references,
            n_inner + forest.first_leaves[tree][:, None] - 1 - references,
        )
        is_stump = np.diff(forest.node_start) == 0
        roots = np.where(is_stump, n_inner + forest.first_leaves, forest.node_start[:-1])
        return cls(children, roots, forest.n_leaves)

    @property
    def n_inner(self) -> int:
        return len(self.children)

    @locked_property
    def levels(self) -> list[np.ndarray]:
        """The inner nodes by their distance from the root."""
        levels = []
        level = self.roots[self.roots < self.n_inner]
        while len(level):
            levels.append(level)
            below = self.children[level].ravel()
            level = below[below < self.n_inner]
        return levels

    def add_up(self, of_leaves: np.ndarray) -> np.ndarray:
        """(all nodes, ...) sums over the leaves below each node, of (n_leaves, ...) values."""
        sums = np.empty((self.n_inner + self.n_leaves, *of_leaves.shape[1:]), of_leaves.dtype)
        sums[self.n_inner :] = of_leaves
        for level in reversed(self.levels):  # what is below a node is known when it is asked for
            sums[level] = sums[self.children[level, 0]] + sums[self.children[level, 1]]
        return sums

    @locked_property
    def numbers(self) -> np.ndarray:
        """(all nodes,) number within the tree as scikit-learn counts: a node, what is on its left,
        what is on its right."""
        # A tree of k leaves has 2 k - 1 nodes.
        sizes = 2 * self.add_up(np.ones(self.n_leaves, np.int64)) - 1
        numbers = np.zeros(len(sizes), np.int64)
        for level in self.levels:
            left, right = self.children[level].T
            numbers[left] = numbers[level] + 1
            numbers[right] = numbers[level] + 1 + sizes[left]
        return numbers

    @locked_property
    def parents(self) -> np.ndarray:
        """(all nodes,) the node above; -1 for a root."""
        parents = np.full(self.n_inner + self.n_leaves, -1)
        parents[self.children] = np.arange(self.n_inner)[:, None]
        return parents

    def paths(self, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place in `leaves` and node, for each node from these leaves (counted on, like nodes) up
        to their roots."""
        places, nodes = [], []
        place, at = np.arange(len(leaves)), leaves
        while len(at):
            places.append(place)
            nodes.append(at)
            above = self.parents[at]
            place, at = place[above >= 0], above[above >= 0]
        return np.concatenate(places), np.concatenate(nodes)


def decision_paths(forest: "Forest", leaves: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """The nodes on the way of each row to its leaves (n_rows, n_trees), by tree.

    (n_rows, nodes of all trees) CSR with 1 for them, and (n_trees + 1,) the first of the columns
    that belong to each tree, where its nodes have scikit-learn's numbers.
    """
    hierarchy = forest.hierarchy
    first_node = np.append(0, np.cumsum(2 * forest.leaves_per_tree - 1)).astype(np.int64)
    reached, row_entries = np.unique(leaves + forest.first_leaves, return_inverse=True)
    leaf, node = hierarchy.paths(hierarchy.n_inner + reached)
    tree = np.searchsorted(forest.first_leaves, reached, side="right") - 1
    column = first_node[tree][leaf] + hierarchy.numbers[node]
    entries = (np.ones(len(leaf), np.int64), (leaf, column))
    of_leaf = sparse.csr_array(entries, shape=(len(reached), first_node[-1]))
    n_rows, n_trees = leaves.shape
    starts = np.arange(n_rows + 1) * n_trees
    of_row = sparse.csr_array(
        (np.ones(n_rows * n_trees, np.int64), row_entries.ravel(), starts),
        shape=(n_rows, len(reached)),
    )
    paths = of_row @ of_leaf  # trees have no nodes in common, so that each entry is a 1
    paths.sort_indices()
    return paths, first_node
