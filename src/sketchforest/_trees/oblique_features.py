"""X for oblique trees: features on comparable scales.

Dense features are replaced by their ranks, so trees do not depend on the units of features. For
real outputs, which may be nearly linear in a feature, they are standardized instead. Embeddings,
dense rows of the same length, keep their scale. Sparse counts and indicators become log(1 + x)
times the inverse document frequency, in rows of unit length, as is usual for text. Other sparse
values are taken to be weighted already, and share one scale.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import (
    by_column_blocks,
    by_row_blocks,
    canonical,
    encode_ranks,
    float_type,
    is_worth_sparse,
    starts_of,
)
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest._utils.typing import Matrix

# Maximum number of bins per feature; on eight data sets, 64 were as good, and more were no better.
MOST_LEVELS = 256
# New values are clipped here, so that their squares do not overflow.
FARTHEST = 1e6
# Lengths of the rows of an embedding differ by rounding, which may be that of halves of floats; of
# its mean square, the variance is at least this share.
LENGTHS_DIFFER, LEAST_VARIANCE = 0.01, 0.1


class ObliqueX(OwnedArrays, _core.FloatRows):
    """Rows of float32, sparse, or dense and padded to a multiple of 8 features."""

    FIELDS = ("data", "indptr", "indices", "n_features")


@dataclass(frozen=True)
class FeatureMap:
    """The map from X to the features of oblique trees, learned on training rows."""

    n_features: int
    idf: np.ndarray | None = None  # for counts
    scale: np.ndarray | None = None  # (1,) for other sparse values
    level_start: np.ndarray | None = None  # bins of dense features, for the core
    bounds: np.ndarray | None = None
    levels: np.ndarray | None = None
    mean: np.ndarray | None = None  # of dense features that enter by value
    spread: np.ndarray | None = None

    @classmethod
    def learn(cls, X: Matrix, n_jobs: int | None = None, by_value: bool = False) -> "FeatureMap":
        if not is_worth_sparse(X):
            dense = X if isinstance(X, np.ndarray) else X.toarray()
            if is_embedding(dense):
                scale = np.sqrt(np.mean(np.square(dense, dtype=np.float64)))
                shape = X.shape[1:]
                return cls(X.shape[1], mean=np.zeros(shape), spread=np.full(shape, scale))
            if by_value:
                return cls(X.shape[1], **_mean_and_spread(dense))
            return cls(X.shape[1], **_levels(dense, n_jobs))
        rows = sparse.csr_array(canonical(sparse.csr_array(X)))
        values = rows.data[~np.isnan(rows.data)]
        if (values < 0).any() or (values != np.round(values)).any():
            # With one scale for all, squares neither overflow nor underflow.
            return cls(X.shape[1], scale=np.array([np.abs(values).max()], np.float64))
        counts = np.bincount(rows.indices[rows.data != 0], minlength=X.shape[1])
        idf = np.log((1 + X.shape[0]) / (1 + counts)) + 1
        return cls(X.shape[1], idf.astype(np.float32))

    def transform(self, X: Matrix, n_jobs: int | None = 1) -> ObliqueX:
        if self.level_start is not None and self.bounds is not None and self.levels is not None:
            return self._by_rank(X, n_jobs, (self.level_start, self.bounds, self.levels))
        if self.mean is not None and self.spread is not None:
            return self._by_value(X, n_jobs, self.mean, self.spread)
        rows = sparse.csr_array(canonical(sparse.csr_array(X)))
        values = np.nan_to_num(rows.data.astype(np.float64))
        if self.scale is not None:
            values = np.clip(values / self.scale[0], -FARTHEST, FARTHEST)
        if self.idf is not None:
            values = np.log1p(np.maximum(values, 0)) * self.idf[rows.indices]
            values = _in_rows_of_unit_length(values, rows.indptr)
        return ObliqueX(
            data=values.astype(np.float32, copy=False),
            indptr=rows.indptr.astype(np.int64, copy=False),
            indices=rows.indices.astype(np.int32, copy=False),
            n_features=rows.shape[1],
        )

    def _by_value(
        self, X: Matrix, n_jobs: int | None, mean: np.ndarray, spread: np.ndarray
    ) -> ObliqueX:
        dense, out = self._dense_and_out(X)

        def standardize_block(first: int, last: int) -> None:
            with np.errstate(over="ignore"):
                values = (dense[first:last] - mean) / spread
            values = np.nan_to_num(values, nan=0.0, posinf=FARTHEST, neginf=-FARTHEST)
            out[first:last, : self.n_features] = np.clip(values, -FARTHEST, FARTHEST)

        by_row_blocks(standardize_block, len(dense), self.n_features, n_jobs)
        return ObliqueX(data=out, n_features=self.n_features)

    def _by_rank(
        self, X: Matrix, n_jobs: int | None, table: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> ObliqueX:
        dense, out = self._dense_and_out(X)

        def find_block(first: int, last: int) -> None:
            _core.apply_bins(dense[first:last], *table, out[first:last])

        # A binary search takes this many steps, each about as long as encoding a cell.
        n_steps = MOST_LEVELS.bit_length()
        by_row_blocks(find_block, len(dense), n_steps * self.n_features, n_jobs)
        return ObliqueX(data=out, n_features=self.n_features)

    def _dense_and_out(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Dense X, and a padded array of zeros for its transformed rows."""
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        out = np.zeros((len(dense), -(-self.n_features // 8) * 8), np.float32)
        return dense.astype(float_type(dense.dtype), copy=False), out


def is_embedding(X: np.ndarray) -> bool:
    """Whether dense rows are embeddings: of the same length, except for rows of zeros, and not
    constant."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        lengths = np.sqrt(squares[squares != 0])
        if not len(lengths) or not lengths.std() <= LENGTHS_DIFFER * lengths.mean():
            return False
        of_mean = np.square(X.mean(axis=0, dtype=np.float64)).sum()
        return bool(of_mean < (1 - LEAST_VARIANCE) * squares.mean())


def _levels(X: np.ndarray, n_jobs: int | None) -> dict[str, np.ndarray]:
    """Bins of the ranks of each feature."""

    # Of many rows, some feature usually has more values than 16 bits.
    is_wide = len(X) > np.iinfo(np.uint16).max

    def learn(first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        codes = encode_ranks(X[:, first:last], 1, by_row=False, is_wide=is_wide)
        return _core.learn_bins(codes, MOST_LEVELS)

    starts, bounds, levels = zip(*by_column_blocks(learn, len(X), X.shape[1], n_jobs), strict=True)
    sizes = np.concatenate([np.diff(start) for start in starts])
    return {
        "level_start": starts_of(sizes),
        "bounds": np.concatenate(bounds),
        "levels": np.concatenate(levels),
    }


def _mean_and_spread(X: np.ndarray) -> dict[str, np.ndarray]:
    """Mean and standard deviation of each feature; 0 and 1 where its values do not differ."""
    mean, spread = np.zeros(X.shape[1]), np.ones(X.shape[1])
    for feature, column in enumerate(X.T):
        known = column[~np.isnan(column)].astype(np.float64)
        largest = np.abs(known).max(initial=0)
        if largest > 0:  # divide by it, so that squares do not overflow
            mean[feature] = largest * (known / largest).mean()
            spread[feature] = largest * (known / largest).std() or 1.0
    return {"mean": mean, "spread": spread}


def _in_rows_of_unit_length(values: np.ndarray, row_start: np.ndarray) -> np.ndarray:
    n_entries = np.diff(row_start)
    row = np.repeat(np.arange(len(n_entries)), n_entries)
    squares = np.bincount(row, weights=values.astype(np.float64) ** 2, minlength=len(n_entries))
    lengths = np.sqrt(np.where(squares > 0, squares, 1))  # an empty row stays empty
    return values / lengths[row]
