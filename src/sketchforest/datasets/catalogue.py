"""Named data sets: descriptions, local files and downloads."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest.datasets._shared_docs import described
from sketchforest.datasets._text import COMPRESSED, AnyPath, bad_file, first_line
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.files import ReadOptions, read
from sketchforest.datasets.xc import is_xc_header

DATA_VARIABLE = "SKETCHFOREST_DATA"
_HOME = "~/sketchforest_data"
_SUFFIXES = tuple(
    suffix + packing for suffix in (".arff", ".txt", ".svm") for packing in ("", *COMPRESSED)
)


@dataclass(frozen=True)
class SourceFile:
    """A file to download: local name, address and checksum."""

    name: str
    url: str
    sha256: str


@dataclass(frozen=True)
class PaperFigures:
    """A data set as listed in Joly, Geurts and Wehenkel (2014)."""

    name: str
    n_train: int
    n_test: int | None  # None: ten-fold cross-validation
    n_features: int
    n_labels: int


@dataclass(frozen=True)
class DatasetInfo:
    """Description of a data set; None where unknown.

    ``cardinality`` is the mean number of labels per row and ``x_density`` the share of non-zeros in
    X. ``files`` can be downloaded; those of ``by_hand`` must be fetched manually. ``options`` are
    passed to the reader.

    Examples
    --------
    >>> from sketchforest.datasets import describe
    >>> describe("delicious").n_labels
    983
    """

    name: str
    n_samples: int
    n_train: int | None
    n_test: int | None
    n_features: int
    n_labels: int
    cardinality: float | None
    x_density: float | None
    citation: str
    homepage: str | None = None
    paper: PaperFigures | None = None
    files: tuple[SourceFile, ...] = ()
    by_hand: tuple[str, ...] = ()
    options: ReadOptions = field(default_factory=ReadOptions)
    note: str = ""


@cache
def catalogue() -> dict[str, DatasetInfo]:
    """All known data sets by name: those of the paper by number of labels, then others."""
    text = resources.files("sketchforest.datasets").joinpath("catalogue.json").read_text("utf-8")
    return {name: _info(name, entry) for name, entry in json.loads(text).items()}


@described
def describe(name: str) -> DatasetInfo:
    """Look up a data set in the catalogue.

    Examples
    --------
    >>> from sketchforest.datasets import describe
    >>> describe("bibtex").n_features
    1836
    """
    known = catalogue()
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}; got {name!r}.")
    return known[name]


@described
def load(name: str, data_home: AnyPath | None = None, *, download: bool = False) -> Dataset:
    """Load a data set from ``data_home``, ``$SKETCHFOREST_DATA`` or ~/sketchforest_data.

    These folders are searched for ``NAME.npz``, text files ``NAME.arff`` (``.txt``, ``.svm``;
    compressed or not) and pairs ``NAME-train``, ``NAME-test``, directly or in a folder ``NAME``.

    Parameters
    ----------
    download : bool, default=False
        Whether to download the data set into the first folder if none has it.

    Raises
    ------
    FileNotFoundError
        If the data set is not found; the message says which files to put where.

    Examples
    --------
    >>> from sketchforest.datasets import load, make_multilabel, write
    >>> write(make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3), "mine.npz")
    >>> load("mine", data_home=".")
    Dataset('mine', n_samples=20, n_features=10, n_labels=5)
    """
    found = find(name, data_home)
    if not found and download:
        info = describe(name)
        if not info.files:
            raise FileNotFoundError(how_to_get(name, data_home))
        fetch(info.files, data_folders(data_home)[0] / name)
        found = find(name, data_home)
    if not found:
        raise FileNotFoundError(how_to_get(name, data_home))
    is_archive = found[0].suffix == ".npz"
    options = ReadOptions() if is_archive or name not in catalogue() else describe(name).options
    parts = [read(path, **options) for path in found]
    return replace(parts[0] if len(parts) == 1 else _joined(found, parts), name=name)


@described
def list_datasets(data_home: AnyPath | None = None) -> list[str]:
    """List the data sets that ``load`` finds without a download, sorted by name.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from sketchforest.datasets import list_datasets
    >>> isinstance(list_datasets(), list)
    True
    """
    found = {name for home in data_folders(data_home) for name in _names_in(home)}
    return sorted(name for name in found | {*catalogue()} if find(name, data_home))


def _names_in(home: Path) -> Iterator[str]:
    """Names of files that look like data sets, directly in a folder or in one of their name."""
    for path in [*home.glob("*"), *home.glob("*/*")]:
        suffix = next((each for each in (*_SUFFIXES, ".npz") if path.name.endswith(each)), None)
        name = path.name.removesuffix(suffix or "").removesuffix("-train")
        if name.endswith("-test"):  # the training file has the name of the set
            continue
        is_direct = path.parent == home
        if suffix is None or not (is_direct or (path.parent.name == name and suffix != ".npz")):
            continue
        # Other files are called .txt, too.
        if not suffix.startswith(".txt") or is_xc_header(first_line(path)):
            yield name


def find(name: str, data_home: AnyPath | None = None) -> list[Path]:
    """The file of a data set, or its training and test files; empty if there are none."""
    for home in data_folders(data_home):
        if (archive := home / f"{name}.npz").is_file():
            return [archive]
        for folder in (home, home / name):
            for suffix in _SUFFIXES:
                parts = [folder / f"{name}-{part}{suffix}" for part in ("train", "test")]
                if all(path.is_file() for path in parts):
                    return parts
                for whole in (f"{name}{suffix}", f"{name}_data{suffix}"):
                    if (folder / whole).is_file():
                        return [folder / whole]
    return []


def data_folders(data_home: AnyPath | None = None) -> list[Path]:
    """The folders to search, in order."""
    candidates = (data_home, os.environ.get(DATA_VARIABLE), _HOME)
    folders = []
    for folder in candidates:
        with suppress(RuntimeError):  # the user has no home folder
            if folder:
                folders.append(Path(folder).expanduser())
    return folders


def fetch(files: Iterable[SourceFile], folder: Path) -> list[Path]:
    """Download what is not yet in ``folder``; a file with a wrong checksum is not kept."""
    try:
        import pooch
    except ImportError:
        raise ImportError(
            "Downloads need pooch. Install it with: pip install 'sketchforest[data]'"
        ) from None
    pooch.get_logger().setLevel("WARNING")
    paths = []
    for file in files:
        try:
            path = pooch.retrieve(
                file.url, f"sha256:{file.sha256}", fname=file.name, path=folder, progressbar=False
            )
        except ValueError:
            raise ValueError(
                f"The file at {file.url} has changed (its sha256 differs); nothing was kept."
            ) from None
        except OSError as error:  # including those of requests
            raise OSError(
                f"{file.url} could not be downloaded ({type(error).__name__}). Get it by other "
                f"means and save it as '{folder / file.name}'."
            ) from None
        paths.append(Path(path))
    return paths


def _info(name: str, entry: dict[str, Any]) -> DatasetInfo:
    paper = entry.pop("paper", None)
    return DatasetInfo(
        name=name,
        paper=PaperFigures(**paper) if paper else None,
        files=tuple(SourceFile(**file) for file in entry.pop("files", ())),
        by_hand=tuple(entry.pop("by_hand", ())),
        **entry,
    )


def _joined(paths: list[Path], parts: list[Dataset]) -> Dataset:
    """Concatenate training and test rows into one data set with a split."""
    train, test = parts
    for names in ("feature_names", "label_names"):
        if not np.array_equal(getattr(train, names), getattr(test, names)):
            raise bad_file(paths[1], None, f"its {names} differ from those of {paths[0].name}")
    if (train.X.shape[1], train.Y.shape[1]) != (test.X.shape[1], test.Y.shape[1]):
        reason = f"its numbers of features and labels differ from those of {paths[0].name}"
        raise bad_file(paths[1], None, reason)
    n_train, n_test = train.X.shape[0], test.X.shape[0]
    return replace(
        train,
        X=sparse.vstack([train.X, test.X], format="csr"),
        Y=sparse.vstack([train.Y, test.Y], format="csr"),
        splits={"train": np.arange(n_train), "test": np.arange(n_train, n_train + n_test)},
    )


def how_to_get(name: str, data_home: AnyPath | None = None) -> str:
    """Message that says which files to put where."""
    folders = data_folders(data_home)
    searched = ", ".join(f"'{folder}'" for folder in folders)
    info = catalogue().get(name)
    if info is None:
        way = (
            f"put {name}.npz, {name}.arff, .txt or .svm into a folder, and pass the folder as "
            f"data_home or set the environment variable {DATA_VARIABLE} to it"
        )
    elif info.files:
        names = ", ".join(file.name for file in info.files)
        way = (
            f"download it with load({name!r}, download=True) or `sketchforest datasets {name} "
            f"--download`, or put {names} into '{folders[0] / name}'"
        )
    else:
        source = f"get it from {info.homepage}, and " if info.homepage else ""
        place = ", ".join([*info.by_hand, f"or {name}.npz"]) if info.by_hand else f"{name}.npz"
        way = f"{source}put {place} into '{folders[0]}'"
    return f"Data set {name!r} was not found in {searched}. To use it, {way}."
