"""Finished trees of a fit that goes on, one file each, so that it can be broken off at any moment.

A file is whole or not there, and says what it holds by a checksum: one that is damaged counts as
not there, and its tree is grown again.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np

from sketchforest._files import written_whole
from sketchforest._saving.container import (
    DamagedError,
    array_checksum,
    check_header,
    map_arrays,
    opened,
    read_checksums,
    read_header,
    write_container,
)
from sketchforest._trees.model import Directions, Tree
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.problem import GrowSettings

INDEX, SUFFIX = "checkpoint.json", ".tree"
_ARRAYS = ("nodes", "thresholds", "gains", "member_start", "members", "weights")
_DIRECTIONS = ("start", "columns", "weights")


@dataclass(frozen=True)
class TreeFiles:
    """The trees of one setting, in a folder."""

    folder: Path
    setting: str  # with which their names begin
    feature_map: FeatureMap | None  # that oblique trees share; it is not written

    def get(self, tree: int) -> Tree | None:
        try:
            arrays, depth = _read(self._path(tree))
        except (OSError, DamagedError):
            return None
        directions = None
        if "directions.start" in arrays:
            assert self.feature_map is not None
            parts = {name: arrays[f"directions.{name}"] for name in _DIRECTIONS}
            directions = Directions(**parts, feature_map=self.feature_map)
        found = {name: arrays.get(name) for name in _ARRAYS}
        return Tree(**found, depth=depth, directions=directions)  # type: ignore[arg-type]

    def put(self, tree: int, grown: Tree) -> None:
        arrays = {name: getattr(grown, name) for name in _ARRAYS}
        if grown.directions is not None:
            arrays |= {f"directions.{n}": getattr(grown.directions, n) for n in _DIRECTIONS}
        present = {name: array for name, array in arrays.items() if array is not None}
        write_container(self._path(tree), present, {"depth": str(grown.depth)})

    def _path(self, tree: int) -> Path:
        return self.folder / f"{self.setting}-{tree:06}{SUFFIX}"


@dataclass(frozen=True)
class Checkpoint:
    """A folder of finished trees, and of what they were grown on."""

    folder: Path

    @classmethod
    def open(cls, folder: str | os.PathLike[str], grown_on: Mapping[str, str]) -> "Checkpoint":
        """Made where there is none; refused where it is one of other things. `grown_on` says what
        the trees are grown on, each part by a digest."""
        path = Path(folder)
        found = read_index(path)
        expected = grown_on if found is None else found
        other = [name for name in grown_on if grown_on[name] != expected.get(name)]
        if other:
            raise ValueError(
                "checkpoint_dir must be that of the same fit, or new; "
                f"'{path}' has trees of another {' and another '.join(other)}. Remove it to begin "
                "anew, or name another folder."
            )
        if found is None:
            path.mkdir(parents=True, exist_ok=True)
            with written_whole(path / INDEX) as draft:
                draft.write_text(json.dumps(dict(grown_on), indent=1), encoding="utf-8")
        return cls(path)

    def trees_of(self, settings: GrowSettings, feature_map: FeatureMap | None) -> TreeFiles:
        return TreeFiles(self.folder, joblib.hash(settings)[:12], feature_map)

    def remove(self) -> None:
        """All that is ours in the folder, and it if nothing is left. What names the rest goes last:
        broken off, it is a checkpoint of fewer trees."""
        for path in [*_ours(self.folder)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (self.folder / INDEX).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def read_index(folder: Path) -> dict[str, str] | None:
    """What the trees in the folder were grown on; None where there are none."""
    index = folder / INDEX
    if index.is_file():
        found: dict[str, str] = json.loads(index.read_text(encoding="utf-8"))
        return found
    is_file = folder.exists() and not folder.is_dir()
    if is_file or (folder.is_dir() and {*folder.iterdir()} != {*_ours(folder)}):
        raise ValueError(
            f"checkpoint_dir must be a folder of a checkpoint, an empty or a new one; '{folder}' "
            f"is {'a file' if is_file else 'a folder of other files'}. Name another one."
        )
    return None


def _ours(folder: Path) -> Iterator[Path]:
    """Trees, and drafts that a killed process left."""
    yield from folder.glob(f"*{SUFFIX}")
    yield from folder.glob(f".*{SUFFIX}.*")
    yield from folder.glob(f".{INDEX}.*")


def _read(path: Path) -> tuple[dict[str, np.ndarray], int]:
    with opened(path) as file:
        header = read_header(file)
        check_header(header.text)
        arrays = map_arrays(file, header, is_mapped=False).arrays
    for name, expected in (read_checksums(header) or {}).items():
        if array_checksum(arrays[name]) != expected:
            raise DamagedError(f"{name} is not as it was written")
    return arrays, int(header.metadata["depth"])
