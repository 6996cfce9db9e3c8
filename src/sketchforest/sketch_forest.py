"""The flagship: forests of oblique trees and extra-trees on a projection of the outputs."""

from sketchforest._estimators.constructors import (
    Calibrate,
    ClassWeight,
    MaxFeatures,
    MaxSamples,
    MixedForestParameters,
    Threshold,
)
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.shared_docs import estimator
from sketchforest._estimators.trees import TreesClassifier, TreesRegressor
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor


class SketchForestMixin(ForestMixin):
    """What sketch forests have besides trees."""

    @property
    def linear_(self) -> float:
        """Weight of the linear part: from 0 to 1 in classifiers; may exceed 1 in regressors."""
        blend = self.fitted_.blend
        return 0.0 if blend is None else blend.weight


@estimator
class SketchForestClassifier(MixedForestParameters, SketchForestMixin, TreesClassifier):
    """The most accurate forest for multi-label or multi-class problems, without tuning.

    It combines two types of trees that make different errors: extra-trees, and oblique trees, which
    split along a direction in the space of all features. This direction is found by a short ridge
    regression on the leading direction of the node's sketch ``Z = Y P``. Leaves keep training rows,
    so trees predict averages of the original outputs.

    In addition to the trees, there is a linear part, a ridge regression on all features, and the
    score of each label is corrected by the scores of others. Both kinds of trees and the linear
    part are weighted by their scores on held-out rows.

    Oblique splits need features on comparable scales. Dense features are replaced by their ranks,
    unless all rows have the same norm, as embeddings often do; these keep their scale. Sparse
    counts are replaced by log(1 + x) times the inverse document frequency with rows scaled to unit
    length, and other sparse features are scaled together. A missing value gets the middle rank, or
    zero if X is sparse.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(n_estimators=10, random_state=0).fit(data.X, data.Y)
    >>> labels, scores = forest.predict_topk(data.X, k=3)
    >>> labels.shape
    (200, 3)
    """

    _tree_class = DecisionTreeClassifier
    _splitter = "random"

    class_weight: ClassWeight = None
    threshold: Threshold = "f1"
    calibrate: Calibrate = None
    label_correlations: bool = True


@estimator
class SketchForestRegressor(MixedForestParameters, SketchForestMixin, TreesRegressor):
    """A forest of oblique trees and extra-trees for one or many real outputs, without tuning.

    It differs from `SketchForestClassifier` in how trees are grown. Outputs are standardized before
    splits are searched, so that all count equally, whatever their units. Dense features are
    standardized for oblique splits, since real outputs are often nearly linear in some features,
    and a node may be split at a single feature instead, if that separates its rows about as well.
    Nodes of fewer than 30 rows are always split at one feature. Each tree sees 80% of the rows. The
    other rows determine the weights of each kind of tree and of the linear part, and how far
    predictions are shrunk towards the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import SketchForestRegressor
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> forest = SketchForestRegressor(n_estimators=10, random_state=0)
    >>> forest.fit(X, np.hstack([X, -X])).predict(X).shape
    (40, 2)
    """

    _tree_class = DecisionTreeRegressor
    _splitter = "random"

    oblique: float = 0.3
    max_features: MaxFeatures = 1 / 3
    max_samples: MaxSamples = 0.8
