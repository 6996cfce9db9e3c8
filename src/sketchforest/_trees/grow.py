"""Growing one tree: draw its rows, sketch its outputs, grow.

`grow_one` depends on its arguments alone, so that a tree can be grown anywhere, in any order.
"""

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from sketchforest import _core
from sketchforest._trees.memory import n_threads_that_fit, tree_bytes
from sketchforest._trees.model import Directions, Labels, SparseRows, Tree
from sketchforest._trees.outputs import oblique_outputs, oblique_scale, share_outputs, sketch_bag
from sketchforest._trees.parallel import run_all
from sketchforest._trees.problem import GrowSettings, TrainingData
from sketchforest._trees.random import SHARED, Purpose, generator, key

# No tree has more; limits beyond it, which fit into no 32 bits, mean the same.
MOST_ROWS = np.iinfo(np.int32).max


class GrowthStoppedError(Exception):
    """Growth was stopped from outside."""


class KeptTrees(Protocol):
    """Finished trees, kept somewhere for a fit that may be broken off."""

    def get(self, tree: int) -> Tree | None:
        """None: it is yet to be grown."""

    def put(self, tree: int, grown: Tree) -> None: ...


def grow_trees(
    data: TrainingData,
    settings: GrowSettings,
    trees: range,
    n_jobs: int | None = None,
    verbose: int = 0,
    kept: KeptTrees | None = None,
) -> list[Tree]:
    """The trees of these numbers, side by side on threads: on fewer, rather than without memory."""
    stop = _core.StopFlag()
    return run_all(
        partial(get_or_grow, kept, tree_grower(data, settings, stop)),
        trees,
        n_jobs=n_jobs,
        most_threads=n_threads_that_fit(n_jobs, tree_bytes(data, settings)),
        description="growing trees",
        verbose=verbose,
        on_abort=stop.set,
    )


def tree_grower(
    data: TrainingData, settings: GrowSettings, stop: _core.StopFlag
) -> Callable[[int], Tree]:
    """Grows a tree by its number: all that it takes, to be sent to another process."""
    # A partial, since a function inside a function is not sent to other processes.
    return partial(grow_one, data, settings, share_outputs(data, settings), stop)


def get_or_grow(kept: KeptTrees | None, grow: Callable[[int], Tree], tree: int) -> Tree:
    found = None if kept is None else kept.get(tree)
    if found is None:
        found = grow(tree)
        if kept is not None:
            kept.put(tree, found)
    return found


def grow_one(
    data: TrainingData,
    settings: GrowSettings,
    shared_outputs: Labels | None,
    stop: _core.StopFlag,
    tree: int,
) -> Tree:
    """Tree number `tree` of a forest. `shared_outputs` is None where each tree has its own."""
    rows, weights = _draw_bag(data, settings, tree)
    if settings.is_oblique(tree):
        return _grow_oblique(data, settings, rows, weights, stop, tree)
    assert data.X is not None
    outputs: Labels
    if shared_outputs is None:
        outputs = sketch_bag(data.labels, settings, tree, rows)
    elif isinstance(shared_outputs, SparseRows):
        outputs = shared_outputs
    else:
        whole = len(rows) == data.n_rows
        outputs = shared_outputs if whole else np.take(shared_outputs, rows, axis=0)
    bag_weights = _bag_weights(rows, weights)
    params = _native_params(settings, tree, bag_weights.sum())
    params.impurity = _core.Impurity[data.impurity]
    params.min_gain = np.ldexp(params.min_gain, -2 * data.label_exponent)
    grown = _core.grow(data.X, outputs, rows, bag_weights, params, stop)
    if grown is None:
        raise GrowthStoppedError
    nodes, thresholds, gains, member_start, members, positions, depth = grown
    return Tree(
        nodes=nodes,
        thresholds=thresholds if thresholds.size else None,
        gains=_shares(gains),
        member_start=member_start,
        members=members,
        weights=None if weights is None else weights[positions],
        depth=depth,
    )


