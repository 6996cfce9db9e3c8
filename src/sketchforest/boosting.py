"""Gradient boosting on sketched residuals."""

from collections.abc import Iterator

import numpy as np

from sketchforest._estimators.boosting import BoostingEstimator, BoostingParameters
from sketchforest._estimators.constructors import ClassWeight, Threshold
from sketchforest._estimators.predicting.labels import PredictsLabels
from sketchforest._estimators.predicting.numbers import PredictsNumbers
from sketchforest._estimators.shared_docs import estimator
from sketchforest._utils.typing import MatrixLike


@estimator
class SketchBoostingClassifier(BoostingParameters, PredictsLabels, BoostingEstimator):
    """Gradient boosting for many labels, by cross-entropy, or for classes, by softmax.

    Each tree is grown on a random sketch ``Z = G P`` of the gradients of all outputs, on binned
    features, the leaf of largest gain first. Its leaves are then fitted to all outputs by a Newton
    step. A tree therefore costs about as much as one for a few outputs. See :doc:`/guide/boosting`
    for when to boost and when to grow a forest.

    Examples
    --------
    >>> from sketchforest import SketchBoostingClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> model = SketchBoostingClassifier(max_iter=10, random_state=0).fit(data.X, data.Y)
    >>> labels, scores = model.predict_topk(data.X, k=3)
    >>> labels.shape
    (200, 3)
    """

    threshold: Threshold = 0.5
    class_weight: ClassWeight = None

    def staged_predict_proba(self, X: MatrixLike) -> Iterator[np.ndarray | list[np.ndarray]]:
        """Predict probabilities after each tree.

        Returns
        -------
        iterator of arrays as from `predict_proba`
        """
        targets = self.fitted_.targets
        for found in self._staged(X):
            yield found if targets.column_classes is None else targets.by_column(found)


@estimator
class SketchBoostingRegressor(BoostingParameters, PredictsNumbers, BoostingEstimator):
    """Gradient boosting for one or many real outputs, by squared error.

    Each tree is grown on a random sketch ``Z = G P`` of the residuals of all outputs, in units of
    their standard deviations, and its leaves are fitted to all outputs. See :doc:`/guide/boosting`
    for when to boost and when to grow a forest.

    Examples
    --------
    >>> import numpy as np
    >>> from sketchforest import SketchBoostingRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = SketchBoostingRegressor(max_iter=10, random_state=0)
    >>> model.fit(X, np.hstack([X, -X])).predict(X).shape
    (100, 2)
    """

    min_samples_leaf: int | float = 5
    # Chosen on sets of real outputs; neither helps with labels and classes.
    l2_regularization: float = 5.0
    subsample: float = 0.9

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Predict the outputs after each tree.

        Returns
        -------
        iterator of (n_samples,) or (n_samples, n_outputs) arrays
        """
        is_vector = self.fitted_.targets.is_vector
        for found in self._staged(X):
            yield found.ravel() if is_vector else found
