"""The progress bar of everything that takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

    from rich.progress import Progress, ProgressColumn


def progress_bar(*, transient: bool = False, disable: bool = False) -> Progress:
    """A bar of rich's on standard error, with the time left; to be entered.

    A task that knows better than its average speed when it will be done says so by a field:
    ``update(task, ends_at=time.monotonic() + seconds)``.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _time_left_column(),
        console=Console(stderr=True),
        transient=transient,
        disable=disable,
        # What is printed meanwhile appears above the bar; a file that gets it must go on doing so.
        redirect_stdout=_is_terminal(sys.stdout),
    )


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()  # programs without a console have no streams


def _time_left_column() -> ProgressColumn:
    # rich.progress is slow to import, and most fits show no bar.
    from rich.progress import Task, TimeRemainingColumn
    from rich.text import Text

    class TimeLeftColumn(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            if "ends_at" not in task.fields or task.finished:
                return super().render(task)
            minutes, seconds = divmod(max(0, round(task.fields["ends_at"] - time.monotonic())), 60)
            hours, minutes = divmod(minutes, 60)
            return Text(f"{hours}:{minutes:02}:{seconds:02}", style="progress.remaining")

    return TimeLeftColumn()


class RunProgress:
    """The bar for runs of very different lengths, each with a key, in order: a run with a known
    key will take as long as before. Nobody sees it where standard error is no terminal."""

    def __init__(self, keys: Sequence[Hashable]):
        self._waiting = list(keys)
        self._seconds: dict[Hashable, float] = {}
        self._bar = progress_bar(transient=True, disable=not _is_terminal(sys.stderr))
        self._task = self._bar.add_task("", total=len(keys))

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def start(self, description: str) -> None:
        """The next run begins."""
        self._started = time.perf_counter()
        self._bar.update(self._task, description=description)

    def finish(self) -> None:
        """The run is done."""
        self._seconds[self._waiting.pop(0)] = time.perf_counter() - self._started
        left = seconds_left(self._waiting, self._seconds)
        self._bar.update(self._task, advance=1, ends_at=time.monotonic() + left)


def seconds_left(waiting: Sequence[Hashable], seconds: dict[Hashable, float]) -> float:
    """What the waiting runs will take: as long as the last of their kind, or as the average."""
    average = sum(seconds.values()) / len(seconds)
    return sum(seconds.get(key, average) for key in waiting)
