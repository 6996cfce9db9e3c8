"""Out-of-bag scores: trees are scored on training rows that they were not grown on.

A row scores small forests, too: the first s of the trees that did not see it. The scores of such
forests of several sizes make a learning curve, which is followed to more trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._selection.learning_curve import LearningCurve
from sketchforest._trees.impurity import Impurity
from sketchforest._trees.model import Forest, Tree
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.predict import ForestPredictor, find_leaves
from sketchforest._trees.problem import Problem
from sketchforest._trees.random import SHARED, Purpose, generator
from sketchforest._utils.typing import Matrix
from sketchforest.metrics import Metric, get_metric, greater_is_better, row_values

# Scoring must cost less than growing: so many scores are ranked, of at least so many rows. In a
# row, few trees give a score to about so many labels for each one that it has.
CELLS, LEAST_ROWS = 1 << 17, 1000
SCORED_LABELS = 16
# Up to so many labels, a dense row of scores is ranked faster than a sparse one.
DENSE_LABELS = 128
# Standard errors come from leaving out one group of rows at a time.
N_GROUPS = 20
# Share of the rows that have at least as many trees as the largest forest on the curve.
ENOUGH_TREES = 0.6
# A single tree is no small forest: it gives most labels the score 0, and no pair of them an order.
SMALLEST = 2
# As many forests of a size are scored at most.
N_BLOCKS = 4


@dataclass(frozen=True)
class Criterion:
    """What is maximised: a metric, or minus one where less is better."""

    metric: str | Metric
    sign: float

    @classmethod
    def of(cls, metric: str | Metric) -> "Criterion":
        if metric == "squared_error":
            return cls(metric, -1.0)
        return cls(metric, 1.0 if greater_is_better(metric) else -1.0)

    @property
    def is_squared_error(self) -> bool:
        """Then the score is a straight line in 1 / trees, exactly."""
        return bool(self.metric == "squared_error")

    def by_group(self, truth: Matrix, scores: Matrix, groups: np.ndarray) -> np.ndarray:
        """(2, N_GROUPS) sums of what the rows of each group add, and how many do."""
        values = self._of_rows(truth, scores)
        if values is None:
            return self._of_groups(truth, scores, groups)
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

    def _of_groups(self, truth: Matrix, scores: Matrix, groups: np.ndarray) -> np.ndarray:
        """For metrics that are no means over rows: each group counts as rows of equal score."""
        metric = get_metric(self.metric)
        counts = np.bincount(groups, minlength=N_GROUPS)
        values = [
            self.sign * float(metric(truth[groups == group], scores[groups == group]))
            if counts[group]
            else 0.0
            for group in range(N_GROUPS)
        ]
        return np.stack([values * counts, counts])


class OutOfBagScorer:
    """Scores trees on a sample of rows, the same for all settings, so that scores can be paired."""

    def __init__(self, problem: Problem, criterion: Criterion, seed: int):
        data, labels = problem.data, problem.labels
        rows = np.arange(data.n_rows) if data.rows is None else data.rows
        n_labels = labels.shape[1]
        n_scored: float = n_labels
        if not isinstance(labels, np.ndarray):
            n_scored = min(n_labels, SCORED_LABELS * len(labels.columns) / labels.n_rows)
        n_rows = max(LEAST_ROWS, int(CELLS / max(n_scored, 1)))
        rng = generator(seed, SHARED, Purpose.SCORED_ROWS)
        self.rows = rng.permutation(rows)[:n_rows]
        self.criterion = criterion
        self._groups = np.arange(len(self.rows)) % N_GROUPS
        self._X = (problem.X if isinstance(problem.X, np.ndarray) else problem.X.tocsr())[self.rows]
        self._labels, self._n_train = labels, data.n_rows
        self._takes_medians = data.impurity == Impurity.ABSOLUTE_ERROR
        self._is_dense = isinstance(labels, np.ndarray) or n_labels <= DENSE_LABELS
        if isinstance(labels, np.ndarray):
            self._truth: Matrix = labels[self.rows]
        else:
            truth = labels.to_csr(np.float32)[self.rows]
            self._truth = truth.toarray() if self._is_dense else truth

    def find_leaves(self, trees: Sequence[Tree]) -> np.ndarray:
        """(n_rows, n_trees) leaves of the scored rows; -1 in trees that were grown on them."""
        forest = self._forest(trees)
        leaves = find_leaves(forest, self._X)
        leaves[forest.in_bag()[self.rows].nonzero()] = -1
        return leaves

    def _forest(self, trees: Sequence[Tree]) -> Forest:
        return Forest.from_trees(trees, self._X.shape[1], self._n_train)

    def learning_curve(
        self, trees: Sequence[Tree], leaves: np.ndarray, n_jobs: int | None
    ) -> LearningCurve | None:
        """Scores of forests of several sizes; None where trees are too few to tell."""
        place = np.cumsum(leaves >= 0, axis=1)  # of a tree, among those that did not see the row
        n_trees_of_row = place[:, -1]
        largest = int(np.quantile(n_trees_of_row, 1 - ENOUGH_TREES, method="lower"))
        if largest <= 2 * SMALLEST:
            return None
        predictor = ForestPredictor(
            self._forest(trees),
            self._labels,
            may_tabulate=False,
            takes_medians=self._takes_medians,
        )
        has_enough = n_trees_of_row >= largest
        has_any = n_trees_of_row > 0
        is_in_bag = leaves < 0  # more trees than asked for must not be averaged

        def score(part: tuple[int, int, np.ndarray]) -> np.ndarray:
            first, size, rows = part
            outside = is_in_bag | (place <= first) | (place > first + size)
            return self._score(predictor, np.where(outside, -1, leaves), rows)

        small = max(SMALLEST, largest // 4)
        sizes = (small, round(np.sqrt(small * largest)), largest)
        n_blocks = [min(N_BLOCKS, largest // size) for size in sizes]
        parts = [(0, leaves.shape[1], has_any)]  # the longest first
        for size, n in zip(sizes, n_blocks, strict=True):
            parts += [(block * size, size, has_enough) for block in range(n)]
        # Nobody has promised that a function of the user's may be called by several threads.
        is_ours = isinstance(self.criterion.metric, str)
        whole, *scores = run_blocks(score, parts, n_jobs=n_jobs if is_ours else 1)
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
            # As predictions are: in doubles, rounding would decide what is a tie there.
            scores = sparse.csr_array((data.astype(np.float32), *places), shape=truth.shape)
        return self.criterion.by_group(truth, scores, self._groups[rows])
