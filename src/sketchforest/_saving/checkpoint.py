"""Finished trees of a fit that goes on, one file each, so that it can be broken off at any moment.

A file is whole or not there, and says what it holds by a checksum: one that is damaged counts as
not there, and its tree is grown again. What has the right checksum and is no tree of this fit was
written by somebody else, and is refused. One fit at a time has the folder.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np

from sketchforest._saving.container import (
    ARRAY_CHECKSUMS,
    CHECKSUM,
    DamagedError,
    array_checksum,
    check_header,
    map_arrays,
    opened,
    read_checksums,
    read_header,
    read_json,
    write_container,
)
from sketchforest._saving.model_file import called_damage, check_array
from sketchforest._trees.model import Directions, Forest, Tree
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.problem import GrowSettings
from sketchforest._utils.files import held, make_folder, written_whole

INDEX, LOCK, SUFFIX = "checkpoint.json", "checkpoint.lock", ".tree"
_SEED = "random_state"
_ARRAYS: dict[str, type[np.number]] = {
    "nodes": np.int32,
    "thresholds": np.float64,
    "gains": np.float32,
    "member_start": np.uint32,
    "members": np.int32,
    "weights": np.float64,
}
_DIRECTIONS: dict[str, type[np.number]] = {
    "start": np.uint32,
    "columns": np.int32,
    "weights": np.uint16,
}
_OPTIONAL = {"thresholds", "weights"}
_ALL = {*_ARRAYS, *(f"directions.{name}" for name in _DIRECTIONS)}


def checked_tree(
    arrays: Mapping[str, np.ndarray],
    depth: int,
    feature_map: FeatureMap | None,
    n_features: int,
    n_rows: int,
) -> Tree:
    """The tree of arrays that anybody may have written; DamagedError unless it is one that a fit on
    so many features and rows may have grown."""
    unknown = arrays.keys() - _ALL
    if unknown:
        raise DamagedError(f"it has an array {min(unknown)!r}")
    for name, dtype in _ARRAYS.items():
        if name in arrays or name not in _OPTIONAL:
            array = arrays.get(name)
            has_counts = name == "weights" and array is not None and array.dtype == np.uint8
            n_axes = 2 if name == "nodes" else 1
            check_array(name, array, np.uint8 if has_counts else dtype, n_axes)
    directions = None
    if not arrays.keys().isdisjoint(f"directions.{name}" for name in _DIRECTIONS):
        if feature_map is None:
            raise DamagedError("it is oblique, and the trees of this fit are not")
        for name, dtype in _DIRECTIONS.items():
            check_array(f"directions.{name}", arrays.get(f"directions.{name}"), dtype, 1)
        if len(arrays["directions.start"]) != len(arrays["nodes"]) + 1:
            raise DamagedError("directions do not fit the nodes")
        parts = {name: arrays[f"directions.{name}"] for name in _DIRECTIONS}
        directions = Directions(**parts, feature_map=feature_map)
    found = {name: arrays.get(name) for name in _ARRAYS}
    tree = Tree(**found, depth=depth, directions=directions)  # type: ignore[arg-type]
    with called_damage():
        return Forest.from_trees([tree], n_features, n_rows).tree(0)


@dataclass(frozen=True)
class TreeFiles:
    """The trees of one setting, in a folder."""

    folder: Path
    setting: str  # with which their names begin
    feature_map: FeatureMap | None  # that oblique trees share; it is not written
    n_features: int
    n_rows: int  # that were trained on

    def get(self, tree: int) -> Tree | None:
        path = self._path(tree)
        try:
            arrays, metadata = _read(path)
        except (OSError, DamagedError):
            return None
        try:
            depth = _depth(metadata)
            return checked_tree(arrays, depth, self.feature_map, self.n_features, self.n_rows)
        except DamagedError as error:
            raise ValueError(
                f"checkpoint_dir must have trees that this fit has grown; '{path}' is none: "
                f"{error}. Remove that file to grow its tree again, or the folder to begin anew."
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
            make_folder(path)
            with written_whole(path / INDEX) as draft:
                draft.write_text(json.dumps(dict(grown_on), indent=1), encoding="utf-8")
        return cls(path)

    def trees_of(
        self,
        settings: GrowSettings,
        feature_map: FeatureMap | None,
        n_features: int,
        n_rows: int,
    ) -> TreeFiles:
        setting = joblib.hash(settings)[:12]
        return TreeFiles(self.folder, setting, feature_map, n_features, n_rows)

    def remove(self) -> None:
        """All that is ours in the folder. What names the rest goes last: broken off, it is a
        checkpoint of fewer trees."""
        for path in [*_ours(self.folder)]:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (self.folder / INDEX).unlink(missing_ok=True)


@contextmanager
def only_fit_in(folder: Path) -> Iterator[None]:
    """No other fit has the folder meanwhile, of this process or of another. If all went well and
    nothing is left in it, it is removed."""
    read_index(folder)  # a folder of other files is left as it is
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder / LOCK))
        except BlockingIOError:
            raise ValueError(
                f"checkpoint_dir must be that of one fit at a time; another one has '{folder}'. "
                "Wait until it ends, or name another folder."
            ) from None
        yield
    with suppress(OSError):
        folder.rmdir()


def read_index(folder: Path) -> dict[str, str] | None:
    """What the trees in the folder were grown on; None where there are none."""
    index = folder / INDEX
    if index.is_file():
        return _checked_index(index)
    is_file = folder.exists() and not folder.is_dir()
    if is_file or (folder.is_dir() and {*folder.iterdir()} - {folder / LOCK} != {*_ours(folder)}):
        raise ValueError(
            f"checkpoint_dir must be a folder of a checkpoint, an empty or a new one; '{folder}' "
            f"is {'a file' if is_file else 'a folder of other files'}. Name another one."
        )
    return None


def _checked_index(index: Path) -> dict[str, str]:
    try:
        found = read_json(index)
    except DamagedError as error:
        raise _bad_index(index) from error
    texts = {name: value for name, value in found.items() if type(value) is str}
    seed = texts.get(_SEED, "")
    if len(texts) < len(found) or not seed.isdecimal() or int(seed[:40]) >= 2**64:
        raise _bad_index(index)
    return texts


def _bad_index(index: Path) -> ValueError:
    return ValueError(
        f"checkpoint_dir must have an index that a fit has written; '{index}' cannot be read. "
        "Remove its folder to begin anew, or name another folder."
    )


def _ours(folder: Path) -> Iterator[Path]:
    """Trees, and drafts that a killed process left."""
    yield from folder.glob(f"*{SUFFIX}")
    yield from folder.glob(f".*{SUFFIX}.*")
    yield from folder.glob(f".{INDEX}.*")


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """As it was written: else DamagedError."""
    with opened(path) as file:
        header = read_header(file)
        check_header(header.text)
        arrays = map_arrays(file, header, is_mapped=False).arrays
    for name, expected in (read_checksums(header) or {}).items():
        if array_checksum(arrays[name]) != expected:
            raise DamagedError(f"{name} is not as it was written")
    return arrays, header.metadata


def _depth(metadata: Mapping[str, str]) -> int:
    depth = metadata.get("depth", "")
    if metadata.keys() != {"depth", CHECKSUM, ARRAY_CHECKSUMS} or not depth.isdecimal():
        raise DamagedError("its header cannot be read")
    if len(depth) > 10 or int(depth) >= 2**31:
        raise DamagedError("it has another depth")
    return int(depth)
