"""Forests whose partitions were grown on different rows: predictions average over all trees."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from sketchforest._boosting.model import BoostedFitted
from sketchforest._estimators.constructors import Threshold
from sketchforest._estimators.predicting.decisions import keep_best
from sketchforest._estimators.predicting.labels import PredictsLabels
from sketchforest._estimators.predicting.numbers import PredictsNumbers
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.predict import Floating, Kept, Predictor, TreesOfRows
from sketchforest._trees.targets import F1Thresholds
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest.metrics import top_k

if TYPE_CHECKING:
    from sketchforest._estimators.base import TreesEstimator

# Rows to add up at a time. With very many labels, a sparse row has thousands of entries.
BLOCK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class PartitionedPredictor:
    """The mean of several predictors, weighted by their shares of the trees."""

    predictors: Sequence[tuple[Predictor, float]]
    n_outputs: int

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        assert exclude is None  # out-of-bag predictions stay within a partition
        out = np.empty((X.shape[0], self.n_outputs), dtype)
        for rows in _blocks(X.shape[0]):
            out[rows] = sum(
                share * each.average(X[rows], n_jobs, np.float64) for each, share in self.predictors
            )
        return out

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        assert exclude is None
        totals = self._totals(X, n_jobs, kept.dtype)
        blocks = [kept.of(t if kept.k is None else keep_best(t, kept.k)) for t in totals]
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        return self.average(X, n_jobs, np.float64).argmax(axis=1)

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        found = [top_k(block, k) for block in self._totals(X, n_jobs, np.float32)]
        labels, scores = map(np.concatenate, zip(*found, strict=True))
        return labels.astype(np.int32), scores

    def _totals(self, X: Matrix, n_jobs: int | None, dtype: Floating) -> Iterator[sparse.csr_array]:
        """Averages over all trees, block by block. They are rounded to `dtype`, so that rounding
        of the sums does not break ties between labels."""
        for rows in _blocks(X.shape[0]):
            averages = [
                share * each.average_sparse(X[rows], n_jobs, Kept(np.float64))
                for each, share in self.predictors
            ]
            total = sum(averages[1:], start=averages[0])
            total.sort_indices()
            yield total.astype(dtype)


class PartitionedForest(BaseEstimator):
    """A forest of several forests, each grown on a partition of the rows.

    Attributes
    ----------
    parts : list of fitted forests
    """

    def __init__(self, parts: "Sequence[TreesEstimator]", n_jobs: int | None = None) -> None:
        self.parts = parts
        self.n_jobs = n_jobs

    @property
    def fitted_(self) -> Fitted:
        """One fitted model of all partitions."""
        models = [part.fitted_ for part in self.parts]
        n_trees = np.array([model.forest.n_trees for model in models])
        first, n_outputs = models[0], models[0].labels.shape[1]
        predictors = [model.calibrated_predictor for model in models]
        hashes: list[Any] = [model.row_hashes for model in models]
        shares = zip(predictors, n_trees / n_trees.sum(), strict=True)
        return replace(
            first,
            predictor=PartitionedPredictor(list(shares), n_outputs),
            row_hashes=None if any(h is None for h in hashes) else np.concatenate(hashes),
            calibration=None,  # that of each part
            f1_thresholds=_mean_thresholds(models, n_trees),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __copy__(self) -> Self:
        return type(self)(list(map(copy, self.parts)), self.n_jobs)

    def __getattr__(self, name: str) -> Any:
        if name == "parts" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.parts[0], name)  # the same in all partitions

    @property
    def n_estimators_(self) -> int:
        """Number of trees in all partitions."""
        return sum(part.fitted_.forest.n_trees for part in self.parts)

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) importances, averaged over all trees."""
        importances = np.array([part.feature_importances_ for part in self.parts])
        n_trees = [part.fitted_.forest.n_trees for part in self.parts]
        return np.average(importances, axis=0, weights=n_trees)

    @property
    def _n_jobs(self) -> int | None:
        return self.n_jobs

    def _check_new(self, X: MatrixLike, fitted: Fitted) -> Matrix:
        checked = self.parts[0]._check_new(X, fitted)
        return checked if isinstance(checked, np.ndarray) else checked.tocsr()


class PartitionedClassifier(PredictsLabels, PartitionedForest):
    """Predicts labels or classes. A threshold chosen by F1 is the mean of the partitions'."""

    @property
    def threshold(self) -> Threshold:  # type: ignore[override]
        return getattr(self.parts[0], "threshold", 0.5)


class PartitionedRegressor(PredictsNumbers, PartitionedForest):
    """Predicts numbers."""


def combine_partitions(parts: "Sequence[TreesEstimator]") -> PartitionedForest:
    """Combine fitted forests of the same features and outputs."""
    first, *_ = models = [part.fitted_ for part in parts]
    for part, model in zip(parts, models, strict=True):
        ours = type(part).__name__, model.n_features, model.labels.shape[1]
        theirs = type(parts[0]).__name__, first.n_features, first.labels.shape[1]
        if ours != theirs or isinstance(model, BoostedFitted):
            raise ValueError(
                "Parts must be forests of the same class, features and outputs; got a {} of {} "
                "features and {} outputs, and a {} of {} features and {} outputs.".format(
                    *theirs, *ours
                )
            )
    is_classifier = first.targets.is_classification
    return (PartitionedClassifier if is_classifier else PartitionedRegressor)(parts)


def _mean_thresholds(models: Sequence[Fitted], n_trees: np.ndarray) -> F1Thresholds | None:
    """The mean over all trees, or None unless all partitions chose thresholds."""
    chosen = [model.f1_thresholds for model in models if model.f1_thresholds is not None]
    if len(chosen) < len(models):
        return None
    for_all, for_each, at_least_one = (
        np.average(np.array(values), axis=0, weights=n_trees)
        for values in zip(*chosen, strict=True)
    )
    return F1Thresholds(np.float32(for_all), for_each.astype(np.float32), bool(at_least_one >= 0.5))


def _blocks(n_rows: int) -> list[slice]:
    firsts = range(0, max(n_rows, 1), BLOCK_ROWS)
    return [slice(first, min(first + BLOCK_ROWS, n_rows)) for first in firsts]
