"""Methods that need training rows in the leaves."""

from copy import copy

import numpy as np
from sklearn.base import BaseEstimator

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.inspection.names import row_numbers
from sketchforest._estimators.inspection.to_sklearn import to_sklearn
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.parameters import check_k
from sketchforest._trees.predict import ForestPredictor
from sketchforest._utils.typing import MatrixLike


@described_methods
class InspectionMixin(TreesEstimator):
    """Similar rows, and a scikit-learn estimator."""

    def similar(self, rows: MatrixLike, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Find the k training rows with the largest weights in each prediction.

        Weights are those of `leaf_weights`; a weight of 0 means that no other row shares a leaf.
        Training rows are numbered as in the original file, or in X.

        Returns
        -------
        rows, weights : (n_rows, k) arrays
            The largest weight first.
        """
        fitted = self.fitted_
        checked = self._check_new(rows, fitted)
        k = check_k(k, fitted.labels.shape[0], "training rows")
        predictor = ForestPredictor.of_training_rows(fitted.forest)
        found, weights = predictor.best(checked, self._n_jobs, k)
        return row_numbers(fitted, found), weights

    def to_sklearn(self) -> BaseEstimator:
        """Convert to a fitted scikit-learn estimator, for tools that require one.

        Its trees have the same nodes, and it predicts the same for X in float32. It does not know
        which rows each tree was grown on. Oblique trees cannot be converted, nor can models whose
        dense tables of outputs do not fit in memory.

        Returns
        -------
        scikit-learn estimator
        """
        return to_sklearn(copy(self))
