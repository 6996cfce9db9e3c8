"""Leaves and decision paths, with nodes numbered as in scikit-learn."""

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.model import Forest


def leaf_numbers(forest: Forest, leaves: np.ndarray) -> np.ndarray:
    """(n_rows, n_trees) node numbers of leaves, as in scikit-learn."""
    hierarchy = forest.hierarchy
    return hierarchy.numbers[hierarchy.n_inner + forest.first_leaves + leaves]


def decision_paths(forest: Forest, leaves: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """The nodes between the roots and the leaves (n_rows, n_trees) of each row.

    Returns (n_rows, nodes of all trees) CSR with ones, and the (n_trees + 1,) first column of each
    tree. Within a tree, nodes are numbered as in scikit-learn.
    """
    columns, row_start, first_node = _core.decision_paths(forest, np.ascontiguousarray(leaves))
    entries = (np.ones(len(columns), np.int64), columns, row_start)
    return sparse.csr_array(entries, shape=(len(leaves), first_node[-1])), first_node
