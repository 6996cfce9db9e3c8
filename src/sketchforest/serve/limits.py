"""Limits on requests, and the deadline of each."""

import math
import time
from dataclasses import dataclass

from sketchforest.serve.responses import RequestError


@dataclass(frozen=True)
class Limits:
    body_bytes: int = 1 << 20
    rows: int = 1000  # per request
    seconds: float = 10.0  # from the first byte of a request to the last byte of its response
    connections: int = 512  # per worker


class Deadline:
    """When work on a request must stop: after a number of seconds, or once it is cancelled."""

    def __init__(self, seconds: float = math.inf) -> None:
        self._end = time.monotonic() + seconds

    def cancel(self) -> None:
        """Stop the working thread at its next check."""
        self._end = -math.inf

    def check(self, progress: str) -> None:
        """Raise once the deadline has passed. `progress` says how much was done."""
        if time.monotonic() > self._end:
            raise RequestError(
                503, f"timed out after {progress}; ask for less, or try again later."
            )
