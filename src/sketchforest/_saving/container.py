"""Arrays in one file, in the safetensors format: a JSON header behind its length, then the arrays.

They are in the file as they are in memory, each where its type asks for, so that they are mapped
and not read. They fill the file to its end, none upon another. The header carries a checksum of
each array and one of itself. It has a largest size, and its JSON a largest number of parts: what it
takes of memory is in proportion to its bytes.
"""

import errno
import hashlib
import json
import math
import mmap
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard

import numpy as np

from sketchforest import _core
from sketchforest._utils.files import written_whole

# The name of a type in the container, and the type.
TYPES: dict[str, np.dtype] = {
    "U8": np.dtype(np.uint8),
    "U16": np.dtype(np.uint16),
    "I32": np.dtype(np.int32),
    "U32": np.dtype(np.uint32),
    "I64": np.dtype(np.int64),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}
TYPE_NAMES = {dtype: name for name, dtype in TYPES.items()}
METADATA, CHECKSUM, ARRAY_CHECKSUMS = "__metadata__", "checksum", "array_checksums"
ALIGNMENT = 64  # of the first array: a line of the cache
MOST_HEADER = 256 << 20  # bytes: a million names of labels take 30 MB
# Lists, objects and fields of JSON. Each takes up to a hundred times its text, where names in a
# list take ten times theirs.
MOST_PARTS = 200_000
MOST_DEEP = 64
MOST_JSON = 16 << 20  # bytes of a file that has nothing else
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?')  # one that has no end ends with the text
_NO_SUM = b"0" * 64  # in place of the checksum while it is computed
# The quotes are those of JSON itself: in a name they are escaped, so that none looks like this.
_SUM_KEY = f'"{CHECKSUM}": "'.encode()


class DamagedError(ValueError):
    """The file is not what it should be; the message says why."""


class ForeignError(DamagedError):
    """The file is something else."""


