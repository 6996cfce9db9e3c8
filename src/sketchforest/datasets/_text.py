"""Text files, plain or compressed, and the errors of their readers."""

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO, TextIO, cast

from sketchforest._utils.files import written_whole
from sketchforest._utils.progress import stage

AnyPath = str | PathLike[str]

_Opener = Callable[..., IO[bytes] | IO[str]]
_OPENERS: dict[bytes, _Opener] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}
_NO_TEXT = {
    b"PK\x03\x04": "it is an Excel workbook or a zip archive; save it as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "it is an Excel workbook; save it as CSV",
}
_SUFFIXES: dict[str, _Opener] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
COMPRESSED = tuple(_SUFFIXES)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def bad_file(path: AnyPath, line: int | None, reason: str) -> ValueError:
    """The error of every reader: file, line number, reason."""
    name = shown_path(path)
    place = name if line is None else f"{name}, line {line}"
    return ValueError(f"{place}: {reason}.")


def shown_path(path: AnyPath) -> str:
    return "standard input" if str(path) == "-" else str(path)


def shown(text: bytes | str, limit: int = 40) -> str:
    """A short, quoted excerpt for an error message."""
    text = text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def decoded(text: bytes, path: AnyPath, line: int) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = text[error.start]
        raise bad_file(path, line, f"byte 0x{byte:02x} is not UTF-8 text") from None


def numbered_lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line without its end) of a plain, gzip, xz or bzip2 file.

    Compression is detected by the first bytes, because file names are often wrong.
    """
    number = 0
    with reporting_bad_compression(path, lambda: number + 1), opened(path) as file:
        for number, line in enumerate(file, start=1):
            if number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK)
            yield number, line.rstrip(b"\r\n")


def decoded_lines(path: AnyPath, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """(number from 1, decoded line without its end)."""
    number = 0
    with (
        reporting_bad_text(path, lambda: number + 1, encoding) as codec,
        opened(path) as raw,
    ):
        lines = io.TextIOWrapper(raw, encoding=codec)
        try:
            for number, line in enumerate(lines, start=1):
                yield number, line.rstrip("\n")
        finally:
            lines.detach()  # the context manager closes the file


@contextmanager
def reporting_bad_text(path: AnyPath, line: Callable[[], int], encoding: str) -> Iterator[str]:
    """The codec of an encoding. Errors in the data are reported with their line."""
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(
            f"encoding must be known to Python, such as latin-1 or cp1252; got {encoding!r}."
        ) from None
    try:
        with reporting_bad_compression(path, line):
            yield "utf-8-sig" if codec == "utf-8" else codec
    except UnicodeError as error:
        at, reason = None, f"it is not {encoding} text, in line {line()} or later"
        if isinstance(error, UnicodeDecodeError):
            if error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                reason = "it is UTF-16 text; pass --encoding utf-16"
                raise bad_file(path, None, reason) from None
            at = first_line_not_utf8(path) if codec == "utf-8" else None
            where = f", in line {line()} or later" if at is None else ""
            byte = f"byte 0x{error.object[error.start]:02x}"
            reason = f"{byte} is not {encoding.upper()} text{where}"
        # Decoding runs ahead of the lines.
        raise bad_file(path, at, f"{reason}; pass its --encoding, such as latin-1") from None


def first_line_not_utf8(path: AnyPath) -> int | None:
    """The number of the line; None for standard input, which cannot be read again."""
    if not Path(path).is_file():
        return None
    for number, line in numbered_lines(path):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return None


@contextmanager
def reporting_bad_compression(path: AnyPath, line: Callable[[], int]) -> Iterator[None]:
    """Report broken compression with the line that ``line`` returns."""
    try:
        yield
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        reason = f"the compressed data are truncated or corrupt ({error})"
        raise bad_file(path, line(), reason) from None
    except OSError as error:
        if error.errno is not None:  # from the file system, not from bzip2
            raise
        raise bad_file(path, line(), f"the compressed data are corrupt ({error})") from None


def _standard_input() -> io.BufferedReader:
    if sys.stdin is None:
        raise ValueError("standard input is closed. Pass a file name instead of '-'.")
    return cast(io.BufferedReader, sys.stdin.buffer)


@contextmanager
def opened(path: AnyPath, is_shown: bool = True) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file; "-" is standard input."""
    with ExitStack() as stack:
        if str(path) == "-":
            raw = _standard_input()
        else:
            raw = stack.enter_context(Path(path).open("rb"))
        if is_shown:
            size = os.fstat(raw.fileno()).st_size if str(path) != "-" else None
            stack.enter_context(stage("reading", size, raw.tell if size else None))
        head = raw.peek(6)
        for magic, what in _NO_TEXT.items():
            if is_shown and head.startswith(magic):  # not where the format is recognized
                raise bad_file(path, None, what)
        for magic, opener in _OPENERS.items():
            if head.startswith(magic):
                with opener(raw, "rb") as file:
                    yield cast(BinaryIO, file)
                return
        yield raw


def first_line(path: AnyPath) -> bytes:
    """The first non-blank line, as far as the first 64 kB hold it. Consumes no standard input."""
    if str(path) == "-":
        start = _standard_input().peek(1 << 16)
    else:
        with reporting_bad_compression(path, lambda: 1), opened(path, is_shown=False) as file:
            start = file.read(1 << 16)
    lines = start.removeprefix(_BYTE_ORDER_MARK).splitlines()
    return next((line for line in lines if line.strip()), b"")


@contextmanager
def text_writer(path: AnyPath) -> Iterator[TextIO]:
    """A UTF-8 text file, compressed according to its name, written whole or not at all."""
    with written_whole(path) as draft:
        opener = _SUFFIXES.get(draft.suffix.lower(), open)
        with opener(draft, "wt", encoding="utf-8", newline="\n") as file:
            yield cast(TextIO, file)


def plain_name(path: AnyPath) -> str:
    """The file's name without ``.gz``, ``.xz`` or ``.bz2``."""
    name = Path(path).name
    return Path(name).stem if Path(name).suffix.lower() in COMPRESSED else name


def stem(path: AnyPath) -> str:
    return Path(plain_name(path)).stem


def beside(path: AnyPath, name: str) -> Path | None:
    """The file ``name`` in the folder of ``path``, in upper or lower case, compressed or not."""
    wanted = {name.lower() + suffix for suffix in ("", *COMPRESSED)}
    found = (file for file in Path(path).parent.iterdir() if file.name.lower() in wanted)
    return min(found, default=None)
