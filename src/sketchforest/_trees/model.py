"""Trees and forests as flat arrays.

Leaves store training rows. Labels are stored once, and predictions average them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import starts_of
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest._trees.parallel import count_threads, run_blocks
from sketchforest._utils.lazy import locked_property

MISSING_LEFT = np.uint32(1 << 31)
# Of SparseRows, in model files and in pickles of earlier versions.
FORMER_FIELDS = {"row_start": "indptr", "columns": "indices", "values": "data"}


class SparseRows(OwnedArrays, _core.SparseRows):
    """A CSR matrix; `data` is None if all entries are 1."""

    FIELDS = ("indptr", "indices", "data", "n_columns")

    def __init__(self, **fields: Any) -> None:
        super().__init__(**{FORMER_FIELDS.get(name, name): v for name, v in fields.items()})

    @classmethod
    def from_csr(cls, matrix: sparse.csr_array) -> "SparseRows":
        """From a canonical CSR matrix or array without explicit zeros."""
        has_ones = bool((matrix.data == 1).all())
        return cls(
            indptr=matrix.indptr.astype(np.int64, copy=False),
            indices=matrix.indices.astype(np.int32, copy=False),
            data=None if has_ones else matrix.data.astype(np.float32, copy=False),
            n_columns=matrix.shape[1],
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_columns

    @locked_property
    def occurring(self) -> np.ndarray:
        """The columns that have entries, ascending."""
        is_there = np.zeros(self.n_columns, bool)
        is_there[self.indices] = True
        return np.flatnonzero(is_there)

    @locked_property
    def without_absent_columns(self) -> "SparseRows":
        """Only the columns that have entries, renumbered."""
        place = np.zeros(self.n_columns, np.int32)
        place[self.occurring] = np.arange(len(self.occurring), dtype=np.int32)
        indices = place[self.indices]
        return SparseRows(**self.fields() | {"indices": indices, "n_columns": len(self.occurring)})

    def to_csr(self, dtype: type[np.generic] = np.float32) -> sparse.csr_array:
        values = np.ones(len(self.indices), dtype) if self.data is None else self.data
        arrays = (values.astype(dtype, copy=False), self.indices, self.indptr)
        return sparse.csr_array(arrays, shape=self.shape)


Labels = SparseRows | np.ndarray


@dataclass(frozen=True)
class Directions:
    """Directions of oblique nodes: node i has the entries [start[i], start[i + 1]), by column.

    A weight is the upper half of a float32. Nodes without entries split on one feature.
    """

    start: np.ndarray
    columns: np.ndarray
    weights: np.ndarray
    feature_map: FeatureMap  # from X to the summed features

    @property
    def values(self) -> np.ndarray:
        """(n_entries,) float32 weights."""
        return (self.weights.astype(np.uint32) << 16).view(np.float32)


@dataclass(frozen=True)
class ForestDirections(Directions):
    """Directions of the nodes of all trees, which share a feature map."""

    is_oblique: np.ndarray  # (n_trees,) uint8

    def between(self, first: int, end: int) -> Directions:
        """The directions of the nodes of one tree."""
        start = self.start[first : end + 1]
        entries = slice(start[0], start[-1])
        columns, weights = self.columns[entries], self.weights[entries]
        return Directions((start - start[0]).astype(np.uint32), columns, weights, self.feature_map)


@dataclass(frozen=True)
class Tree:
    """One grown tree.

    A row of `nodes` is (feature, threshold, left child, right child), 32 bits each. The highest bit
    of the feature means that missing values go left, the threshold is a float32, and a negative
    child is leaf number -1 - child. `thresholds` has doubles, if float32 does not separate the
    training values.
    """

    nodes: np.ndarray
    thresholds: np.ndarray | None
    gains: np.ndarray | None  # None if left out of a compact file
    member_start: np.ndarray
    members: np.ndarray
    weights: np.ndarray | None
    depth: int
    directions: Directions | None = None  # for an oblique tree
    weight: float = 1.0  # among the trees of a forest, in averages

    @property
    def n_leaves(self) -> int:
        return len(self.member_start) - 1

    @property
    def member_weights(self) -> np.ndarray:
        """(n_members,) float64."""
        return np.ones(len(self.members)) if self.weights is None else self.weights.astype(float)

    @property
    def wide_thresholds(self) -> np.ndarray:
        """(n_nodes,) float64."""
        if self.thresholds is not None:
            return self.thresholds
        return np.ascontiguousarray(self.nodes[:, 1]).view(np.float32).astype(float)

    def rows_in_leaves(self, n_rows: int) -> sparse.csr_array:
        """(n_leaves, n_rows) weights of the training rows in each leaf."""
        entries = (self.member_weights, self.members, self.member_start.astype(np.int64))
        return sparse.csr_array(entries, shape=(self.n_leaves, n_rows))

    def leaf_means(self, Y: np.ndarray | sparse.csr_array) -> np.ndarray | sparse.csr_array:
        """(n_leaves, n_outputs) weighted means of training outputs.

        Sums are divided once, so the mean of equal values is exact.
        """
        rows = self.rows_in_leaves(Y.shape[0])
        sums, totals = rows @ Y, rows.sum(axis=1)
        if isinstance(sums, np.ndarray):
            return sums / totals[:, None]
        sums.data /= np.repeat(totals, np.diff(sums.indptr))
        return sums

    def leaf_medians(self, Y: np.ndarray) -> np.ndarray:
        """(n_leaves, n_outputs) weighted medians of training outputs."""
        start = self.member_start.astype(np.int64)
        return _core.weighted_medians(Y, self.members, self.member_weights, start)


class Forest(OwnedArrays, _core.Forest):
    """The trees one after the other, in one array per field of `Tree`.

    `leaf_start` and `tree_members` are the offsets of each tree in `member_start` and `members`.
    Anything but a valid forest of `n_features` features and `n_rows` training rows raises a
    ValueError. `n_threads` is the number of threads for this validation.
    """

    # Largest first: the order in which they are joined.
    OF_TREES: ClassVar = ("nodes", "members", "member_start", "gains", "thresholds", "weights")
    ARRAYS: ClassVar = (
        *(*OF_TREES, "depths", "node_start", "leaf_start", "tree_members"),
        "tree_weights",  # None: all trees have the same
    )
    FIELDS = (*ARRAYS, "n_features", "n_rows", "directions")

    def __init__(self, *, directions: "ForestDirections | None" = None, **fields: Any) -> None:
        if directions is not None:
            fields |= {
                "direction_start": directions.start,
                "direction_columns": directions.columns,
                "direction_weights": directions.weights,
                "is_oblique": directions.is_oblique,
            }
        super().__init__(**fields)
        self._feature_map = None if directions is None else directions.feature_map

    @classmethod
    def from_trees(
        cls, trees: Sequence[Tree], n_features: int, n_rows: int, n_jobs: int | None = 1
    ) -> "Forest":
        # The system hands out new memory slowly, but to several threads at once.
        joined = run_blocks(partial(_joined, trees), cls.OF_TREES, n_jobs=n_jobs)
        weights = np.array([tree.weight for tree in trees])
        return cls(
            **dict(zip(cls.OF_TREES, joined, strict=True)),
            depths=np.array([tree.depth for tree in trees], np.int32),
            node_start=starts_of([len(tree.nodes) for tree in trees]),
            leaf_start=starts_of([len(tree.member_start) for tree in trees]),
            tree_members=starts_of([len(tree.members) for tree in trees]),
            tree_weights=None if (weights == 1).all() else weights,
            directions=_joined_directions(trees),
            n_features=n_features,
            n_rows=n_rows,
            n_threads=count_threads(n_jobs),
        )

    @locked_property
    def directions(self) -> "ForestDirections | None":
        """Directions of the nodes of all trees; None if no tree is oblique."""
        if self._feature_map is None:
            return None
        return ForestDirections(
            self.direction_start,
            self.direction_columns,
            self.direction_weights,
            self._feature_map,
            self.is_oblique,
        )

    @property
    def n_leaves(self) -> int:
        return len(self.member_start) - self.n_trees

    @property
    def first_leaves(self) -> np.ndarray:
        """(n_trees,) index of the first leaf of each tree among all leaves of the forest."""
        return self.leaf_start[:-1] - np.arange(self.n_trees)

    def leaf_bounds(self) -> np.ndarray:
        """(n_leaves + 1,) bounds in `members` of each leaf of each tree."""
        bounds = self.member_start + np.repeat(self.tree_members[:-1], np.diff(self.leaf_start))
        # The last leaf of a tree ends where the first leaf of the next tree begins.
        return np.delete(bounds, self.leaf_start[1:-1] - 1)

    def in_bag(self) -> sparse.csr_array:
        """(n_rows, n_trees) with an entry if the tree was grown on the row."""
        tree_of_member = np.repeat(np.arange(self.n_trees), np.diff(self.tree_members))
        entries = (np.ones(len(self.members), bool), (self.members, tree_of_member))
        return sparse.csr_array(entries, shape=(self.n_rows, self.n_trees))

    def tree(self, index: int) -> Tree:
        """One tree, as views of the forest's arrays."""
        nodes = slice(*self.node_start[index : index + 2].tolist())
        members = slice(*self.tree_members[index : index + 2])
        directions = None
        if self.directions is not None and self.directions.is_oblique[index]:
            directions = self.directions.between(nodes.start, nodes.stop)
        return Tree(
            nodes=self.nodes[nodes],
            thresholds=None if self.thresholds is None else self.thresholds[nodes],
            gains=None if self.gains is None else self.gains[nodes],
            member_start=self.member_start[slice(*self.leaf_start[index : index + 2])],
            members=self.members[members],
            weights=None if self.weights is None else self.weights[members],
            depth=int(self.depths[index]),
            directions=directions,
            weight=1.0 if self.tree_weights is None else float(self.tree_weights[index]),
        )

    def with_weights(self, tree_weights: np.ndarray | None) -> "Forest":
        """The same trees, with these weights in averages; None if all have the same."""
        if tree_weights is self.tree_weights:
            return self
        return Forest(**self.fields() | {"tree_weights": tree_weights})

    def only(self, index: int) -> "Forest":
        """A forest of one tree, as views of the arrays of this one."""
        return Forest.from_trees([self.tree(index)], self.n_features, self.n_rows)

    def trees(self) -> list[Tree]:
        return [self.tree(index) for index in range(self.n_trees)]

    @locked_property
    def used_features(self) -> tuple[np.ndarray, np.ndarray]:
        """The features in splits, ascending, and their importances.

        An importance is the share of a feature in the decrease of impurity, averaged over trees.
        The features of an oblique node share its decrease in proportion to their squared weights.
        """
        if self.gains is None:
            raise ValueError(
                "feature_importances_ needs the gains of the splits, which a model saved with "
                "compact=True lacks. Save it without compact=True."
            )
        used, importances = _core.importances(self, self.gains)
        total = importances.sum()
        return used, importances / total if total > 0 else importances


