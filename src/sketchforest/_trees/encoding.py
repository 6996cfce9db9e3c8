"""Encoding of X: each value becomes its rank among the distinct values of its feature.

Codes are exact: if 16 bits are too few, they have 32. Codes are small, and the search for splits
sorts and compares integers. Codes of 32 bits may also be binned, for nodes of many rows.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest._trees.parallel import count_threads, run_blocks
from sketchforest._utils.typing import Matrix

Result = TypeVar("Result")
SparseMatrix: TypeAlias = sparse.csr_array | sparse.csr_matrix | sparse.csc_array

# With more non-zeros than this share, reading whole columns is cheaper than reading entries, and
# codes take less memory than entries with row numbers.
DENSE_SHARE = 0.25
# Columns are encoded in blocks of about this size, with a check for Ctrl-C after each block, or in
# this many blocks, so that all threads finish at about the same time.
COLUMN_BLOCK_BYTES = 1 << 24
COLUMN_BLOCKS = 16
# Rows are encoded in whole tiles, whose codes share cache lines.
ROW_TILE = 32
ROW_BLOCK_CELLS = 1 << 22
# The number of a bin is a byte; one number is for missing values.
MOST_BINS = 255
# Nodes of fewer rows are searched exactly.
BINNED_ROWS = 1 << 14
# Edges of bins are quantiles of at most this many rows.
QUANTILE_ROWS = 1 << 17
# Nodes store the index of their feature in 31 bits.
MOST_FEATURES = np.iinfo(np.int32).max


class EncodedX(OwnedArrays, _core.Codes):
    """Codes of X, dense (n_features, n_rows) or sparse by row.

    `codes` is None if X is sparse and each feature has only one value besides zero. `row_codes` is
    a row-major copy of dense codes, which small nodes read. `column_size` counts the entries of
    each feature. If `values` is None, X is encoded by value: codes are the values themselves, as
    integers that sort like them. A bin holds the codes from `bin_lowest` to `bin_highest`; the bins
    of all features follow one another. `n_threads` threads validate the arrays.
    """

    FIELDS = (
        *("n_rows", "n_features", "codes", "row_codes", "values", "value_start"),
        *("row_start", "columns", "column_size", "zero_code"),
        *("bins", "bin_start", "bin_lowest", "bin_highest"),
    )


def encode(
    X: Matrix,
    random_cuts: bool = False,
    n_jobs: int | None = None,
    max_bins: int | None = None,
) -> EncodedX:
    """Encode X (n_rows, n_features), a numeric array or a scipy CSR or CSC matrix.

    Whether codes are dense or sparse depends on the share of non-zeros, not on the type of X.
    Random cuts need values but no order, so dense X of float32 is encoded by value. So is X with
    very many distinct values, whose ranks take as many bits plus a table of values: the trees are
    the same and grow a tenth slower.
    """
    if X.shape[1] > MOST_FEATURES:
        raise ValueError(
            f"X must have at most {MOST_FEATURES} features; got {X.shape[1]}. "
            "Hash them into fewer, for example with sklearn.feature_extraction.FeatureHasher."
        )
    X = X if isinstance(X, np.ndarray) else canonical(X)
    if is_worth_sparse(X):
        return EncodedX(**_core.encode_csr(*csr_arrays(X), X.shape[1]))
    # Each stored entry has a column number beside its value. With this many entries, dense X takes
    # less than twice the memory, and dense codes are searched faster.
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    max_bins = None if random_cuts else max_bins
    if float_type(X.dtype) is np.float64:
        return encode_ranks(dense, n_jobs, max_bins=max_bins)
    by_rank = None if random_cuts else _encode_ranks(dense, n_jobs, np.uint16)
    return _code_by_value(dense, n_jobs, max_bins) if by_rank is None else by_rank


def is_worth_sparse(X: Matrix) -> bool:
    """Whether X has few enough non-zeros to store only these. Explicit zeros do not count."""
    most = DENSE_SHARE * X.shape[0] * X.shape[1]
    if not isinstance(X, np.ndarray):
        return bool(canonical(X).count_nonzero() <= most)
    n_nonzeros, size = 0, max(1, ROW_BLOCK_CELLS // max(1, X.shape[1]))
    for first in range(0, X.shape[0], size):
        n_nonzeros += int(np.count_nonzero(X[first : first + size]))
        if n_nonzeros > most:  # usually in the first rows
            return False
    return True


def canonical(X: SparseMatrix) -> SparseMatrix:
    """X with duplicates summed, as a copy; X itself if there are none."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def float_type(dtype: np.dtype) -> type[np.floating]:
    """float32 if it holds all values of the dtype, else float64."""
    return np.float32 if np.can_cast(dtype, np.float32) else np.float64


