"""Memory of this process, as the system counts it."""

import ctypes
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def current_bytes() -> int:
    """What is resident now; the highest so far, where the system does not tell."""
    gc.collect()
    _give_back_free_memory()
    return _status("VmRSS") or _highest_ever()


def peak_bytes() -> int:
    """The most that was resident at once since `reset_peak`, or since the start."""
    return _status("VmHWM") or _highest_ever()


def reset_peak() -> None:
    """Let loading and warming up not count; does nothing where the system cannot."""
    with suppress(OSError):
        _CLEAR.write_text("5")


def physical_bytes() -> int:
    """The memory of the machine, 0 if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _give_back_free_memory() -> None:
    # What glibc keeps of freed memory would hide as much of what is allocated next.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _status(field: str) -> int:
    # Not getrusage: its maximum outlives exec, so a child starts with the peak of its parent.
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return 1024 * int(line.split()[1])
    return 0


def _highest_ever() -> int:
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
