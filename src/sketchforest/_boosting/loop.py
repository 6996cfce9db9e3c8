"""Gradient boosting on sketched residuals.

Joly, Wehenkel and Geurts, "Gradient tree boosting with random output projections for multi-label
classification and multi-output regression" (2019); Iosipoi and Vakhrushev, "SketchBoost" (2022).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sketchforest._boosting.binning import Binned
from sketchforest._boosting.scores import Scores
from sketchforest._boosting.settings import BoostSettings
from sketchforest._boosting.tree import fit_leaves, grow_tree
from sketchforest._trees.model import Tree
from sketchforest._trees.problem import GrowSettings, rows_of_share
from sketchforest._trees.random import Purpose, generator
from sketchforest._utils.typing import Matrix
from sketchforest.projection import matrix


@dataclass(frozen=True)
class BoostData:
    """What is given to all trees."""

    X: Binned
    scores: Scores
    train: np.ndarray  # rows to learn from
    scored: np.ndarray  # of these, the rows whose loss is noted
    validation: np.ndarray  # rows to stop by
    n_jobs: int | None


@dataclass
class Progress:
    """What was grown so far; scores are minus mean losses, before the first tree and after each."""

    trees: list[tuple[Tree, np.ndarray]]
    train_scores: list[float]
    validation_scores: list[float]

    @property
    def best(self) -> "Progress":
        """The trees up to the best score on held-out rows, at least one; all without such rows."""
        if not self.validation_scores:
            return self
        n_trees = max(1, int(np.argmax(self.validation_scores)))
        return Progress(self.trees[:n_trees], self.train_scores, self.validation_scores)

    @property
    def watched_scores(self) -> list[float]:
        return self.validation_scores or self.train_scores


def boost(
    data: BoostData,
    growing: GrowSettings,
    boosting: BoostSettings,
    done: Progress,
    on_tree: Callable[[Progress], None] = lambda done: None,
) -> Progress:
    """Add trees until there are `max_iter`, or until early stopping."""
    scores = data.scores
    while len(done.trees) < boosting.max_iter and not boosting.is_over(done.watched_scores):
        number = len(done.trees)
        rows = draw_rows(data.train, boosting.subsample, growing.seed, number)
        Z = scores.sketch(rows, draw_projection(scores, rows, growing, number))
        grown = grow_tree(data.X, Z, rows, growing, boosting, number, data.n_jobs)
        sums = scores.leaf_sums(grown.rows, grown.leaf_start)
        values = fit_leaves(*sums, Z, grown, boosting)
        scores.add(grown.leaf_of, values)
        done.trees.append((grown.tree, values))
        measure(data, boosting, done)
        on_tree(done)
    return done


def measure(data: BoostData, boosting: BoostSettings, done: Progress) -> None:
    """Note the losses, which are only computed for early stopping."""
    if boosting.n_iter_no_change is None:
        return
    done.train_scores.append(-data.scores.mean_loss(data.scored))
    if len(data.validation):
        done.validation_scores.append(-data.scores.mean_loss(data.validation))


def draw_rows(train: np.ndarray, subsample: float, seed: int, number: int) -> np.ndarray:
    """The rows that a tree is grown on, ascending."""
    if subsample == 1:
        return train
    rng = generator(seed, number, Purpose.BOOTSTRAP)
    drawn = rng.choice(len(train), rows_of_share(subsample, len(train)), replace=False)
    return train[np.sort(drawn)]


def draw_projection(
    scores: Scores, rows: np.ndarray, growing: GrowSettings, number: int
) -> Matrix | None:
    """P (n_outputs, n_components) of one tree; None keeps all outputs."""
    if growing.projection is None or growing.n_components is None:
        return None
    rng = generator(growing.seed, number, Purpose.PROJECTION)
    if hasattr(growing.projection, "draw_by_norm"):
        norms = scores.squared_norms(rows)
        P: Matrix = growing.projection.draw_by_norm(norms, growing.n_components, rng)
        return P
    no_rows = np.empty((0, scores.n_outputs))
    return matrix(growing.projection, no_rows, growing.n_components, rng)
