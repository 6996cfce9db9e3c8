"""Prediction: find the leaf of each row in each tree, then average the training rows in them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import csr_arrays, float_type
from sketchforest._trees.label_weights import balanced_label_weights, reweighted
from sketchforest._trees.memory import check_fits
from sketchforest._trees.model import Forest, Labels, SparseRows, Tree
from sketchforest._trees.oblique_features import ObliqueX
from sketchforest._trees.parallel import count_threads, run_blocks
from sketchforest._trees.targets import Targets
from sketchforest._utils.lazy import locked_property
from sketchforest._utils.typing import Matrix

Result = TypeVar("Result")

# Leaves to find and numbers to add per task: a few milliseconds, so that Ctrl-C is noticed, and few
# enough for the leaves to stay in the cache.
SMALL_BLOCK = 128
BLOCK_CELLS = 1 << 17
BLOCK_ADDITIONS = 1 << 23
# If leaves have this many training rows on average, a table of leaf means is smaller and faster to
# average than the rows themselves.
BIG_LEAF = 4
MOST_TABULATED = np.iinfo(np.int32).max  # leaves; their indices have 32 bits


Floating: TypeAlias = type[np.floating]
TreesOfRows: TypeAlias = sparse.csr_array | None  # (n_rows, n_trees), an entry per pair


class Kept(NamedTuple):
    """Which averages of a row to keep: all non-zeros, the k largest, or those above a threshold.

    There is one threshold for all outputs, or one per output. With `at_least_one`, the largest
    average of a row is kept even if it is below.
    """

    dtype: Floating
    k: int | None = None
    above: np.ndarray | np.floating | None = None
    at_least_one: bool = False

    def of(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Apply the thresholds to rows, in place; the k largest are chosen already."""
        if self.above is None:
            return rows
        is_kept = rows.data > (
            self.above[rows.indices] if isinstance(self.above, np.ndarray) else self.above
        )
        if self.at_least_one:
            is_kept[first_largest(rows)] = True
        rows.data[~is_kept] = 0
        rows.eliminate_zeros()
        return rows


