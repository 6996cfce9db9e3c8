"""Regression on one or many real outputs."""

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from sketchforest._estimators.inspection.mixin import InspectedTrees
from sketchforest._estimators.predicting.predictions import averages_as_given
from sketchforest._typing import MatrixLike, WeightsLike
from sketchforest.metrics import r2


class TreesRegressor(RegressorMixin, InspectedTrees):
    """Predicts means of outputs, or means over the trees of medians."""

    _criteria = ("squared_error", "friedman_mse", "absolute_error", "poisson")

    def predict(self, X: MatrixLike) -> np.ndarray | sparse.csr_array:
        """(n_samples,) or (n_samples, n_outputs) means of the outputs, sparse if fitted on sparse
        Y. Where the criterion is the absolute error, they are means over trees of medians.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        (n_samples,) or (n_samples, n_outputs) float64 array, or CSR
        """
        fitted = self.fitted_
        checked = self._check_new(X, fitted)
        return averages_as_given(fitted.predictor, fitted.targets, checked, self._n_jobs)

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> float:
        """Coefficient of determination R2 of `predict(X)`, the mean over the outputs; Y may be
        sparse.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model
        y : as for `fit`
        sample_weight : (n_samples,) array, optional

        Returns
        -------
        float
        """
        return r2(y, self.predict(X), sample_weight)
