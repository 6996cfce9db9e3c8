"""X, coded: each value becomes its rank among the distinct values of its feature.

Codes are exact (32 bits where 16 are too few, so nothing is binned) and small, and a search over
them sorts and compares integers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.held import Held
from sketchforest._trees.parallel import run_blocks
from sketchforest._typing import Matrix

SparseMatrix: TypeAlias = sparse.csr_array | sparse.csr_matrix | sparse.csc_array

# Above this share of non-zeros a column is cheaper to read whole than by its entries, and its
# codes take less memory than entries with their row numbers.
DENSE_SHARE = 0.25
# Columns are coded in blocks of about this size, and Ctrl-C is heard in between.
COLUMN_BLOCK_BYTES = 1 << 24
# Or in so many blocks, so that threads end at about the same time.
COLUMN_BLOCKS = 16
# Rows that are coded at a time: whole tiles, of codes that share lines of the cache.
ROW_TILE = 32
ROW_BLOCK_CELLS = 1 << 22
# A node keeps the number of its feature in 31 bits.
MOST_FEATURES = np.iinfo(np.int32).max


class EncodedX(Held, _core.Codes):
    """Codes of X, dense (n_features, n_rows) or sparse by row.

    `codes` is None where X is sparse and each feature has one value besides zero: that an entry
    is there says it all. `row_codes` are dense codes once more, by row: small nodes read them so.
    `column_size` counts the entries of each feature. Where X is coded `by_value`, codes are the
    values themselves, as numbers that sort as they do.
    """

    FIELDS = (
        *("n_rows", "n_features", "codes", "row_codes", "values", "value_start"),
        *("row_start", "columns", "column_size", "zero_code", "by_value"),
    )


def encode(X: Matrix, random_cuts: bool = False, n_jobs: int | None = None) -> EncodedX:
    """Codes of X (n_rows, n_features), a numeric array or a scipy CSR or CSC matrix.

    Whether the codes are dense or sparse follows from the share of non-zeros, not from the type.
    Random cuts need values and no order, so that dense X is coded by value where floats will do.
    So is X of very many distinct values, whose ranks take no fewer bits than they do, and a table
    of values besides: trees are the same, and grow a tenth slower.
    """
    if X.shape[1] > MOST_FEATURES:
        raise ValueError(
            f"X must have at most {MOST_FEATURES} features; got {X.shape[1]}. "
            "Hash them into fewer, for example with sklearn.feature_extraction.FeatureHasher."
        )
    X = X if isinstance(X, np.ndarray) else canonical(X)
    if not is_worth_sparse(X):
        # A stored entry takes a column number beside its value: with so many of them, X written out
        # takes less than twice the memory, and dense codes are searched faster.
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        if random_cuts and float_type(X.dtype) is np.float32:
            return _code_by_value(dense, n_jobs)
        return _encode_dense(dense, n_jobs)
    return _encode_sparse(sparse.csr_array(X) if isinstance(X, np.ndarray) else X.tocsr())


def is_worth_sparse(X: Matrix) -> bool:
    """Whether X has so few values besides zero that these alone are stored."""
    # A zero that is stored is a zero.
    n_nonzeros = np.count_nonzero(X) if isinstance(X, np.ndarray) else canonical(X).count_nonzero()
    return bool(n_nonzeros <= DENSE_SHARE * X.shape[0] * X.shape[1])


def canonical(X: SparseMatrix) -> SparseMatrix:
    """X with duplicate entries added up; X itself, never changed, where there are none."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def float_type(dtype: np.dtype) -> type[np.floating]:
    """The float that holds all values of the type: 32 bits for what fits, else 64."""
    return np.float32 if np.can_cast(dtype, np.float32) else np.float64


def _encode_dense(X: np.ndarray, n_jobs: int | None) -> EncodedX:
    if float_type(X.dtype) is np.float64:
        return encode_ranks(X, n_jobs)
    try:
        return encode_ranks(X, n_jobs, code_types=(np.uint16,))
    except OverflowError:
        return _code_by_value(X, n_jobs)


