"""Models of several parts: a folder of model files, and one index that names them.

The index is written when all parts are there: a folder without one is no model.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sketchforest._saving.container import DamagedError, read_json
from sketchforest._saving.estimators import load_estimator
from sketchforest._utils.files import make_folder, written_whole

INDEX, FORMAT_VERSION = "index.json", 1


def part_name(number: int) -> str:
    return f"part-{number:05}.sf"


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Before the work: a model that is there already is not mixed with another."""
    path = Path(folder)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(
            f"out must be a new or an empty folder; '{path}' is not. Remove it, or name another."
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
    folder: str | os.PathLike[str],
    find_class: Callable[[str], type[Any]],
    check_params: Callable[[Any], object],
    mmap: bool,
) -> list[Any]:
    """The estimators of the folder, in order."""
    path = Path(folder)
    return [load_estimator(path / name, find_class, check_params, mmap) for name in _parts(path)]


def _parts(folder: Path) -> Sequence[str]:
    try:
        index = read_json(folder / INDEX)
    except (OSError, DamagedError) as error:
        raise _no_model(folder, f"its {INDEX} cannot be read") from error
    parts, version = index.get("parts"), index.get("format_version")
    if type(version) is not int or version < 1:
        raise _no_model(folder, f"its {INDEX} has no version")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"path must name a model of format {FORMAT_VERSION} or older; '{folder}' has format "
            f"{version}. Use a newer version of sketchforest."
        )
    if not isinstance(parts, list) or not parts or not all(map(_is_name, parts)):
        raise _no_model(folder, f"its {INDEX} names no parts")
    if len(set(parts)) < len(parts):
        raise _no_model(folder, f"its {INDEX} names a part twice")
    missing = [name for name in parts if not (folder / name).is_file()]
    if missing:
        raise _no_model(folder, f"it has no {missing[0]}")
    return parts


def _is_name(value: object) -> bool:
    return type(value) is str and Path(value).name == value


def _no_model(folder: Path, reason: str) -> ValueError:
    return ValueError(
        f"path must name a whole sketchforest model; '{folder}' is not one: {reason}. Fit again."
    )