class Predictor(Protocol):
    """Averages of the labels of training rows over the trees of a fitted model, on threads.

    X has been validated.
    """

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        """(n_rows, n_outputs) dense averages.

        The trees that `exclude` (n_rows, n_trees) marks for a row are left out of its average.
        """
        ...

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        """(n_rows, n_outputs) averages with those that are not kept removed."""
        ...

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        """(n_rows,) index of the largest average; the first of several."""
        ...

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best outputs per row and their averages, both (n_rows, k), best first."""
        ...


@dataclass(frozen=True, eq=False)
class ForestPredictor:
    """Averages the labels of the training rows in the leaves, or the medians of the leaves."""

    forest: Forest
    labels: Labels
    may_tabulate: bool = True  # leaf means, if that is faster
    takes_medians: bool = False
    label_weights: np.ndarray | None = None  # (n_labels,) by which averages are reweighted

    @classmethod
    def of(cls, forest: Forest, targets: Targets) -> "ForestPredictor":
        """A predictor whose leaves predict what minimizes their impurity."""
        weights = balanced_label_weights(targets.class_labels) if targets.is_balanced else None
        takes_medians = targets.criterion.predicts_medians
        return cls(forest, targets.labels, takes_medians=takes_medians, label_weights=weights)

    @classmethod
    def of_training_rows(cls, forest: Forest) -> "ForestPredictor":
        """A predictor of the weight of each training row in a prediction."""
        n_train = forest.n_rows
        rows = np.arange(n_train, dtype=np.int32)
        one_each = np.arange(n_train + 1, dtype=np.int64)
        return cls(
            forest,
            SparseRows(indptr=one_each, indices=rows, n_columns=n_train),
            may_tabulate=False,
        )

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        out = np.empty((X.shape[0], self.labels.shape[1]), dtype)
        self.average_into(out, X, n_jobs, exclude)
        return out

    def average_into(
        self, out: np.ndarray, X: Matrix, n_jobs: int | None, exclude: TreesOfRows = None
    ) -> None:
        def fill(block: slice, leaves: np.ndarray) -> None:
            _core.average(*self._to_average(leaves), out[block])

        self._by_blocks(fill, X, n_jobs, exclude=exclude)

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        def average(block: slice, leaves: np.ndarray) -> sparse.csr_array:
            data, indices, indptr = _core.average_csr(*self._to_average(leaves), kept.k or 0)
            arrays = (data.astype(kept.dtype, copy=False), indices, indptr)
            return kept.of(sparse.csr_array(arrays, shape=(len(leaves), self.labels.shape[1])))

        return sparse.vstack(self._by_blocks(average, X, n_jobs, exclude=exclude), format="csr")

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        """argmax of the averages, which are computed for one block of rows at a time."""
        n_outputs = self.labels.shape[1]

        def find_largest(block: slice, leaves: np.ndarray) -> np.ndarray:
            averages = np.empty((len(leaves), n_outputs))
            _core.average(*self._to_average(leaves), averages)
            return averages.argmax(axis=1)

        return np.concatenate(self._by_blocks(find_largest, X, n_jobs, n_outputs))

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._by_blocks(
            lambda _, leaves: _core.average_best(*self._to_average(leaves), k), X, n_jobs
        )
        labels, scores = map(np.concatenate, zip(*found, strict=True))
        return labels, scores

    def _to_average(self, leaves: np.ndarray) -> tuple[_core.Leaves, Labels, np.ndarray]:
        """What the core averages: the leaves; or reweighted averages, as leaves of a single tree
        that each hold one row."""
        if self.label_weights is None:
            return self.leaves, self.values, leaves
        data, indices, indptr = _core.average_csr(self.leaves, self.values, leaves, 0)
        data = reweighted(data, self.label_weights[indices]).astype(np.float32)
        n_rows, n_labels = len(leaves), self.labels.shape[1]
        rows = np.arange(n_rows, dtype=np.int32)
        one_tree = _core.Leaves(
            leaf_start=np.array([0, n_rows + 1]),
            member_start=np.arange(n_rows + 1, dtype=np.uint32),
            tree_members=np.array([0, n_rows]),
            members=rows,
            weights=None,
            n_rows=n_rows,
        )
        reweighted_rows = SparseRows(indptr=indptr, indices=indices, data=data, n_columns=n_labels)
        return one_tree, reweighted_rows, rows[:, None]

    def _by_blocks(
        self,
        work: Callable[[slice, np.ndarray], Result],
        X: Matrix,
        n_jobs: int | None,
        more_additions: int = 0,
        exclude: TreesOfRows = None,
    ) -> list[Result]:
        if isinstance(self.values, SparseRows):  # each thread has a sum and a mark per output
            n_threads, n_outputs = min(X.shape[0], count_threads(n_jobs)), self.values.shape[1]
            what = f"The sums of {n_outputs} outputs on {n_threads} threads take"
            how_to_fix = "Use n_jobs=1, or leave out labels that no row has."
            check_fits(9 * n_outputs * n_threads, what, how_to_fix)
        additions = self._additions_per_row + more_additions
        return by_blocks(work, self.forest, X, n_jobs, additions, exclude)

    @locked_property
    def _leaves_and_values(self) -> tuple[_core.Leaves, Labels]:
        """The labels themselves, or a table of leaf means if leaves are big or labels few."""
        # Oblique trees have leaves of a few rows, whose sparse labels are fast to add up.
        is_soon_added = self.forest.directions is not None and isinstance(self.labels, SparseRows)
        big_leaf = 4 * BIG_LEAF if is_soon_added else BIG_LEAF
        has_big_leaves = len(self.forest.members) >= big_leaf * self.forest.n_leaves
        has_one_output = isinstance(self.labels, np.ndarray) and self.labels.shape[1] == 1
        is_countable = self.forest.n_leaves <= MOST_TABULATED
        is_smaller = is_countable and (has_big_leaves or has_one_output)
        if not self.takes_medians and not (self.may_tabulate and is_smaller):
            return self.forest, self.labels
        values = _leaf_values(self.forest, self.labels, self.takes_medians)
        return _leaf_table(self.forest), values

    @property
    def leaves(self) -> _core.Leaves:
        return self._leaves_and_values[0]

    @property
    def values(self) -> Labels:
        """One row of values per member of the leaves."""
        return self._leaves_and_values[1]

    @locked_property
    def _additions_per_row(self) -> int:
        """About how many additions average the leaves of one row."""
        width: float = self.values.shape[1]
        if isinstance(self.values, SparseRows):
            width = len(self.values.indices) / self.values.n_rows
        # Rows fall into large leaves more often than into small ones.
        rows_per_leaf = 1.0
        if self.leaves is self.forest:
            sizes = np.diff(self.forest.leaf_bounds()).astype(float)
            rows_per_leaf = (sizes**2).sum() / sizes.sum()
        return 1 + int(self.forest.n_trees * rows_per_leaf * width)

    def __reduce__(self) -> tuple[type["ForestPredictor"], tuple[Any, ...]]:
        # Derived values are recomputed on demand.
        return ForestPredictor, tuple(getattr(self, each.name) for each in fields(self))


def first_largest(rows: sparse.csr_array) -> np.ndarray:
    """Positions in `data` of the largest entry of each non-empty row; the first of equal ones."""
    sizes = np.diff(rows.indptr)
    filled = np.flatnonzero(sizes)
    if not len(filled):
        return filled
    largest = np.maximum.reduceat(rows.data, rows.indptr[filled])
    places = np.flatnonzero(rows.data == np.repeat(largest, sizes[filled]))
    row = np.searchsorted(rows.indptr, places, side="right")
    return places[np.unique(row, return_index=True)[1]]


def find_leaves(forest: Forest, X: Matrix) -> np.ndarray:
    """(n_rows, n_trees) index, within its tree, of the leaf of each row."""
    seen = seen_by_oblique_trees(forest, X)
    if isinstance(X, np.ndarray):
        return _core.leaves_dense(forest, X.astype(float_type(X.dtype), copy=False), seen)
    return _core.leaves_sparse(forest, *csr_arrays(X), X.shape[1], seen)


def seen_by_oblique_trees(forest: Forest, X: Matrix) -> ObliqueX | None:
    """X for the oblique trees; None if there are none."""
    return None if forest.directions is None else forest.directions.feature_map.transform(X)


def leaves_of(forest: Forest, X: Matrix, n_jobs: int | None) -> np.ndarray:
    """`find_leaves` on threads."""
    return np.concatenate(by_blocks(lambda block, leaves: leaves, forest, X, n_jobs))


def by_blocks(
    work: Callable[[slice, np.ndarray], Result],
    forest: Forest,
    X: Matrix,
    n_jobs: int | None,
    additions_per_row: int = 1,
    exclude: TreesOfRows = None,
) -> list[Result]:
    """Call work(rows, leaves) for blocks of rows, on threads.

    `leaves` are those of the rows in all trees, or -1 in the trees that `exclude` marks.
    """
    n_rows = X.shape[0]
    rows_of_X = X if isinstance(X, np.ndarray) else X.tocsr()

    def work_on(block: slice) -> Result:
        leaves = find_leaves(forest, rows_of_X[block])
        if exclude is not None:
            leaves[exclude[block].nonzero()] = -1
        return work(block, leaves)

    limits = BLOCK_CELLS // forest.n_trees, BLOCK_ADDITIONS // additions_per_row
    return run_blocks(work_on, row_blocks(n_rows, n_jobs, *limits), n_jobs=n_jobs)


def row_blocks(n_rows: int, n_jobs: int | None, *limits: int) -> list[slice]:
    """Blocks of at most so many rows.

    There are enough blocks for all threads to finish at about the same time, but none are so small
    that trees are fetched for a few rows.
    """
    even = max(SMALL_BLOCK, -(-n_rows // (4 * count_threads(n_jobs))))
    size = max(1, min(1024, even, *limits))
    return [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]


def check_fits_memory(
    shape: tuple[int, int], dtype: type[np.floating], how_to_fix: str, name: str = "X"
) -> None:
    """Raise if a dense result is larger than the memory of the machine or container."""
    what = (
        f"{name} must have few enough rows for a dense result; got {shape[0]} rows and "
        f"{shape[1]} outputs, which take"
    )
    check_fits(shape[0] * shape[1] * np.dtype(dtype).itemsize, what, how_to_fix)


def _leaf_table(forest: Forest) -> _core.Leaves:
    """The same leaves, each with one row of its own."""
    first_places = np.repeat(forest.leaf_start[:-1], np.diff(forest.leaf_start))
    return _core.Leaves(
        leaf_start=forest.leaf_start,
        member_start=(np.arange(len(first_places)) - first_places).astype(np.uint32),
        tree_members=np.append(forest.first_leaves, forest.n_leaves),
        members=np.arange(forest.n_leaves, dtype=np.int32),
        weights=None,
        tree_weights=forest.tree_weights,
        n_rows=forest.n_leaves,
    )


def _leaf_values(forest: Forest, labels: Labels, takes_medians: bool) -> Labels:
    """(leaves of all trees, n_outputs) weighted means, or medians, of the labels."""
    Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64)
    if takes_medians and not isinstance(Y, np.ndarray):
        Y = Y.toarray()
    # Tree by tree, with a chance for Ctrl-C after each.
    of_leaves = Tree.leaf_medians if takes_medians else Tree.leaf_means
    values = [of_leaves(forest.tree(index), Y) for index in range(forest.n_trees)]
    if isinstance(labels, np.ndarray):
        return np.ascontiguousarray(np.concatenate(values))
    joined = sparse.vstack(list(map(sparse.csr_array, values)), format="csr")
    joined.sort_indices()
    return SparseRows.from_csr(joined)
