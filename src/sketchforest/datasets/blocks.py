"""Blocks of rows, for files larger than memory."""

from collections.abc import Iterator
from itertools import islice

from scipy import sparse

from sketchforest.datasets._rows import PairRows, compact
from sketchforest.datasets._text import AnyPath, bad_file, decoded_lines, numbered_lines
from sketchforest.datasets.xc import open_xc


def pair_blocks(
    path: AnyPath, format: str, n_features: int, n_rows: int
) -> Iterator[sparse.csr_array]:
    """CSR matrices (up to n_rows, n_features) of a file of format "svmlight" or "xc".

    Features are numbered as in the file; labels are ignored.
    """
    if format == "xc":
        (_, n_written, _), lines = open_xc(path)
        if n_written != n_features:
            reason = f"the file has {n_written} features, and the model {n_features}"
            raise bad_file(path, 1, reason)
    else:
        # Skip comments and blank lines.
        stripped = ((number, line.partition(b"#")[0]) for number, line in numbered_lines(path))
        lines = ((number, line) for number, line in stripped if line.strip())
    while block := list(islice(lines, n_rows)):
        rows = PairRows(path)
        for number, line in block:
            rows.append(number, line)
        yield compact(rows.features.matrix(n_features, "feature"))


def line_blocks(path: AnyPath, n_rows: int, encoding: str = "utf-8") -> Iterator[list[str]]:
    """Blocks of lines, each a document."""
    lines = (line for _, line in decoded_lines(path, encoding))
    while block := list(islice(lines, n_rows)):
        yield block
