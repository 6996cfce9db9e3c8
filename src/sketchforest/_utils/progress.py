"""Progress of long work, shown in stages.

A terminal shows a bar per stage, with the time spent and left; elsewhere a line is printed now and
then. Working code enters a `stage`, which costs little if nothing is shown. Callers show progress
by entering `watched`.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import RenderableType
    from rich.live import Live

T = TypeVar("T")

# Seconds before the first line, then the share of the elapsed time between lines, up to a limit.
FIRST_LINE, LINE_SHARE, LAST_INTERVAL = 4.0, 0.1, 60.0


class Stage:
    """A part of the work. `position` is polled for progress that is not reported by `update`."""

    def __init__(
        self, name: str, total: float | None = None, position: Callable[[], float] | None = None
    ):
        self.name, self.total, self.done = name, total, 0.0
        self.is_finished = False
        self.ends_at: float | None = None  # if known better than from the average speed
        self._position = position
        self._started = self._changed = time.monotonic()

    def advance(self, n: float = 1) -> None:
        self.update(self.done + n)

    def update(self, done: float, total: float | None = None, name: str | None = None) -> None:
        self.done, self.total = done, self.total if total is None else total
        self.name = name or self.name
        self._changed = time.monotonic()

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, counting each when the next is requested."""
        for item in items:
            yield item
            self.advance()

    def finish(self) -> None:
        self.is_finished = True
        self._changed = time.monotonic()

    def poll(self) -> None:
        """Update from the position."""
        if self._position is not None and not self.is_finished:
            with suppress(OSError, ValueError):  # the file may have been closed
                done = self._position()
                if done != self.done:
                    self.update(done)

    @property
    def seconds(self) -> float:
        return (self._changed if self.is_finished else time.monotonic()) - self._started

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the average speed, counting down between steps; None if unknown."""
        now = time.monotonic()
        if self.is_finished:
            return None
        if self.ends_at is not None:
            return max(0.0, self.ends_at - now)
        if not self.total or not self.done:
            return None
        spent = self._changed - self._started
        left = spent / self.done * max(0.0, self.total - self.done)
        return max(0.0, left - (now - self._changed))

    @property
    def amount(self) -> str:
        """Progress as "35 of 100", "45%" or an empty string."""
        if self._position is not None:
            return f"{min(1.0, self.done / self.total):.0%}" if self.total else ""
        if self.total:
            return f"{self.done:,.0f} of {self.total:,.0f}"
        return f"{self.done:,.0f}" if self.done else ""

    def __str__(self) -> str:
        parts = [self.amount, clock(self.seconds)]
        if self.seconds_left is not None:
            parts.append(f"{clock(self.seconds_left)} left")
        return f"{self.name}: {', '.join(part for part in parts if part)}"


def clock(seconds: float) -> str:
    """ "0:07", or "1:02:30"."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Display:
    """Shows stages on standard error; without a terminal, `shows_ends` prints the finished ones."""

    def __init__(self, renamed: dict[str, str] | None = None, shows_ends: bool = False):
        self._renamed, self._shows_ends = renamed or {}, shows_ends
        self._stages: list[Stage] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the stages until the block ends."""
        if _is_terminal(sys.stderr) or "ipykernel" in sys.modules:
            with _live(self.bars):
                yield
            return
        is_over = threading.Event()
        lines = threading.Thread(target=self._print_lines, args=[is_over], daemon=True)
        lines.start()
        try:
            yield
        finally:
            is_over.set()
            lines.join()
            for stage in self._stages if self._shows_ends else ():
                print(stage, file=sys.stderr, flush=True)

    def add(self, stage: Stage) -> None:
        """Show a stage, replacing a finished one of the same name."""
        stage.name = self._renamed.get(stage.name, stage.name)
        self._stages = [s for s in self._stages if not (s.is_finished and s.name == stage.name)]
        self._stages.append(stage)

    def bars(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        table = Table.grid(padding=(0, 1))
        for stage in list(self._stages):
            stage.poll()
            left = stage.seconds_left
            table.add_row(
                stage.name,
                ProgressBar(
                    total=stage.total,
                    completed=(stage.total or 1) if stage.is_finished else stage.done,
                    width=30,
                    pulse=stage.total is None and not stage.is_finished,
                ),
                stage.amount,
                clock(stage.seconds),
                "" if left is None else f"{clock(left)} left",
            )
        return table

    def _print_lines(self, is_over: threading.Event) -> None:
        started, wait = time.monotonic(), FIRST_LINE
        while not is_over.wait(wait):
            running = [stage for stage in self._stages if not stage.is_finished]
            if running:
                running[-1].poll()
                print(running[-1], file=sys.stderr, flush=True)
            seconds = time.monotonic() - started
            wait = min(LAST_INTERVAL, max(FIRST_LINE, LINE_SHARE * seconds))


def _live(bars: Callable[[], RenderableType]) -> Live:
    # Imported here because rich is slow to import and most fits show nothing.
    from rich.console import Console
    from rich.live import Live

    return Live(
        get_renderable=bars,
        console=Console(stderr=True),
        transient=True,
        # Output appears above the bars; redirected output must still reach its file.
        redirect_stdout=_is_terminal(sys.stdout),
    )


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()  # None in programs without a console


_displays: list[Display] = []  # the active display, if any


@contextmanager
def watched(renamed: dict[str, str] | None = None, shows_ends: bool = False) -> Iterator[None]:
    """Show stages in the active display, or in a new one."""
    if _displays:
        yield
        return
    display = Display(renamed, shows_ends)
    with display.running():
        _displays.append(display)
        try:
            yield
        finally:
            _displays.remove(display)


@contextmanager
def stage(
    name: str, total: float | None = None, position: Callable[[], float] | None = None
) -> Iterator[Stage]:
    """A stage of the work, shown inside `watched`."""
    shown = Stage(name, total, position)
    for display in _displays:
        display.add(shown)
    try:
        yield shown
    finally:
        shown.finish()
