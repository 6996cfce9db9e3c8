"""Starts workers, replaces those that die, says why, and ends them."""

import logging
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from sketchforest.serve.file_changes import Stamps, changes

TICK_SECONDS = 0.2
BEAT_SECONDS = 1.0
HUNG_SECONDS = 60.0  # without a beat
# No more workers than these are replaced in a minute: what ends one at once ends the next, too.
MOST_REPLACED, WINDOW_SECONDS = 5, 60.0
KILL_SECONDS = 2.0  # after those that workers have for what has been asked
CANNOT_START = 3  # exit code of a worker that has said why

logger = logging.getLogger("uvicorn.error")
spawn = multiprocessing.get_context("spawn")

# What a process runs that sends its beats there.
Target = Callable[[Connection], tuple[Callable[..., None], tuple[Any, ...]]]

LIKELY_CAUSES = {
    "SIGBUS": "a mapped model file was probably cut off or written in place. Write a new file and "
    "rename it to the old name, or use --no-mmap",
    "SIGKILL": "the system has probably run out of memory",
}


class Child:
    """A worker's process."""

    def __init__(self, target: Target) -> None:
        self.beats, beats = spawn.Pipe(duplex=False)
        function, arguments = target(beats)
        self.process: SpawnProcess = spawn.Process(target=function, args=arguments, daemon=True)
        self.process.start()
        beats.close()
        self.is_ready, self.heard, self.is_told_to_end = False, time.monotonic(), False

    def is_alive(self) -> bool:
        """Whether it runs; one that hangs is ended."""
        try:
            while self.beats.poll():
                self.is_ready, self.heard = self.beats.recv(), time.monotonic()
        except (OSError, EOFError):  # it ends
            pass
        if self.process.is_alive() and time.monotonic() > self.heard + HUNG_SECONDS:
            logger.error("worker %s hangs, and is killed", self.process.pid)
            self.process.kill()
            self.process.join()
        return self.process.is_alive()

    def terminate(self) -> None:
        if not self.is_told_to_end and self.process.is_alive():
            self.is_told_to_end = True
            number = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)  # of Windows
            os.kill(self.process.pid or 0, number)

    def cause_of_death(self) -> str:
        code = self.process.exitcode or 0
        if code >= 0:
            return f"with exit code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        likely = LIKELY_CAUSES.get(name)
        return f"by {name}" + (f": {likely}" if likely else "")


class Supervisor:
    def __init__(self, target: Target, n_workers: int, stamps: Stamps) -> None:
        self.target, self.n_workers, self.stamps = target, n_workers, stamps
        self.children: list[Child] = []
        self.retiring: list[Child] = []  # until those that replace them are ready
        self.deaths: deque[float] = deque()
        self.cannot_start = False  # the last one that died
        self.is_told_to_end = self.is_told_to_renew = False

    def run(self, end_seconds: float) -> int:
        for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._hear)
        can_go_on = True
        while can_go_on and not self.is_told_to_end:
            can_go_on = self._keep_workers()
            time.sleep(TICK_SECONDS)
        self._end(end_seconds)
        return int(not can_go_on)

    def _hear(self, number: int, frame: object) -> None:
        if number == getattr(signal, "SIGHUP", None):
            self.is_told_to_renew = True
        else:
            self.is_told_to_end = True

    def _keep_workers(self) -> bool:
        """Starts those that are missing; False where none is left and none can be started."""
        self._bury(self.children)
        self._bury(self.retiring)
        if self.is_told_to_renew:
            self.is_told_to_renew = False
            logger.info("workers are replaced by new ones, which read the model files again")
            self.retiring += self.children
            self.children = []
            self.deaths.clear()
        while self.deaths and self.deaths[0] < time.monotonic() - WINDOW_SECONDS:
            self.deaths.popleft()
        is_alone = not (self.children or self.retiring)
        if is_alone and self.cannot_start:
            logger.error("no worker can be started: the service ends")
            return False
        if len(self.deaths) <= MOST_REPLACED:
            while len(self.children) < self.n_workers and not self.is_told_to_end:
                self.children.append(Child(self.target))
        elif is_alone:
            logger.error("%d workers died within a minute: the service ends", len(self.deaths))
            return False
        if len(self.children) == self.n_workers and all(c.is_ready for c in self.children):
            for child in self.retiring:
                child.terminate()
        return True

    def _bury(self, children: list[Child]) -> None:
        for child in [c for c in children if not c.is_alive()]:
            children.remove(child)
            if child.is_told_to_end:
                continue
            logger.error("worker %s was ended %s", child.process.pid, child.cause_of_death())
            for change in changes(self.stamps):
                logger.error("%s", change)
            self.deaths.append(time.monotonic())
            self.cannot_start = child.process.exitcode == CANNOT_START

    def _end(self, seconds: float) -> None:
        children = self.children + self.retiring
        for child in children:
            child.terminate()
        until = time.monotonic() + seconds + KILL_SECONDS
        for child in children:
            child.process.join(max(0.0, until - time.monotonic()))
            if child.process.is_alive():
                logger.error("worker %s did not end, and is killed", child.process.pid)
                child.process.kill()
                child.process.join()
