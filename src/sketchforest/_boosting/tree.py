"""One boosted tree: grown on sketched gradients, its leaves fitted to all outputs."""

from dataclasses import dataclass

import numpy as np

from sketchforest import _core
from sketchforest._boosting.binning import Binned
from sketchforest._boosting.scores import BEFORE_GRADIENTS
from sketchforest._boosting.settings import BoostSettings
from sketchforest._trees.model import MISSING_LEFT, Tree
from sketchforest._trees.parallel import count_threads
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.random import Purpose, key

LARGEST = int(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class Grown:
    """A tree whose leaves have one member each, which stands for their values."""

    tree: Tree
    leaf_of: np.ndarray  # of all rows
    rows: np.ndarray  # that it was grown on, leaf after leaf
    leaf_start: np.ndarray


def grow_tree(
    X: Binned,
    Z: np.ndarray,
    rows: np.ndarray,
    growing: GrowSettings,
    boosting: BoostSettings,
    number: int,
    n_jobs: int | None,
) -> Grown:
    params = _core.BoostParams()
    params.max_depth = min(growing.max_depth or LARGEST, LARGEST)
    params.max_leaf_nodes = min(growing.max_leaf_nodes or 0, LARGEST)
    params.min_samples_leaf = min(growing.min_samples_leaf, LARGEST // 2)
    params.min_gain = 0.0
    params.max_features = growing.max_features
    params.l2 = boosting.l2_regularization
    params.key = key(growing.seed, number, Purpose.SPLITS)
    cuts, gains, leaf_of, by_leaf, leaf_start, depth = _core.grow_boosted(
        X.X, Z, rows, params, count_threads(n_jobs)
    )
    feature, place, missing_left, left, right = cuts.T
    narrow, wide = X.thresholds(feature, place)
    nodes = np.empty((len(cuts), 4), np.int32)
    nodes[:, 0] = (feature.astype(np.uint32) | MISSING_LEFT * missing_left.astype(np.uint32)).view(
        np.int32
    )
    nodes[:, 1] = narrow.view(np.int32)
    nodes[:, 2], nodes[:, 3] = left, right
    n_leaves = len(leaf_start) - 1
    tree = Tree(
        nodes=nodes,
        thresholds=None if X.separates(feature, place, narrow) else wide,
        gains=gains.astype(np.float32),
        member_start=np.arange(n_leaves + 1, dtype=np.uint32),
        members=np.arange(n_leaves, dtype=np.int32),
        weights=np.diff(leaf_start).astype(np.float64),
        depth=depth,
    )
    return Grown(tree, leaf_of, by_leaf, leaf_start)


def fit_leaves(
    gradients: np.ndarray,
    hessians: np.ndarray,
    Z: np.ndarray,
    grown: Grown,
    boosting: BoostSettings,
) -> np.ndarray:
    """(n_leaves, n_outputs) values: Newton steps of the loss, shrunk by the learning rate.

    With a linear fit, the outputs share the step of the leaf in the sketch, and each output
    multiplies it by a factor of its own.
    """
    l2 = boosting.l2_regularization
    if boosting.leaf_fit == "outputs":
        steps = _divided(-gradients, hessians + l2)
    else:
        of_row = Z[grown.rows]
        sums = np.add.reduceat(of_row[:, : BEFORE_GRADIENTS + 1], grown.leaf_start[:-1], axis=0)
        shared = _divided(-sums[:, BEFORE_GRADIENTS:], sums[:, :1] + l2)
        factors = _divided(-(shared * gradients).sum(axis=0), (shared**2 * hessians).sum(axis=0))
        steps = shared * factors
    values: np.ndarray = (boosting.learning_rate * steps).astype(np.float32)
    return values


def _divided(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """0 where nothing is left to fit: the second derivatives of a saturated loss vanish."""
    is_flat = denominator < 1e-12
    return np.where(is_flat, 0.0, numerator / np.where(is_flat, 1.0, denominator))
