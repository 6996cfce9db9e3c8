"""What the training rows in a node, and not only in a leaf, have in common."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._trees.fitted import Targets
from sketchforest._trees.model import Forest

# Means are made for as many labels at a time as take about so much memory.
BLOCK_BYTES = 1 << 25


class Block(NamedTuple):
    """Some columns of the labels."""

    labels: np.ndarray  # (n_train, n)
    means: np.ndarray  # (n_nodes, n)


class NodeMeans:
    """Of a forest of one tree, whose nodes have scikit-learn's numbers."""

    def __init__(self, forest: Forest, targets: Targets) -> None:
        self._targets, self._hierarchy, self._tree = targets, forest.hierarchy, forest.tree(0)
        sizes = np.diff(self._tree.member_start).astype(np.int64)
        self.n_rows = self._add_up(sizes)  # (n_nodes,) rows in each node
        self.weights = self._add_up(self._bag.sum(axis=1))  # (n_nodes,) and their weight

    def by_blocks(self) -> Iterator[Block]:
        """The labels and their means, some columns after the other."""
        labels = self._targets.labels
        Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64).tocsc()
        width = max(1, BLOCK_BYTES // (8 * max(len(self.n_rows), labels.shape[0])))
        for first in range(0, labels.shape[1], width):
            block = Y[:, first : first + width]
            block = block if isinstance(block, np.ndarray) else block.toarray()
            yield Block(block, self._add_up(self._bag @ block) / self.weights[:, None])

    def of_leaves(self) -> sparse.csr_array:
        """(leaves, n_labels) means that are not zero, by the leaves' own order."""
        labels = self._targets.labels
        Y = sparse.csr_array(labels) if isinstance(labels, np.ndarray) else labels.to_csr()
        sums = sparse.csr_array(self._bag @ Y.astype(np.float64))
        sums.eliminate_zeros()
        sums.data /= np.repeat(self._bag.sum(axis=1), np.diff(sums.indptr))
        return sums

    def impurity(self) -> np.ndarray:
        """(n_nodes,) Gini impurity of classes, its mean over the labels, or the mean over the
        outputs of their variance."""
        return self._summed_variance() * self._targets.impurity_scale

    def _summed_variance(self) -> np.ndarray:
        """(n_nodes,) variance within the node, added up over the labels."""
        total = np.zeros(len(self.n_rows))
        for block in self.by_blocks():
            if self._targets.is_classification:
                total += (block.means * (1 - block.means)).sum(axis=1)
            else:
                total += self._variances(block).sum(axis=1)
        return total

    def _variances(self, block: Block) -> np.ndarray:
        """(n_nodes, n): nothing is lost where real outputs are alike, however large they are."""
        hierarchy, means, weights = self._hierarchy, block.means, self.weights
        leaves = hierarchy.numbers[hierarchy.n_inner :]
        of_leaf = np.repeat(means[leaves], np.diff(self._tree.member_start), axis=0)
        residuals = block.labels[self._tree.members] - of_leaf
        to_leaf = sparse.csr_array(
            (self._bag.data, np.arange(len(residuals)), self._bag.indptr),
            shape=(len(leaves), len(residuals)),
        )
        squares = np.empty_like(means)
        squares[leaves] = to_leaf @ residuals**2
        for level in reversed(hierarchy.levels):
            at, left, right = hierarchy.numbers[np.vstack([level, hierarchy.children[level].T])]
            between = weights[left] * weights[right] / weights[at]
            apart = (means[left] - means[right]) ** 2
            squares[at] = squares[left] + squares[right] + between[:, None] * apart
        return squares / weights[:, None]

    def _add_up(self, of_leaves: np.ndarray) -> np.ndarray:
        """Sums over the leaves below each node, by the nodes' numbers."""
        sums = self._hierarchy.add_up(of_leaves)
        ordered = np.empty_like(sums)
        ordered[self._hierarchy.numbers] = sums
        return ordered

    @cached_property
    def _bag(self) -> sparse.csr_array:
        """(leaves, training rows) weight of each row in each leaf."""
        tree = self._tree
        weights = np.ones(len(tree.members)) if tree.weights is None else tree.weights.astype(float)
        entries = (weights, tree.members, tree.member_start.astype(np.int64))
        return sparse.csr_array(entries, shape=(tree.n_leaves, self._targets.labels.shape[0]))
