"""Models as files: the arrays of a forest and of its labels, and JSON. Nothing is ever executed.

The arrays are mapped and not read: several processes share them. Every index is checked when a file
is opened, in one pass over it: a damaged file is an error, and never a look outside of an array.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sketchforest import _core
from sketchforest._saving.container import (
    METADATA,
    DamagedError,
    check_header,
    map_arrays,
    read_header,
    write_container,
)
from sketchforest._saving.directions import direction_arrays, read_directions
from sketchforest._trees.model import Forest, Labels, SparseRows

FORMAT = "sketchforest"
FORMAT_VERSION = 2  # 1: without oblique trees, still written where there are none

_LABEL_ARRAYS = ("row_start", "columns", "values")
_FOREST_ARRAYS = tuple(name for name in Forest.__dataclass_fields__ if name != "directions")
_OPTIONAL = {"thresholds", "gains", "weights"}


class Model(NamedTuple):
    """What a file holds: the arrays, and what is said of them."""

    forest: Forest
    labels: Labels
    about: dict[str, Any]
    more: dict[str, np.ndarray]  # arrays besides those of trees and labels, by name


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    """The file is whole, or it is the old one."""
    about = {"format_version": 1 if model.forest.directions is None else 2, **model.about}
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
    header, text = read_header(path)
    about = _read_about(header, path)
    check_header(text)
    mapped = map_arrays(path, header, len(text), mmap)
    parts = {name: mapped.arrays.get(f"forest.{name}") for name in _FOREST_ARRAYS}
    forest = Forest(**parts)  # type: ignore[arg-type]
    labels = _labels(mapped.arrays, about)
    _check_shapes(forest, labels)
    damage = _core.find_damage(forest, labels, _count(about, "n_features_in"))
    if damage is not None:
        raise DamagedError(damage)
    directions = read_directions(
        mapped.arrays, forest.n_trees, len(forest.nodes), _count(about, "n_features_in")
    )
    forest = replace(forest, directions=directions)
    mapped.release_pages()
    more = {n.removeprefix("more."): a for n, a in mapped.arrays.items() if n.startswith("more.")}
    return Model(forest, labels, about, more)


def _read_about(
    header: Mapping[str, Mapping[str, object]], path: str | os.PathLike[str]
) -> dict[str, Any]:
    try:
        about = json.loads(str(header[METADATA].get(FORMAT)))
    except (ValueError, RecursionError) as error:
        raise DamagedError("its header cannot be read") from error
    if not isinstance(about, dict) or not isinstance(about.get("format_version"), int):
        raise DamagedError("its header has no version")
    if about["format_version"] > FORMAT_VERSION:
        raise ValueError(
            f"path must name a model of format {FORMAT_VERSION} or older; '{path}' has format "
            f"{about['format_version']}. Use a newer version of sketchforest."
        )
    return about


def _count(about: Mapping[str, object], name: str) -> int:
    """A number of columns, which the core counts by 32 bits."""
    count = about.get(name)
    if not isinstance(count, int) or not 0 <= count < 2**31:
        raise DamagedError(f"{name} must be from 0 to 2**31 - 1; it is {count!r}")
    return count


def _labels(arrays: Mapping[str, np.ndarray], about: Mapping[str, object]) -> Labels:
    if "labels.dense" in arrays:
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
