"""The bag of a tree: its rows and their weights."""

import numpy as np

from sketchforest import _core
from sketchforest._trees.model import Tree
from sketchforest._trees.problem import GrowSettings, TrainingData
from sketchforest._trees.random import SHARED, Purpose, generator, key


def draw_bag(
    data: TrainingData, settings: GrowSettings, tree: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Distinct training rows, ascending, and their weights: None, uint8 counts, or float64."""
    rows = np.arange(data.n_rows, dtype=np.int32) if data.rows is None else data.rows
    counts = None
    if settings.out_of_bag_trees is not None:
        # The first tree always leaves rows out, so that even a small forest has such a tree.
        is_first = tree == 0
        rng = generator(settings.seed, tree, Purpose.BOOTSTRAP)
        if is_first or rng.random() < settings.out_of_bag_trees:
            rows = np.delete(rows, _left_out(len(rows), settings))
    elif settings.n_draws is not None:
        if settings.with_replacement:
            in_bag, counts = _draw(data, settings, tree, rows)
            rows = in_bag if data.rows is None else rows[in_bag]
        else:
            rng = generator(settings.seed, tree, Purpose.BOOTSTRAP)
            rows = np.sort(rng.choice(rows, settings.n_draws, replace=False, shuffle=False))
    weights: np.ndarray | None = counts
    if data.sample_weight is not None and (counts is None or not data.draws_by_weight):
        weights = data.sample_weight[rows] * (1 if counts is None else counts)
    if data.balance is not None:
        weights = (1.0 if weights is None else weights) * data.balance(rows, weights)
    if weights is counts and counts is not None:
        weights = counts.astype(np.uint8 if counts.max() < 256 else np.float64)
    return rows, weights


def left_out_rows(data: TrainingData, settings: GrowSettings) -> np.ndarray | None:
    """The rows that some trees of a mixed forest leave out; None if it leaves out no such rows."""
    if settings.out_of_bag_trees is None:
        return None
    rows = np.arange(data.n_rows, dtype=np.int32) if data.rows is None else data.rows
    return np.sort(rows[_left_out(len(rows), settings)])


def _left_out(n_rows: int, settings: GrowSettings) -> np.ndarray:
    """Positions of the rows to leave out, the same for all trees."""
    rng = generator(settings.seed, SHARED, Purpose.BOOTSTRAP)
    return rng.choice(n_rows, settings.out_of_bag_rows, replace=False, shuffle=False)


def _draw(
    data: TrainingData, settings: GrowSettings, tree: int, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions drawn with replacement, ascending, and how often each is drawn.

    As in scikit-learn, a row is drawn in proportion to its weight; its weight in the bag is then
    the number of draws.
    """
    assert settings.n_draws is not None
    if data.sample_weight is None or not data.draws_by_weight:
        stream = key(settings.seed, tree, Purpose.BOOTSTRAP)
        return _core.draw_rows(stream, len(rows), settings.n_draws)
    rng = generator(settings.seed, tree, Purpose.BOOTSTRAP)
    weights = _near_one(data.sample_weight[rows])
    drawn = rng.choice(len(rows), settings.n_draws, p=weights / weights.sum())
    counts = np.bincount(drawn, minlength=len(rows))
    in_bag = np.flatnonzero(counts).astype(np.int32)
    return in_bag, counts[in_bag]


def drawn_rows(tree: Tree, settings: GrowSettings, number: int, n_rows: int) -> np.ndarray:
    """The rows of a tree's bag, ascending, repeated as often as they were drawn."""
    order = np.argsort(tree.members)
    rows, weights = tree.members[order], tree.weights
    if settings.n_draws is None or not settings.with_replacement:
        return rows
    if weights is not None and weights.sum() == settings.n_draws:
        counts = np.rint(weights[order]).astype(np.int64)
        if np.array_equal(counts, weights[order]):
            return np.repeat(rows, counts)
    # The weights are not just counts, so draw the rows again.
    stream = key(settings.seed, number, Purpose.BOOTSTRAP)
    drawn = np.repeat(*_core.draw_rows(stream, n_rows, settings.n_draws))
    if not np.array_equal(np.unique(drawn), rows):
        raise ValueError(
            "estimators_samples_ needs the number of draws per row, which is not stored if both "
            "sample_weight and class_weight='balanced_subsample' are given. Use one of them."
        )
    return drawn


def native_weights(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Weights as the core expects them."""
    if weights is None:
        return np.ones(len(rows))
    return weights.astype(np.float64) if weights.dtype == np.uint8 else _near_one(weights)


def _near_one(weights: np.ndarray) -> np.ndarray:
    """The weights times a power of two.

    Only ratios matter, but the search multiplies three weights, and the class weight of a row may
    be a product over a thousand labels.
    """
    return np.ldexp(weights.astype(np.float64), -np.frexp(float(weights.max()))[1])
