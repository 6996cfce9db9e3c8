"""Data sets by name: what they are, where they are, where they can be had."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest.datasets._text import COMPRESSED, AnyPath, bad_file
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.download import SourceFile, fetch
from sketchforest.datasets.files import ReadOptions, read

DATA_VARIABLE = "SKETCHFOREST_DATA"
_HOME = "~/sketchforest_data"
_SUFFIXES = tuple(
    suffix + packing for suffix in (".arff", ".txt", ".svm") for packing in ("", *COMPRESSED)
)


@dataclass(frozen=True)
class PaperFigures:
    """A data set as the tables of Joly, Geurts and Wehenkel (2014) print it."""

    name: str
    n_train: int
    n_test: int | None  # None: ten-fold cross-validation
    n_features: int
    n_labels: int


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without having it; None where it is not known.

    ``cardinality`` is the mean number of labels of a row, ``x_density`` the share of non-zeros in
    X; ``files`` can be downloaded, those of ``by_hand`` only by people; ``options`` are
    those with which they are read.

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
    """All known data sets by name: those of the paper, by their number of labels, then others."""
    text = resources.files("sketchforest.datasets").joinpath("catalogue.json").read_text("utf-8")
    return {name: _info(name, entry) for name, entry in json.loads(text).items()}


def describe(name: str) -> DatasetInfo:
    """The entry of the catalogue.

    Parameters
    ----------
    name : str

    Returns
    -------
    DatasetInfo

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


def load(name: str, data_home: AnyPath | None = None, *, download: bool = False) -> Dataset:
    """The data set ``name``, from ``data_home``, ``$SKETCHFOREST_DATA`` or ~/sketchforest_data.

    In these folders it is ``NAME.npz``, or text of any format as ``NAME.arff`` (``.txt``,
    ``.svm``; compressed or not) or as ``NAME-train`` and ``NAME-test``, there or in a folder
    ``NAME``. With ``download`` it is fetched into the first of them if it is in none.

    Parameters
    ----------
    name : str
    data_home : str, path or None, default=None
    download : bool, default=False

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        Where it is not found; the message says which files to put where.

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import load, make_multilabel, write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    ...     write(data, os.path.join(folder, "mine.npz"))
    ...     load("mine", data_home=folder)
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


def list_datasets(data_home: AnyPath | None = None) -> list[str]:
    """The names that ``load`` finds without a download, sorted.

    Parameters
    ----------
    data_home : str, path or None, default=None

    Returns
    -------
    list of str

    Examples
    --------
    >>> from sketchforest.datasets import list_datasets
    >>> isinstance(list_datasets(), list)
    True
    """
    archives = {path.stem for home in data_folders(data_home) for path in home.glob("*.npz")}
    return sorted(archives | {name for name in catalogue() if find(name, data_home)})


def find(name: str, data_home: AnyPath | None = None) -> list[Path]:
    """The file of a data set, or its training and test files; nothing if it is not here."""
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
    """Where data sets are looked for, the first one first."""
    candidates = (data_home, os.environ.get(DATA_VARIABLE), _HOME)
    folders = []
    for folder in candidates:
        with suppress(RuntimeError):  # who has no home has no data sets there
            if folder:
                folders.append(Path(folder).expanduser())
    return folders


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
    """Training and test rows as one data set with a split."""
    train, test = parts
    for names in ("feature_names", "label_names"):
        if not np.array_equal(getattr(train, names), getattr(test, names)):
            raise bad_file(paths[1], None, f"its {names} are not those of {paths[0].name}")
    if (train.X.shape[1], train.Y.shape[1]) != (test.X.shape[1], test.Y.shape[1]):
        reason = f"it has other numbers of features or labels than {paths[0].name}"
        raise bad_file(paths[1], None, reason)
    n_train, n_test = train.X.shape[0], test.X.shape[0]
    return replace(
        train,
        X=sparse.vstack([train.X, test.X], format="csr"),
        Y=sparse.vstack([train.Y, test.Y], format="csr"),
        splits={"train": np.arange(n_train), "test": np.arange(n_train, n_train + n_test)},
    )


def how_to_get(name: str, data_home: AnyPath | None = None) -> str:
    """Which files to put where, for a data set that is not here."""
    folders = data_folders(data_home)
    searched = ", ".join(f"'{folder}'" for folder in folders)
    info = catalogue().get(name)
    if info is None:
        way = (
            f"put {name}.npz, or text of a known format as {name}.arff, .txt or .svm, into a "
            f"folder and pass it as data_home or name it in the environment variable "
            f"{DATA_VARIABLE}"
        )
    elif info.files:
        names = ", ".join(file.name for file in info.files)
        way = (
            f"download it by load({name!r}, download=True) or `sketchforest datasets {name} "
            f"--download`, or put {names} into '{folders[0] / name}' yourself"
        )
    else:
        source = (
            f"get it from {info.homepage}" if info.homepage else "if you have it from elsewhere"
        )
        place = ", ".join([*info.by_hand, f"or {name}.npz"]) if info.by_hand else f"{name}.npz"
        way = f"{source}, put {place} into '{folders[0]}'"
    return f"Data set {name!r} was not found (looked in {searched}): {way}."
