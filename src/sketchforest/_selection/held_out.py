"""Scores of the parts of a sketch forest on held-out rows.

The parts are two kinds of trees and a linear model. If trees leave rows out, these are scored by
the other trees. Otherwise, extra trees are grown without a third of the rows and score it; so are
other thirds, if that is not enough.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from sketchforest._trees.blended import Blend
from sketchforest._trees.grow import ForestToGrow, grow_forests
from sketchforest._trees.linear import Folds, Ridge
from sketchforest._trees.model import Forest, SparseRows, Tree
from sketchforest._trees.parallel import count_threads, run_blocks
from sketchforest._trees.predict import ForestPredictor, row_blocks
from sketchforest._trees.problem import GrowSettings, Problem, TrainingData
from sketchforest._trees.random import SHARED, Purpose, generator, key
from sketchforest._utils.typing import Matrix

GrowForests = Callable[[Sequence[ForestToGrow], int | None], list[list[Tree]]]
Halves = tuple[np.ndarray, np.ndarray]

# Trees in each half of those that are grown without a fold.
OBLIQUE_TREES, EXTRA_TREES = 2, 1
# Folds without which trees are grown; and of a linear model beside trees that leave a fifth out.
N_FOLDS, N_LINEAR_FOLDS = 3, 5
# Trees that must not have seen a row, on average, in each half of the trees of a kind.
LEAST_LEFT_OUT = 2
# Scored rows that are enough to choose weights, and to correct labels: so many per label.
ENOUGH_ROWS, ENOUGH_PER_LABEL = 2000, 8
# Scores that are held at a time, at most: rows are sampled where there are more.
MOST_SCORES = 1 << 23


@dataclass(frozen=True, eq=False)
class Part:
    """Scores by a part of the model, of held-out rows.

    Each half of its trees has scores, (n_rows, n_outputs) float32. Those of a linear model are
    twice the same.
    """

    halves: Halves
    noise: float = 0.0  # of the whole part, relative to that of the mean of its halves

    @property
    def scores(self) -> np.ndarray:
        return (self.halves[0] + self.halves[1]) / 2


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores of rows by the parts of a model, and the truth: float32 (n_rows, n_outputs)."""

    truth: np.ndarray | sparse.csr_array
    parts: tuple[Part, ...]  # kinds of trees, then the linear model if there is one
    row_weight: np.ndarray  # (n_rows,)

    def mixed(self, weights: Sequence[float] | np.ndarray, n_jobs: int | None = None) -> Part:
        """All parts as one, with these weights."""
        halves = tuple(np.zeros(self.truth.shape, np.float32) for _ in range(2))

        def mix(rows: slice) -> None:
            for weight, part in zip(weights, self.parts, strict=True):
                for out, half in zip(halves, part.halves, strict=True):
                    out[rows] += float(weight) * half[rows]  # a NumPy float would need doubles

        run_blocks(mix, row_blocks(self.truth.shape[0], n_jobs), n_jobs=n_jobs)
        return Part((halves[0], halves[1]), max(part.noise for part in self.parts))


def kinds(settings: GrowSettings) -> list[tuple[bool, float]]:
    """Whether trees are oblique, and their share of the forest, for the kinds that it has."""
    share = 0.0 if settings.oblique is None else settings.oblique.share
    return [kind for kind in ((True, share), (False, 1 - share)) if kind[1] > 0]


def scores_out_of_bag(settings: GrowSettings, n_trees: int, n_rows: int) -> bool:
    """Whether the trees of the forest leave rows out often enough to be scored on them."""
    if settings.n_draws is None:
        return False
    least = min(share for _, share in kinds(settings)) * n_trees / 2
    return least * settings.left_out_share(n_rows) >= LEAST_LEFT_OUT


def deal_folds(problem: Problem, n_trees: int) -> Folds:
    """The folds that are left out by the linear model, and by trees if those of the forest do not
    leave rows out."""
    rows, settings = used_rows(problem), problem.settings
    n = N_LINEAR_FOLDS if scores_out_of_bag(settings, n_trees, len(rows)) else N_FOLDS
    return Folds.deal(rows, problem.data.n_rows, n, settings.seed)


