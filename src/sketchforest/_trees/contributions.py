"""Contributions of features to a prediction.

Each step of a row down a tree changes the mean of the training rows below. The change is credited
to the feature of the split. In an oblique node, it is shared among the features that push the row
to its side, in proportion to their pushes; `src/core/contributions.hpp` has the definition.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.blended import BlendedPredictor
from sketchforest._trees.label_weights import reweighted
from sketchforest._trees.predict import ForestPredictor, find_leaves, seen_by_oblique_trees
from sketchforest._utils.typing import Matrix


class Contributions(NamedTuple):
    """Contributions to k outputs of one row: ``base + added.sum(axis=0)`` equals ``scores``."""

    base: np.ndarray  # (k,) means over the bags of the trees
    scores: np.ndarray  # (k,)
    features: np.ndarray  # (f,) those that were asked for on the row's way, or weighted
    added: np.ndarray  # (f, k)


def contributions(
    predictor: ForestPredictor | BlendedPredictor, x: Matrix, outputs: np.ndarray
) -> Contributions:
    """Contributions to k outputs, given by number, for the single row x."""
    if isinstance(predictor, BlendedPredictor):
        return _of_blend(predictor, x, outputs)
    labels = predictor.labels
    Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64)
    return _of_trees(predictor, x, _dense(Y[:, outputs]), outputs)


def _of_trees(
    predictor: ForestPredictor, x: Matrix, Y: np.ndarray, labels: np.ndarray
) -> Contributions:
    """Contributions through the trees; Y (n_train, k) has these labels of the training rows."""
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


def _of_blend(predictor: BlendedPredictor, x: Matrix, outputs: np.ndarray) -> Contributions:
    """Contributions to blended scores; those to a clipped score are scaled in proportion."""
    blend, n_outputs = predictor.blend, predictor.forest_predictor.labels.shape[1]
    factors = sparse.identity(n_outputs, format="csr")[outputs]
    if blend.corrections is not None:
        factors = sparse.csr_array(factors + blend.corrections[outputs])
    needed = np.unique(np.append(factors.indices, outputs))
    found = contributions(predictor.forest_predictor, x, needed)
    found = _sum((found, blend.of_trees))
    if blend.linear is not None:
        base = blend.as_scores(blend.linear.intercept[None])[0]
        scores = blend.as_scores(blend.linear.scores(x))[0]
        features, added = blend.linear.contributions(x, needed)
        linear = _with_scores(base[needed], scores[needed], features, added)
        found = _sum((found, 1.0), (linear, blend.weight))
    if blend.offset is not None:
        found = found._replace(base=found.base + blend.offset[needed])
    of_needed = factors[:, needed].toarray().T
    scores = predictor.average(x, 1, np.float64)[0, outputs]
    return _with_scores(found.base @ of_needed, scores, found.features, found.added @ of_needed)


def _with_scores(
    base: np.ndarray, scores: np.ndarray, features: np.ndarray, added: np.ndarray
) -> Contributions:
    sizes = np.abs(added).sum(axis=0)
    missing = scores - base - added.sum(axis=0)
    added = added + np.abs(added) * np.where(sizes > 0, missing / np.where(sizes > 0, sizes, 1), 0)
    return Contributions(np.where(sizes > 0, base, scores), scores, features, added)


def _sum(*weighted: tuple[Contributions, float]) -> Contributions:
    features = np.unique(np.concatenate([each.features for each, _ in weighted]))
    added = np.zeros((len(features), weighted[0][0].added.shape[1]))
    for each, weight in weighted:
        added[np.searchsorted(features, each.features)] += weight * each.added
    base = np.sum([weight * each.base for each, weight in weighted], axis=0)
    scores = np.sum([weight * each.scores for each, weight in weighted], axis=0)
    return Contributions(base, scores, features, added)


def _dense(matrix: Matrix) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
