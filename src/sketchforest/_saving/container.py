"""Arrays in one file, in the safetensors format: header length, JSON header, arrays.

Arrays are stored as they are in memory and aligned, so that they can be memory-mapped. They fill
the file without gaps or overlaps. The header has a checksum of each array and one of itself. Its
size and its number of JSON items are limited, so that the memory to read a file is proportional to
the size of the file.
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

# By their names in the safetensors format.
TYPES: dict[str, np.dtype] = {
    **{"U8": np.dtype("u1"), "U16": np.dtype("u2"), "U32": np.dtype("u4")},
    **{"I32": np.dtype("i4"), "I64": np.dtype("i8"), "F32": np.dtype("f4"), "F64": np.dtype("f8")},
}
TYPE_NAMES = {dtype: name for name, dtype in TYPES.items()}
METADATA, CHECKSUM, ARRAY_CHECKSUMS = "__metadata__", "checksum", "array_checksums"
ALIGNMENT = 64  # of the first array: a cache line
MAX_HEADER_BYTES = 256 << 20  # a million label names take 30 MB
# JSON lists, objects and fields: in memory, each takes up to a hundred times the size of its text,
# and a string only ten times.
MAX_JSON_ITEMS = 200_000
MAX_JSON_DEPTH = 64
MAX_JSON_BYTES = 16 << 20  # of a file that is JSON alone
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?')  # an unterminated string ends with the text
_NO_CHECKSUM = b"0" * 64  # a placeholder while the checksum is computed
# Quotes in names are escaped, so no name can be mistaken for this key.
_CHECKSUM_KEY = f'"{CHECKSUM}": "'.encode()


class CorruptModelError(ValueError):
    """The file is not a valid model; the message gives the reason."""


class NotAModelError(CorruptModelError):
    """The file is of another kind."""


def write_container(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]
) -> None:
    """Write arrays and metadata atomically, without copying the arrays."""
    # Widest types first, so that every array is aligned without gaps.
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))
    header = _header(ordered, metadata)
    if len(header) > MAX_HEADER_BYTES:
        raise ValueError(
            f"names and notes must take at most {MAX_HEADER_BYTES >> 20} MB in a model file; got "
            f"{len(header) / 2**20:.0f} MB. Shorten them or leave them out."
        )
    with written_whole(path) as draft, draft.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _header(ordered: list[tuple[str, np.ndarray]], metadata: Mapping[str, str]) -> bytes:
    sums = json.dumps({name: array_checksum(array) for name, array in ordered})
    more = {ARRAY_CHECKSUMS: sums, CHECKSUM: _NO_CHECKSUM.decode()}
    header: dict[str, object] = {METADATA: {**metadata, **more}}
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        about = {"dtype": TYPE_NAMES[array.dtype], "shape": list(array.shape)}
        header[name] = about | {"data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    before, _, after = _split_at_checksum(text + b" " * (-(8 + len(text)) % ALIGNMENT))
    return before + _checksum(before, after) + after


def array_checksum(array: np.ndarray) -> str:
    return f"{_core.checksum(np.ascontiguousarray(array).reshape(-1).view(np.uint8)):016x}"


def _split_at_checksum(text: bytes) -> tuple[bytes, bytes, bytes]:
    """Return what precedes the checksum, the checksum, and what follows it."""
    before, key, rest = text.partition(_CHECKSUM_KEY)
    return before + key, rest[: len(_NO_CHECKSUM)], rest[len(_NO_CHECKSUM) :]


def _checksum(before: bytes, after: bytes) -> bytes:
    return hashlib.sha256(before + _NO_CHECKSUM + after).hexdigest().encode()


@contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file once; its content stays consistent even if the file is replaced meanwhile."""
    # Opening a pipe would block.
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise NotAModelError("not a regular file")
    with open(path, "rb") as file:
        yield file


class Header(NamedTuple):
    entries: dict[str, object]  # descriptions of arrays, by name
    metadata: dict[str, str]
    text: bytes  # unparsed


def read_header(file: BinaryIO) -> Header:
    size = os.fstat(file.fileno()).st_size
    n_header = int.from_bytes(file.read(8), "little")
    if file.read(1) not in (b"{", b""):
        raise NotAModelError("no header")
    if not 2 <= n_header <= size - 8:
        raise CorruptModelError("no header")
    if n_header > MAX_HEADER_BYTES:
        raise CorruptModelError(f"header of {n_header} bytes; the maximum is {MAX_HEADER_BYTES}")
    text = b"{" + file.read(n_header - 1)
    entries = parse_json(text)
    metadata = entries.pop(METADATA, None)
    if not isinstance(metadata, dict) or not all(type(v) is str for v in metadata.values()):
        raise CorruptModelError("invalid header")
    return Header(entries, metadata, text)


