"""The score of a whole forest on new rows, predicted by trees that did not see a row.

The usual out-of-bag score is that of the trees that left a row out, about a third of a forest,
which is worse than all of it. Here the learning curve of those trees is followed to all trees.
"""

import numpy as np

from sketchforest._selection.learning_curve import PredictedScore, predict_score, usual_offset
from sketchforest._selection.out_of_bag import Criterion, OutOfBagScorer
from sketchforest._trees.model import Forest, Labels
from sketchforest._trees.problem import GrowSettings, Problem, TrainingData
from sketchforest._utils.typing import Matrix


def predict_whole_forest(
    forest: Forest,
    X: Matrix,
    labels: Labels,
    settings: GrowSettings,
    metric: str,
    n_jobs: int | None = None,
) -> PredictedScore | None:
    """From the training rows X with their labels, or a sample of them; None where trees see all
    rows, or are too few to tell."""
    if not settings.leaves_rows_out:
        return None
    # Some forests leave the same few rows out of many trees, and the others of none.
    n_trees_of_row = np.diff(forest.in_bag().indptr)
    rows = np.flatnonzero(n_trees_of_row < forest.n_trees)
    if not len(rows):
        return None
    problem = Problem(X, labels, TrainingData(None, labels, rows=rows), settings)
    criterion = Criterion.of(metric)
    scorer = OutOfBagScorer(problem, criterion, settings.seed)
    trees = forest.trees()
    curve = scorer.learning_curve(trees, scorer.find_leaves(trees), n_jobs)
    if curve is None:
        return None
    offset = usual_offset(curve, [curve], settings.min_samples_leaf)
    return predict_score(curve, forest.n_trees, offset, criterion.is_squared_error)
