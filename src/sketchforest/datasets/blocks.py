"""Rows of index:value text, a block at a time, for files that are larger than the memory."""

from collections.abc import Iterator

from scipy import sparse

from sketchforest.datasets._pairs import PairRows
from sketchforest.datasets._rows import compact
from sketchforest.datasets._text import AnyPath, decoded, numbered_lines
from sketchforest.datasets.xc import is_xc_header


def pair_blocks(
    path: AnyPath, format: str, n_features: int, n_rows: int
) -> Iterator[sparse.csr_array]:
    """(at most n_rows, n_features) CSR matrices of a file of format "svmlight" or "xc".

    Features have the number that stands in the file; labels are read over.
    """
    rows = PairRows(path)
    for number, line in numbered_lines(path):
        if format == "xc":
            if number == 1 and is_xc_header(line):
                continue
        else:
            line = line.partition(b"#")[0]
            if not line.strip():
                continue
        rows.append(number, line)
        if len(rows.features) == n_rows:
            yield _features(rows, n_features)
            rows = PairRows(path)
    if len(rows.features):
        yield _features(rows, n_features)


def line_blocks(path: AnyPath, n_rows: int) -> Iterator[list[str]]:
    """Lines of text, a document in each."""
    lines: list[str] = []
    for number, line in numbered_lines(path):
        lines.append(decoded(line, path, number))
        if len(lines) == n_rows:
            yield lines
            lines = []
    if lines:
        yield lines


def _features(rows: PairRows, n_features: int) -> sparse.csr_array:
    return compact(rows.features.matrix(n_features, "feature"))
