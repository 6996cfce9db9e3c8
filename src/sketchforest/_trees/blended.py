"""Forests blended with a linear model, and scores corrected by the correlations of labels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from sketchforest._trees.linear import LinearModel
from sketchforest._trees.model import Forest
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.predict import Floating, ForestPredictor, Kept, TreesOfRows, row_blocks
from sketchforest._trees.targets import Targets
from sketchforest._utils.typing import Matrix

Result = TypeVar("Result")

# Scores that are added up at a time: many enough to hide NumPy's overhead, and few for the cache.
BLOCK_SCORES = 1 << 20


@dataclass(frozen=True, eq=False)
class Blend:
    """How scores of trees and of a linear model become one:
    ``of_trees * trees + weight * linear + offset``, plus what the scores of other labels add to
    each."""

    linear: LinearModel | None = None
    weight: float = 0.0
    of_trees: float = 1.0
    offset: np.ndarray | None = None  # (n_outputs,) what weights lack of 1, times the mean output
    corrections: sparse.csr_array | None = None  # row l: what each score adds to that of l
    n_classes: tuple[int, ...] | None = None  # of each column of classes, whose scores sum to 1
    is_bounded: bool = True  # scores are probabilities

    @classmethod
    def of(cls, targets: Targets) -> "Blend":
        """The blend of trees alone."""
        of_columns = tuple(targets.classes_per_output.tolist()) if targets.has_classes else None
        return cls(n_classes=of_columns, is_bounded=targets.is_classification)

    def but(self, **changes: Any) -> "Blend":
        return replace(self, **changes)

    def combine(self, trees: np.ndarray, linear: np.ndarray | None) -> np.ndarray:
        """(n_rows, n_outputs) float64 scores."""
        mixed = self.of_trees * trees
        if linear is not None:
            mixed += self.weight * self.as_scores(linear)
        if self.offset is not None:
            mixed += self.offset
        if self.corrections is not None:
            mixed = self.as_scores(mixed + (self.corrections @ mixed.T).T)
        return mixed

    def as_scores(self, found: np.ndarray) -> np.ndarray:
        """Clip scores to the range of probabilities."""
        return as_probabilities(found, self.n_classes) if self.is_bounded else found


def as_probabilities(found: np.ndarray, n_classes: tuple[int, ...] | None) -> np.ndarray:
    """Clipped to [0, 1]; those of the classes of each column sum to 1."""
    found = np.clip(found, 0, 1)
    if n_classes is not None:
        for of_column in np.split(found, np.cumsum(n_classes)[:-1], axis=1):
            total = of_column.sum(axis=1, keepdims=True)
            np.divide(of_column, total, out=of_column, where=total > 0)
    return found


@dataclass(frozen=True, eq=False)
class BlendedPredictor:
    """A forest and a linear model as one `Predictor`."""

    forest_predictor: ForestPredictor
    blend: Blend
    # Out-of-fold scores of the predicted rows, instead of those of the linear model.
    linear_scores: np.ndarray | None = None

    @property
    def forest(self) -> Forest:
        return self.forest_predictor.forest

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        out = np.empty((X.shape[0], self.forest_predictor.labels.shape[1]), dtype)

        def fill(rows: slice, scores: np.ndarray) -> None:
            out[rows] = scores

        self._by_blocks(fill, X, n_jobs, exclude)
        return out

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        def keep(rows: slice, scores: np.ndarray) -> sparse.csr_array:
            rounded = scores.astype(kept.dtype)
            if kept.k is not None:
                rounded = _only_best(rounded, kept.k)
            return kept.of(sparse.csr_array(rounded))

        found = self._by_blocks(keep, X, n_jobs, exclude)
        return sparse.csr_array(sparse.vstack(found, format="csr"))

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        return np.concatenate(self._by_blocks(lambda _, scores: scores.argmax(axis=1), X, n_jobs))

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._by_blocks(lambda _, scores: best_of(scores.astype(np.float32), k), X, n_jobs)
        labels, scores = map(np.concatenate, zip(*found, strict=True))
        return labels, scores

    def _by_blocks(
        self,
        work: Callable[[slice, np.ndarray], Result],
        X: Matrix,
        n_jobs: int | None,
        exclude: TreesOfRows = None,
    ) -> list[Result]:
        """Call work(rows, scores) for blocks of rows, on threads."""
        n_rows, n_outputs = X.shape[0], self.forest_predictor.labels.shape[1]
        X = X if isinstance(X, np.ndarray) else X.tocsr()

        def work_on(rows: slice) -> Result:
            excluded = None if exclude is None else exclude[rows]
            trees = self.forest_predictor.average(X[rows], 1, np.float64, excluded)
            return work(rows, self.blend.combine(trees, self._linear_scores(X[rows], rows)))

        blocks = row_blocks(n_rows, n_jobs, BLOCK_SCORES // n_outputs)
        return run_blocks(work_on, blocks, n_jobs=n_jobs)

    def _linear_scores(self, X: Matrix, rows: slice) -> np.ndarray | None:
        if self.linear_scores is not None:
            return self.linear_scores[rows]
        return None if self.blend.linear is None else self.blend.linear.scores(X)


def blended(
    predictor: ForestPredictor, blend: Blend | None
) -> "ForestPredictor | BlendedPredictor":
    return predictor if blend is None else BlendedPredictor(predictor, blend)


def best_of(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns and values of the k largest scores of each row, largest first; ties by column."""
    n_rows, n_columns = scores.shape
    if k < n_columns // 8:
        # Those that reach the k-th largest are few, and sorted by themselves.
        least = np.partition(scores, n_columns - k, axis=1)[:, n_columns - k]
        rows, columns = np.nonzero(scores >= least[:, None])
        order = np.lexsort((columns, -scores[rows, columns], rows))
        starts = np.cumsum(np.bincount(rows, minlength=n_rows)) - np.bincount(rows)
        labels = columns[order][starts[:, None] + np.arange(k)]
    else:
        labels = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return labels.astype(np.int32), np.take_along_axis(scores, labels, axis=1)


def _only_best(scores: np.ndarray, k: int) -> np.ndarray:
    labels, best = best_of(scores, k)
    found = np.zeros_like(scores)
    np.put_along_axis(found, labels, best, axis=1)
    return found
