"""Principal components of the labels, which stay sparse."""

import inspect
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from sketchforest._utils import typing
from sketchforest._utils.blas import one_blas_thread
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest.projection._base import Matrix, Projection

# A Gram matrix of this order takes 32 MB and well under a second.
MAX_GRAM_LABELS = 2000
# Without a generator of its own, SciPy 1.17 draws ARPACK's restarts from the system's entropy.
SEEDED_RESTARTS = {"rng": 0} if "rng" in inspect.signature(eigsh).parameters else {}


@dataclass(frozen=True)
class PCAProjection(Projection):
    """Leading eigenvectors of the covariance of Y, largest eigenvalue first.

    Sparse labels stay sparse. The largest entry of each column is made positive, so that P depends
    on Y alone.

    Examples
    --------
    >>> Y = np.array([[0, 0], [1, 0], [0, 0], [1, 0]])
    >>> PCAProjection().fit(Y, 1)
    array([[1.],
           [0.]], dtype=float32)
    """

    fits_labels: ClassVar[bool] = True
    is_random: ClassVar[bool] = False

    @one_blas_thread()
    def fit(
        self, Y: Matrix, n_components: int, rng: np.random.Generator | None = None
    ) -> np.ndarray:
        Y = checked_if_sparse("Y", Y)
        n_labels = Y.shape[1]
        if n_components > min(Y.shape):
            raise ValueError(
                f"n_components must be at most min(n_samples, n_labels)={min(Y.shape)} for "
                f"projection='pca'; got {n_components}. Use 'rademacher' to project to more "
                "dimensions."
            )
        Y = Y.astype(float) if sparse.issparse(Y) else np.asarray(Y, dtype=float)
        # ARPACK keeps 2m + 1 vectors: past half of the labels, the Gram matrix is no larger.
        if n_labels <= MAX_GRAM_LABELS or 2 * n_components >= n_labels:
            P = _eigenvectors_of_gram(Y, n_components)
        else:
            P = _eigenvectors_by_products(Y, n_components)
        # With the tolerance, rounding errors do not decide which of several equal entries is first.
        size = np.abs(P)
        largest = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
        signs = np.where(P[largest, np.arange(n_components)] < 0, -1, 1)
        return np.ascontiguousarray(P * signs, dtype=np.float32)


def _eigenvectors_of_gram(Y: typing.Matrix, n_components: int) -> np.ndarray:
    """(n_labels, n_components), largest first, from the n_labels x n_labels Gram matrix."""
    n_samples, n_labels = Y.shape
    mean = Y.mean(axis=0)
    if isinstance(Y, np.ndarray):
        centred = Y - mean
        scatter = centred.T @ centred
    else:
        scatter = (Y.T @ Y).toarray() - n_samples * np.outer(mean, mean)
    leading = (n_labels - n_components, n_labels - 1)
    return linalg.eigh(scatter, subset_by_index=leading, overwrite_a=True)[1][:, ::-1]


def _eigenvectors_by_products(Y: typing.Matrix, n_components: int) -> np.ndarray:
    """The same from products with Y alone, for labels too many for a Gram matrix."""
    n_labels: int = Y.shape[1]
    mean = Y.mean(axis=0)

    def scatter_times(v: np.ndarray) -> np.ndarray:
        centred = Y @ v - mean @ v
        return Y.T @ centred - mean * centred.sum()

    # Start at random: the vector of ones has no variance if all rows have as many labels.
    start = np.random.default_rng(0).standard_normal(n_labels)
    if not scatter_times(start).any():
        return np.eye(n_labels, n_components)  # constant labels, on which ARPACK fails
    scatter = LinearOperator((n_labels, n_labels), matvec=scatter_times, dtype=float)
    return eigsh(scatter, n_components, which="LA", v0=start, **SEEDED_RESTARTS)[1][:, ::-1]
