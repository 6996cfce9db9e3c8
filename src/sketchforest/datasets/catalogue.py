"""Data sets by name, found in folders of files."""

import os
from pathlib import Path

from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.npz import load_npz

DATA_VARIABLE = "SKETCHFOREST_DATA"

_Folder = str | os.PathLike[str]


def load(name: str, data_home: _Folder | None = None) -> Dataset:
    """The data set ``name``, read from ``data_home`` or else from ``$SKETCHFOREST_DATA``."""
    folders = _data_folders(data_home)
    for folder in folders:
        path = folder / f"{name}.npz"
        if path.is_file():
            return load_npz(path)
    searched = ", ".join(f"'{folder}'" for folder in folders) or "no folder"
    raise FileNotFoundError(
        f"Data set {name!r} was not found (looked in {searched}): put {name}.npz into a folder "
        f"and pass it as data_home or name it in the environment variable {DATA_VARIABLE}."
    )


def list_datasets(data_home: _Folder | None = None) -> list[str]:
    """The names that ``load`` finds, sorted."""
    return sorted({path.stem for home in _data_folders(data_home) for path in home.glob("*.npz")})


def _data_folders(data_home: _Folder | None) -> list[Path]:
    candidates = (data_home, os.environ.get(DATA_VARIABLE))
    return [Path(folder).expanduser() for folder in candidates if folder]
