"""What all trees are grown from, on its way to workers: each gets it once, and it outlives them.

It is part of a task, which the scheduler has run again where a worker dies; or a file in a folder
that all workers can open, which those of one machine map, and so hold in memory once.
"""

import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from distributed import Client, Future

ALIGNMENT = 64  # of arrays in the file: a line of the cache


@dataclass(frozen=True)
class SharedFile:
    """An object whose arrays are in a file: by name, as workers know it."""

    path: str
    pickled: bytes  # without the arrays
    bounds: tuple[tuple[int, int], ...]  # where each of them is


@contextmanager
def shared(
    client: "Client", value: object, folder: str | os.PathLike[str] | None
) -> Iterator[Callable[[], object]]:
    """What sends the value, and gives what tasks take as an argument, and open by `received`;
    until the context is left."""
    if folder is None:
        yield partial(_submitted, client, value)
        return
    if not Path(folder).is_dir():
        raise ValueError(
            f"shared_dir must be a folder that exists, here and for all workers; got '{folder}'."
        )
    with tempfile.NamedTemporaryFile(dir=folder, prefix="sketchforest-", delete=False) as file:
        path = Path(file.name).absolute()
    try:
        file_of_value = _write(value, path)
        yield lambda: file_of_value
    finally:
        path.unlink(missing_ok=True)


def _submitted(client: "Client", value: object) -> "Future":
    import cloudpickle

    with warnings.catch_warnings():
        # On purpose: what is scattered dies with its worker.
        warnings.filterwarnings("ignore", message="Sending large graph")
        # As bytes, which a scheduler need not understand.
        return client.submit(pickle.loads, cloudpickle.dumps(value), pure=False)


def received(sent: Any) -> Any:
    """On a worker: the value itself."""
    return _opened(sent) if isinstance(sent, SharedFile) else sent


def _write(value: object, path: Path) -> SharedFile:
    import cloudpickle

    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    bounds = []
    with path.open("wb") as file:
        for buffer in buffers:
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            begin = file.tell()
            file.write(buffer.raw())
            bounds.append((begin, file.tell()))
        file.flush()
        os.fsync(file.fileno())
    return SharedFile(str(path), pickled, tuple(bounds))


@lru_cache(maxsize=1)
def _opened(file: SharedFile) -> Any:
    """Mapped, once for all threads and trees of a worker."""
    if not any(begin < end for begin, end in file.bounds):
        return pickle.loads(file.pickled, buffers=[b"" for _ in file.bounds])
    whole = np.memmap(file.path, np.uint8, "r")
    return pickle.loads(file.pickled, buffers=[whole[begin:end] for begin, end in file.bounds])
