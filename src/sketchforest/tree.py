"""Single trees on a projection of the outputs."""

from dataclasses import field

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Bunch

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.constructors import (
    BestCutParameters,
    ClassificationCriterion,
    ClassWeight,
    MaxFeatures,
    RegressionParameters,
    Splitter,
)
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.shared_docs import estimator
from sketchforest._estimators.trees import TreesClassifier, TreesRegressor
from sketchforest._trees.hierarchy import decision_paths
from sketchforest._trees.predict import leaves_of
from sketchforest._trees.pruning import pruning_path
from sketchforest._trees.structure import TreeStructure
from sketchforest._utils.typing import MatrixLike, WeightsLike


@described_methods
class SingleTreeMixin(TreesEstimator):
    """Methods of single trees."""

    def apply(self, X: MatrixLike) -> np.ndarray:
        """Return the leaf that each row reaches, as a node number of `tree_`.

        Returns
        -------
        (n_samples,) int array
        """
        return super().apply(X).ravel()

    def decision_path(self, X: MatrixLike) -> sparse.csr_array:
        """Return the nodes of `tree_` that each row passes through, marked with 1.

        Returns
        -------
        (n_samples, n_nodes) CSR
        """
        fitted = self.fitted_
        leaves = leaves_of(fitted.forest, self._check_new(X, fitted), self._n_jobs)
        return decision_paths(fitted.forest, leaves)[0]

    @property
    def tree_(self) -> TreeStructure:
        """The nodes of the tree, under scikit-learn's names; see `help(type(tree.tree_))`."""
        return self.fitted_.tree_structure

    def cost_complexity_pruning_path(
        self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None
    ) -> Bunch:
        """Compute the pruning path of a tree grown on X and y. This estimator does not change.

        Returns
        -------
        Bunch
            `ccp_alphas`, ascending from 0, at each of which another subtree is pruned, and
            `impurities`, the total impurity of the remaining leaves.
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        alphas, impurities = pruning_path(whole.fitted_.forest, whole.fitted_.targets)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest number of splits from the root to a leaf."""
        return int(self.fitted_.forest.depths[0])

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.fitted_.forest.n_leaves


@estimator
class DecisionTreeClassifier(BestCutParameters, SingleTreeMixin, TreesClassifier):
    """A single CART tree for multi-label or multi-class problems, on a projection of the outputs.

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

    splitter: Splitter = field(default="best", kw_only=False)
    criterion: ClassificationCriterion = "gini"
    class_weight: ClassWeight = None


@estimator
class DecisionTreeRegressor(
    BestCutParameters, RegressionParameters, SingleTreeMixin, TreesRegressor
):
    """A single CART tree for one or many real outputs, on a projection of the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import DecisionTreeRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 1.0, 3.0])
    >>> tree.predict([[0.5], [3.5]])
    array([0.33333333, 3.        ])
    """

    splitter: Splitter = field(default="best", kw_only=False)


@estimator
class ExtraTreeClassifier(DecisionTreeClassifier):
    """A single extra-tree for multi-label or multi-class problems.

    It is a `DecisionTreeClassifier` that splits at random thresholds of a random sample of the
    features.

    Examples
    --------
    >>> from sketchforest import ExtraTreeClassifier
    >>> tree = ExtraTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> tree.predict([[2.5]])
    array(['b'], dtype='<U1')
    """

    splitter: Splitter = field(default="random", kw_only=False)
    max_features: MaxFeatures = "sqrt"


@estimator
class ExtraTreeRegressor(DecisionTreeRegressor):
    """A single extra-tree for one or many real outputs.

    It is a `DecisionTreeRegressor` that splits at random thresholds.

    Examples
    --------
    >>> from sketchforest import ExtraTreeRegressor
    >>> tree = ExtraTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 4.0])
    >>> tree.predict([[2.5]])
    array([4.])
    """

    splitter: Splitter = field(default="random", kw_only=False)
    max_features: MaxFeatures = 1.0
