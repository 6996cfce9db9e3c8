"""What the training rows in a node, and not only in a leaf, have in common: means or medians, and
how far they are from them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from sketchforest._lazy import locked_property
from sketchforest._trees.ancestry import Ancestry
from sketchforest._trees.impurity import Impurity
from sketchforest._trees.model import Forest
from sketchforest._trees.targets import Targets

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
        self._forest = forest
        sizes = self._hierarchy.member_end - self._hierarchy.member_begin
        self.n_rows = self._by_number(sizes)  # (n_nodes,) rows in each node
        self.weights = self._add_up(self._bag.sum(axis=1)[:, None])[:, 0]  # and their weight

    def by_blocks(self) -> Iterator[Block]:
        """The labels and their means, some columns after the other."""
        labels = self._targets.labels
        Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64).tocsc()
        width = max(1, BLOCK_BYTES // (8 * max(len(self.n_rows), labels.shape[0])))
        for first in range(0, labels.shape[1], width):
            block = Y[:, first : first + width]
            block = block if isinstance(block, np.ndarray) else block.toarray()
            yield Block(block, self._add_up(self._bag @ block) / self.weights[:, None])

    def values(self) -> np.ndarray:
        """(n_nodes, n_labels) means, or medians where they are what a leaf predicts."""
        if self._takes_medians:
            return np.concatenate([self._medians(block) for block in self.by_blocks()], axis=1)
        return np.concatenate([block.means for block in self.by_blocks()], axis=1)

    def of_leaves(self) -> sparse.csr_array:
        """(leaves, n_labels) means or medians that are not zero, by the leaves' own order."""
        if self._takes_medians:
            leaves = self._hierarchy.numbers[self._hierarchy.n_inner :]
            return sparse.csr_array(self.values()[leaves])
        labels = self._targets.labels
        Y = sparse.csr_array(labels) if isinstance(labels, np.ndarray) else labels.to_csr()
        means = sparse.csr_array(self._tree.leaf_means(Y.astype(np.float64)))
        means.eliminate_zeros()
        return means

    def impurity(self) -> np.ndarray:
        """(n_nodes,) as scikit-learn defines it, by the criterion; the mean over the outputs."""
        total = np.zeros(len(self.n_rows))
        for block in self.by_blocks():
            total += self._of_outputs(block).sum(axis=1)
        return total * self._targets.impurity_scale

    def _of_outputs(self, block: Block) -> np.ndarray:
        """(n_nodes, n) impurity of each output."""
        match self._targets.impurity:
            case Impurity.ENTROPY:
                present, absent = block.means, 1 - block.means
                entropy = -xlogy(present, present)
                return entropy if self._targets.has_classes else entropy - xlogy(absent, absent)
            case Impurity.POISSON:
                return self._mean_distances(block.labels, block.means, _poisson_distance)
            case Impurity.ABSOLUTE_ERROR:
                medians = self._medians(block)
                return self._mean_distances(block.labels, medians, _absolute_distance)
        if self._targets.is_classification:
            return block.means * (1 - block.means)
        return self._variances(block)

    @property
    def _takes_medians(self) -> bool:
        return self._targets.impurity is Impurity.ABSOLUTE_ERROR

    def _medians(self, block: Block) -> np.ndarray:
        """(n_nodes, n) weighted medians."""
        medians = np.empty_like(block.means)
        labels = np.ascontiguousarray(block.labels)
        for nodes in self._by_depth():
            medians[self._hierarchy.numbers[nodes]] = self._ancestry.medians(labels, nodes)
        return medians

    def _mean_distances(
        self,
        labels: np.ndarray,
        centres: np.ndarray,
        distance: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """(n_nodes, n) weighted mean of the distances of a node's rows from its centre."""
        means = np.empty_like(centres)
        for nodes in self._by_depth():
            numbers = self._hierarchy.numbers[nodes]
            places, start = self._ancestry.members_of(nodes)
            centre = np.repeat(centres[numbers], np.diff(start), axis=0)
            apart = distance(labels[self._tree.members[places]], centre)
            weights = self._tree.member_weights[places]
            sums = np.add.reduceat(weights[:, None] * apart, start[:-1], axis=0)
            means[numbers] = sums / self.weights[numbers, None]
        return means

    def _by_depth(self) -> Iterator[np.ndarray]:
        """The nodes of each distance from the root, as the hierarchy counts."""
        level, hierarchy = self._hierarchy.roots, self._hierarchy
        while len(level):
            yield level
            inner = level[level < hierarchy.n_inner]
            level = np.stack([hierarchy.left[inner], hierarchy.right[inner]], axis=1).ravel()

    @locked_property
    def _ancestry(self) -> Ancestry:
        return Ancestry(self._forest)

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
        for level in reversed(list(self._by_depth())):
            inner = level[level < hierarchy.n_inner]
            family = np.stack([inner, hierarchy.left[inner], hierarchy.right[inner]])
            at, left, right = hierarchy.numbers[family]
            between = weights[left] * weights[right] / weights[at]
            apart = (means[left] - means[right]) ** 2
            squares[at] = squares[left] + squares[right] + between[:, None] * apart
        return squares / weights[:, None]

    def _add_up(self, of_leaves: np.ndarray) -> np.ndarray:
        """Sums over the leaves below each node, by the nodes' numbers."""
        return self._by_number(self._hierarchy.add_up(np.ascontiguousarray(of_leaves)))

    def _by_number(self, of_nodes: np.ndarray) -> np.ndarray:
        ordered = np.empty_like(of_nodes)
        ordered[self._hierarchy.numbers] = of_nodes
        return ordered

    @locked_property
    def _bag(self) -> sparse.csr_array:
        """(leaves, training rows) weight of each row in each leaf."""
        return self._tree.rows_in_leaves(self._targets.labels.shape[0])


def _absolute_distance(labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    return np.abs(labels - centres)


def _poisson_distance(labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Half the deviance, where labels have their mean at the centre; infinite where that is 0."""
    ratios = np.divide(labels, centres, out=np.full_like(labels, np.inf), where=centres > 0)
    return np.where(centres > 0, xlogy(labels, ratios), np.inf)
