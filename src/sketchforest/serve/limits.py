"""What a request may ask for, and how it is refused."""

from dataclasses import dataclass

MAX_LABELS = 100  # of a row in an answer


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


def wrong(sentence: str) -> RefusedError:
    """For content that is JSON, but not what is asked for."""
    return RefusedError(422, sentence)
