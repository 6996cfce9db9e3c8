"""X in at most 255 bins per feature, and one more for missing values.

A feature of up to 255 distinct values has a bin for each; others have bins of about equally many
rows. The thresholds between bins are midpoints of training values.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import canonical, encode_ranks, is_worth_sparse, starts_of
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest._utils.typing import Matrix

MAX_BINS = 255


class BinnedX(OwnedArrays, _core.BinnedX):
    """Bins of X, dense (n_features, n_rows) or sparse by row."""

    FIELDS = (
        *("n_rows", "n_features", "bin_start", "columns"),
        *("row_start", "places", "zero_place"),
    )


@dataclass(frozen=True)
class Binned:
    """X in bins, and the values on both sides of the upper end of each bin but the missing one.

    Bins of all features are counted on from `bin_start`.
    """

    X: BinnedX
    bin_start: np.ndarray
    below: np.ndarray
    above: np.ndarray  # infinity after the last known bin

    def thresholds(self, features: np.ndarray, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float32 thresholds of cuts after these bins, and the same in float64."""
        places = self.bin_start[features] + bins
        below, above = self.below[places], self.above[places]
        with np.errstate(over="ignore"):
            wide = np.where(np.isinf(above), np.inf, below / 2 + above / 2)
            wide = np.where(wide < above, wide, below)
            narrow = wide.astype(np.float32)
        too_high = narrow > wide
        narrow[too_high] = np.nextafter(narrow[too_high], np.float32(-np.inf))
        return narrow, wide

    def separates(self, features: np.ndarray, bins: np.ndarray, narrow: np.ndarray) -> bool:
        """Whether float32 thresholds send all training values to the same side."""
        return bool((narrow >= self.below[self.bin_start[features] + bins]).all())


def bin_features(X: Matrix, n_jobs: int | None) -> Binned:
    """Bin X (n_rows, n_features), an array or CSR. Sparse X is never made dense, unless more than
    a quarter of its entries are stored."""
    if not isinstance(X, np.ndarray):
        X = canonical(X)
        if is_worth_sparse(X):
            return _bin_sparse(sparse.csr_array(X))
        X = X.toarray()
    coded = encode_ranks(X, n_jobs, by_row=False)
    bins = np.empty((coded.n_features, coded.n_rows), np.uint8)
    start, known, ranks = coded.value_start, coded.values, coded.codes
    assert start is not None, "encoded by rank"
    assert known is not None
    assert ranks is not None
    edges = []
    for feature in range(coded.n_features):
        values = known[start[feature] : start[feature + 1]].astype(np.float64)
        counts = np.bincount(ranks[feature], minlength=len(values) + 1)[: len(values)]
        bin_of_value, below, above = _bins_of(values, counts)
        edges.append((below, above))
        # Missing values have the rank after the last value, and the bin after the last bin.
        bin_of_rank = np.append(bin_of_value, len(below)).astype(np.uint8)
        np.take(bin_of_rank, ranks[feature], out=bins[feature])
    return _binned(coded.n_rows, edges, columns=bins)


def _bins_of(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bin of each distinct value, ascending; the largest value of each bin, and the smallest
    of the next."""
    if not len(values):  # all are missing
        return np.empty(0, np.int64), np.array([0.0]), np.array([np.inf])
    if len(values) <= MAX_BINS:
        bin_of_value = np.arange(len(values))
    else:
        middle = np.cumsum(counts) - counts / 2
        share = (middle * (MAX_BINS / counts.sum())).astype(np.int64)
        _, bin_of_value = np.unique(share, return_inverse=True)
    is_last = np.append(bin_of_value[1:] != bin_of_value[:-1], True)
    below = values[is_last]
    return bin_of_value, below, np.append(values[1:][is_last[:-1]], np.inf)


def _bin_sparse(X: sparse.csr_array) -> Binned:
    columns = sparse.csc_array(X)
    n_rows, n_features = X.shape
    places = np.empty(columns.nnz, np.uint32)
    zero_place = np.empty(n_features, np.uint32)
    edges, first = [], 0
    for feature in range(n_features):
        entries = slice(*columns.indptr[feature : feature + 2])
        stored = columns.data[entries].astype(np.float64)
        is_missing = np.isnan(stored)
        known = stored[~is_missing]
        n_zeros = n_rows - len(stored)
        values, counts = np.unique(np.append(known, np.zeros(min(n_zeros, 1))), return_counts=True)
        zero = min(int(np.searchsorted(values, 0.0)), max(len(values) - 1, 0))
        if n_zeros:
            counts[zero] += n_zeros - 1
        bin_of_value, below, above = _bins_of(values, counts)
        of_stored = np.full(len(stored), len(below))
        of_stored[~is_missing] = bin_of_value[np.searchsorted(values, known)]
        places[entries] = first + of_stored
        # Of a column without zeros, the bin does not matter: no row lacks an entry.
        zero_place[feature] = first + (bin_of_value[zero] if len(values) else 0)
        edges.append((below, above))
        first += len(below) + 1
    by_row = sparse.csr_array(sparse.csc_array((places, columns.indices, columns.indptr), X.shape))
    # A stored value that shares the bin of zeros is a zero to trees.
    is_zero = by_row.data == zero_place[by_row.indices]
    kept = np.add.reduceat(np.append(~is_zero, False), by_row.indptr[:-1], dtype=np.int64)
    kept[np.diff(by_row.indptr) == 0] = 0
    return _binned(
        n_rows,
        edges,
        row_start=starts_of(kept),
        places=by_row.data[~is_zero],
        zero_place=zero_place,
    )


def _binned(
    n_rows: int, edges: list[tuple[np.ndarray, np.ndarray]], **stored: np.ndarray
) -> Binned:
    bin_start = starts_of([len(below) + 1 for below, _ in edges])
    X = BinnedX(n_rows=n_rows, n_features=len(edges), bin_start=bin_start, **stored)
    missing = np.array([np.nan])
    below, above = (
        np.concatenate([part for each in edges for part in (each[side], missing)])
        for side in (0, 1)
    )
    return Binned(X, bin_start, below, above)
