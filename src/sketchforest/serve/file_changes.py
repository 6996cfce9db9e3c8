"""Whether model files are still those that were opened."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """By which a file is known again."""

    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> "Stamp | None":
        try:
            found = os.stat(path)
        except OSError:
            return None
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


Stamps = Mapping[Path, Stamp | None]


def stamps_of(paths: Iterable[Path]) -> Stamps:
    return {path: Stamp.of(path) for path in paths}


def changes(stamps: Stamps) -> Iterator[str]:
    """A sentence for each file that is not as it was."""
    for path, before in stamps.items():
        now = Stamp.of(path)
        if now == before or before is None:
            continue
        if now is None:
            yield f"{path} is there no more"
        elif now.inode != before.inode:
            yield f"{path} is another file than when the service was started"
        else:
            yield (
                f"{path} was changed in place: it had {before.size:,} bytes when the service was "
                f"started, and has {now.size:,}"
            )
