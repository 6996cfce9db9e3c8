"""Reading and writing files of any known format."""

import inspect
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypedDict, Unpack

from sketchforest.datasets._shared_docs import round_trip
from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    first_line,
    numbered_lines,
    plain_name,
)
from sketchforest.datasets.arff import Labels, read_arff, write_arff
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.npz import load_npz, write_npz
from sketchforest.datasets.svmlight import ZeroBased, read_svmlight, write_svmlight
from sketchforest.datasets.table import write_table
from sketchforest.datasets.table_files import FASTTEXT_MARK
from sketchforest.datasets.xc import is_xc_header, read_xc, write_xc

_READERS: dict[str, Callable[..., Dataset]] = {
    "arff": read_arff,
    "mulan": partial(read_arff, convention="mulan"),
    "meka": partial(read_arff, convention="meka"),
    "clus": partial(read_arff, convention="clus"),
    "xc": read_xc,
    "svmlight": read_svmlight,
    "npz": load_npz,
}
FORMATS = tuple(_READERS)
_WRITERS: dict[str, Callable[[Dataset, AnyPath], None]] = {
    "npz": write_npz,
    "xc": write_xc,
    "svmlight": write_svmlight,
    "meka": write_arff,
    "csv": write_table,
    "tsv": partial(write_table, delimiter="\t"),
}
_SUFFIXES = {".npz": "npz", ".arff": "meka", ".txt": "xc", ".csv": "csv", ".tsv": "tsv"}
_SUFFIXES |= dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight")

# The start of a row, or the comment that write_svmlight puts before them.
_SVMLIGHT = re.compile(rb"\s*(# zero-based|[\d,.+-]*\s*\d+:[\d.+-])")


class ReadOptions(TypedDict, total=False):
    """Options of the readers, each of which takes some."""

    labels: Labels
    xml: AnyPath
    ancestors: bool
    drop: Iterable[str]
    train_split: AnyPath
    test_split: AnyPath
    split: int
    n_features: int
    n_labels: int
    zero_based: ZeroBased
    zero_based_labels: ZeroBased


@round_trip("read", "write", "tags.svm")
def read(path: AnyPath, format: str | None = None, **options: Unpack[ReadOptions]) -> Dataset:
    """Read a file of any known format.

    Parameters
    ----------
    format : "arff", "mulan", "meka", "clus", "xc", "svmlight", "npz" or None, default=None
        None detects the format.
    **options
        Passed to `read_arff`, `read_xc` or `read_svmlight`.
    """
    if format is None:
        format = recognize(path)
        if format not in FORMATS:
            reason = f"it is a table of format {format}; use read_table or 'sketchforest train'"
            raise bad_file(path, 1, reason)
    _check_format(format, FORMATS)
    reader = _READERS[format]
    known = inspect.signature(reader).parameters
    for option in options:
        if option not in known:
            raise ValueError(f"Files of format {format!r} have no option {option!r}. Remove it.")
    return reader(path, **options)


@round_trip("read", "write", "tags.svm")
def write(dataset: Dataset, path: AnyPath, format: str | None = None) -> None:
    """Write a data set in a format that `read` or `read_table` reads.

    Parameters
    ----------
    format : "npz", "meka", "xc", "svmlight", "csv", "tsv" or None, default=None
        None takes it from the name: `.npz`, `.arff`, `.txt` (xc), `.svm`, `.csv` or `.tsv`.
    """
    if format is None:
        suffix = Path(plain_name(path)).suffix.lower()
        if suffix not in _SUFFIXES:
            raise ValueError(
                f"path must end in {', '.join(_SUFFIXES)}, unless format is given; got "
                f"{Path(path).name!r}."
            )
        format = _SUFFIXES[suffix]
    _check_format(format, tuple(_WRITERS))
    _WRITERS[format](dataset, path)


def recognize(path: AnyPath) -> str:
    """Detect the format of a file, by its first bytes or lines."""
    if is_packed_by_zip(path):
        return "npz"
    if (table := recognize_table(path)) is not None:
        return table
    for number, line in islice(numbered_lines(path), 10_000):
        text = line.strip()
        if not text or text.startswith((b"%", b"#")):
            continue
        if text.lower().startswith((b"@relation", b"@attribute", b"@data")):
            return "arff"
        if number == 1 and is_xc_header(line):
            return "xc"
        if text.startswith((b"[", b"{")):
            reason = "JSON must have one object per line and nothing else"
            raise bad_file(path, number, f"{reason}; convert it, for example with jq -c '.[]'")
        if b":" in text:
            return "svmlight"
        reason = f"the format is unknown; pass one of {', '.join(FORMATS)}, or csv for a table"
        raise bad_file(path, number, reason)
    raise bad_file(path, None, "it contains only comments and blank lines")


def is_packed_by_zip(path: AnyPath) -> bool:
    """Whether this may be an npz file. Raises for Excel workbooks and other zip archives."""
    with Path(path).open("rb") as file:
        if file.read(2) != b"PK":
            return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        if plain_name(path).endswith(".npz"):
            return True  # damaged, as the reader will report
        reason = "it is a damaged zip archive or Excel workbook; save the table as CSV"
        raise bad_file(path, None, reason) from None
    if any(name.startswith("xl/") for name in names):
        raise bad_file(path, None, "it is an Excel workbook; save it as CSV")
    if names and not any(name.endswith(".npy") for name in names):
        raise bad_file(path, None, "it is a zip archive of other files; unpack it")
    return True


def recognize_piped(path: AnyPath = "-") -> str:
    """Detect the format of standard input, which can be read only once, by its first line."""
    line = first_line(path)
    if (table := recognize_table(path)) is not None:
        return table
    if line.startswith((b"PK", b"PAR1")) or line.lstrip().lower().startswith(b"@relation"):
        raise ValueError(
            "Standard input must be csv, tsv, jsonl, fasttext, svmlight or xc. Pass other formats "
            "as a file."
        )
    if is_xc_header(line):
        return "xc"
    return "svmlight" if _SVMLIGHT.match(line) else "csv"


def recognize_table(path: AnyPath) -> str | None:
    """Detect "jsonl" or "fasttext" by the first line."""
    line = first_line(path).strip()
    if line.startswith(b"{") and line.endswith(b"}") and b":" in line:
        return "jsonl"
    return "fasttext" if line.startswith(FASTTEXT_MARK.encode()) else None


def _check_format(format: str, known: tuple[str, ...]) -> None:
    if format not in known:
        raise ValueError(f"format must be one of {', '.join(known)}; got {format!r}.")
