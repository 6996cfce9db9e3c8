"""Files that are whole or not there."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: drafts that were left behind are not told from others
    fcntl = None  # type: ignore[assignment]


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; it becomes ``path`` when all went well, and nothing otherwise.

    It is beside the target, and on the disk before it takes the target's name: a file of that name
    is whole, or it is the old one, whose mode it keeps; a link leads to it as before. What is no
    file, as a device or a pipe, is written through. Errors name what the caller named, and come
    before any work.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    is_special = target.exists() and not target.is_file()
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(_folder_beside(None if is_special else target))
        except OSError as error:
            raise _about(error, Path(path).parent) from None
        draft = folder / target.name
        try:
            yield draft
            if is_special:
                with draft.open("rb") as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                return
            _put(draft, target)
        except OSError as error:
            is_ours = error.filename is None or str(error.filename).startswith(str(folder))
            if not is_ours or error.errno is None:
                raise
            raise _about(error, path) from error


def _about(error: OSError, path: str | os.PathLike[str]) -> Exception:
    if error.errno == errno.ENOMEM:
        return MemoryError(f"There is no memory to write {path}.")
    return type(error)(error.errno, error.strerror, str(path))


def _put(draft: Path, target: Path) -> None:
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        draft.chmod(stat.S_IMODE(target.stat().st_mode))
    draft.replace(target)


@contextmanager
def _folder_beside(target: Path | None) -> Iterator[Path]:
    """A folder that is gone afterwards, in that of the target, or among temporary ones.

    A process that is killed leaves its folder; the next one that writes to the target removes it,
    for nobody holds it any more.
    """
    if target is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    prefix = f".{target.name[:100]}."
    with ExitStack() as stack:
        with _locked(target.parent):  # so that no folder is swept before it is held
            _sweep(target.parent, prefix)
            beside = tempfile.TemporaryDirectory(
                dir=target.parent, prefix=prefix, suffix=_DRAFT, ignore_cleanup_errors=True
            )
            folder = Path(stack.enter_context(beside))
            stack.enter_context(_locked(folder))
        yield folder


_DRAFT = ".draft"


@contextmanager
def _locked(folder: Path, *, waits: bool = True) -> Iterator[bool]:
    """Whether the folder is held, which a process does until it ends, however it ends. Not so on
    file systems without locks."""
    if fcntl is None:
        yield False
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _sweep(parent: Path, prefix: str) -> None:
    for left in parent.iterdir():
        is_draft = left.name.startswith(prefix) and left.name.endswith(_DRAFT)
        if not is_draft or left.is_symlink() or not left.is_dir():
            continue
        with suppress(OSError), _locked(left, waits=False) as is_abandoned:
            if is_abandoned:
                shutil.rmtree(left, ignore_errors=True)


def check_out(out: Path) -> None:
    """Before the work, which may take hours."""
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"out must be a file in a folder that exists; got '{out}'.")
