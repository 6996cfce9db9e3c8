"""Models as files: the arrays of a forest and of its labels, and JSON. Nothing is ever executed.

The arrays are mapped and not read: several processes share them. Every index is checked when a file
is opened, in one pass over it: a damaged file is an error, and never a look outside of an array.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sketchforest._saving.container import (
    ARRAY_CHECKSUMS,
    CHECKSUM,
    MOST_DEEP,
    MOST_PARTS,
    DamagedError,
    Header,
    array_checksum,
    check_header,
    has_many_parts,
    is_deep,
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

_LABEL_ARRAYS = ("row_start", "columns", "values")
_OPTIONAL = {"thresholds", "gains", "weights"}
_MORE_ARRAYS = (
    *("thresholds", "threshold_for_all", "threshold_for_each", "idf"),
    *("row_numbers", "row_ids", "row_ids_start", "row_texts", "row_texts_start"),
)
_ARRAYS = {
    *(f"forest.{name}" for name in Forest.ARRAYS),
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
    arrays = {f"forest.{name}": getattr(model.forest, name) for name in Forest.ARRAYS}
    arrays |= direction_arrays(model.forest.directions)
    if isinstance(model.labels, SparseRows):
        about["n_label_columns"] = model.labels.n_columns
        arrays |= {f"labels.{n}": getattr(model.labels, n) for n in _LABEL_ARRAYS}
    else:
        arrays["labels.dense"] = model.labels
    arrays |= {f"more.{name}": array for name, array in model.more.items()}
    present = {name: array for name, array in arrays.items() if array is not None}
    text = json.dumps(about)
    if has_many_parts(text) or is_deep(about):
        raise ValueError(
            f"Parameters, classes and notes of a model file must have at most {MOST_PARTS} lists, "
            f"objects and fields, at most {MOST_DEEP} deep. Save it without notes, or pickle it."
        )
    write_container(path, present, {FORMAT: text})


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
    labels = _labels(arrays, about)
    trees = {name: arrays.get(f"forest.{name}") for name in Forest.ARRAYS}
    _check_types(trees)
    n_features = _count(about, "n_features_in")
    directions = read_directions(arrays, n_features)
    sums = read_checksums(header) or {}
    n_rows = labels.shape[0]
    # The forest first, which takes longest to check.
    checks: list[Callable[[], Any]] = [
        partial(
            Forest,
            **trees,
            directions=directions,
            n_features=n_features,
            n_rows=n_rows,
            n_threads=2,
        ),
        *(partial(_check_unchanged, name, arrays[name], sums[name]) for name in sums),
    ]
    with called_damage():
        forest, *_ = run_blocks(lambda check: check(), checks, n_jobs=2)
    mapped.release_pages()
    more = {n.removeprefix("more."): a for n, a in arrays.items() if n.startswith("more.")}
    return Model(forest, labels, about, more)


@contextmanager
def called_damage() -> Iterator[None]:
    """What the core finds wrong with arrays is wrong with the file."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise DamagedError(str(error)) from error


def _check_unchanged(name: str, array: np.ndarray, expected: object) -> None:
    if array_checksum(array) != expected:
        raise DamagedError(f"{name} is not as it was written")


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
        dense = arrays["labels.dense"]
        check_array("labels", dense, np.float64, 2)
        if not dense.size:
            raise DamagedError("there are no labels")
        if not np.isfinite(dense).all():
            raise DamagedError("a label is no number")
        return dense
    parts = {name: arrays.get(f"labels.{name}") for name in _LABEL_ARRAYS}
    check_array("labels", parts["row_start"], np.int64, 1)
    check_array("labels", parts["columns"], np.int32, 1)
    if parts["values"] is not None:
        check_array("labels", parts["values"], np.float32, 1)
    with called_damage():
        labels = SparseRows(**parts, n_columns=_count(about, "n_label_columns"))
    if labels.n_rows < 1:
        raise DamagedError("there are no labels")
    return labels


_TYPES: dict[str, type[np.number]] = {
    "nodes": np.int32,
    "thresholds": np.float64,
    "gains": np.float32,
    "member_start": np.uint32,
    "members": np.int32,
    "depths": np.int32,
    "node_start": np.int64,
    "leaf_start": np.int64,
    "tree_members": np.int64,
}


def _check_types(trees: Mapping[str, np.ndarray | None]) -> None:
    """Raises unless arrays are of the types that the core reads, which checks the rest."""
    for name, dtype in _TYPES.items():
        if trees[name] is not None or name not in _OPTIONAL:
            check_array(name, trees[name], dtype, 2 if name == "nodes" else 1)
    weights = trees["weights"]
    if weights is not None:
        check_array("weights", weights, np.uint8 if weights.itemsize == 1 else np.float64, 1)


def check_array(name: str, array: np.ndarray | None, dtype: type[np.number], n_axes: int) -> None:
    if array is None:
        raise DamagedError(f"it has no {name}")
    if array.dtype != dtype or array.ndim != n_axes:
        raise DamagedError(f"{name} has another shape")
