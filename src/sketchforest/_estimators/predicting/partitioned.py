"""A forest of several parts, whose trees were grown on other rows each: averages over all trees."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.classifier import PredictsLabels
from sketchforest._estimators.parameters import Threshold
from sketchforest._estimators.predicting.predictions import averages_as_given
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.predict import Floating, Kept, Predictor, TreesOfRows
from sketchforest._trees.targets import F1Thresholds
from sketchforest._typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics import r2, top_k

# Rows whose averages are added up at once; sparse ones of very many labels have thousands each.
BLOCK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class PartitionedPredictor:
    """Each part counts by its share of the trees."""

    parts: Sequence[tuple[Predictor, float]]
    n_outputs: int

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        assert exclude is None  # out-of-bag predictions are made within a part
        out = np.empty((X.shape[0], self.n_outputs), dtype)
        for rows in _blocks(X.shape[0]):
            out[rows] = sum(
                share * part.average(X[rows], n_jobs, np.float64) for part, share in self.parts
            )
        return out

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        assert exclude is None
        totals = self._totals(X, n_jobs, kept.dtype)
        blocks = [kept.of(block if kept.k is None else _best(block, kept.k)) for block in totals]
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        return self.average(X, n_jobs, np.float64).argmax(axis=1)

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the averages over all trees, and not of the best of each part."""
        found = [top_k(block, k) for block in self._totals(X, n_jobs, np.float32)]
        labels, scores = map(np.concatenate, zip(*found, strict=True))
        return labels.astype(np.int32), scores

    def _totals(self, X: Matrix, n_jobs: int | None, dtype: Floating) -> Iterator[sparse.csr_array]:
        """Averages that are not zero, block by block; as floats, which have forgotten the rounding
        of sums, labels that are tied stay so."""
        for rows in _blocks(X.shape[0]):
            averages = [
                share * part.average_sparse(X[rows], n_jobs, Kept(np.float64))
                for part, share in self.parts
            ]
            total = sum(averages[1:], start=averages[0])
            total.sort_indices()
            yield total.astype(dtype)


class ForestOfParts(BaseEstimator):
    """What parts predict together: each counts by its number of trees.

    Attributes
    ----------
    parts : list of fitted forests
    """

    def __init__(self, parts: Sequence[TreesEstimator], n_jobs: int | None = None) -> None:
        self.parts = parts
        self.n_jobs = n_jobs

    @property
    def fitted_(self) -> Fitted:
        """One model of those of the parts."""
        models = [part.fitted_ for part in self.parts]
        n_trees = np.array([model.forest.n_trees for model in models])
        first, n_outputs = models[0], models[0].labels.shape[1]
        predictors = [model.predictor for model in models]
        parts = list(zip(predictors, n_trees / n_trees.sum(), strict=True))
        return replace(
            first,
            predictor=PartitionedPredictor(parts, n_outputs),
            f1_thresholds=_mean_thresholds(models, n_trees),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _frozen(self) -> Self:
        return type(self)([part._frozen() for part in self.parts], self.n_jobs)

    def __getattr__(self, name: str) -> Any:
        if name == "parts" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.parts[0], name)  # what all parts have alike

    @property
    def n_estimators_(self) -> int:
        """Number of trees, of all parts."""
        return sum(part.fitted_.forest.n_trees for part in self.parts)

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) mean over all trees, as in each part."""
        importances = np.array([part.feature_importances_ for part in self.parts])
        n_trees = [part.fitted_.forest.n_trees for part in self.parts]
        return np.average(importances, axis=0, weights=n_trees)

    @property
    def _n_jobs(self) -> int | None:
        return self.n_jobs

    def _check_new(self, X: MatrixLike, fitted: Fitted) -> Matrix:
        checked = self.parts[0]._check_new(X, fitted)
        return checked if isinstance(checked, np.ndarray) else checked.tocsr()


class ClassifierOfParts(PredictsLabels, ForestOfParts):
    """Predicts labels, by their probabilities. Where parts chose a threshold, it is the mean of
    theirs."""

    @property
    def threshold(self) -> Threshold:  # type: ignore[override]
        return getattr(self.parts[0], "threshold", 0.5)


class RegressorOfParts(RegressorMixin, ForestOfParts):
    """Predicts means of outputs."""

    def predict(self, X: MatrixLike) -> np.ndarray | sparse.csr_array:
        """(n_samples,) or (n_samples, n_outputs) means, sparse if fitted on sparse Y."""
        fitted = self.fitted_
        checked = self._check_new(X, fitted)
        return averages_as_given(fitted.predictor, fitted.targets, checked, self.n_jobs)

    def score(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> float:
        """Coefficient of determination R2 of `predict(X)`, the mean over the outputs."""
        return r2(y, self.predict(X), sample_weight)


def of_parts(parts: Sequence[TreesEstimator]) -> ForestOfParts:
    """One forest of fitted ones, which have the same features and outputs."""
    first, *_ = models = [part.fitted_ for part in parts]
    for part, model in zip(parts, models, strict=True):
        ours = model.n_features, model.labels.shape[1]
        theirs = first.n_features, first.labels.shape[1]
        if type(part) is not type(parts[0]) or ours != theirs:
            raise ValueError(
                "Parts of a forest must have the same features and outputs; got parts of "
                f"{theirs[0]} and {ours[0]} features, and of {theirs[1]} and {ours[1]} outputs."
            )
    kind = ClassifierOfParts if first.targets.is_classification else RegressorOfParts
    return kind(parts)


def _mean_thresholds(models: Sequence[Fitted], n_trees: np.ndarray) -> F1Thresholds | None:
    """None unless all models chose some."""
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


def _best(scores: sparse.csr_array, k: int) -> sparse.csr_array:
    labels, best = top_k(scores, k)
    rows = np.repeat(np.arange(len(labels)), k)
    entries = (best.ravel(), (rows, labels.ravel()))
    found = sparse.csr_array(entries, shape=scores.shape)
    found.eliminate_zeros()
    return found
