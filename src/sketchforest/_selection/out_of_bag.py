"""Out-of-bag scores: trees are scored on training rows that they did not see.

A row also scores small forests: the first s trees that did not see it. The scores of forests of
several sizes s make a learning curve, which is extrapolated to more trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._selection.learning_curve import LearningCurve
from sketchforest._trees.model import Forest, Tree
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.predict import ForestPredictor, find_leaves
from sketchforest._trees.problem import Problem
from sketchforest._trees.random import SHARED, Purpose, generator
from sketchforest._utils.typing import Matrix
from sketchforest.metrics import Metric, get_metric, greater_is_better, row_values

# Scoring must cost less than growing: about CELLS scores are ranked, of at least MIN_ROWS rows. A
# few trees score about SCORED_LABELS labels for each label of a row.
CELLS, MIN_ROWS = 1 << 17, 1000
SCORED_LABELS = 16
# Up to this many labels, ranking a dense row of scores is faster than a sparse one.
DENSE_LABELS = 128
# Standard errors come from leaving out one group of rows at a time.
N_GROUPS = 20
# Share of the rows that have enough trees for the largest forest on the curve.
ENOUGH_TREES = 0.6
# One tree is too small a forest: it gives most labels the score 0, so most pairs are tied.
SMALLEST = 2
# Maximum number of forests to score, of each size.
N_BLOCKS = 4


@dataclass(frozen=True)
class ScoreMetric:
    """A metric to maximize: with sign -1 if lower values are better."""

    metric: str | Metric
    sign: float

    @classmethod
    def of(cls, metric: str | Metric) -> "ScoreMetric":
        if metric == "squared_error":
            return cls(metric, -1.0)
        return cls(metric, 1.0 if greater_is_better(metric) else -1.0)

    @property
    def is_squared_error(self) -> bool:
        """Whether the score is exactly linear in 1 / n_trees."""
        return bool(self.metric == "squared_error")

    def by_group(self, truth: Matrix, scores: Matrix, groups: np.ndarray) -> np.ndarray:
        """(2, N_GROUPS) sums of the scores of the rows in each group, and their numbers."""
        values = self._of_rows(truth, scores)
        if values is None:  # not a mean over rows: all rows of a group get its score
            metric, counts = get_metric(self.metric), np.bincount(groups, minlength=N_GROUPS)
            found = np.zeros(N_GROUPS)
            for group in np.flatnonzero(counts):
                found[group] = self.sign * metric(truth[groups == group], scores[groups == group])
            return np.stack([found * counts, counts])
        counted = np.isfinite(values)
        sums = np.bincount(groups[counted], self.sign * values[counted], minlength=N_GROUPS)
        return np.stack([sums, np.bincount(groups[counted], minlength=N_GROUPS)])

    def _of_rows(self, truth: Matrix, scores: Matrix) -> np.ndarray | None:
        if not self.is_squared_error:
            return row_values(self.metric, truth, scores)
        difference = truth - scores
        if isinstance(difference, np.ndarray):
            return np.einsum("ij,ij->i", difference, difference, dtype=np.float64)
        return np.asarray(difference.power(2).sum(axis=1)).ravel()


class OutOfBagScorer:
    """Scores trees on a sample of rows, the same for all settings, for paired comparisons."""

    def __init__(self, problem: Problem, metric: ScoreMetric, seed: int):
        data, labels = problem.data, problem.labels
        rows = np.arange(data.n_rows) if data.rows is None else data.rows
        n_labels = labels.shape[1]
        n_scored: float = n_labels
        if not isinstance(labels, np.ndarray):
            n_scored = min(n_labels, SCORED_LABELS * len(labels.indices) / labels.n_rows)
        n_rows = max(MIN_ROWS, int(CELLS / max(n_scored, 1)))
        rng = generator(seed, SHARED, Purpose.SCORED_ROWS)
        self.rows = rng.permutation(rows)[:n_rows]
        self.metric = metric
        self._groups = np.arange(len(self.rows)) % N_GROUPS
        self._X = (problem.X if isinstance(problem.X, np.ndarray) else problem.X.tocsr())[self.rows]
        self._labels, self._n_train = labels, data.n_rows
        self._takes_medians = data.criterion.predicts_medians
        self._is_dense = isinstance(labels, np.ndarray) or n_labels <= DENSE_LABELS
        if isinstance(labels, np.ndarray):
            self._truth: Matrix = labels[self.rows]
        else:
            truth = labels.to_csr(np.float32)[self.rows]
            self._truth = truth.toarray() if self._is_dense else truth

    def find_leaves(self, trees: Sequence[Tree]) -> np.ndarray:
        """(n_rows, n_trees) leaves of the scored rows; -1 in trees that saw the row."""
        forest = self._forest(trees)
        leaves = find_leaves(forest, self._X)
        leaves[forest.in_bag()[self.rows].nonzero()] = -1
        return leaves

    def _forest(self, trees: Sequence[Tree]) -> Forest:
        return Forest.from_trees(trees, self._X.shape[1], self._n_train)

    def learning_curve(
        self, trees: Sequence[Tree], leaves: np.ndarray, n_jobs: int | None
    ) -> LearningCurve | None:
        """Scores of forests of several sizes; None if there are too few trees."""
        place = np.cumsum(leaves >= 0, axis=1)  # of each tree, among those that did not see the row
        n_trees_of_row = place[:, -1]
        largest = int(np.quantile(n_trees_of_row, 1 - ENOUGH_TREES, method="lower"))
        if largest <= 2 * SMALLEST:
            return None
        predictor = ForestPredictor(
            self._forest(trees), self._labels, may_tabulate=False, takes_medians=self._takes_medians
        )
        has_enough = n_trees_of_row >= largest
        has_any = n_trees_of_row > 0
        is_in_bag = leaves < 0  # in-bag trees must not be averaged

        def score(task: tuple[int, int, np.ndarray]) -> np.ndarray:
            first, size, rows = task
            outside = is_in_bag | (place <= first) | (place > first + size)
            return self._score(predictor, np.where(outside, -1, leaves), rows)

        small = max(SMALLEST, largest // 4)
        sizes = (small, round(np.sqrt(small * largest)), largest)
        n_blocks = [min(N_BLOCKS, largest // size) for size in sizes]
        tasks = [(0, leaves.shape[1], has_any)]  # the slowest first
        for size, n in zip(sizes, n_blocks, strict=True):
            tasks += [(block * size, size, has_enough) for block in range(n)]
        # A function of the user may not be thread-safe.
        is_ours = isinstance(self.metric.metric, str)
        whole, *scores = run_blocks(score, tasks, n_jobs=n_jobs if is_ours else 1)
        blocks = np.split(np.stack(scores), np.cumsum(n_blocks)[:-1])
        return LearningCurve(
            sizes=np.array(sizes, float),
            blocks=np.array([sums.sum() / counts.sum() for sums, counts in blocks[0]]),
            points=np.stack([np.mean(scores, axis=0) for scores in blocks]),
            whole=whole,
            n_trees_of_row=n_trees_of_row[has_any].astype(float),
        )

    def _score(
        self, predictor: ForestPredictor, leaves: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        leaves, truth = np.ascontiguousarray(leaves[rows]), self._truth[rows]
        scores: Matrix
        if self._is_dense:
            scores = np.empty((len(leaves), truth.shape[1]), np.float32)
            _core.average(predictor.leaves, predictor.values, leaves, scores)
        else:
            data, *places = _core.average_csr(predictor.leaves, predictor.values, leaves, 0)
            # In float32, as predictions are: in double precision, rounding would break ties.
            scores = sparse.csr_array((data.astype(np.float32), *places), shape=truth.shape)
        return self.metric.by_group(truth, scores, self._groups[rows])
