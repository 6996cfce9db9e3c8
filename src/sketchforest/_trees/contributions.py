"""Contributions of features to a prediction.

Each step of a row down a tree changes the mean of the training rows below. The change is credited
to the feature of the split. In an oblique node, it is shared among the features that push the row
to its side, in proportion to their pushes; `src/core/contributions.hpp` has the definition.
"""

from typing import NamedTuple

import numpy as np

from sketchforest import _core
from sketchforest._trees.label_weights import reweighted
from sketchforest._trees.predict import ForestPredictor, find_leaves, seen_by_oblique_trees
from sketchforest._utils.typing import Matrix


class Contributions(NamedTuple):
    """Contributions to k outputs of one row: ``base + added.sum(axis=0)`` equals ``scores``."""

    base: np.ndarray  # (k,) means over the bags of the trees
    scores: np.ndarray  # (k,)
    features: np.ndarray  # (f,) features of the splits that the row went through
    added: np.ndarray  # (f, k)


def contributions(
    predictor: ForestPredictor, x: Matrix, Y: np.ndarray, labels: np.ndarray
) -> Contributions:
    """Contributions for the single row x; Y (n_train, k) has these labels of the training rows."""
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
