"""How the trees of a forest, a linear model and the correlations of labels are blended.

Extra trees are grown on two thirds of the rows and score the other third, as does a linear model
that is fitted to the same two thirds. Everything is chosen from averages of products of
these scores. A few trees are noisier than the whole forest. But the noise of two halves of them is
independent: averages of products of one half with the other are those of a forest without noise,
to which the noise of the whole forest is added.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from sketchforest._trees.blended import Blend
from sketchforest._trees.grow import grow_trees
from sketchforest._trees.linear import N_FOLDS, Ridge
from sketchforest._trees.model import Forest, SparseRows, Tree
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import GrowSettings, Problem
from sketchforest._trees.random import SHARED, Purpose, generator, key
from sketchforest._utils.blas import one_blas_thread

GrowMany = Callable[..., list[Tree]]

# Trees in each half of a fold's trees.
OBLIQUE_TREES, EXTRA_TREES = 2, 1
# Scores that are held at a time, at most: rows are sampled where there are more.
MOST_SCORES = 1 << 23
# The weight that is expected before anything is measured, and how far it may be from that.
USUAL_WEIGHT, WEIGHT_DEVIATION = 0.2, 0.1
# Corrections are a ridge regression with this penalty, in rows.
PENALTY = 30.0
# A label is corrected by so many others, by which most is corrected.
MOST_CORRECTIONS = 128
# Of more labels, products of scores take longer than the forest.
MOST_CORRECTED = 1024


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold scores of trees and of a linear model, in units of each output:
    float32 (n_rows, n_outputs)."""

    truth: np.ndarray
    halves: tuple[np.ndarray, np.ndarray]  # of the trees
    linear: np.ndarray
    row_weight: np.ndarray  # (n_rows,)
    noise: float  # of the whole forest, relative to that of a fold's trees

    @property
    def trees(self) -> np.ndarray:
        return (self.halves[0] + self.halves[1]) / 2

    def mixed(self, weight: float) -> "OutOfFold":
        """With the scores of trees and the linear model instead of those of trees."""
        one, other = ((1 - weight) * half + weight * self.linear for half in self.halves)
        return replace(self, halves=(one, other))