def used_rows(problem: Problem) -> np.ndarray:
    data = problem.data
    return np.arange(data.n_rows) if data.rows is None else data.rows


def hold_out(
    problem: Problem,
    settings: GrowSettings,
    trees: Sequence[Tree],
    folds: Folds,
    ridge: Ridge | None,
    blend: Blend,
    n_enough: int,
    n_jobs: int | None,
    grow: GrowForests = grow_forests,
) -> HeldOut:
    """Scores of all rows, or of a sample of them that has at least `n_enough` if possible."""
    if scores_out_of_bag(settings, len(trees), len(folds.rows)):
        rows, of_kinds, noise = _by_others(problem, settings, trees, folds, n_jobs)
    else:
        n_used = min(folds.n, math.ceil(n_enough * folds.n / len(folds.rows)))
        rows, of_kinds = _by_extra_trees(problem, settings, folds, n_used, n_jobs, grow)
        n_held_out = 2 * (OBLIQUE_TREES + EXTRA_TREES)
        noise = min(1.0, n_held_out / len(trees))
    labels, weights = problem.labels, problem.data.sample_weight
    mean, deviation = np.zeros(1), np.ones(1)
    if isinstance(labels, np.ndarray) and not blend.is_bounded:
        mean, deviation = mean_output(problem), _deviation(labels[folds.rows])

    def in_units(scores: np.ndarray) -> np.ndarray:
        if blend.is_bounded:
            return scores.astype(np.float32, copy=False)
        return ((scores - mean) / deviation).astype(np.float32)

    parts = [Part((in_units(one), in_units(other)), noise) for one, other in of_kinds]
    if ridge is not None:
        linear = ridge.left_out(rows, lambda found: in_units(blend.as_scores(found)), np.float32)
        parts.append(Part((linear, linear)))
    truth: np.ndarray | sparse.csr_array
    if isinstance(labels, np.ndarray):
        truth = in_units(labels[rows])
    else:
        truth = labels.to_csr(np.float32)[rows]
    row_weight = np.ones(len(rows)) if weights is None else weights[rows]
    return HeldOut(truth, tuple(parts), row_weight)


def mean_output(problem: Problem) -> np.ndarray:
    """(n_outputs,) mean of dense labels over the training rows."""
    assert isinstance(problem.labels, np.ndarray)
    rows, weights = used_rows(problem), problem.data.sample_weight
    return np.average(problem.labels[rows], 0, None if weights is None else weights[rows])


def _deviation(outputs: np.ndarray) -> np.ndarray:
    """(n_outputs,) standard deviations, 1 for 0. Squares of outputs may be beyond all floats."""
    largest = np.abs(outputs).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    found = (outputs / largest).std(axis=0) * largest
    return np.where(found > 0, found, 1.0)


def _by_others(
    problem: Problem,
    settings: GrowSettings,
    trees: Sequence[Tree],
    folds: Folds,
    n_jobs: int | None,
) -> tuple[np.ndarray, list[Halves], float]:
    """Out-of-bag scores, of rows that are out of bag for some trees in each half."""
    rows = _sample(settings, folds.rows, problem.labels.shape[1])
    X, is_scored = _rows_of(problem.X, rows), np.ones(len(rows), bool)
    of_kinds = []
    for is_oblique, _ in kinds(settings):
        own = [tree for tree in trees if (tree.directions is not None) == is_oblique]
        halves = []
        for forest in (_forest(problem, own[0::2]), _forest(problem, own[1::2])):
            in_bag = forest.in_bag()[rows]
            is_scored &= np.diff(in_bag.indptr) < forest.n_trees
            predictor = _predictor(problem, forest)
            halves.append(predictor.average(X, n_jobs, _score_type(problem), in_bag))
        of_kinds.append(halves)
    scored = [(one[is_scored], other[is_scored]) for one, other in of_kinds]
    return rows[is_scored], scored, settings.left_out_share(len(folds.rows))