def encode_ranks(
    X: np.ndarray,
    n_jobs: int | None,
    by_row: bool = True,
    code_types: Sequence[type[np.unsignedinteger]] = (np.uint16, np.uint32),
) -> EncodedX:
    """Codes of dense X by rank, whatever its share of zeros, in the first type that holds them."""
    for code_type in code_types:
        try:
            # 65,535 values and one code for missing ones fit into 16 bits.
            codes, values, counts = _rank(X, code_type, n_jobs)
            break
        except OverflowError:
            if code_type is code_types[-1]:
                raise
    if counts.max() < np.iinfo(np.uint8).max:
        codes = codes.astype(np.uint8)
    return EncodedX(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        codes=codes,
        row_codes=_transposed(codes, n_jobs) if by_row else None,
        values=values,
        value_start=_starts(counts),
        by_value=False,
    )


def _rank(
    X: np.ndarray, code_type: type[np.unsignedinteger], n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes (n_features, n_rows), the values that they are ranks of, and how many of these each
    feature has. X may fill most of the memory, so that nothing is kept twice."""
    n_rows, n_features = X.shape
    wide = float_type(X.dtype) is np.float64
    width = max(1, min(COLUMN_BLOCK_BYTES // (8 * n_rows), n_features // COLUMN_BLOCKS))
    codes = np.empty((n_features, n_rows), code_type)

    def rank_block(first: int) -> tuple[np.ndarray, np.ndarray]:
        return _core.rank_columns(X, first, min(first + width, n_features), codes, wide)

    blocks = run_blocks(rank_block, range(0, n_features, width), n_jobs=n_jobs)
    counts = np.concatenate([counts for _, counts in blocks])
    values = np.empty(counts.sum(), np.float64 if wide else np.float32)
    end = len(values)
    while blocks:
        of_block, _ = blocks.pop()
        values[end - len(of_block) : end] = of_block
        end -= len(of_block)
    return codes, values, counts


def _transposed(codes: np.ndarray, n_jobs: int | None) -> np.ndarray:
    n_features, n_rows = codes.shape
    by_row = np.empty((n_rows, n_features), codes.dtype)

    transpose = partial(_core.transpose_codes, codes, by_row)
    by_row_blocks(transpose, n_rows, n_features, n_jobs)
    return by_row


def _code_by_value(X: np.ndarray, n_jobs: int | None) -> EncodedX:
    n_rows, n_features = X.shape
    codes = np.empty((n_features, n_rows), np.uint32)
    row_codes = np.empty((n_rows, n_features), np.uint32)
    code = partial(_core.code_by_value, X, codes, row_codes)
    by_row_blocks(code, n_rows, n_features, n_jobs)
    return EncodedX(
        n_rows=n_rows,
        n_features=n_features,
        codes=codes,
        row_codes=row_codes,
        values=np.empty(0, np.float32),
        value_start=np.zeros(1, np.int64),
        by_value=True,
    )


def by_row_blocks(
    work: Callable[[int, int], None], n_rows: int, n_features: int, n_jobs: int | None
) -> None:
    """work(first, last) for blocks of rows, on threads."""
    size = max(ROW_TILE, ROW_BLOCK_CELLS // n_features // ROW_TILE * ROW_TILE)
    starts = range(0, n_rows, size)
    run_blocks(lambda first: work(first, min(first + size, n_rows)), starts, n_jobs=n_jobs)


def _encode_sparse(X: sparse.csr_array | sparse.csr_matrix) -> EncodedX:
    row_start, columns, ranks, zero_code, values, counts = _core.encode_csr(
        X.data.astype(float_type(X.dtype), copy=False),
        X.indices.astype(np.int32, copy=False),
        X.indptr.astype(np.int64, copy=False),
        X.shape[1],
    )
    largest = counts.max()
    codes: np.ndarray | None
    if not ranks.size:
        codes = None
    elif largest < np.iinfo(np.uint8).max:
        codes = ranks.astype(np.uint8)
    else:
        codes = ranks.astype(np.uint16) if largest < np.iinfo(np.uint16).max else ranks
    return EncodedX(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        codes=codes,
        row_codes=None,
        values=values,
        value_start=_starts(counts),
        row_start=row_start,
        columns=columns,
        column_size=np.bincount(columns, minlength=X.shape[1]).astype(np.int32),
        zero_code=zero_code,
        by_value=False,
    )


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
