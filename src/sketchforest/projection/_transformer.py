"""Transformers of scikit-learn as projections, and what is asked of any projection's numbers."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from sketchforest._utils.sparse import checked_csr
from sketchforest._utils.typing import MatrixLike
from sketchforest.projection._random_signs import Matrix


@dataclass(frozen=True)
class TransformerProjection:
    """Any scikit-learn transformer as a sketch; `n_components` is the transformer's own.

    Examples
    --------
    >>> from sklearn.decomposition import TruncatedSVD
    >>> Y = np.eye(6)[[0, 1, 2, 3, 4, 5, 0, 1, 0]]
    >>> TransformerProjection(TruncatedSVD(2)).fit_transform(Y, np.random.default_rng(0)).shape
    (9, 2)
    """

    transformer: BaseEstimator

    def fit_transform(self, Y: Matrix, rng: np.random.Generator) -> Matrix:
        """Z (n_samples, n_components), float32, from a clone. Its `random_state` is drawn from
        `rng`, whatever it was: each tree has its own."""
        transformer = clone(self.transformer)
        seeds = {
            name: int(rng.integers(2**31 - 1))
            for name in sorted(transformer.get_params())
            if name == "random_state" or name.endswith("__random_state")
        }
        transformer.set_params(**seeds)
        if hasattr(transformer, "fit_transform"):
            made = transformer.fit_transform(Y)
        else:
            made = transformer.fit(Y).transform(Y)
        name, shape = type(transformer).__name__, np.shape(made)
        if len(shape) != 2 or shape[0] != Y.shape[0]:
            raise ValueError(
                f"projection must give a row for each of the {Y.shape[0]} rows of Y; {name} gave "
                f"an array of shape {shape}."
            )
        Z = as_float32(made)
        check_finite(Z, name)
        return Z


def check_finite(made: Matrix, name: str) -> None:
    values = made if isinstance(made, np.ndarray) else made.data
    if not np.isfinite(values).all():
        raise ValueError(f"projection must give finite numbers; {name} gave NaN or infinity.")


def as_float32(A: MatrixLike) -> Matrix:
    if sparse.issparse(A):
        return checked_csr("The result of projection", A).astype(np.float32)
    return np.ascontiguousarray(A, dtype=np.float32)
