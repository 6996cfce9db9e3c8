"""Random forests on a projection of the outputs."""

import os
from typing import Literal

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.classifier import TreesClassifier
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.parameters import (
    ClassWeight,
    MaxFeatures,
    NComponents,
    OobScore,
    Parameters,
    RandomState,
    RegressionCriterion,
    Threshold,
    regression_criterion,
)
from sketchforest._estimators.parts import ForestOfParts, of_parts
from sketchforest._estimators.regressor import TreesRegressor
from sketchforest._registry import estimator_class
from sketchforest._saving.estimators import load_estimator
from sketchforest._saving.model_folder import load_parts
from sketchforest.projection import ProjectionLike
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor


class RandomForestClassifier(ForestMixin, TreesClassifier):
    """A random forest for many labels, or for classes.

    Splits are searched on a random projection ``Z = Y P`` of the outputs; leaves keep training
    rows, so that predictions are averages of the original outputs.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees; "auto" doubles them until twice as many would gain next to nothing.
    projection : str, projection object, scikit-learn transformer or None, default="gaussian"
        "gaussian", "rademacher", "achlioptas", "sparse", "hadamard", "subsample" or "pca"; None
        keeps the original outputs.
    n_components : int, float, "log", "sqrt", "all", "auto" or None, default=None
        Dimension of the projection: a number, a fraction of the d outputs, floor(0.5 + ln d),
        floor(0.5 + sqrt d) or d. None is 64, and up to 64 outputs are kept as they are. "auto"
        here, in `max_features` or in both chooses by rows that trees did not see.
    shared_projection : bool, default=False
        One projection for all trees (the paper's algorithm 1), not one for each (algorithm 2).
    oob_score : bool, str or callable, default=False
        True (LRAP for many labels, accuracy for classes), the name of a metric of
        `sketchforest.metrics`, which is given scores, or a callable f(Y_true, Y_pred), which is
        given predictions.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Weights of the classes. With many labels a row has the product of its labels' weights, each
        from a dict {0: if absent, 1: if present}: one for all labels, or a list with one for each.
    threshold : float, array, "f1", "f1-per-label" or "top-K", default=0.5
        With many labels, `predict` gives those whose probability is above it: one number, or one
        for each label. "f1" is the number, and "f1-per-label" are the numbers, that make F1 largest
        on rows that trees did not see; a row then has its most probable label in any case. "top-K"
        gives the K most probable labels. It may be changed after a fit; to "f1" and "f1-per-label"
        after one with either of them, or with `oob_score`.
    ccp_alpha : float, default=0.0
        What a leaf costs: splits that lower the impurity by less are undone, as in scikit-learn.
    criterion : "gini", "entropy" or "log_loss", default="gini"
        As in scikit-learn. A projection keeps variances, of which "gini" is one: with the others,
        splits are searched on the outputs themselves, and `projection` must be left out or None.
    monotonic_cst : None
        No constraints of monotonicity.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features,
    max_leaf_nodes, min_impurity_decrease, bootstrap, max_samples, n_jobs, random_state, verbose,
    warm_start
        As in scikit-learn. Impurity is measured in the space in which splits are searched. With
        bootstrap=False, `max_samples` rows are drawn without replacement.

    Attributes
    ----------
    classes_ : (n_classes,) array, or (n_labels, 2) array for many labels
    n_classes_ : int, or list of int for many labels
    n_outputs_ : int
        Number of labels; 1 for classes.
    n_components_, max_features_, n_estimators_ : int
        The values in use; `n_components_` is None for the outputs as they are.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array
        Of a data frame with names of type str.
    label_names_ : (n_labels,) array
        Of a data frame Y with names of type str, or from a model file.
    estimators_ : list of DecisionTreeClassifier
    feature_importances_ : (n_features,) array
    oob_score_ : float
        If `oob_score`, the score of rows that trees did not see.
    oob_decision_function_ : (n_train, n_labels) or (n_train, n_classes) array, or CSR
        If `oob_score`, the predictions it is the score of; zero for a row that all trees saw. A
        list of them for several columns of classes, which a callable scores.
    thresholds_ : (n_labels,) array, or a number
        The probabilities that labels must exceed to be predicted.

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = RandomForestClassifier(n_estimators=10, n_components=5, random_state=0)
    >>> labels, scores = forest.fit(data.X, data.Y).predict_topk(data.X, k=3)
    >>> labels.shape
    (200, 3)
    """

    _tree_class = DecisionTreeClassifier

    def __init__(
        self,
        n_estimators: int | Literal["auto"] = 100,
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
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: OobScore = False,
        projection: ProjectionLike = "gaussian",
        n_components: NComponents = None,
        shared_projection: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ClassWeight = None,
        threshold: Threshold = 0.5,
    ) -> None:
        self.n_estimators = n_estimators
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
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.projection = projection
        self.n_components = n_components
        self.shared_projection = shared_projection
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.threshold = threshold


