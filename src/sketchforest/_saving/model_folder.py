"""Partitioned models: a folder of model files and an index that names them.

The index is written last, so an incomplete folder is never taken for a model.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sketchforest._saving.container import CorruptModelError, read_json
from sketchforest._saving.estimators import load_estimator
from sketchforest._utils.files import make_folder, written_whole

INDEX, FORMAT_VERSION = "index.json", 1


def part_name(number: int) -> str:
    return f"part-{number:05}.sf"


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise unless the folder is new or empty, before any work is done."""
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(
            f"out must be a new or empty folder; got '{path}'. Remove it or choose another one."
        )


def write_part(folder: str | os.PathLike[str], number: int, content: bytes) -> None:
    make_folder(Path(folder))
    with written_whole(Path(folder) / part_name(number)) as draft:
        draft.write_bytes(content)


def write_index(folder: str | os.PathLike[str], n_parts: int) -> None:
    from sketchforest import __version__

    index = {
        "format": "sketchforest parts",
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "parts": [part_name(number) for number in range(n_parts)],
    }
    with written_whole(Path(folder) / INDEX) as draft:
        draft.write_text(json.dumps(index, indent=1), encoding="utf-8")


def load_parts(
    folder: str | os.PathLike[str], find_class: Callable[[str], type[Any]], mmap: bool
) -> list[Any]:
    path = Path(folder)
    return [load_estimator(path / name, find_class, mmap) for name in _parts(path)]


def _parts(folder: Path) -> Sequence[str]:
    try:
        index = read_json(folder / INDEX)
    except (OSError, CorruptModelError) as error:
        raise _invalid(folder, "is invalid") from error
    parts, version = index.get("parts"), index.get("format_version")
    if type(version) is not int or version < 1:
        raise _invalid(folder, "has no format version")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"'{folder}' has format {version}; this version of sketchforest reads formats up to "
            f"{FORMAT_VERSION}. Use a newer version of sketchforest."
        )
    if (
        not isinstance(parts, list)
        or not parts
        or not all(type(name) is str and Path(name).name == name for name in parts)
    ):
        raise _invalid(folder, "has no valid list of parts")
    if len(set(parts)) < len(parts):
        raise _invalid(folder, "lists a part twice")
    missing = [name for name in parts if not (folder / name).is_file()]
    if missing:
        raise _invalid(folder, f"lists {missing[0]}, which does not exist")
    return parts


def _invalid(folder: Path, reason: str) -> ValueError:
    return ValueError(
        f"'{folder}' is not a valid sketchforest model: {INDEX} {reason}. Fit the model again."
    )
