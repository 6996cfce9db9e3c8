"""X, coded: each value becomes its rank among the distinct values of its feature.

Codes are exact (32 bits where 16 are too few, so nothing is binned) and small, and a search over
them sorts and compares integers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.owned_arrays import OwnedArrays
from sketchforest._trees.parallel import run_blocks
from sketchforest._utils.typing import Matrix

Result = TypeVar("Result")
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


class EncodedX(OwnedArrays, _core.Codes):
    """Codes of X, dense (n_features, n_rows) or sparse by row.

    `codes` is None where X is sparse and each feature has one value besides zero: that an entry
    is there says it all. `row_codes` are dense codes once more, by row: small nodes read them so.
    `column_size` counts the entries of each feature. Where `values` is None, X is coded by value:
    codes are the values themselves, as numbers that sort as they do.
    """

    FIELDS = (
        *("n_rows", "n_features", "codes", "row_codes", "values", "value_start"),
        *("row_start", "columns", "column_size", "zero_code"),
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
    if is_worth_sparse(X):
        return EncodedX(**_core.encode_csr(*csr_arrays(X), X.shape[1]))
    # A stored entry takes a column number beside its value: with so many of them, X written out
    # takes less than twice the memory, and dense codes are searched faster.
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    if float_type(X.dtype) is np.float64:
        return encode_ranks(dense, n_jobs)
    by_rank = None if random_cuts else _encode_ranks(dense, n_jobs, np.uint16)
    return _code_by_value(dense, n_jobs) if by_rank is None else by_rank


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


def csr_arrays(X: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, columns and row starts of X as the core takes them."""
    rows = sparse.csr_array(X) if isinstance(X, np.ndarray) else X.tocsr()
    return (
        rows.data.astype(float_type(rows.dtype), copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.indptr.astype(np.int64, copy=False),
    )


def encode_ranks(X: np.ndarray, n_jobs: int | None, by_row: bool = True) -> EncodedX:
    """Codes of dense X by rank, whatever its share of zeros."""
    narrow = _encode_ranks(X, n_jobs, np.uint16, by_row)
    coded = _encode_ranks(X, n_jobs, np.uint32, by_row) if narrow is None else narrow
    assert coded is not None  # 32 bits hold the ranks of all rows
    return coded


def _encode_ranks(
    X: np.ndarray,
    n_jobs: int | None,
    code_type: type[np.unsignedinteger],
    by_row: bool = True,
) -> EncodedX | None:
    """None where codes need a wider type: 65,535 values and one code for missing ones fit into 16
    bits. X may fill most of the memory, so that nothing is kept twice."""
    n_rows, n_features = X.shape
    width = max(1, min(COLUMN_BLOCK_BYTES // (8 * n_rows), n_features // COLUMN_BLOCKS))
    codes: np.ndarray = np.empty((n_features, n_rows), code_type)
    try:
        blocks = _by_blocks(partial(_core.rank_columns, X, codes), n_features, width, n_jobs)
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
    )


def _code_by_value(X: np.ndarray, n_jobs: int | None) -> EncodedX:
    n_rows, n_features = X.shape
    codes = np.empty((n_features, n_rows), np.uint32)
    row_codes = np.empty((n_rows, n_features), np.uint32)
    by_row_blocks(partial(_core.code_by_value, X, codes, row_codes), n_rows, n_features, n_jobs)
    return EncodedX(n_rows=n_rows, n_features=n_features, codes=codes, row_codes=row_codes)


def by_row_blocks(
    work: Callable[[int, int], None], n_rows: int, n_features: int, n_jobs: int | None
) -> None:
    """work(first, last) for blocks of rows, on threads."""
    size = max(ROW_TILE, ROW_BLOCK_CELLS // n_features // ROW_TILE * ROW_TILE)
    _by_blocks(work, n_rows, size, n_jobs)


def _by_blocks(
    work: Callable[[int, int], Result], end: int, size: int, n_jobs: int | None
) -> list[Result]:
    firsts = range(0, end, size)
    return run_blocks(lambda first: work(first, min(first + size, end)), firsts, n_jobs=n_jobs)


def starts_of(sizes: np.ndarray | Sequence[int]) -> np.ndarray:
    """(n + 1,) int64 places where pieces of these sizes begin, and where the last one ends."""
    return np.append(0, np.cumsum(sizes, dtype=np.int64)).astype(np.int64)
