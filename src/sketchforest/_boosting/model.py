"""The fitted model: a forest whose leaves hold values instead of training rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from sketchforest._boosting.scores import Output
from sketchforest._trees.contributions import Contributions, contributions
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Forest, Labels, SparseRows, Tree
from sketchforest._trees.predict import (
    Floating,
    ForestPredictor,
    Kept,
    TreesOfRows,
    find_leaves,
)
from sketchforest._trees.targets import Targets
from sketchforest._utils.typing import Matrix
from sketchforest.metrics import top_k

# Scores are computed for this many cells at a time.
BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class BoostedPredictor:
    """Predictions from the sums of leaf values over all trees."""

    trees: ForestPredictor  # averages leaf values; each leaf has a row of them
    output: Output

    @classmethod
    def of(cls, forest: Forest, values: np.ndarray, output: Output) -> "BoostedPredictor":
        return cls(ForestPredictor(forest, values, may_tabulate=False), output)

    @property
    def leaf_values(self) -> np.ndarray:
        """(n_leaves, n_outputs) of all trees, one after the other."""
        values = self.trees.labels
        assert isinstance(values, np.ndarray)
        return values

    def sums(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        """(n_rows, n_outputs) sums of leaf values."""
        return self.trees.average(X, n_jobs, np.float64) * self.trees.forest.n_trees

    def scores(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        """(n_rows, n_outputs) before the link function: log-odds, for example."""
        return self.output.scores(self.sums(X, n_jobs))

    def average(
        self, X: Matrix, n_jobs: int | None, dtype: Floating, exclude: TreesOfRows = None
    ) -> np.ndarray:
        out = np.empty((X.shape[0], self.trees.labels.shape[1]), dtype)
        for rows, block in self._blocks(X, n_jobs, exclude):
            out[rows] = block
        return out

    def average_sparse(
        self, X: Matrix, n_jobs: int | None, kept: Kept, exclude: TreesOfRows = None
    ) -> sparse.csr_array:
        found = []
        for _, predictions in self._blocks(X, n_jobs, exclude):
            block = predictions.astype(kept.dtype)
            if kept.k is None:
                found.append(kept.of(sparse.csr_array(block)))
                continue
            labels, best = top_k(block, kept.k)
            order = np.argsort(labels, axis=1)
            labels, best = (np.take_along_axis(each, order, axis=1) for each in (labels, best))
            start = np.arange(0, labels.size + 1, kept.k)
            rows = sparse.csr_array((best.ravel(), labels.ravel(), start), shape=block.shape)
            found.append(kept.of(rows))
        return sparse.csr_array(sparse.vstack(found, format="csr"))

    def largest(self, X: Matrix, n_jobs: int | None) -> np.ndarray:
        return np.concatenate([block.argmax(axis=1) for _, block in self._blocks(X, n_jobs)])

    def best(self, X: Matrix, n_jobs: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        found = [top_k(block, k) for _, block in self._blocks(X, n_jobs)]
        labels, scores = map(np.concatenate, zip(*found, strict=True))
        return labels.astype(np.int32), scores.astype(np.float32)

    def contributions(self, x: Matrix, outputs: np.ndarray) -> Contributions:
        """Contributions for the single row x to the scores of outputs, before the link function."""
        found = contributions(self.trees, x, outputs)
        n_trees = self.trees.forest.n_trees
        unit, start = n_trees * self.output.scale[outputs], self.output.baseline[outputs]
        return Contributions(
            start + unit * found.base,
            start + unit * found.scores,
            found.features,
            unit * found.added,
        )

    def staged(self, X: Matrix) -> Iterator[np.ndarray]:
        """Predictions after each tree."""
        forest, values = self.trees.forest, self.leaf_values
        leaves = forest.first_leaves + find_leaves(forest, X)
        sums = np.zeros((X.shape[0], values.shape[1]))
        for of_tree in leaves.T:
            sums += values[of_tree]
            yield self.output.predictions(sums)

    def _blocks(
        self, X: Matrix, n_jobs: int | None, exclude: TreesOfRows = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        assert exclude is None  # boosted trees depend on each other
        n_rows, size = X.shape[0], max(1, BLOCK_CELLS // self.trees.labels.shape[1])
        rows_of_X = X if isinstance(X, np.ndarray) else X.tocsr()
        for first in range(0, max(n_rows, 1), size):
            rows = slice(first, min(first + size, n_rows))
            yield rows, self.output.predictions(self.sums(rows_of_X[rows], n_jobs))


def _no_scores() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class BoostedFitted(Fitted):
    """A fitted boosting. `targets` have no rows: leaves hold values."""

    stops_early: bool = False
    train_scores: np.ndarray = field(default_factory=_no_scores)
    validation_scores: np.ndarray = field(default_factory=_no_scores)

    @property
    def n_rows(self) -> int:
        return 0 if self.row_hashes is None else len(self.row_hashes)

    @property
    def boosted(self) -> BoostedPredictor:
        assert isinstance(self.predictor, BoostedPredictor)
        return self.predictor

    @property
    def forest_predictor(self) -> ForestPredictor:
        return self.boosted.trees


def without_rows(targets: Targets) -> Targets:
    """The form of the targets, without those of any row."""
    return replace(
        targets,
        labels=no_rows(targets.labels.shape[1], is_sparse=isinstance(targets.labels, SparseRows)),
    )


def no_rows(n_outputs: int, *, is_sparse: bool) -> Labels:
    if not is_sparse:
        return np.empty((0, n_outputs))
    return SparseRows.from_csr(sparse.csr_array((0, n_outputs), dtype=np.float32))


def join_trees(
    trees: Sequence[tuple[Tree, np.ndarray]], n_features: int, n_jobs: int | None
) -> tuple[Forest, np.ndarray]:
    """All trees as a forest whose training rows are the rows of a table of leaf values."""
    values = np.concatenate([values for _, values in trees]).astype(np.float64)
    first, counted = 0, []
    for tree, of_leaves in trees:
        members = np.arange(first, first + len(of_leaves), dtype=np.int32)
        counted.append(replace(tree, members=members))
        first += len(of_leaves)
    return Forest.from_trees(counted, n_features, len(values), n_jobs), values
