"""Rows of (column, value) pairs on their way from text to CSR matrices."""

import re
from array import array
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.datasets._text import AnyPath, bad_file, decoded, shown

_MAX_COLUMNS = 1 << 40  # beyond any real file, and small enough that products do not overflow
# Largest plausible numbers of columns of a small file; each column costs memory, and a label named
# by its number costs more. Larger files may have this many columns per stored entry.
_MAX_CLAIMED = {"feature": 1 << 24, "label": 1 << 22}
_CLAIMED_PER_ENTRY = 100
_MAX_FILLED = 1 << 24
_INTEGER = re.compile(rb"[+-]?\d+")
FLOAT32_MAX = float(np.finfo(np.float32).max)


def check_counts(path: AnyPath, n_features: int, n_labels: int) -> None:
    """Check the numbers of columns that line 1 declares."""
    for what, count in (("features", n_features), ("labels", n_labels)):
        if count > _MAX_COLUMNS:
            raise bad_file(path, 1, f"{count} {what} are more than the {_MAX_COLUMNS} supported")


def most_columns(what: str, n_entries: int) -> int:
    """The largest plausible column number of a file that does not declare its columns.

    Otherwise one wrong number could ask for all memory of the machine.
    """
    return max(_MAX_CLAIMED[what], _CLAIMED_PER_ENTRY * n_entries)


def check_filled(path: AnyPath, n_rows: int, n_columns: int, n_entries: int) -> None:
    """Check columns that have a value in each row even where the file leaves it out."""
    n_values = n_rows * n_columns
    if n_values > max(_MAX_FILLED, _CLAIMED_PER_ENTRY * n_entries):
        reason = f"{n_rows} rows omit most of the {n_values} values of {n_columns} columns"
        raise bad_file(path, None, f"{reason}; write them, or use svmlight if they are zeros")


class Rows:
    """Rows as they are read. They are validated all at once, when made into a matrix."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self.lines = array("q")
        self._columns, self._values, self._ends = array("q"), array("d"), array("q")

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, line: int, columns: Iterable[int], values: Iterable[float]) -> None:
        try:
            self._columns.extend(columns)
        except OverflowError:
            raise bad_file(self.path, line, "an index has more than 63 bits") from None
        self._values.extend(values)
        self._end_row(line)

    def append_dense(self, line: int, values: npt.NDArray[np.float64]) -> None:
        columns = np.flatnonzero(values)
        self._columns.frombytes(columns.astype(np.int64).tobytes())
        self._values.frombytes(values[columns].tobytes())
        self._end_row(line)

    def _end_row(self, line: int) -> None:
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
        """(n_rows, n_columns) float64; ``first`` is the number of column 0 in the file."""
        columns, values = self._column_array(), np.frombuffer(self._values, np.float64)
        outside = (columns < first) | (columns >= first + n_columns)
        self._refuse(
            outside,
            lambda at: (
                f"{what} {columns[at]} is out of range: there are {n_columns}, from {first} to "
                f"{first + n_columns - 1}"
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
        indptr = np.append(0, np.frombuffer(self._ends, np.int64)).astype(np.int64)
        matrix = csr(values.copy(), columns - first, indptr, (len(self), n_columns))
        self._refuse(
            sorted_repeats(matrix), lambda at: f"{what} {matrix.indices[at] + first} appears twice"
        )
        matrix.eliminate_zeros()
        return matrix

    def _refuse(self, is_bad: npt.NDArray[np.bool_], reason: Callable[[int], str]) -> None:
        """Raise for the first bad entry, with its line."""
        if np.any(is_bad):
            at = int(np.argmax(is_bad))
            row = int(np.searchsorted(self._ends, at, side="right"))
            raise bad_file(self.path, self.lines[row], reason(at))

    def _column_array(self) -> npt.NDArray[np.int64]:
        return np.frombuffer(self._columns, np.int64)


class PairRows:
    """Features and labels of lines ``label,label index:value index:value``."""

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self.features, self.labels = Rows(path), Rows(path)

    def append(self, number: int, line: bytes) -> None:
        tokens = line.split()
        labels = b""  # some writers put spaces after their commas
        while tokens and b":" not in tokens[0] and (not labels or labels.endswith(b",")):
            labels += tokens.pop(0)
        try:
            if b"_" in line:  # Python accepts it in numbers
                raise ValueError
            label_numbers = list(map(int, labels.split(b","))) if labels else []
            pairs = [token.partition(b":") for token in tokens]
            columns = [int(column) for column, _, _ in pairs]
            values = [float(value) for _, _, value in pairs]
        except ValueError:
            raise bad_file(self.path, number, self._reason(number, labels, tokens)) from None
        self.labels.append(number, label_numbers, [1.0] * len(label_numbers))
        self.features.append(number, columns, values)

    def _reason(self, number: int, labels: bytes, tokens: list[bytes]) -> str:
        decoded(labels + b" ".join(tokens), self.path, number)
        for label in labels.split(b",") if labels else []:
            if not _INTEGER.fullmatch(label):
                return f"{shown(label)} is not a label number, as in 1,5,7"
        for token in tokens:
            column, colon, value = token.partition(b":")
            if column == b"qid":
                return "qid belongs to ranking data and is not supported; remove it"
            if not colon:
                return f"{shown(token)} has no colon: features are written as index:value"
            if not _INTEGER.fullmatch(column):
                return f"{shown(column)} is not a feature number"
            try:
                float(value.replace(b"_", b"?"))
            except ValueError:
                return f"{shown(value)} is not a number"
        return "the line is invalid"


def sorted_repeats(matrix: sparse.csr_array) -> npt.NDArray[np.bool_]:
    """Sort the indices in place; whether each entry repeats the column of the one before it."""
    matrix.sort_indices()
    repeats = np.zeros(matrix.nnz, bool)
    repeats[1:] = matrix.indices[1:] == matrix.indices[:-1]
    starts = matrix.indptr[:-1]
    repeats[starts[starts < matrix.nnz]] = False
    return repeats


def csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """CSR with 32-bit indices if they fit: scikit-learn's trees refuse 64-bit ones."""
    width = np.int32 if max(len(data), *shape) <= np.iinfo(np.int32).max else np.int64
    return sparse.csr_array(
        (data, indices.astype(width, copy=False), indptr.astype(width, copy=False)), shape=shape
    )


def compact(X: sparse.csr_array) -> sparse.csr_array:
    """X as uint8 if all non-zeros are ones, else as float32."""
    dtype = np.uint8 if np.all(X.data == 1) else np.float32
    X = csr(X.data.astype(dtype), X.indices, X.indptr, X.shape)
    X.eliminate_zeros()  # values too small for float32
    return X
