"""Models as files: a safetensors container with JSON metadata. Nothing in it is ever executed.

The arrays lie in the file as they lie in memory, so that a model is mapped and not read: several
processes share it. Every index is checked when it is opened: a damaged file is an error, and never
a look outside of an array.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save_file

from sketchforest._model import MISSING_LEFT, Forest, Labels, SparseRows

FORMAT = "sketchforest"
FORMAT_VERSION = 1
# The name of a type in the container, and the type.
TYPES = {
    "U8": np.uint8,
    "I32": np.int32,
    "U32": np.uint32,
    "I64": np.int64,
    "F32": np.float32,
    "F64": np.float64,
}


class Model(NamedTuple):
    """What a file holds: the arrays, and what is said of them."""

    forest: Forest
    labels: Labels
    about: dict[str, Any]


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    """Beside the target first, then moved there: a file of that name is whole or the old one."""
    target = Path(path)
    about = {"format_version": FORMAT_VERSION, **model.about}
    arrays = {f"forest.{name}": array for name, array in vars(model.forest).items()}
    if isinstance(model.labels, SparseRows):
        about["n_label_columns"] = model.labels.n_columns
        arrays |= {f"labels.{n}": getattr(model.labels, n) for n in _LABEL_ARRAYS}
    else:
        arrays["labels.dense"] = model.labels
    present = {name: np.ascontiguousarray(a) for name, a in arrays.items() if a is not None}
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        draft = Path(folder) / target.name
        save_file(present, draft, {FORMAT: json.dumps(about)})
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)


def read_model(path: str | os.PathLike[str], mmap: bool = True) -> Model:
    """The model in a file, its arrays mapped or in memory."""
    source = Path(path)
    arrays, about = _read_container(source, mmap)
    try:
        parts: dict[str, Any] = {n: arrays.get(f"forest.{n}") for n in _FOREST_ARRAYS}
        forest = Forest(**parts)
        labels = _read_labels(arrays, about)
        _check_forest(forest, about["n_features_in"], labels.shape[0])
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise _damaged(source, str(error) or type(error).__name__) from error
    return Model(forest, labels, about)


_LABEL_ARRAYS = ("row_start", "columns", "values")
_FOREST_ARRAYS = tuple(Forest.__dataclass_fields__)


def _damaged(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"path must name a whole sketchforest model; '{path}' is not one: {reason}. Save it again."
    )


def _read_container(path: Path, mmap: bool) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    size = path.stat().st_size
    with path.open("rb") as file:
        n_header = int.from_bytes(file.read(8), "little")
        if not 2 <= n_header <= size - 8:
            raise _damaged(path, "it has no header")
        try:
            header = json.loads(file.read(n_header))
            about = json.loads(header.pop("__metadata__")[FORMAT])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _damaged(path, "its header cannot be read") from error
    if not isinstance(about, dict) or not isinstance(about.get("format_version"), int):
        raise _damaged(path, "its header has no version")
    if about["format_version"] > FORMAT_VERSION:
        raise ValueError(
            f"path must name a model of format {FORMAT_VERSION} or older; '{path}' has format "
            f"{about['format_version']}. Use a newer version of sketchforest."
        )
    buffer: np.ndarray = np.memmap(path, np.uint8, "r") if mmap else np.fromfile(path, np.uint8)
    body = buffer[8 + n_header :]
    try:
        return {name: _view(body, entry) for name, entry in header.items()}, about
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, str(error)) from error


def _view(body: np.ndarray, entry: Mapping[str, Any]) -> np.ndarray:
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    dtype = np.dtype(TYPES[entry["dtype"]])
    if not 0 <= begin <= end <= len(body):
        raise ValueError("an array ends behind the end of the file")
    if (body.ctypes.data + begin) % dtype.itemsize:
        raise ValueError("an array does not begin where its type asks for")
    return body[begin:end].view(dtype).reshape(shape)


def _read_labels(arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> Labels:
    dense = arrays.get("labels.dense")
    if dense is not None:
        _require(dense.dtype == np.float64 and dense.ndim == 2, "labels have another type")
        return dense
    row_start, columns = arrays["labels.row_start"], arrays["labels.columns"]
    values, n_columns = arrays.get("labels.values"), int(about["n_label_columns"])
    _require(row_start.dtype == np.int64 and columns.dtype == np.int32, "labels have another type")
    _check_starts(row_start, len(columns), "labels")
    _check_range(columns, n_columns, "labels")
    if values is not None:
        _require(values.dtype == np.float32 and values.shape == columns.shape, "values of labels")
    return SparseRows(row_start, columns, values, n_columns)


def _check_forest(forest: Forest, n_features: int, n_train: int) -> None:
    """Raises unless every walk down a tree ends in a leaf, and every leaf holds training rows."""
    n_trees, n_nodes = len(forest.node_start) - 1, len(forest.nodes)
    expected = {
        "nodes": (np.int32, (n_nodes, 4)),
        "gains": (np.float32, (n_nodes,)),
        "depths": (np.int32, (n_trees,)),
        "node_start": (np.int64, (n_trees + 1,)),
        "leaf_start": (np.int64, (n_trees + 1,)),
        "tree_members": (np.int64, (n_trees + 1,)),
        "member_start": (np.uint32, forest.member_start.shape),
        "members": (np.int32, forest.members.shape),
    }
    if forest.thresholds is not None:
        expected["thresholds"] = (np.float64, (n_nodes,))
    if forest.weights is not None:
        kind = np.uint8 if forest.weights.dtype == np.uint8 else np.float64
        expected["weights"] = (kind, forest.members.shape)
    for name, (dtype, shape) in expected.items():
        array = getattr(forest, name)
        _require(array.dtype == dtype and array.shape == shape, f"{name} has another shape")
    _require(n_trees >= 1, "there is no tree")
    _check_starts(forest.node_start, n_nodes, "nodes")
    _check_starts(forest.leaf_start, len(forest.member_start), "leaves")
    _check_starts(forest.tree_members, len(forest.members), "members")
    _check_range(forest.members, n_train, "members")
    features = forest.nodes[:, 0].view(np.uint32) & ~MISSING_LEFT
    _require(not n_nodes or int(features.max()) < n_features, "a feature does not exist")

    nodes_per_tree, places_per_tree = np.diff(forest.node_start), np.diff(forest.leaf_start)
    _require(bool((places_per_tree == nodes_per_tree + 2).all()), "a tree lacks leaves")
    # A child comes after its parent, so that no walk goes round in a circle.
    tree = np.repeat(np.arange(n_trees), nodes_per_tree)
    own = np.arange(n_nodes) - forest.node_start[tree]
    for children in (forest.nodes[:, 2], forest.nodes[:, 3]):
        is_node = children >= 0
        in_order = (children > own) & (children < nodes_per_tree[tree])
        is_leaf = -1 - children.astype(np.int64) < places_per_tree[tree] - 1
        _require(bool(np.where(is_node, in_order, is_leaf).all()), "a child does not exist")

    first = forest.leaf_start[:-1]
    steps = np.diff(forest.member_start.astype(np.int64))
    steps[first[1:] - 1] = 1  # from the end of one tree to the start of the next
    _require(bool((forest.member_start[first] == 0).all() and (steps > 0).all()), "a leaf is empty")
    ends = forest.member_start[forest.leaf_start[1:] - 1]
    _require(bool((ends == np.diff(forest.tree_members)).all()), "a leaf lacks members")


def _check_starts(starts: np.ndarray, end: int, what: str) -> None:
    is_whole = starts.ndim == 1 and len(starts) > 0 and starts[0] == 0 and starts[-1] == end
    _require(bool(is_whole and (np.diff(starts) >= 0).all()), f"{what} do not add up")


def _check_range(indices: np.ndarray, end: int, what: str) -> None:
    _require(
        bool(not indices.size or (indices.min() >= 0 and indices.max() < end)),
        f"{what} are out of range",
    )


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise ValueError(reason)
