"""Any data file, recognised by its name and its first lines."""

import inspect
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypedDict, Unpack

from sketchforest.datasets._text import (
    AnyPath,
    bad_file,
    first_line,
    numbered_lines,
    plain_name,
)
from sketchforest.datasets.arff import Labels, arff_convention, read_arff, write_arff
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.npz import load_npz, write_npz
from sketchforest.datasets.svmlight import ZeroBased, read_svmlight, write_svmlight
from sketchforest.datasets.table_files import FASTTEXT_MARK
from sketchforest.datasets.xc import is_xc_header, read_xc, write_xc

_READERS: dict[str, Callable[..., Dataset]] = {
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
}
_FORMAT_OF_SUFFIX = {
    ".npz": "npz",
    ".arff": "meka",
    ".txt": "xc",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}


# The beginning of a row, or what write_svmlight puts before them.
_SVMLIGHT = re.compile(rb"\s*(# zero-based|[\d,.+-]*\s*\d+:[\d.+-])")


class ReadOptions(TypedDict, total=False):
    """What the readers take; each takes its own."""

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


def read(path: AnyPath, format: str | None = None, **options: Unpack[ReadOptions]) -> Dataset:
    """The data set in a file of any known format, plain or compressed by gzip, xz or bzip2.

    ``format`` is one of "mulan", "meka", "clus", "xc", "svmlight" and "npz", and recognised from
    the file if not given; ``options`` are those of ``read_arff``, ``read_xc`` and
    ``read_svmlight``.

    Parameters
    ----------
    path : str or path
        Compressed by gzip, xz or bzip2 or not.
    format : str or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, read, write
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.svm")
    ...     write(data, path)
    ...     read(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    if format is None:
        format = recognise(path, has_labels=bool({"labels", "xml"} & set(options)))
        if format not in FORMATS:
            reason = f"it is a table of format {format}, of which 'sketchforest train' makes rows"
            raise bad_file(path, 1, reason)
    _check_format(format, FORMATS)
    reader = _READERS[format]
    known = inspect.signature(reader).parameters
    for option in options:
        if option not in known:
            raise ValueError(f"Files of format {format!r} have no option {option!r}.")
    return reader(path, **options)


def write(dataset: Dataset, path: AnyPath, format: str | None = None) -> None:
    """Writes ``dataset`` in ``format`` ("npz", "meka", "xc" or "svmlight").

    Without it the name decides: ``.npz``, ``.arff``, ``.txt`` (xc), ``.svm``; a further ``.gz``,
    ``.xz`` or ``.bz2`` compresses text.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
    format : str or None, default=None

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, read, write
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.svm")
    ...     write(data, path)
    ...     read(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    if format is None:
        suffix = Path(plain_name(path)).suffix.lower()
        if suffix not in _FORMAT_OF_SUFFIX:
            raise ValueError(
                f"The name must end in {', '.join(_FORMAT_OF_SUFFIX)} or the format be given; "
                f"got {Path(path).name!r}."
            )
        format = _FORMAT_OF_SUFFIX[suffix]
    _check_format(format, tuple(_WRITERS))
    _WRITERS[format](dataset, path)


def recognise(path: AnyPath, *, has_labels: bool = False) -> str:
    """The format of a file: "npz" by its first bytes, the others by their first lines."""
    if is_packed_by_zip(path):
        return "npz"
    if (table := recognise_table(path)) is not None:
        return table
    for number, line in islice(numbered_lines(path), 10_000):
        text = line.strip()
        if not text or text.startswith((b"%", b"#")):
            continue
        if text.lower().startswith((b"@relation", b"@attribute", b"@data")):
            return "mulan" if has_labels else arff_convention(path)
        if number == 1 and is_xc_header(line):
            return "xc"
        if text.startswith((b"[", b"{")):
            reason = "JSON must have an object in each line, and nothing around them"
            raise bad_file(path, number, f"{reason}; convert it, as by jq -c '.[]'")
        if b":" in text:
            return "svmlight"
        reason = (
            f"this is none of the known formats ({', '.join(FORMATS)}); give its format if it is, "
            "or csv if it is a table"
        )
        raise bad_file(path, number, reason)
    raise bad_file(path, None, "there is nothing in it but comments and blank lines")


def is_packed_by_zip(path: AnyPath) -> bool:
    """Whether it may be an npz file; a workbook and other archives are refused by name."""
    with Path(path).open("rb") as file:
        if file.read(2) != b"PK":
            return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return True  # and broken, as its reader will say
    if any(name.startswith("xl/") for name in names):
        raise bad_file(path, None, "it is a workbook of Excel; save it as CSV")
    if names and not any(name.endswith(".npy") for name in names):
        raise bad_file(path, None, "it is a zip archive of other files; unpack it")
    return True


def recognise_piped(path: AnyPath = "-") -> str:
    """The format of standard input, which is read once: a table, unless its first line is that of
    another format."""
    line = first_line(path)
    if (table := recognise_table(path)) is not None:
        return table
    if line.startswith((b"PK", b"PAR1")) or line.lstrip().lower().startswith(b"@relation"):
        reason = "standard input must be csv, tsv, jsonl, fasttext, svmlight or xc"
        raise ValueError(f"{reason}. Name the file itself for other formats.")
    if is_xc_header(line):
        return "xc"
    return "svmlight" if _SVMLIGHT.match(line) else "csv"


def recognise_table(path: AnyPath) -> str | None:
    """ "jsonl" or "fasttext" by the first line; of standard input, too."""
    line = first_line(path).strip()
    if line.startswith(b"{") and line.endswith(b"}") and b":" in line:
        return "jsonl"
    return "fasttext" if line.startswith(FASTTEXT_MARK.encode()) else None


def _check_format(format: str, known: tuple[str, ...]) -> None:
    if format not in known:
        raise ValueError(f"format must be one of {', '.join(known)}; got {format!r}.")