def cross_fit(
    problem: Problem,
    settings: GrowSettings,
    ridge: Ridge,
    blend: Blend,
    n_trees: int,
    n_jobs: int | None,
    grow_oblique: GrowMany = grow_trees,
) -> OutOfFold:
    """Scores of all rows, or of a sample of them."""
    n_outputs = problem.labels.shape[1]
    n_sampled = max(1, MOST_SCORES // n_outputs // N_FOLDS)
    rng = generator(settings.seed, SHARED, Purpose.SCORED_ROWS)
    of_folds = [ridge.rows[ridge.fold[ridge.rows] == number] for number in range(N_FOLDS)]
    folds = [np.sort(rng.permutation(rows)[:n_sampled]) for rows in of_folds]
    weights = problem.data.sample_weight

    def joined(parts: list[np.ndarray]) -> np.ndarray:
        if blend.is_bounded:
            return np.concatenate(parts).astype(np.float32, copy=False)
        return ((np.concatenate(parts) - ridge.mean) / ridge.deviation).astype(np.float32)

    halves = [
        _scores_of_halves(
            problem,
            _of_fold(settings, number),
            np.setdiff1d(ridge.rows, of_folds[number]),
            fold,
            n_jobs,
            grow_oblique,
        )
        for number, fold in enumerate(folds)
    ]
    order = np.concatenate(folds)
    return OutOfFold(
        truth=joined([ridge.outputs(order)]),
        halves=(joined([one for one, _ in halves]), joined([other for _, other in halves])),
        linear=joined([blend.as_scores(ridge.left_out(fold)) for fold in folds]),
        row_weight=np.ones(len(order)) if weights is None else weights[order],
        noise=min(1.0, 2 * (OBLIQUE_TREES + EXTRA_TREES) / n_trees),
    )


def _scores_of_halves(
    problem: Problem,
    settings: GrowSettings,
    rows: np.ndarray,
    scored: np.ndarray,
    n_jobs: int | None,
    grow_oblique: GrowMany,
) -> list[np.ndarray]:
    """Scores by each half of the trees that are grown on some rows, of others."""
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.tocsr()
    X = X[scored]
    data = replace(problem.data, rows=rows.astype(np.int32))
    dtype = np.float32 if isinstance(problem.labels, SparseRows) else np.float64
    halves = [np.zeros((len(scored), problem.labels.shape[1]), dtype) for _ in range(2)]
    if settings.n_draws is not None:
        settings = replace(settings, n_draws=min(settings.n_draws, len(rows)))
    for share, n_trees, of_type in _by_type(settings):
        grow_many = grow_trees if of_type.oblique is None else grow_oblique
        trees = grow_many(data, of_type, range(2 * n_trees), n_jobs)
        for number, half in enumerate(halves):
            forest = Forest.from_trees(trees[number::2], X.shape[1], problem.labels.shape[0])
            predictor = ForestPredictor(
                forest, problem.labels, takes_medians=data.criterion.predicts_medians
            )
            half += share * predictor.average(X, n_jobs, dtype)
    return halves


def _of_fold(settings: GrowSettings, fold: int) -> GrowSettings:
    """For trees that see all rows they are given, with random streams of their own."""
    seed = key(settings.seed, fold, Purpose.FOLDS) >> 33
    return replace(settings, seed=seed, out_of_bag_trees=None, first_tree=0)


def _by_type(settings: GrowSettings) -> Iterator[tuple[float, int, GrowSettings]]:
    """Of oblique trees and extra-trees: their share of the forest, how many a half has, and how
    they are grown."""
    share = 0.0 if settings.oblique is None else settings.oblique.share
    both = OBLIQUE_TREES + EXTRA_TREES
    if settings.oblique is not None and share > 0:
        oblique = replace(settings.oblique, share=1.0)
        yield share, OBLIQUE_TREES if share < 1 else both, replace(settings, oblique=oblique)
    if share < 1:
        yield 1 - share, EXTRA_TREES if share > 0 else both, replace(settings, oblique=None)


def choose_weight(found: OutOfFold) -> float:
    """The weight of the linear model that minimizes the squared error, shrunk to the usual one by
    its standard error."""
    one, other = found.halves
    # A product of a half with itself would count noise that the whole forest does not have.
    noise = (1 - found.noise) / 4 * _row_sums(one - other, one - other)
    change = found.linear - found.trees
    gain = found.row_weight * (_row_sums(found.truth - found.trees, change) - noise)
    size = found.row_weight * (_row_sums(change, change) - noise)
    total = size.sum()
    if total <= 0:
        return USUAL_WEIGHT
    best = gain.sum() / total
    variance = np.square(gain - best * size).sum() / total**2
    trust = WEIGHT_DEVIATION**2 / (WEIGHT_DEVIATION**2 + variance)
    return float(np.clip(trust * best + (1 - trust) * USUAL_WEIGHT, 0, 1))


def _row_sums(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", one, other, dtype=np.float64)


@one_blas_thread()
def corrections(found: OutOfFold, n_jobs: int | None = None) -> sparse.csr_array:
    """Row l: what the score of each label, times a factor, adds to the score of label l.

    Scores that are too low or too high as a whole would be corrected the more, the more rows a
    label has. So only what the truth differs from a common multiple of them is corrected.
    """
    (one, other), trees, weight = found.halves, found.trees, found.row_weight.astype(np.float32)
    other = weight[:, None] * other
    blocks = _label_blocks(one.shape[1])

    def products_of(block: slice) -> np.ndarray:
        return (one[:, block].T @ other).astype(np.float64)

    products = np.vstack(run_blocks(products_of, blocks, n_jobs=n_jobs))
    products = (products + products.T) / 2
    own = np.diagonal(products).copy()
    noise = np.einsum("i,ij,ij->j", weight, trees, trees, dtype=np.float64) - own
    n_labels = len(own)
    products[np.diag_indices(n_labels)] += found.noise * noise
    truth = sparse.csr_array(weight[:, None] * found.truth)
    with_truth = (truth.T @ trees).T.astype(np.float64)
    total, agreeing = np.trace(products), np.trace(with_truth)
    if total <= 0 or agreeing <= 0:  # no label occurs
        return sparse.csr_array((n_labels, n_labels), dtype=np.float32)
    added = with_truth * (total / agreeing) - products
    products[np.diag_indices(n_labels)] += PENALTY * found.row_weight.mean()
    factor = linalg.cho_factor(products, overwrite_a=True, check_finite=False)

    def factors_of(block: slice) -> np.ndarray:
        found: np.ndarray = linalg.cho_solve(factor, added[:, block], check_finite=False).T
        return found

    factors = np.vstack(run_blocks(factors_of, blocks, n_jobs=n_jobs))
    # The more labels there are for each row, the less of what is found holds for other rows.
    factors *= len(trees) / (len(trees) + 2 * n_labels)
    if n_labels > MOST_CORRECTIONS:
        size = np.abs(factors) * np.sqrt(np.maximum(own, 0))
        least = np.partition(size, -MOST_CORRECTIONS, axis=1)[:, -MOST_CORRECTIONS]
        factors[size < least[:, None]] = 0
    return sparse.csr_array(factors.astype(np.float32))


def _label_blocks(n_labels: int) -> list[slice]:
    return [slice(first, first + 128) for first in range(0, n_labels, 128)]
