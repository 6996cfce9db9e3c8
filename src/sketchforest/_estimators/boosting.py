"""Base class of the two boosting estimators."""

from collections.abc import Iterator
from typing import Literal, Self

import numpy as np

from sketchforest._boosting.model import BoostedFitted
from sketchforest._estimators.constructors import MaxFeatures, NComponents, RandomState, declared
from sketchforest._estimators.estimator import Estimator
from sketchforest._estimators.fitting.boosting import fit_boosting
from sketchforest._estimators.fitting.preparation import advance
from sketchforest._estimators.method_docs import described_methods
from sketchforest._trees.predict import find_leaves
from sketchforest._utils.typing import MatrixLike, WeightsLike
from sketchforest.projection import ProjectionLike


@declared
class BoostingParameters:
    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int | float = 20
    l2_regularization: float = 1.0
    subsample: float = 1.0
    max_features: MaxFeatures = None
    projection: ProjectionLike = "gaussian"
    n_components: NComponents = None
    leaf_fit: Literal["outputs", "linear"] = "outputs"
    early_stopping: Literal["auto"] | bool = "auto"
    validation_fraction: int | float | None = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-7
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0
    warm_start: bool = False


class _NeedsTrainingRows:
    """A method of forests that boosting lacks."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        if instance is None:
            return self
        raise AttributeError(
            f"{self._name} needs leaves of training rows; those of {type(instance).__name__} hold "
            "values. Use a forest."
        )


@described_methods
class BoostingEstimator(Estimator):
    """Boosted trees; their leaves hold values of all outputs."""

    leaf_weights, similar, relabel = (_NeedsTrainingRows() for _ in range(3))

    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the estimator to training data.

        Raises
        ------
        MemoryError
            If a float32 score for each row and output does not fit in memory. A forest keeps none.
        """
        self._check_parameters()
        self._publish(fit_boosting(self, X, y, sample_weight))
        advance(self.random_state)
        return self

    @property
    def _boosted(self) -> BoostedFitted:
        fitted = self.fitted_
        assert isinstance(fitted, BoostedFitted)
        return fitted

    @property
    def n_iter_(self) -> int:
        """Number of trees."""
        return self.fitted_.forest.n_trees

    @property
    def train_score_(self) -> np.ndarray:
        """Minus the mean loss on the training rows, before the first tree and after each."""
        return self._boosted.train_scores.copy()

    @property
    def validation_score_(self) -> np.ndarray:
        """Minus the mean loss on the held-out rows, before the first tree and after each."""
        return self._boosted.validation_scores.copy()

    @property
    def do_early_stopping_(self) -> bool:
        """Whether the last fit could stop before `max_iter` trees."""
        return self._boosted.stops_early

    @property
    def n_components_(self) -> int | None:
        """Dimension of the sketch of the gradients; None if the outputs are not projected."""
        return self.fitted_.settings.n_components

    def apply(self, X: MatrixLike) -> np.ndarray:
        """Return the number of the leaf that each row reaches in each tree.

        Returns
        -------
        (n_samples, n_trees) int array
        """
        fitted = self.fitted_
        return find_leaves(fitted.forest, self._check_new(X, fitted))

    def _staged(self, X: MatrixLike) -> Iterator[np.ndarray]:
        fitted = self._boosted
        return fitted.boosted.staged(self._check_new(X, fitted))
