"""Oblique trees grown level by level, several at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sketchforest import _core
from sketchforest._trees.levels.bits import child_keys
from sketchforest._trees.levels.nodes import Array, Nodes, owners, starts
from sketchforest._trees.levels.split import Bags, Kernels, LevelSplitter, Splits

# More rows of a level, or more of the vectors that its nodes have, fill no GPU better.
MOST_ROWS = 1 << 22
MOST_NUMBERS = 1 << 27
# Vectors of the width of X that a node has at a time.
VECTORS = 16
# Numbers of a row besides its outputs, of which there are four copies at most.
NUMBERS_OF_ROW = 64


@dataclass(frozen=True)
class Room:
    """How much a level is allowed to take of the memory of the device."""

    SHARE: ClassVar = 0.45  # of the memory beside X: for rows, and for nodes

    most_rows: int = MOST_ROWS
    most_nodes: int = MOST_NUMBERS

    @classmethod
    def of(cls, n_bytes: int, n_outputs: int, n_features: int) -> "Room":
        """The room in this many bytes."""
        half = max(0, int(cls.SHARE * n_bytes))
        return cls(
            min(MOST_ROWS, half // cls.bytes_of(1, n_outputs)),
            max(1, min(MOST_NUMBERS, half // (4 * VECTORS)) // n_features),
        )

    @staticmethod
    def bytes_of(n_rows: int, n_outputs: int) -> int:
        return n_rows * 4 * (4 * n_outputs + NUMBERS_OF_ROW)


@dataclass(frozen=True)
class BagOutputs:
    """What one tree is grown on: its rows, with their weights and outputs."""

    rows: np.ndarray
    weights: np.ndarray
    outputs: np.ndarray
    params: _core.ObliqueParams  # those of all trees, but for key, least weight and least gain


@dataclass(frozen=True)
class Grown:
    """A tree in the form that `_core.grow_oblique` returns."""

    nodes: np.ndarray
    gains: np.ndarray
    member_start: np.ndarray
    members: np.ndarray  # positions in the bag
    depth: int
    directions: tuple[np.ndarray, np.ndarray, np.ndarray]


def grow_level_wise(
    kernels: Kernels,
    X: Array,
    n_features: int,
    bags: Sequence[BagOutputs],
    room: Room | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[Grown]:
    """A tree for each bag, of rows of X on the device. `check` is called before each level, and
    raises where growth is to end."""
    return _Growth(kernels, X, n_features, bags, room or Room()).grow(check)


@dataclass(frozen=True)
class _Level:
    """Nodes that wait to be split, by tree. `members` are places among the rows of all bags."""

    depth: int
    members: Array
    size: np.ndarray
    tree: np.ndarray
    key: np.ndarray
    slot: np.ndarray  # 2 parent + side, in the numbers of its tree; below 0: a root

    def take(self, wanted: np.ndarray, members: Array) -> "_Level":
        fields = (self.size[wanted], self.tree[wanted], self.key[wanted], self.slot[wanted])
        return _Level(self.depth, members, *fields)


class _Pieces:
    """The arrays of a tree so far, in the order in which its nodes were made."""

    def __init__(self) -> None:
        self.n_nodes = self.n_leaves = self.depth = 0
        self.slots: list[np.ndarray] = []  # where nodes and leaves belong
        self.references: list[np.ndarray] = []  # and what stands there: see `Tree.nodes`
        self.features: list[np.ndarray] = []
        self.thresholds: list[np.ndarray] = []
        self.gains: list[np.ndarray] = []
        self.sizes: list[np.ndarray] = []  # of directions
        self.columns: list[np.ndarray] = []
        self.weights: list[np.ndarray] = []

    def place(self, slot: np.ndarray, reference: np.ndarray, depth: int) -> None:
        self.slots.append(slot)
        self.references.append(reference)
        self.depth = max(self.depth, depth) if len(slot) else self.depth

    def to_tree(self, members: np.ndarray, sizes: np.ndarray) -> Grown:
        """The finished tree, given the members of its leaves and their numbers."""
        nodes = np.zeros((self.n_nodes, 4), np.int32)
        nodes[:, 0] = _joined(self.features, np.int32)
        nodes[:, 1] = _joined(self.thresholds, np.float32).view(np.int32)
        slots, references = _joined(self.slots, np.int64), _joined(self.references, np.int64)
        below = slots >= 0
        nodes[slots[below] // 2, 2 + slots[below] % 2] = references[below]
        return Grown(
            nodes=nodes,
            gains=_joined(self.gains, np.float64),
            member_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32),
            members=members,
            depth=self.depth,
            directions=(
                np.concatenate([[0], np.cumsum(_joined(self.sizes, np.int64))]).astype(np.uint32),
                _joined(self.columns, np.int32),
                _joined(self.weights, np.uint16),
            ),
        )


class _Growth:
    def __init__(
        self,
        kernels: Kernels,
        X: Array,
        n_features: int,
        bags: Sequence[BagOutputs],
        room: Room,
    ) -> None:
        self._kernels, self._xp, self._room = kernels, kernels.xp, room
        self._params = bags[0].params
        self._trees = [_Pieces() for _ in bags]
        self._bag_start = np.concatenate([[0], np.cumsum([len(bag.rows) for bag in bags])])
        self._key = np.array([bag.params.key for bag in bags], np.uint64)
        self._min_weight = np.array([bag.params.min_weight_leaf for bag in bags])
        self._min_gain = np.array([bag.params.min_gain for bag in bags])
        on_device = Bags(
            x_row=kernels.upload(np.concatenate([bag.rows for bag in bags]).astype(np.int32)),
            z=kernels.upload(np.concatenate([bag.outputs for bag in bags])),
            weight=kernels.upload(np.concatenate([bag.weights for bag in bags]).astype(np.float32)),
        )
        self._splitter = LevelSplitter(kernels, X, n_features, on_device, self._params)
        self._leaf = self._xp.zeros(self._bag_start[-1], np.int32)  # of each row

    def grow(self, check: Callable[[], None]) -> list[Grown]:
        n_trees = len(self._trees)
        level = _Level(
            depth=0,
            members=self._xp.arange(self._bag_start[-1], dtype=np.int32),
            size=np.diff(self._bag_start).astype(np.int32),
            tree=np.arange(n_trees),
            key=self._key,
            slot=np.full(n_trees, -1),
        )
        while len(level.size):
            check()
            level = self._make_leaves(level, self._must_be_leaves(level))
            if len(level.size):
                level = self._split(level, check)
        bounds = zip(self._bag_start[:-1], self._bag_start[1:], strict=True)
        return [
            tree.to_tree(*self._leaves_of(tree, begin, end))
            for tree, (begin, end) in zip(self._trees, bounds, strict=True)
        ]

    def _leaves_of(self, tree: _Pieces, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        leaf = self._leaf[begin:end]
        members = self._xp.argsort(leaf, kind="stable").astype(np.int32)
        sizes = self._xp.bincount(leaf, minlength=tree.n_leaves)
        return self._kernels.download(members), self._kernels.download(sizes)

    def _must_be_leaves(self, level: _Level) -> np.ndarray:
        params = self._params
        too_few = (level.size < max(params.min_samples_split, 2)) | (
            level.size // 2 < params.min_samples_leaf
        )
        return too_few | (level.depth >= params.max_depth)

    def _make_leaves(self, level: _Level, is_leaf: np.ndarray) -> _Level:
        """Make leaves of some nodes; returns the other nodes."""
        if not is_leaf.any():
            return level
        number = np.zeros(len(is_leaf), np.int32)
        for tree, nodes in self._by_tree(level.tree, is_leaf):
            number[nodes] = tree.n_leaves + np.arange(len(nodes))
            tree.n_leaves += len(nodes)
            tree.place(level.slot[nodes], -1 - number[nodes].astype(np.int64), level.depth)
        xp, upload = self._xp, self._kernels.upload
        node = owners(xp, starts(xp, upload(level.size)))
        ends = upload(is_leaf)[node]
        self._leaf[level.members[ends]] = upload(number)[node[ends]]
        return level.take(~is_leaf, level.members[~ends])

    def _split(self, level: _Level, check: Callable[[], None]) -> _Level:
        """The children of the nodes; those that cannot be split become leaves."""
        is_split, n_left, members = [], [], []
        for first, last, rows in self._slabs(level.size):
            check()
            tree = level.tree[first:last]
            splits = self._splitter.split(
                level.members[rows],
                Nodes.of_sizes(self._xp, self._kernels.upload(level.size[first:last])),
                self._kernels.upload(level.key[first:last]),
                self._kernels.upload(self._min_weight[tree]),
            )
            was_split = self._make_nodes(splits, tree, level.slot[first:last], level.depth)
            is_split.append(was_split)
            n_left.append(self._kernels.download(splits.n_left))
            members.append(splits.members)
        parted = self._xp.concatenate(members)
        done = np.concatenate(is_split)
        inner = self._make_leaves(level.take(np.full(len(done), True), parted), ~done)
        lefts = np.concatenate(n_left)[done]
        first_node = self._first_nodes(inner.tree)
        return _Level(
            depth=level.depth + 1,
            members=inner.members,
            size=np.column_stack([lefts, inner.size - lefts]).ravel().astype(np.int32),
            tree=np.repeat(inner.tree, 2),
            key=child_keys(inner.key),
            slot=(2 * first_node[:, None] + np.arange(2)).ravel(),
        )

    def _first_nodes(self, tree: np.ndarray) -> np.ndarray:
        """The numbers of the nodes that were made last, in their trees."""
        number = np.zeros(len(tree), np.int64)
        for pieces, nodes in self._by_tree(tree, np.full(len(tree), True)):
            number[nodes] = pieces.n_nodes - len(nodes) + np.arange(len(nodes))
        return number

    def _make_nodes(
        self, splits: Splits, tree: np.ndarray, slot: np.ndarray, depth: int
    ) -> np.ndarray:
        """Which of them are split, with the gain that is asked for."""
        download = self._kernels.download
        gain = download(splits.gain)
        is_split = download(splits.is_split) & (gain >= self._min_gain[tree])
        kept = self._xp.nonzero(splits.is_kept & self._kernels.upload(is_split)[:, None])
        columns = download(kept[1].astype(np.int32))
        weights = download(splits.weights[kept])
        size = np.zeros(len(tree), np.int64)
        size[is_split] = np.bincount(download(kept[0]), minlength=len(tree))[is_split]
        start = np.concatenate([[0], np.cumsum(size)])
        feature, threshold = download(splits.feature), download(splits.threshold)
        for pieces, nodes in self._by_tree(tree, is_split):
            pieces.place(slot[nodes], pieces.n_nodes + np.arange(len(nodes)), depth)
            pieces.n_nodes += len(nodes)
            pieces.features.append(feature[nodes])
            pieces.thresholds.append(threshold[nodes])
            pieces.gains.append(gain[nodes])
            pieces.sizes.append(size[nodes])
            entries = slice(start[nodes[0]], start[nodes[-1] + 1])
            pieces.columns.append(columns[entries])
            pieces.weights.append(weights[entries])
        return np.asarray(is_split)

    def _by_tree(
        self, tree: np.ndarray, wanted: np.ndarray
    ) -> Iterator[tuple[_Pieces, np.ndarray]]:
        """Each tree with its wanted nodes, where it has some."""
        nodes = np.flatnonzero(wanted)
        bounds = np.searchsorted(tree[nodes], np.arange(len(self._trees) + 1))
        for number, pieces in enumerate(self._trees):
            if bounds[number] < bounds[number + 1]:
                yield pieces, nodes[bounds[number] : bounds[number + 1]]

    def _slabs(self, size: np.ndarray) -> Iterator[tuple[int, int, slice]]:
        """Nodes [first, last), and their rows, as many as are worked on at a time."""
        start = np.concatenate([[0], np.cumsum(size, dtype=np.int64)])
        first = 0
        while first < len(size):
            last = int(np.searchsorted(start, start[first] + self._room.most_rows, "right")) - 1
            last = min(max(last, first + 1), first + self._room.most_nodes, len(size))
            yield first, last, slice(int(start[first]), int(start[last]))
            first = last


def _joined(arrays: list[np.ndarray], dtype: type[np.generic]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)
