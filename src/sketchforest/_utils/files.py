"""Files that are whole or not there."""

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_DRAFT = ".draft"
_MOST_TRIES = 100  # of making what others remove at the same moment
# What the system says of folders that cannot be synced or not be opened for it, as on some network
# file systems. Other errors are those of a disk.
_NOT_SYNCED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}


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
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Puts the names in a folder on the disk: until then a loss of power may undo a rename."""
    if sys.platform == "win32":  # which opens no folders
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise


def make_folder(folder: Path) -> None:
    """With its parents, all of them on the disk."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


@contextmanager
def _folder_beside(target: Path | None) -> Iterator[Path]:
    """A folder that is gone afterwards, in that of the target, or among temporary ones.

    A process that is killed leaves its folder; the next one that writes to the target removes it,
    for nobody holds it any more. Nobody waits for another, and only its owner can hold a folder.
    """
    if target is None:
        with tempfile.TemporaryDirectory() as name:
            yield Path(name)
        return
    prefix = f".{target.name[:100]}."
    _sweep(target.parent, prefix)
    folder, descriptor = _new_draft(target.parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def _new_draft(parent: Path, prefix: str) -> tuple[Path, int | None]:
    """A folder, and the descriptor that holds it. One that is swept before it is held is made
    again."""
    for _ in range(_MOST_TRIES):
        folder = Path(tempfile.mkdtemp(_DRAFT, prefix, parent))
        if sys.platform == "win32":  # where drafts that were left behind are not told from others
            return folder, None
        with suppress(FileNotFoundError, BlockingIOError):
            return folder, _hold(folder, os.O_RDONLY)
    raise OSError(errno.EAGAIN, "Other processes remove its drafts", str(parent))


def _sweep(parent: Path, prefix: str) -> None:
    if sys.platform == "win32":
        return
    for left in parent.iterdir():
        is_draft = left.name.startswith(prefix) and left.name.endswith(_DRAFT)
        if not is_draft or left.is_symlink() or not left.is_dir():
            continue
        with suppress(OSError):
            descriptor = os.open(left, os.O_RDONLY)
            try:
                if _lock(descriptor):
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Whether it is locked now, until it is closed or the process ends, however it ends; False on
    file systems without locks. BlockingIOError: another has the lock, who may be a thread of this
    process."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if sys.platform == "win32" and error.errno == errno.EACCES:
            raise BlockingIOError(errno.EAGAIN, "It is locked") from None
        return False
    return True


def _hold(path: Path, flags: int) -> int:
    """A descriptor with the lock of what has that name; FileNotFoundError if it lost its name
    before it was locked."""
    descriptor = os.open(path, flags, 0o600)
    try:
        _lock(descriptor)
        found = os.stat(path, follow_symlinks=False)
        if not os.path.samestat(os.fstat(descriptor), found):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def held(path: Path) -> Iterator[None]:
    """A file that is there as long as it is held, in a folder that is made if there is none.
    BlockingIOError: another holds it. Only its owner can open it: who may read the folder cannot
    hold it."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    for _ in range(_MOST_TRIES):
        make_folder(path.parent)
        with suppress(FileNotFoundError):  # removed by who held it until now
            descriptor = _hold(path, flags)
            break
    else:
        raise OSError(errno.EAGAIN, "Other processes remove it", str(path))
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file; an old one does no harm
            path.unlink()
        os.close(descriptor)


def check_out(out: Path) -> None:
    """Before the work, which may take hours."""
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"out must be a file in a folder that exists; got '{out}'.")
