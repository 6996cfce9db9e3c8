"""A progress bar for runs of very different lengths."""

import time
from collections.abc import Hashable, Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from sketchforest._units import duration


class RunProgress:
    """Runs in order, each with a key: a run with a known key will take as long as before."""

    def __init__(self, keys: Sequence[Hashable], console: Console):
        self._waiting = list(keys)
        self._seconds: dict[Hashable, float] = {}
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=len(keys), left="")

    def __enter__(self) -> "RunProgress":
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def start(self, description: str) -> None:
        """The next run begins."""
        self._started = time.perf_counter()
        self._progress.update(self._task, description=description)

    def finish(self) -> None:
        """The run is done."""
        self._seconds[self._waiting.pop(0)] = time.perf_counter() - self._started
        left = duration(seconds_left(self._waiting, self._seconds))
        self._progress.update(self._task, advance=1, left=f"about {left} left")


def seconds_left(waiting: Sequence[Hashable], seconds: dict[Hashable, float]) -> float:
    """What the waiting runs will take: as long as the last of their kind, or as the average."""
    average = sum(seconds.values()) / len(seconds)
    return sum(seconds.get(key, average) for key in waiting)
