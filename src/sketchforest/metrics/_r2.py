"""Regression metrics for dense and sparse outputs."""

import numpy as np
from scipy import sparse
from sklearn.metrics import r2_score

from sketchforest._utils.sparse import checked_csr, merged
from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics._shared_docs import described
from sketchforest.metrics._validation import check_all


@described
def r2(Y_true: MatrixLike, Y_pred: MatrixLike, sample_weight: WeightsLike = None) -> float:
    """Mean R2 of the outputs, like scikit-learn's `r2_score` but without densifying sparse input.

    Parameters
    ----------
    Y_true, Y_pred : (n_samples,) or (n_samples, n_outputs) arrays or scipy sparse matrices

    Examples
    --------
    >>> from sketchforest.metrics import r2
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 3.5])
    0.875
    """
    if not (sparse.issparse(Y_true) or sparse.issparse(Y_pred)):
        return float(r2_score(Y_true, Y_pred, sample_weight=sample_weight))
    Y, P = _canonical("Y_true", Y_true), _canonical("Y_pred", Y_pred)
    if Y.shape != P.shape:
        raise ValueError(f"Y_true must have the shape of Y_pred, {P.shape}; got {Y.shape}.")
    weights = np.ones(Y.shape[0]) if sample_weight is None else np.asarray(sample_weight, float)
    residual = weights @ (Y - P).power(2)
    # Deviations of the stored entries, and of the zeros that are not stored.
    mean = weights @ Y / weights.sum()
    deviations = sparse.csr_array((Y.data - mean[Y.indices], Y.indices, Y.indptr), shape=Y.shape)
    stored = weights @ deviations.power(2)
    weight_of_zeros = weights.sum() - weights @ (Y != 0).astype(float)
    total = stored + weight_of_zeros * mean**2
    # As in scikit-learn, a constant output counts 1 if predicted exactly, else 0.
    score = 1 - np.divide(residual, total, out=(residual > 0).astype(float), where=total > 0)
    return float(score.mean())


def _canonical(name: str, given: MatrixLike) -> sparse.csr_array:
    """A copy without duplicates or stored zeros."""
    is_sparse = sparse.issparse(given)
    matrix = checked_csr(name, given, merge=False) if is_sparse else sparse.csr_array(given)
    matrix = merged(matrix.astype(np.float64))
    is_finite = np.isfinite(matrix.data)
    check_all(is_finite, matrix.data, f"{name} must be finite", "Drop such rows.")
    matrix.eliminate_zeros()
    return matrix


def errors_of(Y: Matrix, predicted: Matrix) -> dict[str, float]:
    """Mean absolute error and RMSE, in the unit of the outputs."""
    off = (Y if sparse.issparse(Y) else np.asarray(Y).reshape(predicted.shape)) - predicted
    size = float(np.prod(off.shape))
    values = np.asarray(off.data if sparse.issparse(off) else off)
    return {
        "mean_absolute_error": float(np.abs(values).sum() / size),
        "root_mean_squared_error": float(np.sqrt(np.square(values).sum() / size)),
    }
