"""Extra-trees, with random thresholds and all rows, on a projection of the outputs."""

from sketchforest._estimators.constructors import (
    Calibrate,
    CartParameters,
    ClassificationCriterion,
    ClassWeight,
    ForestParameters,
    MaxFeatures,
    RegressionParameters,
    Threshold,
)
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.shared_docs import estimator
from sketchforest._estimators.trees import TreesClassifier, TreesRegressor
from sketchforest.tree import ExtraTreeClassifier, ExtraTreeRegressor


@estimator
class ExtraTreesClassifier(CartParameters, ForestParameters, ForestMixin, TreesClassifier):
    """Extremely randomized trees for multi-label or multi-class problems.

    Each tree is grown on all rows, and splits at random thresholds. Splits are searched on a random
    projection ``Z = Y P`` of the outputs. Leaves keep training rows, so predictions are averages of
    the original outputs.

    Examples
    --------
    >>> from sketchforest import ExtraTreesClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = ExtraTreesClassifier(n_estimators=10, n_components=5, random_state=0)
    >>> labels, scores = forest.fit(data.X, data.Y).predict_topk(data.X, k=3)
    >>> labels.shape
    (200, 3)
    """

    _tree_class = ExtraTreeClassifier
    _splitter = "random"

    criterion: ClassificationCriterion = "gini"
    max_features: MaxFeatures = "sqrt"
    class_weight: ClassWeight = None
    threshold: Threshold = 0.5
    calibrate: Calibrate = None


@estimator
class ExtraTreesRegressor(
    CartParameters, ForestParameters, RegressionParameters, ForestMixin, TreesRegressor
):
    """Extremely randomized trees for one or many real outputs.

    Each tree is grown on all rows, and splits at random thresholds. Splits are searched on a random
    projection ``Z = Y P`` of the outputs. Leaves keep training rows, so predictions are averages of
    the original outputs. As in scikit-learn, all features are searched by default; with many
    outputs, ``max_features="sqrt"`` is much faster and often as accurate.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import ExtraTreesRegressor
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> forest = ExtraTreesRegressor(n_estimators=10, random_state=0)
    >>> forest.fit(X, np.hstack([X, -X])).predict(X).shape
    (20, 2)
    """

    _tree_class = ExtraTreeRegressor
    _splitter = "random"

    max_features: MaxFeatures = 1.0
