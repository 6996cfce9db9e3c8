"""One tree by its nodes, under the names of scikit-learn's `tree_`."""

import math

import numpy as np
from scipy import sparse

from sketchforest._trees.hierarchy import decision_paths, leaf_numbers
from sketchforest._trees.memory import check_fits
from sketchforest._trees.model import MISSING_LEFT, Forest
from sketchforest._trees.node_means import NodeMeans
from sketchforest._trees.predict import find_leaves
from sketchforest._trees.targets import Targets
from sketchforest._utils.lazy import locked_property
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest._utils.typing import Matrix

# scikit-learn's placeholders in leaves: for children, and for features and thresholds.
NO_CHILD = -1
NO_SPLIT = -2
OF_SPLITS_BY_ONE_FEATURE = ("feature", "threshold", "missing_go_to_left")


class TreeStructure:
    """The nodes of a tree, numbered as in scikit-learn: a node, its left and its right subtree.

    Attributes
    ----------
    node_count, max_depth, n_leaves, n_features, n_outputs, max_n_classes : int
    n_classes : (n_outputs,) array
        2 for each label, 1 for each real output.
    children_left, children_right : (node_count,) arrays
        -1 in a leaf.
    feature, threshold : (node_count,) arrays
        -2 in a leaf. A row goes left if its value is at most the threshold. Not for oblique trees.
    missing_go_to_left : (node_count,) uint8 array
    n_node_samples, weighted_n_node_samples : (node_count,) arrays
        Number and weight of the rows of the bag in the node.
    impurity : (node_count,) array
        Impurity of the original outputs, even if they were projected.
    value : (node_count, n_outputs, max_n_classes) array
        Means of outputs (medians for the absolute error), or shares of classes.
    """

    def __init__(self, forest: Forest, targets: Targets, n_features: int) -> None:
        """`forest` has a single tree."""
        self._forest, self._targets = forest, targets
        hierarchy = forest.hierarchy
        self.n_leaves = forest.n_leaves
        self.node_count = self.capacity = hierarchy.n_inner + forest.n_leaves
        self.max_depth = int(forest.depths[0])
        self.n_features = n_features
        self.n_outputs = targets.n_outputs
        self.n_classes = targets.classes_per_output
        self.max_n_classes = int(self.n_classes.max())
        self.children_left = self._of_inner_nodes(hierarchy.numbers[hierarchy.left], NO_CHILD)
        self.children_right = self._of_inner_nodes(hierarchy.numbers[hierarchy.right], NO_CHILD)
        if forest.directions is None:
            self._set_splits()
        self._means = NodeMeans(forest, targets)
        self.n_node_samples = self._means.n_rows
        self.weighted_n_node_samples = self._means.weights

    def _set_splits(self) -> None:
        tree = self._forest.tree(0)
        feature = tree.nodes[:, 0].view(np.uint32)
        self.feature = self._of_inner_nodes((feature & ~MISSING_LEFT).astype(np.int64), NO_SPLIT)
        self.threshold = self._of_inner_nodes(tree.wide_thresholds, NO_SPLIT)
        self.missing_go_to_left = self._of_inner_nodes((feature >= MISSING_LEFT).astype("u1"), 0)

    def __getattr__(self, name: str) -> np.ndarray:
        if name in OF_SPLITS_BY_ONE_FEATURE:
            raise AttributeError(
                f"tree_.{name} needs a tree that splits on one feature at a time; this one is "
                "oblique. Use sketchforest.explain, or an estimator without oblique trees."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @locked_property
    def value(self) -> np.ndarray:
        """(node_count, n_outputs, max_n_classes) means or medians, or shares of classes."""
        shape = self.node_count, self.n_outputs, self.max_n_classes
        what = (
            f"tree_.value must fit into memory; the table of {self.node_count} nodes and "
            f"{self.n_outputs} outputs takes"
        )
        check_fits(8 * math.prod(shape), what, "Use leaf_weights, which is sparse.")
        means = self._means.values()
        if self._targets.has_classes:
            shares = np.zeros(shape)
            for output, of_classes in enumerate(self._targets.by_column(means)):
                shares[:, output, : of_classes.shape[1]] = of_classes
            return shares
        if self._targets.is_classification:
            return np.stack([1 - means, means], axis=2)
        return means[:, :, None]

    @locked_property
    def impurity(self) -> np.ndarray:
        """(node_count,) impurity by the criterion of the tree, averaged over outputs."""
        return self._means.impurity()

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """(n_features,) share of the splits of each feature in the decrease of `impurity`."""
        is_inner = self.children_left >= 0
        weighted = self.weighted_n_node_samples * self.impurity
        left, right = self.children_left[is_inner], self.children_right[is_inner]
        decrease = weighted[is_inner] - weighted[left] - weighted[right]
        features = self.feature[is_inner]
        found = np.bincount(features, weights=decrease, minlength=self.n_features).astype(float)
        found /= self.weighted_n_node_samples[0]
        total = found.sum()
        return found / total if normalize and total > 0 else found

    def _of_inner_nodes(self, values: np.ndarray, of_a_leaf: int) -> np.ndarray:
        ordered = np.full((self.node_count, *values.shape[1:]), of_a_leaf, values.dtype)
        ordered[self._forest.hierarchy.numbers[: len(values)]] = values
        return ordered

    def apply(self, X: Matrix) -> np.ndarray:
        """(n_samples,) node number of the leaf of each row."""
        return leaf_numbers(self._forest, self._leaves_of(X))[:, 0]

    def decision_path(self, X: Matrix) -> sparse.csr_array:
        """(n_samples, node_count) CSR with ones for the nodes that each row passes through."""
        return decision_paths(self._forest, self._leaves_of(X))[0]

    def predict(self, X: Matrix) -> np.ndarray:
        """(n_samples, n_outputs, max_n_classes) leaf values; one output has no second axis."""
        values = self.value[self.apply(X)]
        return values[:, 0] if self.n_outputs == 1 else values

    def __repr__(self) -> str:
        return f"<TreeStructure of {self.node_count} nodes>"

    def _leaves_of(self, X: Matrix) -> np.ndarray:
        return find_leaves(self._forest, checked_if_sparse("X", X))

    def __reduce__(self) -> tuple[type["TreeStructure"], tuple[Forest, Targets, int]]:
        # Tables are recomputed on demand.
        return TreeStructure, (self._forest, self._targets, self.n_features)
