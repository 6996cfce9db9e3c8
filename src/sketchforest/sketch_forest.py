"""The flagship: forests of oblique trees and extra-trees on a projection of the outputs."""

from sketchforest._estimators.classifier import TreesClassifier
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.parameters import (
    ClassWeight,
    MaxFeatures,
    NComponents,
    OobScore,
    RandomState,
    Threshold,
)
from sketchforest._estimators.regressor import TreesRegressor
from sketchforest._estimators.shared_docs import described
from sketchforest.projection import ProjectionLike
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor


@described
class SketchForestClassifier(ForestMixin, TreesClassifier):
    """The most accurate forest for many labels, or for classes, without tuning.

    A forest of two kinds of trees that err differently: extra-trees, and oblique trees, which split
    along a direction in the space of all features. It is found by a short ridge regression of the
    leading direction of the node's sketch ``Z = Y P``. Leaves keep training rows, so that
    predictions are averages of the original outputs.

    Features enter directions on scales that can be compared: dense ones by their rank, sparse
    counts as log(1 + x) times the inverse document frequency, in rows of unit length, other sparse
    values on one scale for all. A missing value stands in the middle of the ranks, or is zero.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    oblique, ridge, max_depth
    min_samples_split : int, float or None, default=None
        Rows that a node must have to be split, or their share of all. None is best for each kind of
        tree: 11 for oblique ones, 2 for the others.
    min_samples_leaf : int, float or None, default=None
        Rows that a leaf must have, or their share. None is 1 for oblique trees, 2 for the others.
    min_weight_fraction_leaf
    max_features : int, float, "sqrt", "4sqrt", "log2" or None, default="4sqrt"
        Features drawn at each split of the extra-trees; "4sqrt" is four times their square root. An
        oblique split looks at all of them.
    max_leaf_nodes, min_impurity_decrease, bootstrap, max_samples
    oob_score : bool, str or callable, default=False
        True (LRAP for many labels, accuracy for classes), the name of a metric of
        `sketchforest.metrics`, which is given scores, or a callable f(Y_true, Y_pred), which is
        given predictions. It is the score of a fifth of the rows, or of 10,000 if that is less,
        which three of ten trees, on average, do not see.
    projection
    n_components : int, float, "log", "sqrt", "all" or None, default=None
        Dimension m of the projection: a number, a fraction of the d outputs, floor(0.5 + ln d),
        floor(0.5 + sqrt d) or d. None is 64 for oblique trees (32 where d < 256) and 32 for the
        others, which keep up to 32 outputs as they are.
    shared_projection : bool, default=False
        One projection for all extra-trees, not one for each; oblique trees have their own.
    n_jobs, random_state, verbose, warm_start, class_weight
    threshold : float, array, "f1", "f1-per-label" or "top-K", default="f1"
        With many labels, `predict` gives those whose probability is above it; see
        `RandomForestClassifier`. Where it is chosen by F1, three of ten trees, on average, leave
        out a fifth of the rows, or 1,000 if that is less. Classes need no threshold.

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_components_, max_features_, n_estimators_, n_features_in_,
    feature_names_in_, label_names_, estimators_, feature_importances_, oob_score_,
    oob_decision_function_, thresholds_

    Notes
    -----
    An oblique node takes O(nnz + n m) steps: the non-zeros of X in its rows, and their sketch.
    Levels of such trees are few, so that a fit takes a few times as long as that of a random
    forest. A model takes O(t n) memory for rows in leaves, and that for the directions of oblique
    nodes.

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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        oblique: float = 0.7,
        ridge: float = 2.0,
        max_depth: int | None = None,
        min_samples_split: int | float | None = None,
        min_samples_leaf: int | float | None = None,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "4sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
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
        threshold: Threshold = "f1",
    ) -> None:
        self.n_estimators = n_estimators
        self.oblique = oblique
        self.ridge = ridge
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
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
class SketchForestRegressor(ForestMixin, TreesRegressor):
    """The most accurate forest for one or many real outputs, without tuning.

    Extra-trees and oblique trees, as in `SketchForestClassifier`.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    oblique, ridge, max_depth
    min_samples_split : int, float or None, default=None
        Rows that a node must have to be split, or their share of all. None is best for each kind of
        tree: 11 for oblique ones, 2 for the others.
    min_samples_leaf : int, float or None, default=None
        Rows that a leaf must have, or their share. None is 1 for oblique trees, 2 for the others.
    min_weight_fraction_leaf
    max_features : int, float, "sqrt", "4sqrt", "log2" or None, default="4sqrt"
        Features drawn at each split of the extra-trees; "4sqrt" is four times their square root. An
        oblique split looks at all of them.
    max_leaf_nodes, min_impurity_decrease, bootstrap, max_samples
    oob_score : bool, str or callable, default=False
        True or "r2", or a callable f(Y_true, Y_pred). It is the score of a fifth of the rows, or of
        10,000 if that is less, which three of ten trees, on average, do not see.
    projection
    n_components : int, float, "log", "sqrt", "all" or None, default=None
        Dimension m of the projection: a number, a fraction of the d outputs, floor(0.5 + ln d),
        floor(0.5 + sqrt d) or d. None is 64 for oblique trees (32 where d < 256) and 32 for the
        others, which keep up to 32 outputs as they are.
    shared_projection : bool, default=False
        One projection for all extra-trees, not one for each; oblique trees have their own.
    n_jobs, random_state, verbose, warm_start

    Attributes
    ----------
    n_outputs_, n_components_, max_features_, n_estimators_, n_features_in_, feature_names_in_,
    label_names_, estimators_, feature_importances_, oob_score_, oob_prediction_

    Notes
    -----
    An oblique node takes O(nnz + n m) steps: the non-zeros of X in its rows, and their sketch.
    Levels of such trees are few, so that a fit takes a few times as long as that of a random
    forest. A model takes O(t n) memory for rows in leaves, and that for the directions of oblique
    nodes.

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

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        oblique: float = 0.7,
        ridge: float = 2.0,
        max_depth: int | None = None,
        min_samples_split: int | float | None = None,
        min_samples_leaf: int | float | None = None,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "4sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
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
        self.oblique = oblique
        self.ridge = ridge
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
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
