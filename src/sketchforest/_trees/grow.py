"""Growing one tree: draw its rows, sketch its outputs, grow.

The result of `grow_one` depends only on its arguments, so trees may be grown anywhere, in any
order.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Protocol, TypeAlias

import numpy as np

from sketchforest import _core
from sketchforest._trees import encoding
from sketchforest._trees.bag import draw_bag, native_weights
from sketchforest._trees.memory import n_threads_that_fit, tree_bytes
from sketchforest._trees.model import Directions, Labels, SparseRows, Tree
from sketchforest._trees.outputs import oblique_outputs, oblique_scale, share_outputs, sketch_bag
from sketchforest._trees.parallel import StoppedError, run_all
from sketchforest._trees.parts import Part, grow_in_parts
from sketchforest._trees.problem import GrowSettings, ObliqueSettings, TrainingData
from sketchforest._trees.random import Purpose, key

# A tree cannot have more rows. Larger limits are cut to this, since the core stores 32 bits.
MOST_ROWS = np.iinfo(np.int32).max
MOST_THREADS = 256  # of one tree: the core starts no more
OF_OBLIQUE = ("ridge", "n_steps", "n_power_steps", "n_refinements", "min_side", "weights_per_row")


class KeptTrees(Protocol):
    """A store of finished trees, for fits that may be interrupted."""

    def get(self, tree: int) -> Tree | None:
        """The tree, or None if it has not been grown."""

    def put(self, tree: int, grown: Tree) -> None: ...


# What trees are grown on, how, and their numbers.
ForestToGrow: TypeAlias = tuple[TrainingData, GrowSettings, range]


def grow_trees(
    data: TrainingData,
    settings: GrowSettings,
    trees: range,
    n_jobs: int | None = None,
    verbose: int = 0,
    kept: KeptTrees | None = None,
) -> list[Tree]:
    """Grow these trees in parallel, on fewer threads if memory is short."""
    return grow_forests([(data, settings, trees)], n_jobs, verbose, kept)[0]


def grow_forests(
    forests: Sequence[ForestToGrow],
    n_jobs: int | None = None,
    verbose: int = 0,
    kept: KeptTrees | None = None,
) -> list[list[Tree]]:
    """Grow the trees of several forests side by side."""
    stop = _core.StopFlag()
    needed = max(tree_bytes(data, settings) for data, settings, _ in forests)
    n_threads = n_threads_that_fit(n_jobs, needed)
    # With fewer trees than threads, each tree gets several threads.
    of_each = max(1, n_threads // max(1, sum(len(trees) for _, _, trees in forests)))
    tasks = list[Callable[[], Tree]]()
    for data, settings, trees in forests:
        grower = tree_grower(data, settings, stop, of_each)
        tasks.extend(partial(get_or_grow, kept, grower, tree) for tree in trees)
    grown = iter(
        run_all(
            operator.call,
            tasks,
            n_jobs=n_jobs,
            most_threads=n_threads,
            description="growing trees",
            verbose=verbose,
            on_abort=stop.set,
        )
    )
    return [list(islice(grown, len(trees))) for _, _, trees in forests]


def tree_grower(
    data: TrainingData, settings: GrowSettings, stop: _core.StopFlag, n_threads: int = 1
) -> Callable[[int], Tree]:
    """A function that grows a tree by its number and can be sent to another process."""
    # A partial, because nested functions cannot be pickled.
    return partial(grow_one, data, settings, share_outputs(data, settings), stop, n_threads)


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
    n_threads: int,
    tree: int,
) -> Tree:
    """Grow tree number `tree` of a forest; `shared_outputs` is None if each tree has its own."""
    bag, weights = draw_tree(data, settings, shared_outputs, tree)
    root = Part(
        None, len(bag.rows), key(settings.seed, tree, Purpose.SPLITS), is_shared=bag.is_oblique
    )
    grow_part = partial(_grow_part, data, settings, bag, stop)
    return finished(grow_in_parts(grow_part, root, n_threads, stop.set), bag.rows, weights)


def draw_tree(
    data: TrainingData, settings: GrowSettings, shared_outputs: Labels | None, tree: int
) -> "tuple[TreeBag, np.ndarray | None]":
    """What the tree is grown on, and the weights of its rows as leaves keep them."""
    rows, weights = draw_bag(data, settings, tree)
    bag_weights = native_weights(rows, weights)
    if settings.is_oblique(tree):
        scale = oblique_scale(data)
        Z = oblique_outputs(data.labels, settings, tree, rows, scale)
        return TreeBag(rows, bag_weights, Z, True, scale), weights
    outputs = _outputs_of_bag(data, settings, shared_outputs, tree, rows)
    return TreeBag(rows, bag_weights, outputs), weights


def finished(tree: Tree, rows: np.ndarray, weights: np.ndarray | None) -> Tree:
    """A tree that was grown on a bag of these rows, whose members were positions in it."""
    assert tree.gains is not None
    return replace(
        tree,
        gains=_shares(tree.gains),
        members=rows[tree.members],
        weights=None if weights is None else weights[tree.members],
    )


@dataclass(frozen=True)
class TreeBag:
    """The bag of a tree, distinct and ascending rows, or a part of it."""

    rows: np.ndarray
    weights: np.ndarray
    outputs: Labels  # of these rows if dense, of all rows if sparse
    is_oblique: bool = False
    scale: float = 1.0  # outputs were divided by it

    @property
    def weight(self) -> float:
        return float(self.weights.sum())

    def take(self, positions: np.ndarray | None) -> "TreeBag":
        if positions is None:
            return self
        outputs = self.outputs
        if isinstance(outputs, np.ndarray):
            outputs = np.take(outputs, positions, axis=0)
        return replace(
            self, rows=self.rows[positions], weights=self.weights[positions], outputs=outputs
        )


def _outputs_of_bag(
    data: TrainingData,
    settings: GrowSettings,
    shared_outputs: Labels | None,
    tree: int,
    rows: np.ndarray,
) -> Labels:
    if shared_outputs is None:
        return sketch_bag(data.labels, settings, tree, rows)
    if isinstance(shared_outputs, SparseRows) or len(rows) == data.n_rows:
        return shared_outputs
    return np.take(shared_outputs, rows, axis=0)


def _grow_part(
    data: TrainingData,
    settings: GrowSettings,
    bag: TreeBag,
    stop: _core.StopFlag,
    part: Part,
    n_threads: int,
) -> tuple[Tree, np.ndarray]:
    of_part = bag.take(part.positions)
    params = native_params(data, settings, bag, part)
    params.n_threads = min(n_threads, MOST_THREADS)
    params.piece_rows = part.piece_rows
    if isinstance(params, _core.GrowParams):
        params.shared_rows = part.shared_rows
        params.binned_rows = encoding.BINNED_ROWS
    grow: Callable[..., _core._Grown | None] = _core.grow_oblique if bag.is_oblique else _core.grow
    X = data.oblique_rows if bag.is_oblique else data.X
    grown = grow(X, of_part.outputs, of_part.rows, of_part.weights, params, stop)
    if grown is None:
        raise StoppedError
    nodes, thresholds, gains, member_start, positions, below, depth, directions = grown
    feature_map = data.feature_map if bag.is_oblique else None
    tree = Tree(
        nodes=nodes,
        thresholds=thresholds if thresholds.size else None,
        gains=gains,
        member_start=member_start,
        members=positions,
        weights=None,
        depth=depth,
        directions=None if feature_map is None else Directions(*directions, feature_map),
    )
    return tree, below


def _shares(gains: np.ndarray) -> np.ndarray:
    """The share of each split in the total gain: fits float32 for any unit of the outputs."""
    gains = np.maximum(gains, 0)
    total = gains.sum()
    return (gains / total if 0 < total < np.inf else np.zeros(len(gains))).astype(np.float32)


def native_params(
    data: TrainingData, settings: GrowSettings, bag: TreeBag, part: Part
) -> _core.GrowParams | _core.ObliqueParams:
    limits: GrowSettings | ObliqueSettings = settings
    params: _core.GrowParams | _core.ObliqueParams
    if bag.is_oblique:
        assert settings.oblique is not None
        limits, params = settings.oblique, _core.ObliqueParams()
        for name in OF_OBLIQUE:
            setattr(params, name, getattr(limits, name))
        if limits.cuts_single_features:
            params.n_single_features = settings.max_features
    else:
        params = _core.GrowParams()
        params.max_features = settings.max_features
        params.random_cuts = settings.random_cuts
        params.impurity = _core.Impurity[data.native_criterion]
    if settings.max_depth is not None:
        params.max_depth = min(settings.max_depth - part.depth, MOST_ROWS)
    params.min_samples_split = min(limits.min_samples_split, MOST_ROWS)
    params.min_samples_leaf = min(limits.min_samples_leaf, MOST_ROWS)
    params.min_weight_leaf = settings.min_weight_fraction_leaf * bag.weight
    # Without a limit, splits without gain are made, as in scikit-learn: their children may gain.
    limit = settings.min_impurity_decrease
    gain = limit * bag.weight / settings.impurity_scale if limit > 0 else -np.inf
    params.min_gain = np.ldexp(gain, -2 * data.label_exponent) / bag.scale**2
    params.max_leaf_nodes = min(settings.max_leaf_nodes or 0, MOST_ROWS)
    params.parts = part.sizes_below
    params.key = part.key
    return params
