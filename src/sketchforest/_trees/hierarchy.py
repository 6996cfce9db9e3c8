"""Nodes under scikit-learn's numbers: those of leaves, and of the ways to them."""

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.model import Forest


def leaf_numbers(forest: Forest, leaves: np.ndarray) -> np.ndarray:
    """(n_rows, n_trees) scikit-learn's numbers of leaves that are numbered within each tree."""
    hierarchy = forest.hierarchy
    return hierarchy.numbers[hierarchy.n_inner + forest.first_leaves + leaves]


def decision_paths(forest: Forest, leaves: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """The nodes on the way of each row to its leaves (n_rows, n_trees), by tree.

    (n_rows, nodes of all trees) CSR with 1 for them, and (n_trees + 1,) the first of the columns
    that belong to each tree, where its nodes have scikit-learn's numbers.
    """
    columns, row_start, first_node = _core.decision_paths(forest, np.ascontiguousarray(leaves))
    entries = (np.ones(len(columns), np.int64), columns, row_start)
    return sparse.csr_array(entries, shape=(len(leaves), first_node[-1])), first_node
