"""What one forest costs and how well it ranks."""

import pickle
import time
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from sketchforest.metrics import lrap, precision_at_k

PRECISION_DEPTHS = (1, 3, 5)


@dataclass(frozen=True)
class Measurement:
    """Cost and quality of ``n_estimators`` trees, of which ``n_grown`` were really grown.

    ``n_components`` is None on the original outputs; ``lrap`` and ``precision`` (at 1, 3 and 5)
    are None where they were not measured.
    """

    package: str
    n_components: int | None
    n_estimators: int
    n_grown: int
    fit_seconds: float
    n_bytes: int
    lrap: float | None = None
    precision: tuple[float, ...] | None = None

    def scaled_to(self, n_estimators: int) -> "Measurement":
        """Time and size of more trees of the same kind; the quality of more trees is unknown."""
        if n_estimators == self.n_estimators:
            return self
        factor = n_estimators / self.n_estimators
        return replace(
            self,
            n_estimators=n_estimators,
            fit_seconds=self.fit_seconds * factor,
            n_bytes=round(self.n_bytes * factor),
            lrap=None,
            precision=None,
        )


def timed_fit(forest: Any, X: Any, Y: Any) -> float:
    """Seconds that ``forest.fit`` takes on the wall clock."""
    start = time.perf_counter()
    forest.fit(X, Y)
    return time.perf_counter() - start


def ranking_quality(Y_true: Any, Y_score: Any) -> tuple[float, tuple[float, ...]]:
    """LRAP, and the precision at 1, 3 and 5."""
    depths = [min(k, Y_true.shape[1]) for k in PRECISION_DEPTHS]
    return lrap(Y_true, Y_score), tuple(precision_at_k(Y_true, Y_score, k) for k in depths)


def pickled_size(model: Any) -> int:
    """Bytes of ``pickle.dumps(model)``, without holding them."""
    sink = _CountingSink()
    pickle.dump(model, cast(BinaryIO, sink), protocol=pickle.HIGHEST_PROTOCOL)
    return sink.n_bytes


class _CountingSink:
    n_bytes = 0

    def write(self, chunk: Any) -> int:
        size = memoryview(chunk).nbytes
        self.n_bytes += size
        return size
