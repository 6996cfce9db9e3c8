"""Predicting: find the leaf of each row in each tree, then average the training rows in them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._encoding import float_type
from sketchforest._model import Forest, Labels, SparseRows
from sketchforest._parallel import run_all

# Rows times trees of one piece of work: some milliseconds, so that Ctrl-C is heard, and a table of
# leaves that stays in the cache.
BLOCK_CELLS = 1 << 17
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


@dataclass(frozen=True)
class Source:
    """What predictions average: leaves, and a row of values for each of their members."""

    forest: Forest
    leaves: Forest | LeafTable
    values: Labels


def prediction_source(forest: Forest, labels: Labels) -> Source:
    """The labels themselves, or a table of leaf means where leaves are big or labels few."""
    n_leaves = len(forest.member_start) - forest.n_trees
    one_output = isinstance(labels, np.ndarray) and labels.shape[1] == 1
    if len(forest.members) < BIG_LEAF * n_leaves and not one_output:
        return Source(forest, forest, labels)
    n_train = labels.shape[0]
    shares = forest.leaf_members
    shares = sparse.csr_array((shares.data, shares.indices, shares.indptr), (n_leaves, n_train))
    leaves_per_tree = np.diff(forest.leaf_start) - 1
    table = LeafTable(
        n_trees=forest.n_trees,
        leaf_start=forest.leaf_start,
        member_start=np.concatenate([np.arange(n + 1, dtype=np.uint32) for n in leaves_per_tree]),
        tree_members=np.append(0, np.cumsum(leaves_per_tree)).astype(np.int64),
        members=np.arange(n_leaves, dtype=np.int32),
    )
    if isinstance(labels, np.ndarray):
        return Source(forest, table, np.ascontiguousarray(shares @ labels))
    means = sparse.csr_array(shares @ labels.to_csr(np.float64))
    means.sort_indices()
    return Source(forest, table, SparseRows.from_csr(means))


def identity_source(forest: Forest, n_train: int) -> Source:
    """Averages the training rows' own numbers: the weight of each row in a prediction."""
    rows = np.arange(n_train, dtype=np.int32)
    one_each = np.arange(n_train + 1, dtype=np.int64)
    return Source(forest, forest, SparseRows(one_each, rows, None, n_train))


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
    return np.concatenate(_by_blocks(lambda block, leaves: leaves, forest, X, n_jobs))


def predict_dense(
    source: Source,
    X: Any,
    n_jobs: int | None,
    dtype: type[np.floating],
    forget: sparse.csr_array | None = None,
) -> np.ndarray:
    """(n_rows, n_outputs) averages."""
    shape = (X.shape[0], source.values.shape[1])
    check_fits_memory(shape, dtype)
    out = np.empty(shape, dtype)

    def fill(block: slice, leaves: np.ndarray) -> None:
        _core.average(source.leaves, source.values, leaves, out[block])

    _by_blocks(fill, source.forest, X, n_jobs, forget)
    return out


def predict_csr(
    source: Source,
    X: Any,
    n_jobs: int | None,
    dtype: type[np.floating],
    k: int | None = None,
    forget: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """(n_rows, n_outputs) averages that are not zero, or the k largest of each row."""

    def average(block: slice, leaves: np.ndarray) -> sparse.csr_array:
        data, columns, row_start = _core.average_csr(source.leaves, source.values, leaves, k or 0)
        shape = (leaves.shape[0], source.values.shape[1])
        return sparse.csr_array((data.astype(dtype, copy=False), columns, row_start), shape=shape)

    return sparse.vstack(_by_blocks(average, source.forest, X, n_jobs, forget), format="csr")


def predict_best(
    source: Source, X: Any, n_jobs: int | None, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k best outputs of each row and their averages, both (n_rows, k), best first."""

    def average(block: slice, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _core.average_best(source.leaves, source.values, leaves, k)

    labels, scores = zip(*_by_blocks(average, source.forest, X, n_jobs), strict=True)
    return np.concatenate(labels), np.concatenate(scores)


def in_bag(forest: Forest, n_train: int) -> sparse.csr_array:
    """(n_train, n_trees) with an entry where the tree was grown on the row."""
    tree_of_member = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_members))
    entries = (np.ones(len(forest.members), bool), (forest.members, tree_of_member))
    return sparse.csr_array(entries, shape=(n_train, forest.n_trees))


def check_fits_memory(shape: tuple[int, int], dtype: type[np.floating]) -> None:
    needed = shape[0] * shape[1] * np.dtype(dtype).itemsize
    available = _physical_memory()
    if available and needed > available:
        raise MemoryError(
            f"X must have few enough rows for a dense result; got {shape[0]} rows and {shape[1]} "
            f"outputs, which take {needed / 2**30:.1f} GiB of this machine's "
            f"{available / 2**30:.1f} GiB. Use predict_sparse or predict_topk."
        )


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0  # not known on this platform


def _by_blocks(
    work: Callable[[slice, np.ndarray], Any],
    forest: Forest,
    X: Any,
    n_jobs: int | None,
    forget: sparse.csr_array | None = None,
) -> list[Any]:
    """work(rows, their leaves) for blocks of rows. Trees that `forget` marks for a row are left out
    of its average."""
    n_rows = X.shape[0]
    if sparse.issparse(X):
        X = X.tocsr()
    size = max(1, min(1024, BLOCK_CELLS // max(1, forest.n_trees)))
    blocks = [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
    on_block = partial(_work_on_block, work, forest, X, forget)
    return run_all(on_block, blocks, n_jobs=n_jobs, shared_memory=True)


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