def csr_arrays(X: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, columns and row starts of X, as the core expects them."""
    rows = sparse.csr_array(X) if isinstance(X, np.ndarray) else X.tocsr()
    return (
        rows.data.astype(float_type(rows.dtype), copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.indptr.astype(np.int64, copy=False),
    )


def encode_ranks(
    X: np.ndarray,
    n_jobs: int | None,
    by_row: bool = True,
    max_bins: int | None = None,
    is_wide: bool = False,
) -> EncodedX:
    """Encode dense X by rank, whatever its share of zeros, with `is_wide` in 32 bits at once."""
    narrow = None if is_wide else _encode_ranks(X, n_jobs, np.uint16, by_row)
    coded = _encode_ranks(X, n_jobs, np.uint32, by_row, max_bins) if narrow is None else narrow
    assert coded is not None  # 32 bits hold the ranks of all rows
    return coded


def _encode_ranks(
    X: np.ndarray,
    n_jobs: int | None,
    code_type: type[np.unsignedinteger],
    by_row: bool = True,
    max_bins: int | None = None,
) -> EncodedX | None:
    """Return None if the type is too narrow: 16 bits hold 65,535 values and a code for missing.

    X may fill most of the memory, so nothing is stored twice.
    """
    n_rows, n_features = X.shape
    codes: np.ndarray = np.empty((n_features, n_rows), code_type)
    try:
        rank = partial(_core.rank_columns, X, codes)
        blocks = by_column_blocks(rank, n_rows, n_features, n_jobs)
    except OverflowError:
        return None
    counts = np.concatenate([counts for _, counts in blocks])
    values = np.empty(counts.sum(), blocks[0][0].dtype)
    end = len(values)
    while blocks:
        of_block, _ = blocks.pop()
        values[end - len(of_block) : end] = of_block
        end -= len(of_block)
    if counts.max() < np.iinfo(np.uint8).max:
        codes = codes.astype(np.uint8)
    row_codes = np.empty(X.shape, codes.dtype) if by_row else None
    if row_codes is not None:
        by_row_blocks(partial(_core.transpose_codes, codes, row_codes), n_rows, n_features, n_jobs)
    return EncodedX(
        n_rows=n_rows,
        n_features=n_features,
        codes=codes,
        row_codes=row_codes,
        values=values,
        value_start=starts_of(counts),
        **_bins(codes, counts, max_bins, n_jobs),
        n_threads=count_threads(n_jobs),
    )


def _code_by_value(X: np.ndarray, n_jobs: int | None, max_bins: int | None) -> EncodedX:
    n_rows, n_features = X.shape
    codes = np.empty((n_features, n_rows), np.uint32)
    row_codes = np.empty((n_rows, n_features), np.uint32)
    by_row_blocks(partial(_core.code_by_value, X, codes, row_codes), n_rows, n_features, n_jobs)
    return EncodedX(
        n_rows=n_rows,
        n_features=n_features,
        codes=codes,
        row_codes=row_codes,
        **_bins(codes, np.full(n_features, np.iinfo(np.uint32).max), max_bins, n_jobs),
        n_threads=count_threads(n_jobs),
    )


def _bins(
    codes: np.ndarray, missing: np.ndarray, max_bins: int | None, n_jobs: int | None
) -> dict[str, np.ndarray]:
    """Return bins of about equally many rows, or one per value of a feature with few values.

    Too few rows need no bins, so nothing is returned for them.
    """
    n_features, n_rows = codes.shape
    if max_bins is None or n_rows < BINNED_ROWS:
        return {}
    bins: np.ndarray = np.empty(codes.shape, np.uint8)
    rows: np.ndarray | slice = slice(None)
    if n_rows > QUANTILE_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(n_rows, QUANTILE_ROWS, replace=False))

    def bin_feature(feature: int) -> tuple[np.ndarray, np.ndarray]:
        known = np.sort(codes[feature, rows])
        known = known[: np.searchsorted(known, missing[feature])]
        is_last = np.append(known[1:] != known[:-1], True)[: len(known)]
        if np.count_nonzero(is_last) <= max_bins:
            edges = known[is_last]
        else:
            edges = np.unique(known[np.arange(1, max_bins + 1) * len(known) // max_bins - 1])
        if not len(edges):
            edges = np.array([missing[feature] - 1], np.uint32)
        return _core.bin_codes(codes, bins, feature, int(missing[feature]), edges)

    of_features = run_blocks(bin_feature, range(n_features), n_jobs=n_jobs)
    lowest, highest = zip(*of_features, strict=True)
    return {
        "bins": bins,
        "bin_start": starts_of([len(each) for each in lowest]),
        "bin_lowest": np.concatenate(lowest),
        "bin_highest": np.concatenate(highest),
    }


def by_column_blocks(
    work: Callable[[int, int], Result], n_rows: int, n_features: int, n_jobs: int | None
) -> list[Result]:
    """Call work(first, last) for blocks of columns, on threads."""
    width = max(1, min(COLUMN_BLOCK_BYTES // (8 * n_rows), n_features // COLUMN_BLOCKS))
    return _by_blocks(work, n_features, width, n_jobs)


def by_row_blocks(
    work: Callable[[int, int], None], n_rows: int, n_features: int, n_jobs: int | None
) -> None:
    """Call work(first, last) for blocks of rows, on threads."""
    size = max(ROW_TILE, ROW_BLOCK_CELLS // n_features // ROW_TILE * ROW_TILE)
    _by_blocks(work, n_rows, size, n_jobs)


def _by_blocks(
    work: Callable[[int, int], Result], end: int, size: int, n_jobs: int | None
) -> list[Result]:
    firsts = range(0, end, size)
    return run_blocks(lambda first: work(first, min(first + size, end)), firsts, n_jobs=n_jobs)


def starts_of(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """(n + 1,) int64 offsets of consecutive pieces of these sizes, and the end of the last one."""
    return np.append(0, np.cumsum(sizes, dtype=np.int64)).astype(np.int64)
