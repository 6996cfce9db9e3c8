"""Validation of labels, scores and weights."""

import numpy as np
from scipy import sparse

from sketchforest._utils.sparse import checked_csr, merged
from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics._ranks import Array, entry_rows


def validated(
    Y_true: MatrixLike, Y_score: MatrixLike, weight: WeightsLike
) -> tuple[sparse.csr_array, Matrix, Array]:
    """True labels as canonical CSR, scores as an array or canonical CSR, one weight per row."""
    Y, S = indicator(Y_true, "Y_true"), checked_scores(Y_score)
    if Y.shape != S.shape:
        raise ValueError(f"Y_score must have the shape of Y_true, {Y.shape}; got {S.shape}.")
    weight = np.ones(Y.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != Y.shape[:1]:
        raise ValueError(f"sample_weight must have shape {Y.shape[:1]}; got {weight.shape}.")
    is_weight = np.isfinite(weight) & (weight >= 0)
    check_all(is_weight, weight, "sample_weight must be finite and 0 or more")
    if not weight.any():
        raise ValueError("sample_weight must have at least one positive weight; got only zeros.")
    return Y, S, weight


def indicator(Y_true: MatrixLike, name: str) -> sparse.csr_array:
    """Boolean CSR without duplicates or stored zeros."""
    Y = _matrix(Y_true, name)
    if isinstance(Y, np.ndarray):
        rows, labels = np.nonzero(Y)
        values = Y[rows, labels]
    else:
        rows, labels, values = entry_rows(Y.indptr), Y.indices, Y.data
    is_indicator = (values == 0) | (values == 1)
    check_all(is_indicator, values, f"{name} must hold only 0 and 1", "Use Y > 0 to make it so.")
    # Booleans add up by "or", so duplicates merge.
    truth = sparse.csr_array((values == 1, (rows, labels)), shape=Y.shape)
    truth.eliminate_zeros()
    return truth


def checked_scores(Y_score: MatrixLike) -> Matrix:
    """An array, or sorted CSR without duplicates or stored zeros."""
    S = _matrix(Y_score, "Y_score")
    if not isinstance(S, np.ndarray):
        S = merged(S).copy()
        S.eliminate_zeros()
    values = S if isinstance(S, np.ndarray) else S.data
    # The extremes reveal any NaN or infinity without an array of flags.
    extremes = np.array([values.min(initial=0), values.max(initial=0)])
    check_all(np.isfinite(extremes), extremes, "Y_score must be finite", "Use np.nan_to_num.")
    return S


def _matrix(M: MatrixLike, name: str) -> Matrix:
    """A 2-d array or CSR of real numbers."""
    is_sparse = sparse.issparse(M)
    matrix: Matrix = checked_csr(name, M, merge=False) if is_sparse else np.asarray(M)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} must be 2-d, (n_samples, n_labels), and not empty; got shape {matrix.shape}. "
            "Use reshape(1, -1) for a single row."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got {matrix.dtype}. Use astype(float).")
    return matrix


def check_all(ok: Array, values: Array, rule: str, fix: str = "") -> None:
    """Raise for the first value that is not ok: rule, value, and how to fix it."""
    if not ok.all():
        raise ValueError(f"{rule}; got {values[~ok][0]}. {fix}".rstrip())