def _by_extra_trees(
    problem: Problem,
    settings: GrowSettings,
    folds: Folds,
    n_used: int,
    n_jobs: int | None,
    grow: GrowForests,
) -> tuple[np.ndarray, list[Halves]]:
    """Scores of some folds by trees that are grown without them."""
    n_outputs = problem.labels.shape[1]
    of_folds = [_sample(settings, folds[fold], n_outputs * n_used, fold) for fold in range(n_used)]
    to_grow = list[ForestToGrow]()
    for fold in range(n_used):
        seen = np.setdiff1d(folds.rows, folds[fold])
        data = replace(problem.data, rows=seen.astype(np.int32))
        to_grow.extend(_forests_of_kinds(data, _without_fold(settings, fold, len(seen))))
    grown = grow(to_grow, n_jobs)
    n_kinds = len(to_grow) // n_used
    rows, ends = np.concatenate(of_folds), np.cumsum([len(of_fold) for of_fold in of_folds])
    shape, dtype = (len(rows), n_outputs), _score_type(problem)
    of_kinds = [(np.empty(shape, dtype), np.empty(shape, dtype)) for _ in range(n_kinds)]
    tasks = [
        (fold, kind, half) for fold in range(n_used) for kind in range(n_kinds) for half in (0, 1)
    ]
    of_each = max(1, count_threads(n_jobs) // len(tasks))

    def score(task: tuple[int, int, int]) -> None:
        fold, kind, half = task
        forest = _forest(problem, grown[fold * n_kinds + kind][half::2])
        out = of_kinds[kind][half][ends[fold] - len(of_folds[fold]) : ends[fold]]
        X = _rows_of(problem.X, of_folds[fold])
        _predictor(problem, forest).average_into(out, X, of_each)

    run_blocks(score, tasks, n_jobs=n_jobs)
    return rows, of_kinds


def _without_fold(settings: GrowSettings, fold: int, n_rows: int) -> GrowSettings:
    """For trees with random streams of their own."""
    seed = key(settings.seed, fold, Purpose.FOLDS) >> 33
    n_draws = None if settings.n_draws is None else min(settings.n_draws, n_rows)
    return replace(settings, seed=seed, n_draws=n_draws, out_of_bag_trees=None, first_tree=0)


def _forests_of_kinds(data: TrainingData, settings: GrowSettings) -> list[ForestToGrow]:
    """For each kind of trees, those of both halves."""
    found, forests = kinds(settings), list[ForestToGrow]()
    for is_oblique, _ in found:
        n_trees = OBLIQUE_TREES if is_oblique else EXTRA_TREES
        oblique = None
        if is_oblique and settings.oblique is not None:
            oblique = replace(settings.oblique, share=1.0)
        n_trees = n_trees if len(found) == 2 else OBLIQUE_TREES + EXTRA_TREES
        forests.append((data, replace(settings, oblique=oblique), range(2 * n_trees)))
    return forests


def _sample(
    settings: GrowSettings, rows: np.ndarray, n_scores: int, fold: int = SHARED
) -> np.ndarray:
    """Some of the rows in ascending order, of which each has so many scores."""
    rng = generator(settings.seed, fold, Purpose.SCORED_ROWS)
    return np.sort(rng.permutation(rows)[: max(1, MOST_SCORES // n_scores)])


def _rows_of(X: Matrix, rows: np.ndarray) -> Matrix:
    return X[rows] if isinstance(X, np.ndarray) else X.tocsr()[rows]


def _predictor(problem: Problem, forest: Forest) -> ForestPredictor:
    takes_medians = problem.data.criterion.predicts_medians
    return ForestPredictor(forest, problem.labels, takes_medians=takes_medians)


def _score_type(problem: Problem) -> type[np.floating]:
    return np.float32 if isinstance(problem.labels, SparseRows) else np.float64


def _forest(problem: Problem, trees: Sequence[Tree]) -> Forest:
    return Forest.from_trees(trees, problem.X.shape[1], problem.labels.shape[0])
