"""Checkpoints: the finished trees of a running fit, one file each.

Files are written atomically and have checksums. A corrupt file counts as missing, and its tree is
grown again. A file with valid checksums that is not a tree of this fit is refused, since someone
else wrote it. Only one fit at a time can use a folder.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from sketchforest._saving.arrays import DIRECTIONS, TREES, check_arrays, taken
from sketchforest._saving.container import (
    ARRAY_CHECKSUMS,
    CHECKSUM,
    CorruptModelError,
    map_arrays,
    open_regular,
    read_checksums,
    read_header,
    read_json,
    verify_header,
    write_container,
)
from sketchforest._saving.model_file import check_unchanged, errors_as_corruption
from sketchforest._trees.model import Directions, Forest, Tree
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.problem import GrowSettings
from sketchforest._utils.files import held, make_folder, written_whole

INDEX, LOCK, SUFFIX = "checkpoint.json", "checkpoint.lock", ".tree"
_ARRAYS = ("nodes", "thresholds", "gains", "member_start", "members", "weights")
_DIRECTIONS = ("start", "columns", "weights")
_KINDS = {name: TREES[name] for name in _ARRAYS} | {
    # A tree has 32-bit offsets, and a forest 64-bit ones.
    f"directions.{name}": "u4 1" if name == "start" else DIRECTIONS[name]
    for name in _DIRECTIONS
}


def validated_tree(
    arrays: Mapping[str, np.ndarray],
    depth: int,
    feature_map: FeatureMap | None,
    n_features: int,
    n_rows: int,
) -> Tree:
    """Return the tree of untrusted arrays; raise CorruptModelError if it is invalid."""
    check_arrays(arrays, _KINDS)
    found: dict[str, Any] = dict.fromkeys(_ARRAYS)
    found |= taken(arrays, _ARRAYS, optional=("thresholds", "weights"))
    directions = None
    if any(name.startswith("directions.") for name in arrays):
        if feature_map is None:
            raise CorruptModelError("the tree is oblique, unlike the trees of this fit")
        parts = taken(arrays, _DIRECTIONS, "directions.")
        if len(parts["start"]) != len(arrays["nodes"]) + 1:
            raise CorruptModelError("directions do not match the nodes")
        directions = Directions(**parts, feature_map=feature_map)
    tree = Tree(**found, depth=depth, directions=directions)
    with errors_as_corruption():
        return Forest.from_trees([tree], n_features, n_rows).tree(0)


@dataclass(frozen=True)
class TreeFiles:
    """The trees grown with one setting, in a folder."""

    folder: Path
    setting: str  # prefix of the file names
    feature_map: FeatureMap | None  # shared by oblique trees; not written
    n_features: int
    n_rows: int

    def get(self, tree: int) -> Tree | None:
        path = self._path(tree)
        try:
            arrays, metadata = _read(path)
        except (OSError, CorruptModelError):
            return None
        try:
            depth = metadata.get("depth", "")
            if metadata.keys() != {"depth", CHECKSUM, ARRAY_CHECKSUMS} or not depth.isdecimal():
                raise CorruptModelError("invalid header")
            if len(depth) > 10 or int(depth) >= 2**31:
                raise CorruptModelError("invalid depth")
            return validated_tree(
                arrays, int(depth), self.feature_map, self.n_features, self.n_rows
            )
        except CorruptModelError as error:
            raise ValueError(
                f"checkpoint_dir must contain trees of this fit; '{path}' is not one: {error}. "
                "Remove the file to grow the tree again, or the folder to start over."
            ) from error

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
    """A folder of finished trees, with an index of what they were grown on."""

    folder: Path

    @classmethod
    def open(cls, folder: str | os.PathLike[str], grown_on: Mapping[str, str]) -> "Checkpoint":
        """Open or create a checkpoint.

        `grown_on` has digests of the data and the settings; those of an existing checkpoint must be
        the same.
        """
        path = Path(folder)
        found = read_index(path)
        expected = grown_on if found is None else found
        other = [name for name in grown_on if grown_on[name] != expected.get(name)]
        if other:
            raise ValueError(
                "checkpoint_dir must be new or belong to the same fit; the trees in "
                f"'{path}' were grown with another {' and another '.join(other)}. Remove it to "
                "start over, or choose another folder."
            )
        if found is None:
            make_folder(path)
            with written_whole(path / INDEX) as draft:
                draft.write_text(json.dumps(dict(grown_on), indent=1), encoding="utf-8")
        return cls(path)

    def trees_of(
        self, settings: GrowSettings, feature_map: FeatureMap | None, n_features: int, n_rows: int
    ) -> TreeFiles:
        setting = joblib.hash(settings)[:12]
        return TreeFiles(self.folder, setting, feature_map, n_features, n_rows)

    def remove(self) -> None:
        """Remove the files of the checkpoint.

        The index goes last: if interrupted, a valid checkpoint with fewer trees remains.
        """
        for path in [*_ours(self.folder)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (self.folder / INDEX).unlink(missing_ok=True)


@contextmanager
def only_fit_in(folder: Path) -> Iterator[None]:
    """Lock the folder against other fits, in any process; remove it at the end if it is empty."""
    read_index(folder)  # before touching a folder of other files
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder / LOCK))
        except BlockingIOError:
            raise ValueError(
                f"checkpoint_dir must not be in use by another fit; got '{folder}'. Wait until "
                "that fit ends, or choose another folder."
            ) from None
        yield
    with suppress(OSError):
        folder.rmdir()


def read_index(folder: Path) -> dict[str, str] | None:
    """Return what the trees in the folder were grown on; None if there is no checkpoint."""
    index = folder / INDEX
    if index.is_file():
        return _checked_index(index)
    is_file = folder.exists() and not folder.is_dir()
    if is_file or (folder.is_dir() and {*folder.iterdir()} - {folder / LOCK} != {*_ours(folder)}):
        raise ValueError(
            f"checkpoint_dir must be a checkpoint, or a new or empty folder; '{folder}' is "
            f"{'a file' if is_file else 'a folder with other files'}. Choose another one."
        )
    return None


def _checked_index(index: Path) -> dict[str, str]:
    try:
        found = read_json(index)
        texts = {name: value for name, value in found.items() if type(value) is str}
        seed = texts.get("random_state", "")
        if len(texts) < len(found) or not seed.isdecimal() or int(seed[:40]) >= 2**64:
            raise CorruptModelError("invalid index")
    except CorruptModelError as error:
        raise ValueError(
            f"checkpoint_dir must contain a valid index; '{index}' is corrupt. Remove the folder "
            "to start over, or choose another one."
        ) from error
    return texts


def _ours(folder: Path) -> Iterator[Path]:
    """Yield the trees, and the temporary files left by a killed process."""
    yield from folder.glob(f"*{SUFFIX}")
    yield from folder.glob(f".*{SUFFIX}.*")
    yield from folder.glob(f".{INDEX}.*")


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read arrays and metadata, and verify all checksums."""
    with open_regular(path) as file:
        header = read_header(file)
        verify_header(header.text)
        arrays = map_arrays(file, header, is_mapped=False).arrays
    for name, expected in (read_checksums(header) or {}).items():
        check_unchanged(name, arrays[name], expected)
    return arrays, header.metadata
