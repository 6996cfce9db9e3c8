"""What a model costs and how well it ranks."""

import pickle
import time
from collections.abc import Callable
from typing import BinaryIO, TypeVar, cast

import numpy as np
from scipy import sparse

from sketchforest.metrics import lrap, precision_at_k

PRECISION_DEPTHS = (1, 3, 5)

_T = TypeVar("_T")


def timed(work: Callable[[], _T]) -> tuple[float, _T]:
    """Seconds of the wall clock, and what the work gave."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def processor_timed(work: Callable[[], _T]) -> tuple[float, _T]:
    """Seconds of the processors, whatever else the machine does, and what the work gave."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def ranking_quality(
    Y_true: sparse.csr_array, Y_score: np.ndarray
) -> tuple[float, tuple[float, ...]]:
    """LRAP, and the precision at 1, 3 and 5."""
    depths = [min(k, Y_true.shape[1]) for k in PRECISION_DEPTHS]
    return lrap(Y_true, Y_score), tuple(precision_at_k(Y_true, Y_score, k) for k in depths)


def pickled_size(model: object) -> int:
    """Bytes of ``pickle.dumps(model)``, without holding them."""
    sink = _CountingSink()
    pickle.dump(model, cast(BinaryIO, sink), protocol=pickle.HIGHEST_PROTOCOL)
    return sink.n_bytes


class _CountingSink:
    n_bytes = 0

    def write(self, chunk: bytes | pickle.PickleBuffer) -> int:
        size = memoryview(chunk).nbytes
        self.n_bytes += size
        return size
