"""Out-of-bag scores extrapolated to all trees of a forest.

The usual out-of-bag score is that of about a third of the forest, the trees that left a row out,
which is worse than the whole forest. Here their learning curve is followed to all trees.
"""

import numpy as np

from sketchforest._selection.learning_curve import PredictedScore, predict_score, usual_offset
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest._trees.model import Forest, Labels
from sketchforest._trees.problem import GrowSettings, Problem, TrainingData
from sketchforest._utils.typing import Matrix


def extrapolate_oob_score(
    forest: Forest,
    X: Matrix,
    labels: Labels,
    settings: GrowSettings,
    metric: str,
    n_jobs: int | None = None,
) -> PredictedScore | None:
    """The expected score on new rows; None if trees see all rows, or are too few.

    X and labels are the training rows, or a sample of them.
    """
    if not settings.leaves_rows_out:
        return None
    # Mixed forests leave the same few rows out of many trees, and the other rows out of none.
    n_trees_of_row = np.diff(forest.in_bag().indptr)
    rows = np.flatnonzero(n_trees_of_row < forest.n_trees)
    if not len(rows):
        return None
    problem = Problem(X, labels, TrainingData(None, labels, rows=rows), settings)
    score_metric = ScoreMetric.of(metric)
    scorer = OutOfBagScorer(problem, score_metric, settings.seed)
    trees = forest.trees()
    curve = scorer.learning_curve(trees, scorer.find_leaves(trees), n_jobs)
    if curve is None:
        return None
    offset = usual_offset(curve, [curve], settings.min_samples_leaf)
    return predict_score(curve, forest.n_trees, offset, score_metric.is_squared_error)
