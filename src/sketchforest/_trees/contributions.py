"""What each feature adds to a prediction: the steps of a row down the trees, shared by features.

A step changes the mean of the training rows below. It belongs to the feature that was asked for, or
in an oblique node to those that push the row to the side where it goes, in proportion to their
pushes: `src/core/contributions.hpp` defines them.
"""

from typing import NamedTuple

import numpy as np

from sketchforest import _core
from sketchforest._trees.label_weights import reweighted
from sketchforest._trees.predict import ForestPredictor, find_leaves, seen_by_oblique_trees
from sketchforest._utils.typing import Matrix


class Contributions(NamedTuple):
    """To the values of k outputs for one row: ``base + added.sum(axis=0)`` is ``scores``."""

    base: np.ndarray  # (k,) means of all training rows that the trees saw
    scores: np.ndarray  # (k,)
    features: np.ndarray  # (f,) those that were asked for on the row's way
    added: np.ndarray  # (f, k)


def contributions(
    predictor: ForestPredictor, x: Matrix, Y: np.ndarray, labels: np.ndarray
) -> Contributions:
    """For the one row x; Y, (n_train, k), are these labels or outputs of the training rows."""
    forest, outputs = predictor.forest, np.ascontiguousarray(Y, np.float64)
    leaves, seen = find_leaves(forest, x), seen_by_oblique_trees(forest, x)
    base, scores, features, added = _core.contributions(
        forest, leaves, outputs, predictor.takes_medians, seen
    )
    added = added.reshape(len(features), Y.shape[1])
    if predictor.label_weights is None:
        return Contributions(base, scores, features, added)
    weights = predictor.label_weights[labels]
    weighted_base, weighted = reweighted(base, weights), reweighted(scores, weights)
    change = scores - base
    factor = np.ones(len(change))
    # Features share the change of the reweighted scores as they share that of the averages.
    np.divide(weighted - weighted_base, change, where=change != 0, out=factor)
    return Contributions(weighted_base, weighted, features, added * factor)
