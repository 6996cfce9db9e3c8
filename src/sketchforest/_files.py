"""Files that are whole or not there."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; it becomes ``path`` when all went well, and nothing otherwise.

    It is beside the target, and on the disk before it takes the target's name: a file of that name
    is whole, or it is the old one. Errors name what the caller named, and come before any work.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    try:
        beside = tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target.parent)) from None
    with beside as folder:
        draft = Path(folder) / target.name
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)


def check_out(out: Path) -> None:
    """Before the work, which may take hours."""
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"out must be a file in a folder that exists; got '{out}'.")
