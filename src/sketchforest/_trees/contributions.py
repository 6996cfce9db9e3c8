"""What each feature adds to a prediction: the steps of a row down the trees, shared by features.

A step changes the mean of the training rows below. It belongs to the feature that was asked for, or
in an oblique node to several. There a row goes right where the sum of weights times values,
``w @ x``, is above the threshold. Feature j pushes it by ``w[j] * x[j] - threshold * w[j]**2 / w @
w``: these add up to the distance from the threshold, counted from the point of the cut that is
nearest to zero, where zero is a middle rank, or a word that is not there. The features that push to
the side where the row goes share the step, in proportion to their pushes.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._trees.ancestry import Steps
from sketchforest._trees.model import MISSING_LEFT, Forest, ForestDirections
from sketchforest._trees.predict import ForestPredictor, find_leaves
from sketchforest._typing import Matrix


class Contributions(NamedTuple):
    """To the values of k outputs for one row: ``base + added.sum(axis=0)`` is ``scores``."""

    base: np.ndarray  # (k,) means of all training rows that the trees saw
    scores: np.ndarray  # (k,)
    features: np.ndarray  # (f,) those that were asked for on the row's way
    added: np.ndarray  # (f, k)


class _Shares(NamedTuple):
    """Of features in steps."""

    step: np.ndarray
    feature: np.ndarray
    share: np.ndarray


def contributions(predictor: ForestPredictor, x: Matrix, Y: np.ndarray) -> Contributions:
    """For the one row x; Y, (n_train, k), are outputs of the training rows."""
    forest, ancestry = predictor.forest, predictor.ancestry
    leaves = find_leaves(forest, x)[0].astype(np.int64)
    steps = ancestry.steps_to(leaves)
    means_of: Callable[[np.ndarray], np.ndarray]
    if predictor.takes_medians:
        means_of = partial(ancestry.medians, np.ascontiguousarray(Y, np.float64))
    else:
        means_of = ancestry.means(Y)
    changes = (means_of(steps.child) - means_of(steps.node)) / forest.n_trees
    shares = _feature_shares(forest, steps, x)
    features, place = np.unique(shares.feature, return_inverse=True)
    of_step = sparse.csr_array(
        (shares.share, (place, shares.step)), shape=(len(features), len(steps.node))
    )
    return Contributions(
        base=means_of(ancestry.hierarchy.roots).mean(axis=0),
        scores=means_of(ancestry.first_leaves + leaves).mean(axis=0),
        features=features,
        added=of_step @ changes,
    )


def _feature_shares(forest: Forest, steps: Steps, x: Matrix) -> _Shares:
    """All of a step for the one feature that was asked for; in oblique nodes by their pushes."""
    asked = forest.nodes[steps.node, 0].view(np.uint32) & ~MISSING_LEFT
    every = np.arange(len(steps.node))
    if forest.directions is None:
        return _Shares(every, asked.astype(np.int64), np.ones(len(every)))
    start, end = forest.directions.start[steps.node], forest.directions.start[steps.node + 1]
    alone = np.flatnonzero(start == end)
    entry, step = _ranges(start, end)
    thresholds = np.ascontiguousarray(forest.nodes[steps.node, 1]).view(np.float32).astype(float)
    weights = forest.directions.values[entry].astype(float)
    columns = forest.directions.columns[entry].astype(np.int64)
    squares = _shares(weights**2, step, len(every))
    push = weights * _seen_by_oblique_trees(forest.directions, x)[columns]
    push -= thresholds[step] * squares
    push = np.maximum(np.where(steps.goes_right[step], push, -push), 0)
    total = np.bincount(step, push, len(every))
    # Rounding may leave a row at the threshold itself, where nothing pushes it.
    share = np.where(total[step] > 0, _shares(push, step, len(every)), squares)
    kept = share > 0
    return _Shares(
        np.append(alone, step[kept]),
        np.append(asked[alone], columns[kept]).astype(np.int64),
        np.append(np.ones(len(alone)), share[kept]),
    )


def _ranges(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers from start to end, one range after the other, and which range each is in."""
    sizes = end - start
    which = np.repeat(np.arange(len(sizes)), sizes)
    return np.arange(sizes.sum()) + (start - np.cumsum(sizes) + sizes)[which], which


def _shares(part: np.ndarray, step: np.ndarray, n_steps: int) -> np.ndarray:
    total = np.bincount(step, part, n_steps)
    return part / np.where(total > 0, total, 1)[step]


def _seen_by_oblique_trees(directions: ForestDirections, x: Matrix) -> np.ndarray:
    """(n_features,) the row x as oblique trees see it."""
    row = directions.feature_map.transform(x)
    if row.columns is None:
        return row.values[0, : row.n_features].astype(float)
    seen = np.zeros(row.n_features)
    seen[row.columns] = row.values
    return seen
