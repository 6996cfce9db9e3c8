"""Models as files: the arrays of a forest and of its labels, and JSON. Nothing is ever executed.

The arrays are mapped and not read: several processes share them. Every index is checked when a file
is opened, in one pass over it: a damaged file is an error, and never a look outside of an array.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sketchforest import _core
from sketchforest._saving.container import (
    ARRAY_CHECKSUMS,
    CHECKSUM,
    DamagedError,
    Header,
    array_checksum,
    check_header,
    map_arrays,
    opened,
    parsed,
    read_checksums,
    read_header,
    write_container,
)
from sketchforest._saving.directions import DIRECTION_ARRAYS, direction_arrays, read_directions
from sketchforest._trees.model import Forest, Labels, SparseRows
from sketchforest._trees.parallel import run_blocks

FORMAT = "sketchforest"
# 3: each array has a checksum. 2: without. 1: without, and without oblique trees.
FORMAT_VERSION = 3
PARTS = 4  # of the trees, that threads look through

_LABEL_ARRAYS = ("row_start", "columns", "values")
_FOREST_ARRAYS = tuple(name for name in Forest.__dataclass_fields__ if name != "directions")
_OPTIONAL = {"thresholds", "gains", "weights"}
_MORE_ARRAYS = (
    *("thresholds", "threshold_for_all", "threshold_for_each", "idf"),
    *("row_numbers", "row_ids", "row_ids_start", "row_texts", "row_texts_start"),
)
_ARRAYS = {
    *(f"forest.{name}" for name in _FOREST_ARRAYS),
    *(f"labels.{name}" for name in (*_LABEL_ARRAYS, "dense")),
    *(f"more.{name}" for name in _MORE_ARRAYS),
    *DIRECTION_ARRAYS,
}


class Model(NamedTuple):
    """What a file holds: the arrays, and what is said of them."""

    forest: Forest
    labels: Labels
    about: dict[str, Any]
    more: dict[str, np.ndarray]  # arrays besides those of trees and labels, by name


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    """The file is whole, or it is the old one."""
    about = {**model.about, "format_version": FORMAT_VERSION}
    arrays = {f"forest.{name}": getattr(model.forest, name) for name in _FOREST_ARRAYS}
    arrays |= direction_arrays(model.forest.directions)
    if isinstance(model.labels, SparseRows):
        about["n_label_columns"] = model.labels.n_columns
        arrays |= {f"labels.{n}": getattr(model.labels, n) for n in _LABEL_ARRAYS}
    else:
        arrays["labels.dense"] = model.labels
    arrays |= {f"more.{name}": array for name, array in model.more.items()}
    present = {name: array for name, array in arrays.items() if array is not None}
    write_container(path, present, {FORMAT: json.dumps(about)})


def read_model(path: str | os.PathLike[str], mmap: bool = True) -> Model:
    """The model in a file, its arrays mapped or in memory; DamagedError if it is not whole."""
    with opened(path) as file:
        header = read_header(file)
        about = _read_about(header, path)
        check_header(header.text)
        mapped = map_arrays(file, header, mmap)
    arrays = mapped.arrays
    unknown = arrays.keys() - _ARRAYS
    if unknown:
        raise DamagedError(f"it has an array {min(unknown)!r}")
    parts = {name: arrays.get(f"forest.{name}") for name in _FOREST_ARRAYS}
    forest = Forest(**parts)  # type: ignore[arg-type]
    labels = _labels(arrays, about)
    _check_shapes(forest, labels)
    n_features = _count(about, "n_features_in")
    sums = read_checksums(header) or {}
    checks: list[Callable[[], Any]] = [
        partial(read_directions, arrays, forest.node_start, len(forest.nodes), n_features),
        *(partial(_core.find_damage, forest, labels, n_features, p, PARTS) for p in range(PARTS)),
        *(partial(_changed, name, arrays[name], expected) for name, expected in sums.items()),
    ]
    directions, *damages = run_blocks(lambda check: check(), checks, n_jobs=2)
    for damage in damages:
        if damage is not None:
            raise DamagedError(damage)
    forest = replace(forest, directions=directions)
    mapped.release_pages()
    more = {n.removeprefix("more."): a for n, a in arrays.items() if n.startswith("more.")}
    return Model(forest, labels, about, more)


def _changed(name: str, array: np.ndarray, expected: object) -> str | None:
    return None if array_checksum(array) == expected else f"{name} is not as it was written"


def _read_about(header: Header, path: str | os.PathLike[str]) -> dict[str, Any]:
    about = parsed(header.metadata.get(FORMAT, ""))
    version = about.get("format_version")
    if type(version) is not int or version < 1:
        raise DamagedError("its header has no version")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"path must name a model of format {FORMAT_VERSION} or older; '{path}' has format "
            f"{version}. Use a newer version of sketchforest."
        )
    known = {FORMAT, CHECKSUM} | ({ARRAY_CHECKSUMS} if version >= 3 else set())
    if header.metadata.keys() != known:
        raise DamagedError("its header cannot be read")
    return about


def _count(about: Mapping[str, object], name: str) -> int:
    """A number of columns, which the core counts by 32 bits."""
    count = about.get(name)
    if type(count) is not int or not 1 <= count < 2**31:
        raise DamagedError(f"{name} must be from 1 to 2**31 - 1; it is {str(count)[:20]}")
    return count


def _labels(arrays: Mapping[str, np.ndarray], about: Mapping[str, object]) -> Labels:
    given = [name for name in arrays if name.startswith("labels.")]
    if "labels.dense" in given:
        if len(given) > 1 or "n_label_columns" in about:
            raise DamagedError("its labels are given twice")
        return arrays["labels.dense"]
    parts = {name: arrays.get(f"labels.{name}") for name in _LABEL_ARRAYS}
    return SparseRows(**parts, n_columns=_count(about, "n_label_columns"))  # type: ignore[arg-type]


def _check_shapes(forest: Forest, labels: Labels) -> None:
    """Raises unless the arrays have the types and lengths that the core reads."""
    _check_array("node_start", forest.node_start, np.int64, (-1,))
    _check_array("nodes", forest.nodes, np.int32, (-1, 4))
    _check_array("members", forest.members, np.int32, (-1,))
    n_starts, n_nodes, n_members = map(len, (forest.node_start, forest.nodes, forest.members))
    if n_starts < 2:
        raise DamagedError("there is no tree")
    has_counts = forest.weights is None or forest.weights.dtype == np.uint8
    for name, dtype, length in (
        ("gains", np.float32, n_nodes),
        ("thresholds", np.float64, n_nodes),
        ("depths", np.int32, n_starts - 1),
        ("leaf_start", np.int64, n_starts),
        ("tree_members", np.int64, n_starts),
        ("member_start", np.uint32, -1),
        ("weights", np.uint8 if has_counts else np.float64, n_members),
    ):
        array = getattr(forest, name)
        if array is not None or name not in _OPTIONAL:
            _check_array(name, array, dtype, (length,))
    if isinstance(labels, np.ndarray):
        _check_array("labels", labels, np.float64, (-1, -1))
        is_empty = 0 in labels.shape
    else:
        _check_array("labels", labels.row_start, np.int64, (-1,))
        _check_array("labels", labels.columns, np.int32, (-1,))
        if labels.values is not None:
            _check_array("labels", labels.values, np.float32, (len(labels.columns),))
        is_empty = labels.n_rows < 1 or labels.n_columns < 1
    if is_empty:
        raise DamagedError("there are no labels")


def _check_array(
    name: str, array: np.ndarray | None, dtype: type[np.number], shape: tuple[int, ...]
) -> None:
    """Raises unless the array has that type and shape, in which -1 is any length."""
    if array is None:
        raise DamagedError(f"it has no {name}")
    fits = len(array.shape) == len(shape) and all(
        wanted in (-1, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        raise DamagedError(f"{name} has another shape")
