"""Files that are whole or not there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; it becomes ``path`` when all went well, and nothing otherwise.

    It is beside the target, and on the disk before it takes the target's name: a file of that name
    is whole, or it is the old one.
    """
    target = Path(path)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        draft = Path(folder) / target.name
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
