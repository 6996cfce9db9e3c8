"""Predicting: find the leaf of each row in each tree, then average the training rows in them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import float_type
from sketchforest._trees.model import Forest, Labels, SparseRows, Tree
from sketchforest._trees.parallel import run_blocks

# Leaves to find, and numbers to add, in one piece of work: some milliseconds, so that Ctrl-C is
# heard, and a table of leaves that stays in the cache.
SMALL_BLOCK = 128
BLOCK_CELLS = 1 << 17
BLOCK_ADDITIONS = 1 << 23
# With leaves of this many training rows on average, a table of leaf means is smaller and faster
# to average than the rows themselves.
BIG_LEAF = 4


@dataclass(frozen=True)
class LeafTable:
    """Leaves that hold one "training row" each: their mean. Read by the core like a forest."""

    n_trees: int
    leaf_start: np.ndarray
    member_start: np.ndarray
    tree_members: np.ndarray
    members: np.ndarray
    weights: None = None


@dataclass(frozen=True, eq=False)
class Source:
    """What predictions average: the labels of the training rows in the leaves."""

    forest: Forest
    labels: Labels
    has_table: bool = True  # of leaf means, where that pays

    @cached_property
    def _leaves_and_values(self) -> tuple[Forest | LeafTable, Labels]:
        """The labels themselves, or a table of leaf means where leaves are big or labels few."""
        has_big_leaves = len(self.forest.members) >= BIG_LEAF * self.n_leaves
        has_one_output = isinstance(self.labels, np.ndarray) and self.labels.shape[1] == 1
        if self.has_table and (has_big_leaves or has_one_output):
            return _leaf_table(self.forest), _leaf_means(self.forest, self.labels)
        return self.forest, self.labels

    @property
    def n_leaves(self) -> int:
        return len(self.forest.member_start) - self.forest.n_trees

    @property
    def leaves(self) -> Forest | LeafTable:
        return self._leaves_and_values[0]

    @property
    def values(self) -> Labels:
        """A row of values for each member of the leaves."""
        return self._leaves_and_values[1]

    @cached_property
    def additions_per_row(self) -> int:
        """About what it takes to average the leaves that one row falls into."""
        width: float = self.values.shape[1]
        if isinstance(self.values, SparseRows):
            width = len(self.values.columns) / self.values.n_rows
        return 1 + int(self.forest.n_trees * _rows_per_leaf(self.leaves) * width)

    def __reduce__(self) -> Any:
        return Source, (self.forest, self.labels, self.has_table)  # the table is made when needed


def _rows_per_leaf(leaves: Forest | LeafTable) -> float:
    """Mean size of the leaf that a row falls into: it falls into the large ones more often."""
    sizes = np.diff(leaves.member_start.astype(np.int64))
    sizes[leaves.leaf_start[1:-1] - 1] = 0  # from the last leaf of a tree to the next tree
    return float((sizes.astype(float) ** 2).sum() / sizes.sum())


def _leaf_table(forest: Forest) -> LeafTable:
    leaves_per_tree = np.diff(forest.leaf_start) - 1
    return LeafTable(
        n_trees=forest.n_trees,
        leaf_start=forest.leaf_start,
        member_start=np.concatenate([np.arange(n + 1, dtype=np.uint32) for n in leaves_per_tree]),
        tree_members=np.append(0, np.cumsum(leaves_per_tree)).astype(np.int64),
        members=np.arange(leaves_per_tree.sum(), dtype=np.int32),
    )


def _leaf_means(forest: Forest, labels: Labels) -> Labels:
    """(all leaves of all trees, n_outputs) weighted means of the labels."""
    Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64)
    # Tree by tree, so that Ctrl-C is heard in between.
    means = [_leaf_shares(tree, Y.shape[0]) @ Y for tree in map(forest.tree, range(forest.n_trees))]
    if isinstance(labels, np.ndarray):
        return np.ascontiguousarray(np.concatenate(means))
    joined = sparse.csr_array(sparse.vstack(means, format="csr"))
    joined.sort_indices()
    return SparseRows.from_csr(joined)


def _leaf_shares(tree: Tree, n_train: int) -> sparse.csr_array:
    """(leaves, training rows) share of each row in each leaf of the tree."""
    weights = np.ones(len(tree.members)) if tree.weights is None else tree.weights.astype(float)
    shares = sparse.csr_array(
        (weights, tree.members, tree.member_start.astype(np.int64)), shape=(tree.n_leaves, n_train)
    )
    shares.data /= np.repeat(shares.sum(axis=1), np.diff(shares.indptr))
    return shares


def identity_source(forest: Forest, n_train: int) -> Source:
    """Averages the training rows themselves: the weight of each in a prediction."""
    rows = np.arange(n_train, dtype=np.int32)
    one_each = np.arange(n_train + 1, dtype=np.int64)
    return Source(forest, SparseRows(one_each, rows, None, n_train), has_table=False)


def find_leaves(forest: Forest, X: Any) -> np.ndarray:
    """(n_rows, n_trees) number of the leaf, within its tree, that each row falls into."""
    dtype = float_type(X.dtype)
    if not sparse.issparse(X):
        return _core.leaves_dense(forest, X.astype(dtype, copy=False))
    return _core.leaves_sparse(
        forest,
        X.data.astype(dtype, copy=False),
        X.indices.astype(np.int32, copy=False),
        X.indptr.astype(np.int64, copy=False),
        X.shape[1],
    )


def apply(forest: Forest, X: Any, n_jobs: int | None) -> np.ndarray:
    """(n_rows, n_trees) number of the leaf, within its tree, that each row falls into."""
    return np.concatenate(_by_blocks(lambda block, leaves: leaves, forest, X, n_jobs))


def predict_dense(
    source: Source,
    X: Any,
    n_jobs: int | None,
    dtype: type[np.floating],
    forget: sparse.csr_array | None = None,
) -> np.ndarray:
    """(n_rows, n_outputs) averages."""
    out = np.empty((X.shape[0], source.values.shape[1]), dtype)

    def fill(block: slice, leaves: np.ndarray) -> None:
        _core.average(source.leaves, source.values, leaves, out[block])

    _by_blocks(fill, source.forest, X, n_jobs, source.additions_per_row, forget)
    return out


def predict_largest(source: Source, X: Any, n_jobs: int | None) -> np.ndarray:
    """(n_rows,) output of the largest average, the first of several; as argmax of the averages,
    which are never held for more than a block of rows."""

    def largest(block: slice, leaves: np.ndarray) -> np.ndarray:
        averages = np.empty((len(leaves), source.values.shape[1]))
        _core.average(source.leaves, source.values, leaves, averages)
        return averages.argmax(axis=1)

    additions = source.additions_per_row + source.values.shape[1]
    return np.concatenate(_by_blocks(largest, source.forest, X, n_jobs, additions))


def predict_csr(
    source: Source,
    X: Any,
    n_jobs: int | None,
    dtype: type[np.floating],
    k: int | None = None,
    above: Any = None,
    forget: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """(n_rows, n_outputs) averages that are not zero, or the k largest of each row, or those above
    a threshold, one for all outputs or one for each."""

    def average(block: slice, leaves: np.ndarray) -> sparse.csr_array:
        data, columns, row_start = _core.average_csr(source.leaves, source.values, leaves, k or 0)
        shape = (leaves.shape[0], source.values.shape[1])
        rows = sparse.csr_array((data.astype(dtype, copy=False), columns, row_start), shape=shape)
        if above is not None:
            rows.data[rows.data <= (above[columns] if np.ndim(above) else above)] = 0
            rows.eliminate_zeros()
        return rows

    blocks = _by_blocks(average, source.forest, X, n_jobs, source.additions_per_row, forget)
    return sparse.vstack(blocks, format="csr")


def predict_best(
    source: Source, X: Any, n_jobs: int | None, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k best outputs of each row and their averages, both (n_rows, k), best first."""

    def average(block: slice, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _core.average_best(source.leaves, source.values, leaves, k)

    blocks = _by_blocks(average, source.forest, X, n_jobs, source.additions_per_row)
    labels, scores = zip(*blocks, strict=True)
    return np.concatenate(labels), np.concatenate(scores)


def in_bag(forest: Forest, n_train: int) -> sparse.csr_array:
    """(n_train, n_trees) with an entry where the tree was grown on the row."""
    tree_of_member = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_members))
    entries = (np.ones(len(forest.members), bool), (forest.members, tree_of_member))
    return sparse.csr_array(entries, shape=(n_train, forest.n_trees))