class RandomForestRegressor(ForestMixin, TreesRegressor):
    """A random forest for one or many real outputs.

    Splits are searched on a random projection ``Z = Y P`` of the outputs; leaves keep training
    rows, so that predictions are averages of the original outputs.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees; "auto" doubles them until twice as many would gain next to nothing.
    projection : str, projection object, scikit-learn transformer or None, default="gaussian"
        "gaussian", "rademacher", "achlioptas", "sparse", "hadamard", "subsample" or "pca"; None
        keeps the original outputs.
    n_components : int, float, "log", "sqrt", "all", "auto" or None, default=None
        Dimension of the projection: a number, a fraction of the d outputs, floor(0.5 + ln d),
        floor(0.5 + sqrt d) or d. None is 64, and up to 64 outputs are kept as they are. "auto"
        here, in `max_features` or in both chooses by rows that trees did not see.
    shared_projection : bool, default=False
        One projection for all trees (the paper's algorithm 1), not one for each (algorithm 2).
    oob_score : bool, str or callable, default=False
        True or "r2", or a callable f(Y_true, Y_pred).
    max_features : int, float, "sqrt", "log2", "auto" or None, default=1.0
        Features drawn at each split: all of them, as in scikit-learn. With many outputs, "sqrt" is
        faster by far and often as good.
    ccp_alpha : float, default=0.0
        What a leaf costs: splits that lower the impurity by less are undone, as in scikit-learn.
    criterion : "squared_error", "friedman_mse", "absolute_error" or "poisson", \
            default="squared_error"
        As in scikit-learn; the first two are names of one score, the variance, which is what a
        projection keeps. With the others, splits are searched on the outputs themselves, and
        `projection` must be left out or None. By "absolute_error", leaves predict medians.
    monotonic_cst : None
        No constraints of monotonicity.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes,
    min_impurity_decrease, bootstrap, max_samples, n_jobs, random_state, verbose, warm_start
        As in scikit-learn. Impurity is measured in the space in which splits are searched. With
        bootstrap=False, `max_samples` rows are drawn without replacement.

    Attributes
    ----------
    n_outputs_ : int
    n_components_, max_features_, n_estimators_ : int
        The values in use; `n_components_` is None for the outputs as they are.
    n_features_in_ : int
    feature_names_in_ : (n_features,) array
        Of a data frame with names of type str.
    label_names_ : (n_outputs,) array
        Of a data frame Y with names of type str, or from a model file.
    estimators_ : list of DecisionTreeRegressor
    feature_importances_ : (n_features,) array
    oob_score_ : float
        If `oob_score`, the score of rows that trees did not see.
    oob_prediction_ : (n_train,) or (n_train, n_outputs) array, or CSR
        If `oob_score`, the predictions it is the score of; zero for a row that all trees saw.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import RandomForestRegressor
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> forest = RandomForestRegressor(n_estimators=10, random_state=0)
    >>> forest.fit(X, np.hstack([X, -X])).predict(X).shape
    (20, 2)
    """

    _tree_class = DecisionTreeRegressor

    def __init__(
        self,
        n_estimators: int | Literal["auto"] = 100,
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
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: OobScore = False,
        projection: ProjectionLike = "gaussian",
        n_components: NComponents = None,
        shared_projection: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
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
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.projection = projection
        self.n_components = n_components
        self.shared_projection = shared_projection
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start


def load_forest(path: str | os.PathLike[str], mmap: bool = True) -> TreesEstimator | ForestOfParts:
    """The estimator that was saved, of any kind.

    Parameters
    ----------
    path : str or path
        A file made by `save`, or a folder made by `sketchforest.dask.fit_partitioned`.
    mmap : bool, default=True
        Map the arrays from the file, to be shared by processes, instead of reading them. The file
        may be replaced or removed meanwhile, as `save` does, but not changed in place: what was
        checked is then no more what is read, and a file that is cut off ends the process.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from sketchforest import DecisionTreeRegressor, load_forest
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tree.sf")
    ...     tree.save(path)
    ...     load_forest(path, mmap=False).predict([[0.9]])
    array([4.])
    """
    if os.path.isdir(path):
        return of_parts(load_parts(path, estimator_class, Parameters.of, mmap))
    loaded: TreesEstimator = load_estimator(path, estimator_class, Parameters.of, mmap)
    return loaded
