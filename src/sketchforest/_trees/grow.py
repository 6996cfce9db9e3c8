"""Growing one tree: draw its rows, sketch its outputs, grow.

`grow_one` depends on its arguments alone, so that a tree can be grown anywhere, in any order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import EncodedX
from sketchforest._trees.model import Labels, SparseRows, Tree
from sketchforest._trees.parallel import run_all
from sketchforest._trees.random import SHARED, Purpose, generator, key
from sketchforest._typing import Matrix
from sketchforest.projection import (
    Projection,
    TransformerProjection,
    matrix,
    project_labels,
    sketch,
)

# A sparse projection of up to this many cells is written out: whole rows of it are added faster
# than single entries.
DENSE_PROJECTION_CELLS = 1 << 24
# No tree has more; limits beyond it, which fit into no 32 bits, mean the same.
MOST_ROWS = np.iinfo(np.int32).max


@dataclass(frozen=True)
class TrainingData:
    """What is given to all trees."""

    X: EncodedX
    labels: Labels  # dense ones are centred: scores do not change, and floats keep more digits
    sample_weight: np.ndarray | None = None  # none of them zero
    rows: np.ndarray | None = None  # those that may be drawn; None: all
    # For class_weight="balanced_subsample": f(rows, how often each was drawn) -> their weights.
    balance: Callable[[np.ndarray, np.ndarray | None], np.ndarray] | None = None

    @property
    def n_drawable(self) -> int:
        return self.X.n_rows if self.rows is None else len(self.rows)


@dataclass(frozen=True)
class GrowSettings:
    """How all trees are grown."""

    max_features: int
    random_cuts: bool
    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_leaf_nodes: int | None
    n_draws: int | None  # rows drawn for each tree; None: every row once
    projection: Projection | TransformerProjection | None
    n_components: int | None
    impurity_scale: float  # from the summed variance of the outputs to the user's impurity
    seed: int
    with_replacement: bool = True  # how rows are drawn
    shared_projection: bool = False  # one P for all trees, not one for each

    def projection_stream(self, tree: int) -> int:
        """Whose random stream draws the projection of the tree."""
        return SHARED if self.shared_projection else tree

    @property
    def leaves_rows_out(self) -> bool:
        """Whether there are rows that a tree does not see, by which it can be scored."""
        return self.n_draws is not None


@dataclass(frozen=True)
class Problem:
    """What is given to a fit: checked, and encoded for the core."""

    X: Matrix
    labels: Labels
    data: TrainingData
    settings: GrowSettings


class GrowthStoppedError(Exception):
    """Growth was stopped from outside."""


def grow_trees(
    data: TrainingData,
    settings: GrowSettings,
    trees: range,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Tree]:
    """The trees of these numbers, side by side on threads."""
    stop = _core.StopFlag()
    # A partial, since a function inside a function is not sent to other processes.
    return run_all(
        partial(grow_one, data, settings, share_outputs(data, settings), stop),
        trees,
        n_jobs=n_jobs,
        description="growing trees",
        verbose=verbose,
        on_abort=stop.set,
    )


def grow_one(
    data: TrainingData,
    settings: GrowSettings,
    shared_outputs: Labels | None,
    stop: _core.StopFlag,
    tree: int,
) -> Tree:
    """Tree number `tree` of a forest. `shared_outputs` is None where each tree has its own."""
    rows, weights = _draw_bag(data, settings, tree)
    outputs: Labels
    if shared_outputs is None:
        outputs = _sketch_bag(data.labels, settings, tree, rows)
    elif isinstance(shared_outputs, SparseRows):
        outputs = shared_outputs
    else:
        whole = len(rows) == data.X.n_rows
        outputs = shared_outputs if whole else np.take(shared_outputs, rows, axis=0)
    bag_weights = np.ones(len(rows)) if weights is None else _near_one(weights)
    params = _native_params(settings, tree, bag_weights.sum())
    grown = _core.grow(data.X, outputs, rows, bag_weights, params, stop)
    if grown is None:
        raise GrowthStoppedError
    nodes, thresholds, gains, member_start, members, depth = grown
    return Tree(
        nodes=nodes,
        thresholds=thresholds if thresholds.size else None,
        gains=_shares(gains),
        member_start=member_start,
        members=rows[members],
        weights=None if weights is None else weights[members],
        depth=depth,
    )


def rows_of_share(share: float | np.floating, n_drawable: int) -> int:
    """How many rows a share of them is, of which there is at least one."""
    return max(1, int(share * n_drawable))


def share_outputs(data: TrainingData, settings: GrowSettings) -> Labels | None:
    """The outputs that all trees are grown on: one Z, or the labels; None if each has its own."""
    projection, labels = settings.projection, data.labels
    if projection is None:
        return _original_outputs(labels)
    if not settings.shared_projection and getattr(projection, "is_random", True):
        return None
    rng = generator(settings.seed, SHARED, Purpose.PROJECTION)
    return _as_outputs(sketch(projection, _as_matrix(labels), settings.n_components, rng))


def draw_matrix(
    labels: Labels, settings: GrowSettings, address: int
) -> np.ndarray | sparse.csr_array:
    """The matrix P of one tree, or of all (SHARED), drawn from its stream."""
    rng = generator(settings.seed, address, Purpose.PROJECTION)
    assert settings.n_components is not None  # there is a projection
    looks_at_labels = getattr(settings.projection, "fits_labels", False)
    Y = _as_matrix(labels) if looks_at_labels else labels  # else only its shape is asked for
    return matrix(settings.projection, Y, settings.n_components, rng)


def _draw_bag(
    data: TrainingData, settings: GrowSettings, tree: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Distinct training rows, ascending, and their weights: None, counts in bytes, or doubles."""
    rows = np.arange(data.X.n_rows, dtype=np.int32) if data.rows is None else data.rows
    counts = None
    if settings.n_draws is not None:
        rng = generator(settings.seed, tree, Purpose.BOOTSTRAP)
        if settings.with_replacement:
            drawn = np.bincount(rng.integers(0, len(rows), settings.n_draws), minlength=len(rows))
            in_bag = np.flatnonzero(drawn)
            rows, counts = rows[in_bag], drawn[in_bag]
        else:
            rows = np.sort(rng.choice(rows, settings.n_draws, replace=False, shuffle=False))
    weights: np.ndarray | None = counts
    if data.sample_weight is not None:
        weights = data.sample_weight[rows] * (1 if counts is None else counts)
    if data.balance is not None:
        weights = (1.0 if weights is None else weights) * data.balance(rows, counts)
    if weights is counts and counts is not None:
        weights = counts.astype(np.uint8 if counts.max() < 256 else np.float64)
    return rows, weights


