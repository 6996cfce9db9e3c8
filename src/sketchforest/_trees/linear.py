"""A linear model of all outputs, beside the trees: ridge regression on the features as oblique
trees see them.

Products with rows are added up feature by feature, so a row gets the same score whatever other
rows come with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, sub
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from sketchforest._trees.model import Labels, SparseRows
from sketchforest._trees.oblique_features import FeatureMap, ObliqueX
from sketchforest._trees.parallel import count_threads, run_and_reduce, run_blocks
from sketchforest._trees.random import SHARED, Purpose, generator
from sketchforest._utils.blas import one_blas_thread
from sketchforest._utils.typing import Matrix

# L2 penalty, relative to the mean squared norm of the centred rows. A third or three times as much
# was no better on 17 of 20 sets.
PENALTY = 1.0
# Up to so many features are used as they are. Of more, their leading directions: 512 are as good
# on text as all, and their sums of products take a second.
MOST_FEATURES, MOST_DIRECTIONS = 2048, 512
N_PRODUCTS = 2  # with X and its transpose, to find the directions
# Weights take at most 32 MB, so that those of a row are added up in some milliseconds.
MOST_WEIGHTS = 1 << 23
# Sums are added up over so many rows at a time, or over so many blocks of rows of a fold.
BLOCK_ROWS, MOST_BLOCKS = 2048, 16
SCORED_ROWS = 256  # at a time: their scores stay in the cache
# Sums over blocks of rows that are held at a time, at most. Each thread may hold two.
MOST_SUM_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores ``features @ basis @ weights * scale + intercept``. Without a basis, weights apply to
    the features directly."""

    feature_map: FeatureMap
    weights: np.ndarray  # (n_features or n_directions, n_outputs) float32
    scale: np.ndarray  # (n_outputs,) float64: of weights, that fit into floats
    intercept: np.ndarray  # (n_outputs,) float64
    basis: np.ndarray | None = None  # (n_features, n_directions) float32

    def scores(self, X: Matrix) -> np.ndarray:
        """(n_rows, n_outputs) float64."""
        rows = as_rows(self.feature_map.transform(X))
        if self.basis is not None:
            rows = _all_entries(rows @ self.basis)
        return (rows @ self.weights) * self.scale + self.intercept

    def contributions(self, x: Matrix, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The features that the one row x has, ascending, and what each adds to the scores of k
        outputs: (n_present, k) float64."""
        row = as_rows(self.feature_map.transform(x))
        is_present = row.data != 0
        features, values = row.indices[is_present], row.data[is_present]
        weights = self.weights[:, outputs] * self.scale[outputs]
        if self.basis is None:
            weights = weights[features]
        else:
            weights = self.basis[features].astype(np.float64) @ weights
        return features, values[:, None] * weights


def as_rows(seen: ObliqueX) -> sparse.csr_array:
    """X as oblique trees see it, with an entry for each feature if it is dense."""
    if seen.indices is None or seen.indptr is None:
        return _all_entries(np.asarray(seen.data)[:, : seen.n_features])
    shape = seen.n_rows, seen.n_features
    return sparse.csr_array((seen.data, seen.indices, seen.indptr), shape=shape)


def _all_entries(dense: np.ndarray) -> sparse.csr_array:
    n_rows, n_columns = dense.shape
    columns = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
    row_start = np.arange(0, n_rows * n_columns + 1, n_columns)
    return sparse.csr_array((dense.ravel(), columns, row_start), shape=dense.shape)


def n_directions(n_rows: int, n_features: int) -> int | None:
    """Number of directions that replace the features; None to use the features directly."""
    if n_features <= min(MOST_FEATURES, max(n_rows, MOST_DIRECTIONS)):
        return None
    return min(MOST_DIRECTIONS, n_rows)


def is_feasible(n_rows: int, n_features: int, n_outputs: int) -> bool:
    """Whether the weights are few enough."""
    r = n_directions(n_rows, n_features)
    n_weights = n_features * n_outputs
    if r is not None:
        n_weights = min(n_weights, r * (n_features + n_outputs))
    return n_weights <= MOST_WEIGHTS and (r is None or r * n_features <= 2 * MOST_WEIGHTS)


class Moments(NamedTuple):
    """Weighted sums over rows, all that a ridge regression needs."""

    total: float
    features: np.ndarray  # (p,)
    outputs: np.ndarray  # (d,)
    products: np.ndarray  # (p, p)
    with_outputs: np.ndarray  # (p, d)

    def with_rows(self, rows: "Moments") -> "Moments":
        return Moments(*map(add, self, rows))

    def without_rows(self, rows: "Moments") -> "Moments":
        return Moments(*map(sub, self, rows))

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """(p, d) weights and (d,) intercepts of the ridge regression."""
        mean, mean_output = self.features / self.total, self.outputs / self.total
        scatter = np.outer(self.features, mean)
        np.subtract(self.products, scatter, out=scatter)
        penalty = PENALTY * np.trace(scatter) / self.total
        if penalty <= np.finfo(np.float32).tiny:  # features are constant
            return np.zeros_like(self.with_outputs), mean_output
        scatter[np.diag_indices_from(scatter)] += penalty
        covariance = self.with_outputs - np.outer(mean, self.outputs)
        # In single precision: the penalty keeps the condition below the number of rows.
        factor = linalg.cho_factor(scatter.astype(np.float32), overwrite_a=True, check_finite=False)
        weights = linalg.cho_solve(factor, covariance.astype(np.float32), check_finite=False)
        return weights, mean_output - mean @ weights


@dataclass(frozen=True, eq=False)
class Folds:
    """Training rows that are used, dealt into folds that are left out together."""

    rows: np.ndarray
    of_row: np.ndarray  # (n_train,) -1 for rows that are not used
    n: int

    @classmethod
    def deal(cls, rows: np.ndarray, n_train: int, n: int, seed: int) -> "Folds":
        rng = generator(seed, SHARED, Purpose.FOLDS)
        of_row = np.full(n_train, -1)
        of_row[rows] = rng.permutation(np.arange(len(rows)) % n)
        return cls(rows, of_row, n)

    def __getitem__(self, number: int) -> np.ndarray:
        """The rows of one fold."""
        return self.rows[self.of_row[self.rows] == number]


class Ridge:
    """Ridge regression of the outputs on some training rows, and on these without one fold."""

    @one_blas_thread()
    def __init__(
        self,
        feature_map: FeatureMap,
        seen: ObliqueX,
        labels: Labels,
        folds: Folds,
        sample_weight: np.ndarray | None,
        seed: int,
        n_jobs: int | None = None,
    ):
        rows = folds.rows
        self._feature_map, self._n_jobs = feature_map, n_jobs
        self._features = as_rows(seen)
        self._scale, self._labels = _scaled(labels, rows)
        self._weights = None
        if sample_weight is not None:
            self._weights = sample_weight / sample_weight[rows].mean()
        r = n_directions(len(rows), seen.n_features)
        self._basis = None
        if r is not None:
            of_rows = self._features[rows]
            self._basis = _leading_directions(of_rows, r, generator(seed, SHARED, Purpose.LINEAR))
        self._folds = folds
        self._of_folds = self._moments()
        self._all = reduce(Moments.with_rows, self._of_folds)
        self._solved = dict[int, tuple[np.ndarray, np.ndarray]]()

    @one_blas_thread()
    def fit(self) -> LinearModel:
        """The model of all rows."""
        weights, intercept = self._without_folds([-1])[-1]
        basis = self._basis
        if basis is not None and len(basis) * weights.shape[1] <= basis.size + weights.size:
            weights, basis = basis @ weights, None
        return LinearModel(
            self._feature_map,
            np.ascontiguousarray(weights, np.float32),
            self._scale,
            intercept * self._scale,
            basis,
        )

    @one_blas_thread()
    def left_out(
        self,
        rows: np.ndarray,
        convert: Callable[[np.ndarray], np.ndarray] = np.asarray,
        dtype: type[np.floating] = np.float64,
    ) -> np.ndarray:
        """(len(rows), n_outputs) scores of each row, converted, by a model without its fold."""
        found, of_row = np.empty((len(rows), len(self._scale)), dtype), self._folds.of_row[rows]
        folds = np.unique(of_row).tolist()
        solved = self._without_folds(folds)

        def fill(places: np.ndarray) -> None:
            weights, intercept = solved[int(of_row[places[0]])]
            scores = self._block(rows[places]) @ weights + intercept
            found[places] = convert(scores * self._scale)

        blocks = [
            block
            for number in folds
            for block in _blocks(np.flatnonzero(of_row == number), SCORED_ROWS)
        ]
        run_blocks(fill, blocks, n_jobs=self._n_jobs)
        return found

    def _without_folds(self, folds: Sequence[int]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """The solutions without each of these folds; for -1, from the rows of all folds."""

        def solve(number: int) -> tuple[np.ndarray, np.ndarray]:
            kept = self._all if number < 0 else self._all.without_rows(self._of_folds[number])
            return kept.solve()

        unsolved = [number for number in folds if number not in self._solved]
        solved = run_blocks(solve, unsolved, n_jobs=self._n_jobs)
        self._solved |= dict(zip(unsolved, solved, strict=True))
        return self._solved

    def _block(self, rows: np.ndarray) -> np.ndarray | sparse.csr_array:
        found = self._features[rows]
        return found if self._basis is None else found @ self._basis

    def _moments(self) -> list[Moments]:
        """The moments of the rows of each fold."""
        p = (self._features if self._basis is None else self._basis).shape[1]
        at_once = MOST_SUM_BYTES // (8 * p * (p + len(self._scale)))
        n_threads = max(1, min(count_threads(self._n_jobs), at_once // 2))
        of_folds = [self._folds[number] for number in range(self._folds.n)]
        blocks = [
            (number, block)
            for number, rows in enumerate(of_folds)
            for block in _blocks(rows, max(BLOCK_ROWS, -(-len(rows) // MOST_BLOCKS))) or [rows]
        ]

        def of_block(block: tuple[int, np.ndarray]) -> dict[int, Moments]:
            return {block[0]: self._moments_of_block(block[1])}

        found = run_and_reduce(of_block, blocks, _added_up, n_jobs=n_threads)
        return [found[number] for number in range(self._folds.n)]

    def _moments_of_block(self, rows: np.ndarray) -> Moments:
        Z, Y = self._block(rows), self._labels[rows]
        if isinstance(Z, sparse.csr_array) and np.count_nonzero(Z.data) > 0.25 * np.prod(Z.shape):
            Z = Z.toarray()
        weights = np.ones(len(rows)) if self._weights is None else self._weights[rows]
        weighted = (
            Z * weights.astype(np.float32)[:, None]
            if isinstance(Z, np.ndarray)
            else sparse.csr_array(sparse.diags_array(weights) @ Z)
        )
        return Moments(
            float(weights.sum()),
            _dense(weighted.sum(axis=0, dtype=np.float64)).ravel(),
            _dense(Y.T @ weights).ravel(),
            _dense(Z.T @ weighted).astype(np.float64),
            _dense(weighted.T @ Y).astype(np.float64),
        )


def _scaled(labels: Labels, rows: np.ndarray) -> tuple[np.ndarray, Matrix]:
    """The largest absolute value of each real output, and outputs divided by it; labels as they
    are."""
    if isinstance(labels, SparseRows):
        Y = labels.to_csr(np.float64)
        if labels.data is None:
            return np.ones(Y.shape[1]), Y
        largest = abs(Y).max(axis=0).toarray().ravel()
        scale = np.where(largest > 0, largest, 1.0)
        return scale, sparse.csr_array(Y / scale)
    largest = np.abs(labels[rows]).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    return scale, labels / scale


def _added_up(sums: dict[int, Moments], more: dict[int, Moments]) -> dict[int, Moments]:
    return sums | {
        key: sums[key].with_rows(value) if key in sums else value for key, value in more.items()
    }


def _blocks(rows: np.ndarray, most: int) -> Sequence[np.ndarray]:
    """Even blocks of at most so many rows."""
    return np.array_split(rows, -(-len(rows) // most)) if len(rows) else []


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _leading_directions(X: sparse.csr_array, r: int, rng: np.random.Generator) -> np.ndarray:
    """(n_features, at most r) float32 orthonormal columns, by subspace iteration from a random
    start. X is not centred, which would make it dense; its mean is one of the directions."""
    V = rng.standard_normal((X.shape[1], r), dtype=np.float32)
    for _ in range(N_PRODUCTS):
        V = X.T @ (X @ V)
        values, vectors = linalg.eigh((V.T @ V).astype(np.float64))
        is_kept = values > 1e-7 * values[-1]
        V = V @ (vectors[:, is_kept] / np.sqrt(values[is_kept])).astype(np.float32)
    return V
