"""What growing is given, as values: rows, labels, and how trees are grown."""

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
    """What is given to all trees."""

    X: EncodedX | None  # None: all trees are oblique
    labels: Labels  # dense ones are centred: scores do not change, and floats keep more digits
    label_exponent: int = 0  # labels are divided by 2 to the power of it: their squares are floats
    sample_weight: np.ndarray | None = None  # none of them zero
    rows: np.ndarray | None = None  # those that may be drawn; None: all
    draws_by_weight: bool = True  # else rows are drawn alike, and then weighted
    oblique_rows: ObliqueX | None = None  # X as oblique trees see it
    feature_map: FeatureMap | None = None
    # For class_weight="balanced_subsample": f(rows, how much each counts) -> their weights.
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
    """How the oblique trees of a forest are grown, where it is not as the others are."""

    share: float  # of the trees
    projection: Projection | TransformerProjection | None
    n_components: int | None
    min_samples_split: int
    min_samples_leaf: int = 1
    ridge: float = 2.0
    n_steps: int = 2  # of conjugate gradients
    n_power_steps: int = 5
    n_refinements: int = 2  # towards the direction between the sides of a cut
    min_side: float = 0.2  # share of a node's rows on each side of its cut
    weights_per_row: float = 1.0  # that a node keeps at most
    # Whether nodes of dense X may be cut at one of `max_features` single features instead.
    cuts_single_features: bool = False

    def has(self, tree: int) -> bool:
        """Whether the tree is one of them: they are spread evenly, so that any number of first
        trees has the same share."""
        return math.floor((tree + 1) * self.share + 1e-9) > math.floor(tree * self.share + 1e-9)


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
    impurity_scale: float  # from the summed impurity of the outputs to the user's
    seed: int
    with_replacement: bool = True  # how rows are drawn
    shared_projection: bool = False  # one P for all trees, not one for each
    oblique: ObliqueSettings | None = None  # None: no tree is
    # The share of trees that leave rows out, where the others see all, and how many: the same ones
    # in all of these trees, so that their scores are averages of many trees. None: none does.
    out_of_bag_trees: float | None = None
    out_of_bag_rows: int = 0
    first_tree: int = 0  # number of the first tree in the streams of the seed

    def is_oblique(self, tree: int) -> bool:
        return self.oblique is not None and self.oblique.has(tree)

    @property
    def of_oblique_trees(self) -> "GrowSettings":
        """With the projection of the oblique trees, where it is not that of the others."""
        assert self.oblique is not None
        return replace(
            self, projection=self.oblique.projection, n_components=self.oblique.n_components
        )

    def projection_stream(self, tree: int) -> int:
        """Whose random stream draws the projection of the tree."""
        return SHARED if self.shared_projection else self.first_tree + tree

    def left_out_share(self, n_rows: int) -> float:
        """Of the rows, that a tree does not see, on average."""
        if self.out_of_bag_trees is not None:
            return self.out_of_bag_trees * self.out_of_bag_rows / n_rows
        if self.n_draws is None:
            return 0.0
        return (
            (1 - 1 / n_rows) ** self.n_draws if self.with_replacement else 1 - self.n_draws / n_rows
        )

    @property
    def leaves_rows_out(self) -> bool:
        """Whether there are rows that a tree does not see, by which it can be scored."""
        return self.n_draws is not None or self.out_of_bag_trees is not None


@dataclass(frozen=True)
class Problem:
    """What is given to a fit: checked, and encoded for the core."""

    X: Matrix
    labels: Labels
    data: TrainingData
    settings: GrowSettings


def rows_of_share(share: float | np.floating, n_drawable: int) -> int:
    """How many rows a share of them is, of which there is at least one."""
    return max(1, int(share * n_drawable))
