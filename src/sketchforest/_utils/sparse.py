"""Validation of sparse matrices in any format, as CSR with index arrays of our own.

scipy's conversions and the native core trust indices, and read and write where they point. So
indices are copied first, checked on the copy, which no other thread can change, and then converted.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

AnySparse: TypeAlias = sparse.sparray | sparse.spmatrix
LARGEST_NARROW = np.iinfo(np.int32).max


def checked_csr(name: str, matrix: AnySparse, *, merge: bool = True) -> sparse.csr_array:
    """The matrix as CSR, sorted and without duplicates unless `merge` is False.

    Index arrays are copies. `data` may be shared with the matrix, so copy it before changing it.
    """
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must be 2-d if it is sparse; got shape {matrix.shape}. Use toarray() for a "
            "single column."
        )
    try:
        found = _csr(matrix)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        said = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"{name} must be a sparse matrix whose indices lie within its shape {matrix.shape}; "
            f"got one where {said}. Rebuild it from its entries: "
            "scipy.sparse.csr_array((values, (rows, columns)), shape=shape)."
        ) from error
    if found.dtype == np.float16:  # scipy cannot add it up
        found.data = found.data.astype(np.float32)
    return merged(found) if merge else found


def checked_if_sparse(name: str, given: Any, *, merge: bool = True) -> Any:
    """Like `checked_csr`; anything not sparse is returned unchanged."""
    return checked_csr(name, given, merge=merge) if sparse.issparse(given) else given


def indicator_matrix(cells: Sequence[str | None], values: Sequence[str]) -> sparse.csr_array:
    """(n_cells, n_values) float32, with a one per cell whose value is among the values."""
    number = {value: at for at, value in enumerate(values)}
    found = [number.get(cell, -1) if cell is not None else -1 for cell in cells]
    return one_hot(np.array(found, np.int64), len(values)).astype(np.float32)


def one_hot(columns: np.ndarray, n_columns: int) -> sparse.csr_array:
    """(n_rows, n_columns) bool, with a one per row in its column; rows of column -1 have none."""
    rows = np.flatnonzero(columns >= 0)
    ones = np.ones(len(rows), bool), (rows, columns[rows])
    return sparse.csr_array(ones, shape=(len(columns), n_columns))


def merged(matrix: sparse.csr_array) -> sparse.csr_array:
    """Sort and sum duplicates in place, given a matrix whose index arrays are our own."""
    if not matrix.has_canonical_format:
        matrix.data = matrix.data.copy()
        matrix.sum_duplicates()
    return matrix


def _csr(matrix: AnySparse) -> sparse.csr_array:
    """Duplicates are kept, because their sum depends on the dtype they are converted to."""
    n_rows, n_columns = matrix.shape
    if matrix.format == "csr":
        arrays = checked_arrays(matrix.data, matrix.indices, matrix.indptr, n_rows, n_columns)
        return sparse.csr_array(arrays, shape=matrix.shape)
    if matrix.format == "csc":
        arrays = checked_arrays(matrix.data, matrix.indices, matrix.indptr, n_columns, n_rows)
        return sparse.csc_array(arrays, shape=matrix.shape).tocsr()
    if matrix.format == "bsr":
        height, width = matrix.data.shape[1:]
        if not height or not width or n_rows % height or n_columns % width:
            raise ValueError(f"blocks of {height} by {width} do not divide the shape")
        blocks = n_rows // height, n_columns // width
        arrays = checked_arrays(matrix.data, matrix.indices, matrix.indptr, *blocks)
        return sparse.bsr_array(arrays, shape=matrix.shape).tocsr()
    entries = {"lil": _entries_of_lists, "dia": _entries_of_diagonals}.get(matrix.format)
    if entries is None:
        coo = matrix.tocoo()
        data, rows, columns = _native(coo.data), *map(_copied, coo.coords)
    else:
        data, rows, columns = entries(matrix)
    if data.ndim != 1 or not len(data) == len(rows) == len(columns):
        raise ValueError(f"{len(data)} values are at {len(rows)} rows and {len(columns)} columns")
    rows, columns = _within(rows, n_rows, "row"), _within(columns, n_columns, "column")
    # The order of each row's entries is kept.
    made = sparse.coo_array((data, (rows, columns)), shape=matrix.shape)
    made.has_canonical_format = True  # keeps scipy from summing duplicates
    made = made.tocsr()
    return sparse.csr_array((made.data, made.indices, made.indptr), shape=matrix.shape)


def checked_arrays(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_major: int, n_minor: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices and indptr of CSR or CSC, cut where indptr ends; raises if they are invalid."""
    data, indices, starts = _native(data), _copied(indices), _copied(indptr)
    if len(starts) != n_major + 1 or starts[0] != 0:
        raise ValueError(f"indptr is not {n_major + 1} numbers that start at 0")
    if len(starts) > 1 and np.diff(starts).min() < 0:
        raise ValueError("indptr decreases")
    n_entries = int(starts[-1])
    if n_entries > min(len(indices), len(data)):
        raise ValueError(
            f"indptr ends at {n_entries}, past {len(indices)} indices or {len(data)} values"
        )
    indices = _within(indices[:n_entries], n_minor, "index")
    if indices.dtype == np.int32 and n_entries > LARGEST_NARROW:
        indices = indices.astype(np.int64)
    return data[:n_entries], indices, starts.astype(indices.dtype, copy=False)


def _entries_of_lists(matrix: sparse.lil_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    column_lists = [list(columns) for columns in matrix.rows]
    value_lists = [list(values) for values in matrix.data]
    sizes = [len(columns) for columns in column_lists]
    if sizes != [len(values) for values in value_lists] or len(sizes) != matrix.shape[0]:
        raise ValueError("its lists of columns and values differ in length")
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.fromiter(chain.from_iterable(column_lists), np.int64, len(rows))
    return np.fromiter(chain.from_iterable(value_lists), matrix.dtype, len(rows)), rows, columns


def _entries_of_diagonals(matrix: sparse.dia_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data, offsets = _native(matrix.data), _copied(matrix.offsets)
    if data.ndim != 2 or len(offsets) != len(data):
        raise ValueError(f"there are {len(data)} diagonals but {len(offsets)} offsets")
    columns = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    rows = columns - offsets[:, None].astype(np.int64)
    is_entry = (rows >= 0) & (rows < matrix.shape[0]) & (columns < matrix.shape[1]) & (data != 0)
    return data[is_entry], rows[is_entry], columns[is_entry]


def _native(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=values.dtype.newbyteorder("="))


def _copied(indices: np.ndarray) -> np.ndarray:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ValueError(f"an index array has shape {indices.shape} and type {indices.dtype}")
    signed = indices.dtype if indices.dtype.kind == "i" else np.dtype(np.int64)
    return np.array(indices, dtype=signed.newbyteorder("="))


def _within(indices: np.ndarray, size: int, what: str) -> np.ndarray:
    """The indices as int32 if the size allows it, else int64."""
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        wrong = indices[(indices < 0) | (indices >= size)][0]
        raise ValueError(f"{what} {wrong} is not in [0, {size})")
    return indices.astype(np.int32 if size <= LARGEST_NARROW else np.int64, copy=False)