def parse_json(text: str | bytes) -> dict[str, object]:
    """Parse a JSON object in ASCII without duplicate names, as written by this module."""
    try:
        # A single unescaped character could make the whole text four times as wide in memory.
        whole = text.decode("ascii") if isinstance(text, bytes) else text
        if not whole.isascii():
            raise CorruptModelError("header not in ASCII")
        if has_too_many_items(whole):
            raise CorruptModelError(f"more than {MAX_JSON_ITEMS} lists, objects and fields")
        found = json.loads(whole, object_pairs_hook=_without_duplicates)
    except CorruptModelError:
        raise
    except (ValueError, RecursionError) as error:
        raise CorruptModelError("invalid header") from error
    if not isinstance(found, dict):
        raise CorruptModelError("invalid header")
    if is_too_deep(found):
        raise CorruptModelError(f"header nested more than {MAX_JSON_DEPTH} levels deep")
    return found


def has_too_many_items(text: str) -> bool:
    """Return whether JSON has more lists, objects and fields than a file may have."""
    # Strings may contain the same characters. Removing them is slow, so count with them first.
    if _count_items(text) <= MAX_JSON_ITEMS:
        return False
    return _count_items(_STRING.sub("", text)) > MAX_JSON_ITEMS


def _count_items(text: str) -> int:
    return sum(map(text.count, "[{:"))


def is_too_deep(value: Mapping[str, object]) -> bool:
    """Return whether lists and objects are nested deeper than a file allows."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        nested = (item.values() if isinstance(item, dict) else item for item in level)
        level = [v for values in nested for v in values if isinstance(v, dict | list)]
    return bool(level)


def read_json(path: Path) -> dict[str, object]:
    """Read a small JSON file; raise CorruptModelError if it is invalid."""
    with open_regular(path) as file:
        text = file.read(MAX_JSON_BYTES + 1)
    if len(text) > MAX_JSON_BYTES:
        raise CorruptModelError(f"more than {MAX_JSON_BYTES} bytes")
    return parse_json(text)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CorruptModelError("duplicate name in the header")
    return found


def verify_header(text: bytes) -> None:
    before, given, after = _split_at_checksum(text)
    if _checksum(before, after) != given:
        raise CorruptModelError("wrong checksum of the header")


class MappedArrays(NamedTuple):
    """Arrays by name, and the buffer they are views of."""

    arrays: dict[str, np.ndarray]
    buffer: np.ndarray

    def release_pages(self) -> None:
        """Release the memory of the pages read so far; they are read again when needed."""
        if isinstance(self.buffer.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.buffer.base.madvise(mmap.MADV_DONTNEED)


def map_arrays(file: BinaryIO, header: Header, is_mapped: bool) -> MappedArrays:
    """Map the arrays read-only, or read them into memory."""
    file.seek(0)
    try:
        buffer = np.memmap(file, np.uint8, "r") if is_mapped else np.fromfile(file, np.uint8)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        size = os.fstat(file.fileno()).st_size
        raise MemoryError(f"Not enough memory to map a model of {size} bytes.") from error
    body = buffer.view(np.ndarray)[8 + len(header.text) :]
    arrays = {name: _view(body, entry) for name, entry in header.entries.items()}
    _check_layout(body, list(arrays.values()))
    return MappedArrays(arrays, buffer)


def _check_layout(body: np.ndarray, arrays: list[np.ndarray]) -> None:
    """Raise unless the arrays fill the file without gaps or overlaps."""
    places = [(array.ctypes.data - body.ctypes.data, array.nbytes) for array in arrays]
    end = 0
    for begin, length in sorted(place for place in places if place[1]):
        if begin != end:
            raise CorruptModelError("gap or overlap between arrays")
        end = begin + length
    if end != len(body):
        raise CorruptModelError("data after the last array")


def read_checksums(header: Header) -> dict[str, object] | None:
    """Return the checksums of the arrays by name; None for older formats."""
    if ARRAY_CHECKSUMS not in header.metadata:
        return None
    sums = parse_json(header.metadata[ARRAY_CHECKSUMS])
    if sums.keys() != header.entries.keys():
        raise CorruptModelError("missing checksum of an array")
    return sums


def _view(body: np.ndarray, entry: object) -> np.ndarray:
    fields = entry if isinstance(entry, dict) else {}
    shape, offsets = fields.get("shape"), fields.get("data_offsets")
    kind = str(fields.get("dtype"))
    is_complete = fields.keys() == {"dtype", "shape", "data_offsets"} and kind in TYPES
    if not is_complete or not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise CorruptModelError("invalid description of an array")
    dtype, (begin, end) = TYPES[kind], offsets
    if end > len(body):
        raise CorruptModelError("array beyond the end of the file")
    if end - begin != dtype.itemsize * math.prod(shape) or max(shape, default=0) > len(body):
        raise CorruptModelError("array size does not match its shape")
    if (body.ctypes.data + begin) % dtype.itemsize:
        raise CorruptModelError("misaligned array")
    return body[begin:end].view(dtype).reshape(shape)


def _are_sizes(value: object) -> TypeGuard[list[int]]:
    """Return whether a value is a list of at most two non-negative integers."""
    if not isinstance(value, list) or len(value) > 2:
        return False
    return all(type(number) is int and number >= 0 for number in value)
