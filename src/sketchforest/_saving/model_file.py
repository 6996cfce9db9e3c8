"""Model files: the arrays of a forest and its labels, and a description in JSON.

Loading a file never executes anything from it. Arrays are memory-mapped, so several processes
share them. Opening a file checks every index in one pass, so a corrupt file raises an error and
never leads to an access out of bounds.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sketchforest._saving.arrays import BLEND, LABELS, TREES, check_arrays, taken
from sketchforest._saving.container import (
    ARRAY_CHECKSUMS,
    CHECKSUM,
    MAX_JSON_DEPTH,
    MAX_JSON_ITEMS,
    CorruptModelError,
    Header,
    array_checksum,
    has_too_many_items,
    is_too_deep,
    map_arrays,
    open_regular,
    parse_json,
    read_checksums,
    read_header,
    verify_header,
    write_container,
)
from sketchforest._saving.directions import direction_arrays, read_directions, read_features
from sketchforest._trees.model import FORMER_FIELDS, Forest, Labels, SparseRows
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.parallel import run_blocks

FORMAT = "sketchforest"
# 2 added oblique trees, 3 checksums of arrays, 4 boosting, linear parts and corrections by other
# labels. Forests alone are written in the last format that changed them, which earlier releases
# read.
FORMAT_VERSION, FORMAT_VERSION_OF_FORESTS = 4, 3


class Model(NamedTuple):
    """The content of a model file."""

    forest: Forest
    labels: Labels
    about: dict[str, Any]
    more: dict[str, np.ndarray]  # further arrays, by name
    feature_map: FeatureMap | None = None  # that oblique trees and the linear part see


def write_model(path: str | os.PathLike[str], model: Model) -> None:
    is_of_trees = "boosting" not in model.about and model.more.keys().isdisjoint(BLEND)
    has_equal_trees = model.forest.tree_weights is None
    version = FORMAT_VERSION_OF_FORESTS if is_of_trees and has_equal_trees else FORMAT_VERSION
    about = {**model.about, "format_version": version}
    arrays = {f"forest.{name}": getattr(model.forest, name) for name in Forest.ARRAYS}
    arrays |= direction_arrays(model.forest.directions, model.feature_map)
    if isinstance(model.labels, SparseRows):
        about["n_label_columns"] = model.labels.n_columns
        arrays |= {f"labels.{n}": getattr(model.labels, now) for n, now in FORMER_FIELDS.items()}
    else:
        arrays["labels.dense"] = model.labels
    arrays |= {f"more.{name}": array for name, array in model.more.items()}
    present = {name: array for name, array in arrays.items() if array is not None}
    text = json.dumps(about)
    if has_too_many_items(text) or is_too_deep(about):
        raise ValueError(
            "parameters, classes and notes in a model file must have at most "
            f"{MAX_JSON_ITEMS} lists, objects and fields, nested at most {MAX_JSON_DEPTH} levels "
            "deep. Save without notes, or use pickle."
        )
    write_container(path, present, {FORMAT: text})


def read_model(path: str | os.PathLike[str], mmap: bool = True) -> Model:
    """Read a model file, with its arrays mapped or in memory."""
    with open_regular(path) as file:
        header = read_header(file)
        about = _read_about(header, path)
        verify_header(header.text)
        mapped = map_arrays(file, header, mmap)
    arrays = mapped.arrays
    check_arrays(arrays)
    labels = _labels(arrays, about)
    may_lack = ("thresholds", "gains", "weights", "tree_weights")
    trees: dict[str, Any] = {**taken(arrays, TREES, "forest.", may_lack)}
    n_features = _count(about, "n_features_in")
    feature_map = read_features(arrays, n_features)
    trees["directions"] = read_directions(arrays, feature_map)
    sums = read_checksums(header) or {}
    sizes = {"n_features": n_features, "n_rows": labels.shape[0], "n_threads": 2}
    # The forest comes first because its checks take the longest.
    checks: list[Callable[[], Any]] = [
        partial(Forest, **trees, **sizes),
        *(partial(check_unchanged, name, arrays[name], sums[name]) for name in sums),
    ]
    with errors_as_corruption():
        forest, *_ = run_blocks(lambda check: check(), checks, n_jobs=2)
    mapped.release_pages()
    more = {n.removeprefix("more."): a for n, a in arrays.items() if n.startswith("more.")}
    return Model(forest, labels, about, more, feature_map)


@contextmanager
def errors_as_corruption() -> Iterator[None]:
    """Report an error of the native core as a corrupt file."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise CorruptModelError(str(error)) from error


def check_unchanged(name: str, array: np.ndarray, expected: object) -> None:
    if array_checksum(array) != expected:
        raise CorruptModelError(f"wrong checksum of {name}")


def _read_about(header: Header, path: str | os.PathLike[str]) -> dict[str, Any]:
    about = parse_json(header.metadata.get(FORMAT, ""))
    version = about.get("format_version")
    if type(version) is not int or version < 1:
        raise CorruptModelError("no format version")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"'{path}' has model format {version}; this version of sketchforest reads formats up "
            f"to {FORMAT_VERSION}. Use a newer version of sketchforest."
        )
    known = {FORMAT, CHECKSUM} | ({ARRAY_CHECKSUMS} if version >= 3 else set())
    if header.metadata.keys() != known:
        raise CorruptModelError("invalid header")
    return about


def _count(about: Mapping[str, object], name: str) -> int:
    """Return a number of columns, which the core stores in 32 bits."""
    count = about.get(name)
    if type(count) is not int or not 1 <= count < 2**31:
        raise CorruptModelError(f"{name} must be from 1 to 2**31 - 1; got {str(count)[:20]}")
    return count


def _labels(arrays: Mapping[str, np.ndarray], about: Mapping[str, object]) -> Labels:
    given = [name for name in arrays if name.startswith("labels.")]
    if "labels.dense" in given:
        if len(given) > 1 or "n_label_columns" in about:
            raise CorruptModelError("duplicate labels")
        if not arrays["labels.dense"].size:
            raise CorruptModelError("no labels")
        return arrays["labels.dense"]
    parts: dict[str, Any] = {**taken(arrays, LABELS, "labels.", optional=["values"])}
    with errors_as_corruption():
        labels = SparseRows(**parts, n_columns=_count(about, "n_label_columns"))
    if labels.n_rows < 1:
        raise CorruptModelError("no labels")
    return labels
