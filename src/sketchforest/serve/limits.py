"""What a request may ask for, and how it is refused."""

import math
import time
from dataclasses import dataclass

MAX_LABELS = 100  # of a row in an answer
RETRY_SECONDS = 1  # after which to ask again where there was no time


@dataclass(frozen=True)
class Limits:
    """Of a service, for each of its workers."""

    body_bytes: int = 1 << 20
    rows: int = 1000  # of one request
    seconds: float = 10.0  # from the first byte of a request to the last of its answer
    connections: int = 512


class RefusedError(Exception):
    """A request that is not answered: the status of HTTP, and one sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class Deadline:
    """When the work on a request ends; at once if nobody waits for its answer any more."""

    def __init__(self, seconds: float = math.inf) -> None:
        self._end = time.monotonic() + seconds

    def cancel(self) -> None:
        """The thread that works hears of it when it looks next."""
        self._end = -math.inf

    def check(self, done: str) -> None:
        """Raises when it is over; `done` is how far the work is."""
        if time.monotonic() > self._end:
            raise RefusedError(503, f"the time is up after {done}; ask for less, or later.")


def wrong(sentence: str) -> RefusedError:
    """For content that is JSON, but not what is asked for."""
    return RefusedError(422, sentence)
