"""scikit-learn transformers as projections."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone

from sketchforest.projection._base import Matrix, as_float32, check_finite


@dataclass(frozen=True)
class TransformerProjection:
    """Any scikit-learn transformer as a projection, with its own number of components.

    Examples
    --------
    >>> from sklearn.decomposition import TruncatedSVD
    >>> Y = np.eye(6)[[0, 1, 2, 3, 4, 5, 0, 1, 0]]
    >>> TransformerProjection(TruncatedSVD(2)).fit_transform(Y, np.random.default_rng(0)).shape
    (9, 2)
    """

    transformer: BaseEstimator

    def fit_transform(self, Y: Matrix, rng: np.random.Generator) -> Matrix:
        """Z (n_samples, n_components), float32, from a clone of the transformer.

        Its `random_state` is drawn from `rng`, so that each tree has its own.
        """
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
                f"projection must return one row per row of Y ({Y.shape[0]}); {name} returned "
                f"shape {shape}."
            )
        Z = as_float32(made)
        check_finite(Z, name)
        return Z
