"""The interface of projections."""

from typing import ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from sketchforest._utils.sparse import checked_csr
from sketchforest._utils.typing import MatrixLike

Matrix: TypeAlias = np.ndarray | sparse.csr_array


class Projection:
    """Base class of projections; a subclass defines `draw` or `fit`.

    Attributes
    ----------
    fits_labels : bool
        Whether P depends on the labels; if so, `fit` is called instead of `draw`.
    is_random : bool
        Whether P depends on the random generator. If not, all trees share one P.

    Examples
    --------
    >>> from sketchforest.projection import Projection, sketch
    >>> class FirstLabels(Projection):
    ...     is_random = False
    ...     def draw(self, n_labels, n_components, rng):
    ...         return np.eye(n_labels, n_components, dtype=np.float32)
    >>> sketch(FirstLabels(), np.array([[1, 0, 1], [0, 1, 1]]), 2, np.random.default_rng(0))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    fits_labels: ClassVar[bool] = False
    is_random: ClassVar[bool] = True

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> Matrix:
        """Draw P (n_labels, n_components), a float32 array or CSR matrix."""
        raise NotImplementedError(f"{type(self).__name__} does not define draw.")

    def fit(self, Y: Matrix, n_components: int, rng: np.random.Generator) -> Matrix:
        """Compute P (n_labels, n_components), a float32 array or CSR matrix, from the labels."""
        raise NotImplementedError(f"{type(self).__name__} does not define fit.")


def check_finite(made: Matrix, name: str) -> None:
    values = made if isinstance(made, np.ndarray) else made.data
    if not np.isfinite(values).all():
        raise ValueError(f"projection must return finite numbers; {name} returned NaN or infinity.")


def as_float32(A: MatrixLike) -> Matrix:
    if sparse.issparse(A):
        return checked_csr("The result of projection", A).astype(np.float32)
    return np.ascontiguousarray(A, dtype=np.float32)
