"""Random forests on a projection of the outputs."""

import os
from typing import TYPE_CHECKING

from sketchforest._estimators.constructors import (
    BestCutParameters,
    Calibrate,
    ClassificationCriterion,
    ClassWeight,
    ForestParameters,
    MaxFeatures,
    RegressionParameters,
    Threshold,
)
from sketchforest._estimators.estimator import Estimator
from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._estimators.predicting.partitioned import PartitionedForest, combine_partitions
from sketchforest._estimators.shared_docs import estimator
from sketchforest._estimators.trees import TreesClassifier, TreesRegressor
from sketchforest._saving.estimators import load_estimator
from sketchforest._saving.model_folder import load_parts
from sketchforest._utils.registry import estimator_class, tagger_of
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from sketchforest.tagger import Tagger


@estimator
class RandomForestClassifier(BestCutParameters, ForestParameters, ForestMixin, TreesClassifier):
    """A random forest for multi-label or multi-class problems.

    Splits are searched on a random projection ``Z = Y P`` of the outputs. Leaves keep training
    rows, so predictions are averages of the original outputs.

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

    criterion: ClassificationCriterion = "gini"
    max_features: MaxFeatures = "sqrt"
    bootstrap: bool = True
    class_weight: ClassWeight = None
    threshold: Threshold = 0.5
    calibrate: Calibrate = None


@estimator
class RandomForestRegressor(
    BestCutParameters, ForestParameters, RegressionParameters, ForestMixin, TreesRegressor
):
    """A random forest for one or many real outputs.

    Splits are searched on a random projection ``Z = Y P`` of the outputs. Leaves keep training
    rows, so predictions are averages of the original outputs. As in scikit-learn, all features are
    searched by default; with many outputs, ``max_features="sqrt"`` is much faster and often as
    accurate.

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

    max_features: MaxFeatures = 1.0
    bootstrap: bool = True


def load_forest(
    path: str | os.PathLike[str], mmap: bool = True
) -> "Estimator | PartitionedForest | Tagger":
    """Load a saved estimator of any class, or a tagger.

    Parameters
    ----------
    path : str or path
        A file written by `save`, or a folder written by `sketchforest.dask.fit_partitioned`.
    mmap : bool, default=True
        Memory-map the arrays, so that processes share them, instead of reading them. While mapped,
        the file may be replaced or deleted, as `save` does, but must not be changed in place: its
        arrays are only validated here, and truncating it kills the process.

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
        return combine_partitions(load_parts(path, estimator_class, mmap))
    loaded: Estimator = load_estimator(path, estimator_class, mmap)
    if hasattr(loaded, "tagger_"):
        return tagger_of(loaded)
    return loaded
