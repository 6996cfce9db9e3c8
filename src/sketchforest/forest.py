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
from sketchforest._estimators.predicting.partitioned import ForestOfParts, of_parts
from sketchforest._estimators.regressor import TreesRegressor
from sketchforest._estimators.shared_docs import described
from sketchforest._registry import estimator_class
from sketchforest._saving.estimators import load_estimator
from sketchforest._saving.model_folder import load_parts
from sketchforest.projection import ProjectionLike
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor


@described
class RandomForestClassifier(ForestMixin, TreesClassifier):
    """A random forest for many labels, or for classes.

    Splits are searched on a random projection ``Z = Y P`` of the outputs; leaves keep training
    rows, so that predictions are averages of the original outputs.

    Parameters
    ----------
    n_estimators
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, bootstrap,
    max_samples, oob_score, projection, n_components, shared_projection, n_jobs, random_state,
    verbose, warm_start, class_weight, threshold

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_components_, max_features_, n_estimators_, n_features_in_,
    feature_names_in_, label_names_, estimators_, feature_importances_, oob_score_,
    oob_decision_function_, thresholds_

    Notes
    -----
    A fit takes O(t k n log n m) steps for dense X and balanced trees: t trees, k features drawn, n
    rows, m components, or with `projection=None` and sparse Y the labels that a row has. Of sparse
    X only the non-zeros count. A model takes O(t n) memory beside Y, whatever the number of labels.

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


@described
class RandomForestRegressor(ForestMixin, TreesRegressor):
    """A random forest for one or many real outputs.

    Splits are searched on a random projection ``Z = Y P`` of the outputs; leaves keep training
    rows, so that predictions are averages of the original outputs.

    Parameters
    ----------
    n_estimators
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
    max_features : int, float, "sqrt", "log2", "auto" or None, default=1.0
        Features drawn at each split: all of them, as in scikit-learn. With many outputs, "sqrt" is
        faster by far and often as good.
    max_leaf_nodes, min_impurity_decrease, ccp_alpha, monotonic_cst, bootstrap, max_samples
    oob_score : bool, str or callable, default=False
        Score rows by trees that did not see them: True or "r2", or a callable f(Y_true, Y_pred).
    projection, n_components, shared_projection, n_jobs, random_state, verbose, warm_start

    Attributes
    ----------
    n_outputs_, n_components_, max_features_, n_estimators_, n_features_in_, feature_names_in_,
    label_names_, estimators_, feature_importances_, oob_score_, oob_prediction_

    Notes
    -----
    A fit takes O(t k n log n m) steps for dense X and balanced trees: t trees, k features drawn, n
    rows, m components, or with `projection=None` and sparse Y the labels that a row has. Of sparse
    X only the non-zeros count. A model takes O(t n) memory beside Y, whatever the number of labels.

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

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

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
