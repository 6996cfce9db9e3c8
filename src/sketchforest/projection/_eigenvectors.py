"""Leading eigenvectors of the covariance of labels, which stay sparse."""

import inspect

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from sketchforest._utils.typing import Matrix

# Without a generator of its own, SciPy 1.17 draws ARPACK's restarts from the system's entropy.
SEEDED_RESTARTS = {"rng": 0} if "rng" in inspect.signature(eigsh).parameters else {}


def eigenvectors_of_gram(Y: Matrix, n_components: int) -> np.ndarray:
    """(n_labels, n_components), largest first, from a matrix of n_labels x n_labels."""
    n_samples, n_labels = Y.shape
    mean = Y.mean(axis=0)
    if isinstance(Y, np.ndarray):
        centred = Y - mean
        scatter = centred.T @ centred
    else:
        scatter = (Y.T @ Y).toarray() - n_samples * np.outer(mean, mean)
    leading = (n_labels - n_components, n_labels - 1)
    return linalg.eigh(scatter, subset_by_index=leading, overwrite_a=True)[1][:, ::-1]


def eigenvectors_by_products(Y: Matrix, n_components: int) -> np.ndarray:
    """The same from products with Y alone, where that matrix would be too large."""
    n_labels: int = Y.shape[1]
    mean = Y.mean(axis=0)

    def scatter_times(v: np.ndarray) -> np.ndarray:
        centred = Y @ v - mean @ v
        return Y.T @ centred - mean * centred.sum()

    # A random start: the vector of ones has no variance when every row has as many labels.
    start = np.random.default_rng(0).standard_normal(n_labels)
    if not scatter_times(start).any():
        return np.eye(n_labels, n_components)  # constant labels, which stop ARPACK
    scatter = LinearOperator((n_labels, n_labels), matvec=scatter_times, dtype=float)
    return eigsh(scatter, n_components, which="LA", v0=start, **SEEDED_RESTARTS)[1][:, ::-1]