def _joined(trees: Sequence[Tree], name: str) -> np.ndarray | None:
    """The arrays of all trees, one after the other; a single tree's array is not copied."""
    arrays = [getattr(tree, name) for tree in trees]
    lacks_it = [array is None for array in arrays]
    if all(lacks_it) or (name == "gains" and any(lacks_it)):
        return None
    if name == "thresholds":
        arrays = [tree.wide_thresholds for tree in trees]
    if name == "weights":  # uint8, or float64 if some tree has float64
        arrays = [
            np.ones(len(tree.members), np.uint8) if tree.weights is None else tree.weights
            for tree in trees
        ]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _joined_directions(trees: Sequence[Tree]) -> ForestDirections | None:
    oblique = [tree.directions for tree in trees if tree.directions is not None]
    if not oblique:
        return None
    sizes = [
        np.zeros(len(tree.nodes), np.int64)
        if tree.directions is None
        else np.diff(tree.directions.start)
        for tree in trees
    ]
    return ForestDirections(
        start=starts_of(np.concatenate(sizes)),
        columns=np.concatenate([directions.columns for directions in oblique]),
        weights=np.concatenate([directions.weights for directions in oblique]),
        feature_map=oblique[0].feature_map,
        is_oblique=np.array([tree.directions is not None for tree in trees], np.uint8),
    )
