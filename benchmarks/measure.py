"""What a model costs in time and memory, and how well it ranks.

Worker processes import this module: it must stay light, because their memory is measured.
"""

import ctypes
import gc
import os
import pickle
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from sketchforest.metrics import lrap, precision_at_k

PRECISION_DEPTHS = (1, 3, 5)

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_T = TypeVar("_T")


def timed(
    work: Callable[[], _T], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, _T]:
    """Return the seconds that some work takes, and its result."""
    start = clock()
    result = work()
    return clock() - start, result


def processor_timed(work: Callable[[], _T]) -> tuple[float, _T]:
    """Return seconds of processor time, which does not depend on the load, and the result."""
    return timed(work, time.process_time)


def ranking_quality(
    Y_true: sparse.csr_array, Y_score: np.ndarray
) -> tuple[float, tuple[float, ...]]:
    """Return LRAP, and the precision at 1, 3 and 5."""
    depths = [min(k, Y_true.shape[1]) for k in PRECISION_DEPTHS]
    return lrap(Y_true, Y_score), tuple(precision_at_k(Y_true, Y_score, k) for k in depths)


def pickled_size(model: object) -> int:
    """Return the length of ``pickle.dumps(model)`` without holding it in memory."""
    sink = _CountingSink()
    pickle.dump(model, sink, protocol=pickle.HIGHEST_PROTOCOL)
    return sink.n_bytes


class _CountingSink:
    n_bytes = 0

    def write(self, chunk: Any) -> int:
        size = memoryview(chunk).nbytes
        self.n_bytes += size
        return size


def current_bytes() -> int:
    """Return the resident memory; where the system does not tell, its peak so far."""
    gc.collect()
    with suppress(OSError, AttributeError):
        # glibc would satisfy later allocations from memory it keeps, and hide them.
        ctypes.CDLL(None).malloc_trim(0)
    return _status("VmRSS") or _highest_ever()


def peak_bytes() -> int:
    """Return the peak of the resident memory since `reset_peak`, or since the start."""
    return _status("VmHWM") or _highest_ever()


def reset_peak() -> None:
    """Forget the peak of loading and warming up; does nothing where the system cannot."""
    with suppress(OSError):
        _CLEAR.write_text("5")


def fit_costs(fit: Callable[[], Any]) -> dict[str, float]:
    """Run a fit, and measure its seconds, the memory before it and the peak during it."""
    baseline = current_bytes()
    reset_peak()
    seconds, _ = timed(fit)
    # Before anything else happens, because saving takes memory, too.
    return {"fit_seconds": seconds, "baseline_bytes": baseline, "peak_bytes": peak_bytes()}


def physical_bytes() -> int:
    """Return the memory of the machine, 0 if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _status(field: str) -> int:
    # Not getrusage: its maximum outlives exec, so a child starts with the peak of its parent.
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(field + ":"):
                return 1024 * int(line.split()[1])
    return 0


def _highest_ever() -> int:
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