def check_fits_memory(shape: tuple[int, int], dtype: type[np.floating], way_out: str) -> None:
    """Refuses a dense result that is larger than the memory of the machine, or of the container."""
    needed = shape[0] * shape[1] * np.dtype(dtype).itemsize
    memory = _memory_size()
    if memory and needed > memory:
        raise MemoryError(
            f"X must have few enough rows for a dense result; got {shape[0]} rows and {shape[1]} "
            f"outputs, which take {needed / 2**30:.1f} GiB of the {memory / 2**30:.1f} GiB that "
            f"there are. {way_out}"
        )


def _memory_size() -> int:
    """In bytes; 0 where it is not known."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return size
    return min(size, int(limit)) if limit.isdigit() else size


def _by_blocks(
    work: Callable[[slice, np.ndarray], Any],
    forest: Forest,
    X: Any,
    n_jobs: int | None,
    additions_per_row: int = 1,
    forget: sparse.csr_array | None = None,
) -> list[Any]:
    """work(rows, their leaves) for blocks of rows. Trees that `forget` marks for a row are left out
    of its average."""
    n_rows = X.shape[0]
    if sparse.issparse(X):
        X = X.tocsr()
    # Enough blocks for all threads to end at about the same time, but not so small that a tree is
    # fetched for a few rows.
    even = max(SMALL_BLOCK, -(-n_rows // (4 * effective_n_jobs(n_jobs))))
    limits = BLOCK_CELLS // forest.n_trees, BLOCK_ADDITIONS // additions_per_row
    size = max(1, min(1024, even, *limits))
    blocks = [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
    on_block = partial(_work_on_block, work, forest, X, forget)
    return run_blocks(on_block, blocks, n_jobs=n_jobs)


def _work_on_block(
    work: Callable[[slice, np.ndarray], Any],
    forest: Forest,
    X: Any,
    forget: sparse.csr_array | None,
    block: slice,
) -> Any:
    leaves = find_leaves(forest, X[block])
    if forget is not None:
        leaves[forget[block].nonzero()] = -1
    return work(block, leaves)
