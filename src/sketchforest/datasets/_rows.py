"""Rows of (column, value) pairs on their way from text to a CSR matrix."""

from array import array
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.datasets._text import AnyPath, bad_file

_MOST_COLUMNS = 1 << 40  # far more than anybody has; more overflow where sizes are multiplied
# Columns that a file may have though its rows are few: each costs memory as soon as trees are
# grown, and a label that has a number for its name costs more. Past them, so many for each entry.
_MOST_CLAIMED = {"feature": 1 << 24, "label": 1 << 22}
_CLAIMED_PER_ENTRY = 100
_MOST_FILLED = 1 << 24
FLOAT32_MAX = float(np.finfo(np.float32).max)


def check_counts(path: AnyPath, n_features: int, n_labels: int) -> None:
    """What line 1 claims of columns, whether a row has an entry there or not."""
    for what, count in (("features", n_features), ("labels", n_labels)):
        if count > _MOST_COLUMNS:
            reason = f"{count} {what} are more than the {_MOST_COLUMNS} that can be counted"
            raise bad_file(path, 1, reason)


def most_columns(what: str, n_entries: int) -> int:
    """How many features or labels are believed of a file that does not say how many it has: one
    wrong number alone must not ask for all the memory of the machine."""
    return max(_MOST_CLAIMED[what], _CLAIMED_PER_ENTRY * n_entries)


def check_filled(path: AnyPath, n_rows: int, n_columns: int, n_entries: int) -> None:
    """Of columns that have a value in each row, though the file does not write it."""
    n_values = n_rows * n_columns
    if n_values > max(_MOST_FILLED, _CLAIMED_PER_ENTRY * n_entries):
        reason = f"{n_rows} rows leave out most of the {n_values} values of {n_columns} columns"
        raise bad_file(path, None, f"{reason}; write them, or as svmlight, where they are zeros")


class Rows:
    """Rows as they are read; checked all at once when they are made a matrix."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self._columns = array("q")
        self._values = array("d")
        self._ends = array("q")
        self.lines = array("q")

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, line: int, columns: Iterable[int], values: Iterable[float]) -> None:
        try:
            self._columns.extend(columns)
        except OverflowError:
            raise bad_file(self.path, line, "an index has more than 63 bits") from None
        self._values.extend(values)
        self._ends.append(len(self._columns))
        self.lines.append(line)

    def append_dense(self, line: int, values: npt.NDArray[np.float64]) -> None:
        columns = np.flatnonzero(values)
        self._columns.frombytes(columns.astype(np.int64).tobytes())
        self._values.frombytes(values[columns].tobytes())
        self._ends.append(len(self._columns))
        self.lines.append(line)

    @property
    def n_entries(self) -> int:
        return len(self._columns)

    def smallest_column(self) -> int | None:
        return int(np.min(self._column_array())) if self._columns else None

    def largest_column(self) -> int:
        return int(np.max(self._column_array())) if self._columns else -1

    def matrix(
        self, n_columns: int, what: str, *, first: int = 0, missing: bool = False
    ) -> sparse.csr_array:
        """(n_rows, n_columns) float64; ``first`` is the number that the file gives column 0."""
        columns, values = self._column_array(), np.frombuffer(self._values, np.float64)
        outside = (columns < first) | (columns >= first + n_columns)
        self._refuse(
            outside,
            lambda at: (
                f"{what} {columns[at]} is out of range, there being {n_columns} "
                f"(numbers {first} to {first + n_columns - 1})"
            ),
        )
        is_bad = ~(np.abs(values) <= FLOAT32_MAX)
        if missing:
            is_bad &= ~np.isnan(values)
        self._refuse(
            is_bad,
            lambda at: (
                f"the value of {what} {columns[at]} is {values[at]:g}, not a finite 32-bit number"
            ),
        )
        matrix = csr(values.copy(), columns - first, self._indptr(), (len(self), n_columns))
        self._refuse(
            sorted_repeats(matrix), lambda at: f"{what} {matrix.indices[at] + first} is there twice"
        )
        matrix.eliminate_zeros()
        return matrix

    def _refuse(self, is_bad: npt.NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        """Says what is wrong at the first bad place, and in which line that is."""
        if np.any(is_bad):
            at = int(np.argmax(is_bad))
            row = int(np.searchsorted(self._ends, at, side="right"))
            raise bad_file(self.path, self.lines[row], reason(at))

    def _column_array(self) -> npt.NDArray[np.int64]:
        return np.frombuffer(self._columns, np.int64)

    def _indptr(self) -> npt.NDArray[np.int64]:
        return np.append(0, np.frombuffer(self._ends, np.int64)).astype(np.int64)


def sorted_repeats(matrix: sparse.csr_array) -> npt.NDArray[np.bool_]:
    """Sorts each row in place; says which entries then have the column of the one before."""
    matrix.sort_indices()
    repeats = np.zeros(matrix.nnz, bool)
    repeats[1:] = matrix.indices[1:] == matrix.indices[:-1]
    starts = matrix.indptr[:-1]
    repeats[starts[starts < matrix.nnz]] = False
    return repeats


def csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    # scikit-learn's trees refuse 64-bit indices, and scipy widens both if one is wide.
    fits = max(len(data), *shape) <= np.iinfo(np.int32).max
    width = np.int32 if fits else np.int64
    return sparse.csr_array(
        (data, indices.astype(width, copy=False), indptr.astype(width, copy=False)), shape=shape
    )


def compact(X: sparse.csr_array) -> sparse.csr_array:
    """X as uint8 if all its non-zeros are ones, else as float32, as in the archives."""
    dtype = np.uint8 if np.all(X.data == 1) else np.float32
    X = csr(X.data.astype(dtype), X.indices, X.indptr, X.shape)
    X.eliminate_zeros()  # those too small for 32 bits
    return X
