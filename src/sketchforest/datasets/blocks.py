"""Blocks of rows, for files larger than memory."""

from collections.abc import Iterator
from itertools import islice

from scipy import sparse

from sketchforest.datasets._rows import PairRows, compact
from sketchforest.datasets._text import AnyPath, bad_file, decoded_lines, numbered_lines
from sketchforest.datasets.xc import read_xc_header


def pair_blocks(
    path: AnyPath, format: str, n_features: int, n_rows: int
) -> Iterator[sparse.csr_array]:
    """CSR matrices (up to n_rows, n_features) of a file of format "svmlight" or "xc".

    Features are numbered as in the file; labels are ignored.
    """
    lines = numbered_lines(path)
    if format == "xc":
        lines = _xc_lines(path, lines, n_features)
    else:  # skip comments and blank lines
        stripped = ((number, line.partition(b"#")[0]) for number, line in lines)
        lines = ((number, line) for number, line in stripped if line.strip())
    while block := list(islice(lines, n_rows)):
        rows = PairRows(path)
        for number, line in block:
            rows.append(number, line)
        yield compact(rows.features.matrix(n_features, "feature"))


def _xc_lines(
    path: AnyPath, lines: Iterator[tuple[int, bytes]], n_features: int
) -> Iterator[tuple[int, bytes]]:
    n_rows, n_written, _ = read_xc_header(path, next(lines, (1, b""))[1])
    if n_written != n_features:
        reason = f"the file has {n_written} features, and the model {n_features}"
        raise bad_file(path, 1, reason)
    number = 1
    for number, line in islice(lines, n_rows):
        yield number, line
    if number < n_rows + 1:
        raise bad_file(path, number, f"the file ends after {number - 1} of the {n_rows} rows")


def line_blocks(path: AnyPath, n_rows: int, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Blocks of lines, each a document."""
    lines = (line for _, line in decoded_lines(path, encoding))
    while block := list(islice(lines, n_rows)):
        yield block