def _grow_oblique(
    data: TrainingData,
    settings: GrowSettings,
    rows: np.ndarray,
    weights: np.ndarray | None,
    stop: _core.StopFlag,
    tree: int,
) -> Tree:
    oblique = settings.oblique
    assert oblique is not None
    assert data.oblique_rows is not None
    assert data.feature_map is not None
    scale = oblique_scale(data)
    Z = oblique_outputs(data.labels, settings, tree, rows, scale)
    bag_weights = _bag_weights(rows, weights)
    params = _core.ObliqueParams()
    _set_limits(params, settings, tree, bag_weights.sum())
    params.min_samples_split = min(oblique.min_samples_split, MOST_ROWS)
    params.min_samples_leaf = min(oblique.min_samples_leaf, MOST_ROWS)
    params.min_gain = np.ldexp(params.min_gain, -2 * data.label_exponent) / scale**2
    params.ridge = oblique.ridge
    params.n_steps = oblique.n_steps
    params.n_power_steps = oblique.n_power_steps
    params.n_refinements = oblique.n_refinements
    params.min_side = oblique.min_side
    params.weights_per_row = oblique.weights_per_row
    grown = _core.grow_oblique(data.oblique_rows, Z, rows, bag_weights, params, stop)
    if grown is None:
        raise GrowthStoppedError
    nodes, gains, member_start, members, positions, depth, start, columns, column_weights = grown
    return Tree(
        nodes=nodes,
        thresholds=None,
        gains=_shares(gains),
        member_start=member_start,
        members=members,
        weights=None if weights is None else weights[positions],
        depth=depth,
        directions=Directions(start, columns, column_weights, data.feature_map),
    )


def _draw_bag(
    data: TrainingData, settings: GrowSettings, tree: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Distinct training rows, ascending, and their weights: None, counts in bytes, or doubles."""
    rows = np.arange(data.n_rows, dtype=np.int32) if data.rows is None else data.rows
    counts = None
    if settings.out_of_bag_trees is not None:
        # A forest of few trees has one that leaves them out, too.
        is_first = tree == 0
        rng = generator(settings.seed, tree, Purpose.BOOTSTRAP)
        if is_first or rng.random() < settings.out_of_bag_trees:
            rng = generator(settings.seed, SHARED, Purpose.BOOTSTRAP)
            left_out = rng.choice(len(rows), settings.out_of_bag_rows, replace=False, shuffle=False)
            rows = np.delete(rows, left_out)
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


def _draw(
    data: TrainingData, settings: GrowSettings, tree: int, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places among the rows, with replacement, ascending, and how often each is drawn. As in
    scikit-learn, a row is drawn in proportion to its weight, and then counts as often as it was
    drawn."""
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
    """The rows of a tree's bag, ascending, as often as they were drawn."""
    order = np.argsort(tree.members)
    rows, weights = tree.members[order], tree.weights
    if settings.n_draws is None or not settings.with_replacement:
        return rows
    if weights is not None and weights.sum() == settings.n_draws:
        counts = np.rint(weights[order]).astype(np.int64)
        if np.array_equal(counts, weights[order]):
            return np.repeat(rows, counts)
    # Weights that are more than counts: the rows are drawn again.
    stream = key(settings.seed, number, Purpose.BOOTSTRAP)
    drawn = np.repeat(*_core.draw_rows(stream, n_rows, settings.n_draws))
    if not np.array_equal(np.unique(drawn), rows):
        raise ValueError(
            "estimators_samples_ needs to know how often rows were drawn; that is not kept where "
            "both sample_weight and class_weight='balanced_subsample' are given."
        )
    return drawn


def _bag_weights(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    if weights is None:
        return np.ones(len(rows))
    return weights.astype(np.float64) if weights.dtype == np.uint8 else _near_one(weights)


def _near_one(weights: np.ndarray) -> np.ndarray:
    """Times a power of two. Only ratios count, but the search multiplies three weights, and the
    weight of a row's classes may be a product over a thousand labels."""
    return np.ldexp(weights.astype(np.float64), -np.frexp(float(weights.max()))[1])


def _shares(gains: np.ndarray) -> np.ndarray:
    """Of each split in the gain of all: a float32 holds them, whatever the unit of the outputs."""
    gains = np.maximum(gains, 0)
    total = gains.sum()
    return (gains / total if 0 < total < np.inf else np.zeros(len(gains))).astype(np.float32)


def _native_params(settings: GrowSettings, tree: int, weight: float) -> _core.GrowParams:
    params = _core.GrowParams()
    params.max_features = settings.max_features
    params.random_cuts = settings.random_cuts
    _set_limits(params, settings, tree, weight)
    return params


def _set_limits(
    params: _core.GrowParams | _core.ObliqueParams, settings: GrowSettings, tree: int, weight: float
) -> None:
    """What all trees have in common."""
    if settings.max_depth is not None:
        params.max_depth = min(settings.max_depth, MOST_ROWS)
    params.min_samples_split = min(settings.min_samples_split, MOST_ROWS)
    params.min_samples_leaf = min(settings.min_samples_leaf, MOST_ROWS)
    params.min_weight_leaf = settings.min_weight_fraction_leaf * weight
    # Without a limit, a split that gains nothing is made, as in scikit-learn: its children may.
    limit = settings.min_impurity_decrease
    params.min_gain = limit * weight / settings.impurity_scale if limit > 0 else -np.inf
    params.max_leaf_nodes = min(settings.max_leaf_nodes or 0, MOST_ROWS)
    params.key = key(settings.seed, tree, Purpose.SPLITS)
