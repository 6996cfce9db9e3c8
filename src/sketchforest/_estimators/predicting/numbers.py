"""Regression on one or many real outputs."""

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.predicting.decisions import HasFittedModel, averages_as_given
from sketchforest._utils.typing import MatrixLike, WeightsLike
from sketchforest.metrics import r2


@described_methods
class PredictsNumbers(RegressorMixin, HasFittedModel):
    """Predictions of numbers from the averages of a fitted model."""

    def predict(self, X: MatrixLike) -> np.ndarray | sparse.csr_array:
        """Predict the outputs.

        Predictions are weighted means of training outputs. With criterion="absolute_error", they
        are means over trees of the medians in the leaves.

        Returns
        -------
        (n_samples,) or (n_samples, n_outputs) float64 array
            Or CSR, if fitted on sparse Y.
        """
        fitted = self.fitted_
        checked = self._check_new(X, fitted)
        return averages_as_given(fitted.predictor, fitted.targets, checked, self._n_jobs)

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> float:
        """Return the coefficient of determination R2 of `predict(X)`, averaged over outputs."""
        return r2(y, self.predict(X), sample_weight)