def write_container(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Without a copy of the arrays; the file is whole, or it is the old one."""
    # The widest types first: then each array ends where the next one may begin, without a gap.
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))
    header = _header(ordered, metadata)
    if len(header) > MOST_HEADER:
        raise ValueError(
            f"Names and notes of a model file must take at most {MOST_HEADER >> 20} MB; these take "
            f"{len(header) / 2**20:.0f} MB. Save it with shorter ones, or without."
        )
    with written_whole(path) as draft, draft.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _header(ordered: list[tuple[str, np.ndarray]], metadata: Mapping[str, str]) -> bytes:
    sums = json.dumps({name: array_checksum(array) for name, array in ordered})
    more = {ARRAY_CHECKSUMS: sums, CHECKSUM: _NO_SUM.decode()}
    header: dict[str, object] = {METADATA: {**metadata, **more}}
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": TYPE_NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header).encode()
    before, _, after = _around_checksum(text + b" " * (-(8 + len(text)) % ALIGNMENT))
    return before + _checksum(before, after) + after


def array_checksum(array: np.ndarray) -> str:
    return f"{_core.checksum(np.ascontiguousarray(array).reshape(-1).view(np.uint8)):016x}"


def _around_checksum(text: bytes) -> tuple[bytes, bytes, bytes]:
    """What stands before the checksum, the checksum, and what follows it."""
    before, key, rest = text.partition(_SUM_KEY)
    return before + key, rest[: len(_NO_SUM)], rest[len(_NO_SUM) :]


def _checksum(before: bytes, after: bytes) -> bytes:
    return hashlib.sha256(before + _NO_SUM + after).hexdigest().encode()


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The file, opened once: another one that takes its name meanwhile is not looked at."""
    # A pipe would be waited for, by its name already.
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise ForeignError("it is no file")
    with open(path, "rb") as file:
        yield file


class Header(NamedTuple):
    """What a file says of its arrays."""

    entries: dict[str, object]  # by name
    metadata: dict[str, str]
    text: bytes  # that it was read from


def read_header(file: BinaryIO) -> Header:
    size = os.fstat(file.fileno()).st_size
    n_header = int.from_bytes(file.read(8), "little")
    if file.read(1) not in (b"{", b""):
        raise ForeignError("it has no header")
    if not 2 <= n_header <= size - 8:
        raise DamagedError("it has no header")
    if n_header > MOST_HEADER:
        raise DamagedError(f"its header has {n_header} bytes, more than {MOST_HEADER}")
    text = b"{" + file.read(n_header - 1)
    entries = parsed(text)
    metadata = entries.pop(METADATA, None)
    if not isinstance(metadata, dict) or not all(type(v) is str for v in metadata.values()):
        raise DamagedError("its header cannot be read")
    return Header(entries, metadata, text)


def parsed(text: str | bytes) -> dict[str, object]:
    """An object of JSON in ASCII, in which no name occurs twice, as we write it."""
    try:
        # Other characters are escaped; one alone would make all of the text four times as wide.
        whole = text.decode("ascii") if isinstance(text, bytes) else text
        if not whole.isascii():
            raise DamagedError("it is not in ASCII")
        if has_many_parts(whole):
            raise DamagedError(f"its header has more than {MOST_PARTS} lists, objects and fields")
        found = json.loads(whole, object_pairs_hook=_unique)
    except DamagedError:
        raise
    except (ValueError, RecursionError) as error:
        raise DamagedError("its header cannot be read") from error
    if not isinstance(found, dict):
        raise DamagedError("its header cannot be read")
    if is_deep(found):
        raise DamagedError(f"its header is nested more than {MOST_DEEP} deep")
    return found


def has_many_parts(text: str) -> bool:
    """Whether JSON has more lists, objects and fields than a file may have."""
    # Names may have these characters, too: only then is it worth to look for the names.
    return _count_parts(text) > MOST_PARTS and _count_parts(_STRING.sub("", text)) > MOST_PARTS


def _count_parts(text: str) -> int:
    return sum(map(text.count, "[{:"))


def is_deep(value: Mapping[str, object]) -> bool:
    """Whether lists and objects lie deeper in it than they may in a file."""
    level: list[Any] = [value]
    for _ in range(MOST_DEEP):
        parts = (part.values() if isinstance(part, dict) else part for part in level)
        level = [v for values in parts for v in values if isinstance(v, dict | list)]
    return bool(level)


def read_json(path: Path) -> dict[str, object]:
    """Of a small file; DamagedError if it is something else."""
    with opened(path) as file:
        text = file.read(MOST_JSON + 1)
    if len(text) > MOST_JSON:
        raise DamagedError(f"it has more than {MOST_JSON} bytes")
    return parsed(text)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise DamagedError("its header says something twice")
    return found


def check_header(text: bytes) -> None:
    """Raises unless the header is as it was written."""
    before, given, after = _around_checksum(text)
    if _checksum(before, after) != given:
        raise DamagedError("its header is not as it was written")


class MappedArrays(NamedTuple):
    """The arrays by name, and what they are views of."""

    arrays: dict[str, np.ndarray]
    buffer: np.ndarray

    def release_pages(self) -> None:
        """What was read of a mapped file counts as memory of this process no more; it is mapped
        again, page by page, when it is needed."""
        if isinstance(self.buffer.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.buffer.base.madvise(mmap.MADV_DONTNEED)


def map_arrays(file: BinaryIO, header: Header, is_mapped: bool) -> MappedArrays:
    """Read-only where mapped."""
    file.seek(0)
    buffer = _mapped(file) if is_mapped else np.fromfile(file, np.uint8)
    body = buffer.view(np.ndarray)[8 + len(header.text) :]
    arrays = {name: _view(body, entry) for name, entry in header.entries.items()}
    _check_that_they_fill(body, list(arrays.values()))
    return MappedArrays(arrays, buffer)


def _mapped(file: BinaryIO) -> np.ndarray:
    try:
        return np.memmap(file, np.uint8, "r")
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        size = os.fstat(file.fileno()).st_size
        raise MemoryError(f"There is no memory to map a model of {size} bytes.") from error


def _check_that_they_fill(body: np.ndarray, arrays: list[np.ndarray]) -> None:
    places = [(array.ctypes.data - body.ctypes.data, array.nbytes) for array in arrays]
    end = 0
    for begin, length in sorted(place for place in places if place[1]):
        if begin != end:
            raise DamagedError("an array does not begin where another ends")
        end = begin + length
    if end != len(body):
        raise DamagedError("something follows its arrays")


def read_checksums(header: Header) -> dict[str, object] | None:
    """Of the arrays, by name; None in a file of an older format."""
    if ARRAY_CHECKSUMS not in header.metadata:
        return None
    sums = parsed(header.metadata[ARRAY_CHECKSUMS])
    if sums.keys() != header.entries.keys():
        raise DamagedError("it has not one checksum for each array")
    return sums


def _view(body: np.ndarray, entry: object) -> np.ndarray:
    parts = entry if isinstance(entry, dict) else {}
    shape, offsets = parts.get("shape"), parts.get("data_offsets")
    types = [dtype for name, dtype in TYPES.items() if name == parts.get("dtype")]
    if parts.keys() != {"dtype", "shape", "data_offsets"}:
        raise DamagedError("an array is not described as it should be")
    if not types or not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise DamagedError("an array is not described as it should be")
    dtype, (begin, end) = types[0], offsets
    if end > len(body):
        raise DamagedError("an array ends behind the end of the file")
    if end - begin != dtype.itemsize * math.prod(shape) or max(shape, default=0) > len(body):
        raise DamagedError("an array has another length than its shape")
    if (body.ctypes.data + begin) % dtype.itemsize:
        raise DamagedError("an array does not begin where its type asks for")
    return body[begin:end].view(dtype).reshape(shape)


def _are_sizes(value: object) -> TypeGuard[list[int]]:
    """At most two whole numbers, none below zero."""
    return (
        isinstance(value, list)
        and len(value) <= 2
        and all(type(number) is int and number >= 0 for number in value)
    )
