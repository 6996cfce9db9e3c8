"""Single trees on a projection of the outputs."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.base import LabelPredictor, OutputPredictor, TreeEnsemble


class _SingleTree(TreeEnsemble):
    _number = 0  # of the tree in the forest it is taken from

    @property
    def _has_random_cuts(self) -> bool:  # type: ignore[override]
        return self.splitter == "random"

    def _address(self, tree: int) -> int:
        return self._number

    def apply(self, X: Any) -> np.ndarray:
        """(n_samples,) number of the leaf of each row."""
        return super().apply(X).ravel()

    def get_depth(self) -> int:
        """Number of splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return int(self._forest.depths[0])

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self._forest.tree(0).n_leaves


class DecisionTreeClassifier(LabelPredictor, _SingleTree):
    """A single CART tree, for many labels or for classes, on a projection of the outputs.

    Parameters
    ----------
    splitter : "best" or "random", default="best"
        The best cut of each feature drawn, or one random cut as in extra-trees.
    projection : str, projection object, scikit-learn transformer or None, default="gaussian"
        As for the forests.
    n_components : int, float, "log", "sqrt", "all" or None, default=None
        As for the forests.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features,
    max_leaf_nodes, min_impurity_decrease, random_state, class_weight
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import DecisionTreeClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    >>> tree.predict([[0.1], [2.9]])
    array([[1, 0, 0],
           [0, 0, 1]])
    """

    _is_tree = True

    def __init__(
        self,
        splitter: Any = "best",
        *,
        max_depth: Any = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: Any = 0.0,
        max_features: Any = None,
        max_leaf_nodes: Any = None,
        min_impurity_decrease: Any = 0.0,
        projection: Any = "gaussian",
        n_components: Any = None,
        random_state: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.projection = projection
        self.n_components = n_components
        self.random_state = random_state
        self.class_weight = class_weight


class DecisionTreeRegressor(OutputPredictor, _SingleTree):
    """A single CART tree, for one or many real outputs, on a projection of the outputs.

    Parameters
    ----------
    splitter : "best" or "random", default="best"
        The best cut of each feature drawn, or one random cut as in extra-trees.
    projection : str, projection object, scikit-learn transformer or None, default="gaussian"
        As for the forests.
    n_components : int, float, "log", "sqrt", "all" or None, default=None
        As for the forests.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features,
    max_leaf_nodes, min_impurity_decrease, random_state
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import DecisionTreeRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 1.0, 3.0])
    >>> tree.predict([[0.5], [3.5]])
    array([0.33333333, 3.        ])
    """

    def __init__(
        self,
        splitter: Any = "best",
        *,
        max_depth: Any = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: Any = 0.0,
        max_features: Any = None,
        max_leaf_nodes: Any = None,
        min_impurity_decrease: Any = 0.0,
        projection: Any = "gaussian",
        n_components: Any = None,
        random_state: Any = None,
    ) -> None:
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.projection = projection
        self.n_components = n_components
        self.random_state = random_state
