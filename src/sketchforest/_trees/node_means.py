"""Means or medians of the training rows in each node, inner nodes included, and impurities."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.model import Forest
from sketchforest._trees.targets import Targets

# Labels are processed in blocks whose means take about this much memory.
BLOCK_BYTES = 1 << 25


class NodeMeans:
    """Means in the nodes of a single tree, numbered as in scikit-learn."""

    def __init__(self, forest: Forest, targets: Targets) -> None:
        self._forest, self._targets = forest, targets
        self._takes_medians = targets.criterion.predicts_medians
        # (n_nodes,) number and weight of the rows in each node
        self.n_rows, self.weights = _core.node_sizes(forest)

    def values(self) -> np.ndarray:
        """(n_nodes, n_labels) means, or medians if leaves predict medians."""
        blocks = [
            _core.node_values(self._forest, labels, self._takes_medians)
            for labels in self._blocks()
        ]
        return np.concatenate(blocks, axis=1)

    def of_leaves(self) -> sparse.csr_array:
        """(n_leaves, n_labels) non-zero means or medians, in the order of the leaves."""
        if self._takes_medians:
            hierarchy = self._forest.hierarchy
            return sparse.csr_array(self.values()[hierarchy.numbers[hierarchy.n_inner :]])
        labels = self._targets.labels
        Y = sparse.csr_array(labels) if isinstance(labels, np.ndarray) else labels.to_csr()
        means = sparse.csr_array(self._forest.tree(0).leaf_means(Y.astype(np.float64)))
        means.eliminate_zeros()
        return means

    def impurity(self) -> np.ndarray:
        """(n_nodes,) impurity by the criterion, averaged over outputs, as in scikit-learn."""
        criterion = _core.Impurity[self._targets.native_criterion]
        are_labels = self._targets.is_classification
        total = np.zeros(len(self.n_rows))
        for labels in self._blocks():
            found = _core.node_impurity(self._forest, labels, criterion, are_labels)
            total += found.sum(axis=1)
        return total * self._targets.impurity_scale

    def _blocks(self) -> Iterator[np.ndarray]:
        """(n_train, n) dense labels, in blocks of columns."""
        labels = self._targets.labels
        Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64).tocsc()
        width = max(1, BLOCK_BYTES // (8 * max(len(self.n_rows), labels.shape[0])))
        for first in range(0, labels.shape[1], width):
            block = Y[:, first : first + width]
            block = block if isinstance(block, np.ndarray) else block.toarray(order="C")
            yield np.ascontiguousarray(block, np.float64)
