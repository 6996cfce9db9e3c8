"""Send the training data to all workers, once each.

The data are part of a task, which the scheduler runs again when a worker dies. Or they are in a
file in a shared folder: workers on one machine map the file and hold the data in memory once.
"""

import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sketchforest.dask.cluster import send

if TYPE_CHECKING:
    from distributed import Client, Future

ALIGNMENT = 64  # of arrays in the file: a cache line


@dataclass(frozen=True)
class SharedFunction:
    """A function whose arrays are in a file that all workers can open."""

    path: str
    pickled: bytes  # without the arrays
    bounds: tuple[tuple[int, int], ...]  # first and last byte of each array

    def __call__(self, *arguments: Any) -> Any:
        return _load(self)(*arguments)


@contextmanager
def broadcast(
    client: "Client", function: Callable[..., Any], folder: str | os.PathLike[str] | None
) -> "Iterator[Callable[[], Future]]":
    """Yield a callable that sends the function as `send` does, through a file in `folder` if given.

    The file is removed on exit.
    """
    if folder is None:
        yield partial(send, client, function)
        return
    if not Path(folder).is_dir():
        raise ValueError(
            "shared_dir must be an existing folder that this machine and all workers can open; got "
            f"'{folder}'."
        )
    with tempfile.NamedTemporaryFile(dir=folder, prefix="sketchforest-", delete=False) as file:
        path = Path(file.name).absolute()
    try:
        yield partial(send, client, _write(function, path))
    finally:
        path.unlink(missing_ok=True)


def _write(function: Callable[..., Any], path: Path) -> SharedFunction:
    import cloudpickle

    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
    bounds = []
    with path.open("wb") as file:
        for buffer in buffers:
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            begin = file.tell()
            file.write(buffer.raw())
            bounds.append((begin, file.tell()))
        file.flush()
        os.fsync(file.fileno())
    return SharedFunction(str(path), pickled, tuple(bounds))


@lru_cache(maxsize=1)  # one mapping for all threads and trees of a worker
def _load(shared: SharedFunction) -> Callable[..., Any]:
    is_empty = not any(begin < end for begin, end in shared.bounds)
    whole = np.zeros(0, np.uint8) if is_empty else np.memmap(shared.path, np.uint8, "r")
    arrays = [whole[begin:end] for begin, end in shared.bounds]
    found: Callable[..., Any] = pickle.loads(shared.pickled, buffers=arrays)
    return found