def _sketch_bag(labels: Labels, settings: GrowSettings, tree: int, rows: np.ndarray) -> np.ndarray:
    """Z of the rows: only what the tree will look at is projected."""
    if isinstance(settings.projection, TransformerProjection):
        rng = generator(settings.seed, tree, Purpose.PROJECTION)
        Z = settings.projection.fit_transform(_as_matrix(labels), rng)
        return _as_outputs(Z[rows])
    P = draw_matrix(labels, settings, tree)
    if isinstance(labels, np.ndarray):
        return _as_outputs(project_labels(labels[rows], P))
    if not isinstance(P, np.ndarray):
        if P.shape[0] * P.shape[1] > DENSE_PROJECTION_CELLS:
            return _as_outputs(project_labels(labels.to_csr()[rows], P))
        P = P.toarray()
    return _core.project(labels, rows, _padded(P))


def _original_outputs(labels: Labels) -> Labels:
    if isinstance(labels, np.ndarray):
        return _as_outputs(labels)
    # A vector of eight outputs is added in the time of one or two single ones.
    labels_per_row = len(labels.columns) / max(labels.n_rows, 1)
    if padded_width(labels.n_columns) <= 8 * max(1.0, labels_per_row):
        return _as_outputs(labels.to_csr().toarray())
    return labels


def _as_matrix(labels: Labels) -> np.ndarray | sparse.csr_array:
    return labels if isinstance(labels, np.ndarray) else labels.to_csr()


def _as_outputs(Z: Matrix) -> np.ndarray:
    # Sparse, it is made dense: n_samples x n_components, not x n_labels.
    return _padded(Z if isinstance(Z, np.ndarray) else Z.toarray())


def padded_width(n_components: int) -> int:
    """Components a row with padding: what the vector kernels take."""
    if n_components == 1:
        return 1
    return 4 if n_components <= 4 else -(-n_components // 8) * 8


def _padded(Z: np.ndarray) -> np.ndarray:
    width = padded_width(Z.shape[1])
    if width == Z.shape[1]:
        return np.ascontiguousarray(Z)
    padded = np.zeros((Z.shape[0], width), Z.dtype)
    padded[:, : Z.shape[1]] = Z
    return padded


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
    return params
