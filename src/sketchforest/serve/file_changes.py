"""Detect model files that change while they are served."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class FileState(NamedTuple):
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "FileState | None":
        try:
            found = os.stat(path)
        except OSError:
            return None
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


FileStates = Mapping[Path, FileState | None]


def file_states(paths: Iterable[Path]) -> FileStates:
    return {path: FileState.of(path) for path in paths}


def describe_changes(states: FileStates) -> Iterator[str]:
    """Yield a sentence for each file that differs from its earlier state."""
    for path, before in states.items():
        now = FileState.of(path)
        if now == before or before is None:
            continue
        if now is None:
            yield f"{path} was deleted since the service started"
        elif now.inode != before.inode:
            yield f"{path} was replaced since the service started"
        else:
            yield (
                f"{path} was changed in place since the service started: from {before.size:,} to "
                f"{now.size:,} bytes"
            )
