"""The input of growing: encoded rows, labels and settings."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sketchforest._trees.criterion import VARIANCE, Criterion
from sketchforest._trees.encoding import EncodedX
from sketchforest._trees.model import Labels
from sketchforest._trees.oblique_features import FeatureMap, ObliqueX
from sketchforest._trees.random import SHARED
from sketchforest._utils.typing import Matrix
from sketchforest.projection import Projection, TransformerProjection


@dataclass(frozen=True)
class TrainingData:
    """The data that all trees share."""

    X: EncodedX | None  # None if all trees are oblique
    labels: Labels  # centred if dense: scores do not change, and floats keep more digits
    label_exponent: int = 0  # labels are divided by 2**label_exponent, so that squares fit floats
    sample_weight: np.ndarray | None = None  # without zeros
    rows: np.ndarray | None = None  # that may be drawn; None means all
    draws_by_weight: bool = True  # False: rows are drawn uniformly and then weighted
    oblique_rows: ObliqueX | None = None  # X for oblique trees
    feature_map: FeatureMap | None = None
    # For class_weight="balanced_subsample": f(rows, counts) -> weights.
    balance: Callable[[np.ndarray, np.ndarray | None], np.ndarray] | None = None
    criterion: Criterion = VARIANCE
    native_criterion: str = VARIANCE.native_name

    @property
    def n_drawable(self) -> int:
        return self.n_rows if self.rows is None else len(self.rows)

    @property
    def n_rows(self) -> int:
        return self.labels.shape[0]


@dataclass(frozen=True)
class ObliqueSettings:
    """Settings of the oblique trees of a forest that differ from those of the other trees."""

    share: float  # of the trees
    projection: Projection | TransformerProjection | None
    n_components: int | None
    min_samples_split: int
    min_samples_leaf: int = 1
    ridge: float = 2.0
    n_steps: int = 2  # of conjugate gradients
    n_power_steps: int = 5
    n_refinements: int = 2  # of the direction, towards the one between the sides of a split
    min_side: float = 0.2  # minimum share of a node's rows on each side
    weights_per_row: float = 1.0  # maximum number that a node keeps
    # Whether nodes of dense X may split on one of `max_features` single features instead.
    cuts_single_features: bool = False

    def has(self, tree: int) -> bool:
        """Whether this tree is oblique. They are spread evenly over the forest."""
        return math.floor((tree + 1) * self.share + 1e-9) > math.floor(tree * self.share + 1e-9)


@dataclass(frozen=True)
class GrowSettings:
    """The settings of all trees."""

    max_features: int
    random_cuts: bool
    max_depth: int | None
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_leaf_nodes: int | None
    n_draws: int | None  # rows drawn for each tree; None means every row once
    projection: Projection | TransformerProjection | None
    n_components: int | None
    impurity_scale: float  # from the impurity summed over outputs to scikit-learn's
    seed: int
    with_replacement: bool = True  # how rows are drawn
    shared_projection: bool = False  # one P for all trees instead of one per tree
    oblique: ObliqueSettings | None = None  # None if no tree is oblique
    # Share of trees that leave rows out while the others see all rows, and the number of these
    # rows. They are the same for all such trees, so that each is scored by many trees.
    out_of_bag_trees: float | None = None
    out_of_bag_rows: int = 0
    first_tree: int = 0  # number of the first tree in the random streams
    max_bins: int | None = None

    def is_oblique(self, tree: int) -> bool:
        return self.oblique is not None and self.oblique.has(tree)

    @property
    def of_oblique_trees(self) -> "GrowSettings":
        """The settings with the projection of the oblique trees."""
        assert self.oblique is not None
        return replace(
            self, projection=self.oblique.projection, n_components=self.oblique.n_components
        )

    def projection_stream(self, tree: int) -> int:
        """The number of the random stream for the projection of a tree."""
        return SHARED if self.shared_projection else self.first_tree + tree

    def left_out_share(self, n_rows: int) -> float:
        """The mean share of rows that a tree does not see."""
        if self.out_of_bag_trees is not None:
            return self.out_of_bag_trees * self.out_of_bag_rows / n_rows
        if self.n_draws is None:
            return 0.0
        return (
            (1 - 1 / n_rows) ** self.n_draws if self.with_replacement else 1 - self.n_draws / n_rows
        )

    @property
    def leaves_rows_out(self) -> bool:
        """Whether some trees do not see some rows, which can then score them."""
        return self.n_draws is not None or self.out_of_bag_trees is not None


@dataclass(frozen=True)
class Problem:
    """The validated and encoded input of a fit."""

    X: Matrix
    labels: Labels
    data: TrainingData
    settings: GrowSettings


def rows_of_share(share: float | np.floating, n_drawable: int) -> int:
    """The number of rows in a share of them, at least one."""
    return max(1, int(share * n_drawable))
