"""Atomic writes, and files that are held by one process."""

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
_MAX_TRIES = 100  # to create what other processes keep removing
# Errors for folders that cannot be synced, or not be opened to sync them, as on some network file
# systems. Other errors come from the disk.
_NOT_SYNCED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path that replaces ``path`` if the block succeeds, and is removed if it fails.

    It lies beside the target and is synced before it is renamed, so the target is always either the
    old file or the complete new one. It keeps the mode of the old file, and links stay links.
    Devices and pipes are written through. Errors name the caller's path, and come before any work.
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
        return MemoryError(f"Not enough memory to write {path}.")
    return type(error)(error.errno, error.strerror, str(path))


def _put(draft: Path, target: Path) -> None:
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        draft.chmod(stat.S_IMODE(target.stat().st_mode))
    draft.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder: until then, a power failure may undo a rename."""
    if sys.platform == "win32":  # cannot open folders
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
    """Create a folder with its parents, and sync them."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        sync_folder(path.parent)


@contextmanager
def _folder_beside(target: Path | None) -> Iterator[Path]:
    """A temporary folder beside the target, or in the system's folder for temporary files.

    A killed process leaves its folder behind, unlocked, and the next one that writes to the target
    removes it. No process waits for another, and only the owner can lock a folder.
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
    """A new folder and the descriptor that locks it; retried if removed before it is locked."""
    for _ in range(_MAX_TRIES):
        folder = Path(tempfile.mkdtemp(_DRAFT, prefix, parent))
        if sys.platform == "win32":  # abandoned drafts cannot be told from others
            return folder, None
        with suppress(FileNotFoundError, BlockingIOError):
            return folder, _hold(folder, os.O_RDONLY)
    raise OSError(errno.EAGAIN, "Other processes keep removing its temporary folders", str(parent))


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
    """Lock a file until it is closed or the process ends; False on file systems without locks.

    Raises BlockingIOError if the lock is taken, perhaps by another thread of this process.
    """
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
    """Open and lock a path; raises FileNotFoundError if it is replaced before it is locked."""
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
    """Hold a lock file, which is removed afterwards; its folder is created if needed.

    Raises BlockingIOError if it is held already. Only its owner can open the file, so read access
    to the folder is not enough to hold it.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    for _ in range(_MAX_TRIES):
        make_folder(path.parent)
        with suppress(FileNotFoundError):  # removed by its last holder
            descriptor = _hold(path, flags)
            break
    else:
        raise OSError(errno.EAGAIN, "Other processes keep removing it", str(path))
    try:
        yield
    finally:
        with suppress(OSError):  # Windows cannot remove open files; an old one does no harm
            path.unlink()
        os.close(descriptor)


def check_out(out: Path) -> None:
    """Check an output path before work that may take hours."""
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"out must be a file in an existing folder; got '{out}'.")
