"""Single trees on a projection of the outputs."""

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.classifier import TreesClassifier
from sketchforest._estimators.parameters import (
    ClassWeight,
    MaxFeatures,
    NComponents,
    RandomState,
    RegressionCriterion,
    regression_criterion,
)
from sketchforest._estimators.regressor import TreesRegressor
from sketchforest._estimators.shared_docs import described
from sketchforest._estimators.inspection.to_sklearn import sklearn_twin
from sketchforest._trees.hierarchy import decision_paths
from sketchforest._trees.predict import leaves_of
from sketchforest._trees.pruning import pruning_path
from sketchforest._trees.structure import TreeStructure
from sketchforest._typing import MatrixLike, WeightsLike
from sketchforest.projection import ProjectionLike


class SingleTreeMixin(TreesEstimator):
    """What single trees have and forests have not."""

    def apply(self, X: MatrixLike) -> np.ndarray:
        """(n_samples,) number of the leaf of each row among the nodes of `tree_`.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        (n_samples,) int array
        """
        return super().apply(X).ravel()

    def decision_path(self, X: MatrixLike) -> sparse.csr_array:
        """(n_samples, n_nodes) CSR with 1 for the nodes of `tree_` that each row comes through.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        (n_samples, n_nodes) CSR
        """
        fitted = self.fitted_
        leaves = leaves_of(fitted.forest, self._check_new(X, fitted), self._n_jobs)
        return decision_paths(fitted.forest, leaves)[0]

    @property
    def tree_(self) -> TreeStructure:
        """The tree by its nodes, under scikit-learn's names; see `help(type(tree.tree_))`."""
        return self.fitted_.tree_structure

    def to_sklearn(self) -> BaseEstimator:
        """The same tree as a fitted estimator of scikit-learn, for tools that ask for one.

        It has the same nodes and predicts the same, where values of X are read as float32. Refused
        for oblique trees, and where its dense tables of outputs do not fit into memory.

        Returns
        -------
        estimator of scikit-learn
        """
        return sklearn_twin(self._frozen())

    def cost_complexity_pruning_path(
        self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None
    ) -> Bunch:
        """The values of `ccp_alpha` from which on the tree for X and y is another.

        A Bunch of `ccp_alphas`, ascending from 0, at which one split after the other is undone,
        and `impurities`, those of the leaves that are left. This estimator stays as it is.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`

        Returns
        -------
        Bunch
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        alphas, impurities = pruning_path(whole.fitted_.forest, whole.fitted_.targets)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def get_depth(self) -> int:
        """Number of splits on the longest way from the root to a leaf.

        Returns
        -------
        int
        """
        return int(self.fitted_.forest.depths[0])

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        int
        """
        return self.fitted_.forest.n_leaves


@described
class DecisionTreeClassifier(SingleTreeMixin, TreesClassifier):
    """A single CART tree, for many labels or for classes, on a projection of the outputs.

    Parameters
    ----------
    splitter
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, projection,
    n_components, random_state, class_weight

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_components_, max_features_, n_features_in_,
    feature_names_in_, label_names_, feature_importances_, tree_

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

    def __init__(
        self,
        splitter: Literal["best", "random", "oblique"] = "best",
        *,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: None = None,
        projection: ProjectionLike = "gaussian",
        n_components: NComponents = None,
        random_state: RandomState = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.splitter = splitter
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.projection = projection
        self.n_components = n_components
        self.random_state = random_state
        self.class_weight = class_weight


@described
class DecisionTreeRegressor(SingleTreeMixin, TreesRegressor):
    """A single CART tree, for one or many real outputs, on a projection of the outputs.

    Parameters
    ----------
    splitter
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, projection,
    n_components, random_state

    Attributes
    ----------
    n_outputs_, n_components_, max_features_, n_features_in_, feature_names_in_, label_names_,
    feature_importances_, tree_

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
        splitter: Literal["best", "random", "oblique"] = "best",
        *,
        criterion: RegressionCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: None = None,
        projection: ProjectionLike = "gaussian",
        n_components: NComponents = None,
        random_state: RandomState = None,
    ) -> None:
        self.splitter = splitter
        self.criterion = regression_criterion(criterion)
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.projection = projection
        self.n_components = n_components
        self.random_state = random_state


@described
class ExtraTreeClassifier(DecisionTreeClassifier):
    """A single extra-tree, for many labels or for classes: a `DecisionTreeClassifier` that cuts
    features at random, and draws some of them at each split.

    Parameters
    ----------
    splitter
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, projection,
    n_components, random_state, class_weight

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_components_, max_features_, n_features_in_,
    feature_names_in_, label_names_, feature_importances_, tree_

    Examples
    --------
    >>> from sketchforest import ExtraTreeClassifier
    >>> tree = ExtraTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> tree.predict([[2.5]])
    array(['b'], dtype='<U1')
    """

    def __init__(
        self,
        splitter: Literal["random", "best", "oblique"] = "random",
        *,
        criterion: Literal["gini", "entropy", "log_loss"] = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: None = None,
        projection: ProjectionLike = "gaussian",
        n_components: NComponents = None,
        random_state: RandomState = None,
        class_weight: ClassWeight = None,
    ) -> None:
        super().__init__(
            splitter,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            projection=projection,
            n_components=n_components,
            random_state=random_state,
            class_weight=class_weight,
        )


@described
class ExtraTreeRegressor(DecisionTreeRegressor):
    """A single extra-tree, for one or many real outputs: a `DecisionTreeRegressor` that cuts
    features at random.

    Parameters
    ----------
    splitter
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, projection,
    n_components, random_state

    Attributes
    ----------
    n_outputs_, n_components_, max_features_, n_features_in_, feature_names_in_, label_names_,
    feature_importances_, tree_

    Examples
    --------
    >>> from sketchforest import ExtraTreeRegressor
    >>> tree = ExtraTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 0.0, 4.0])
    >>> tree.predict([[2.5]])
    array([4.])
    """

    def __init__(
        self,
        splitter: Literal["random", "best", "oblique"] = "random",
        *,
        criterion: RegressionCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: None = None,
        projection: ProjectionLike = "gaussian",
        n_components: NComponents = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            splitter,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            ccp_alpha=ccp_alpha,
            monotonic_cst=monotonic_cst,
            projection=projection,
            n_components=n_components,
            random_state=random_state,
        )
