"""Start worker processes, restart those that crash, and stop them.

Model files that change while they are served are named as likely causes.
"""

import logging
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

POLL_SECONDS = 0.2
HEARTBEAT_SECONDS = 1.0
HANG_SECONDS = 60.0  # without a heartbeat
# Stop restarting workers that crash more often: what ends one at once will end the next one, too.
MAX_RESTARTS, RESTART_WINDOW_SECONDS = 5, 60.0
KILL_SECONDS = 2.0  # on top of the time that workers have to finish their requests
STARTUP_FAILED = 3  # exit code of a worker that has logged the reason

logger = logging.getLogger("uvicorn.error")
spawn = multiprocessing.get_context("spawn")

# Returns the function and arguments of a process that sends its heartbeats to a connection.
Target = Callable[[Connection], tuple[Callable[..., None], tuple[Any, ...]]]

LIKELY_CAUSES = {
    "SIGBUS": "a mapped model file was probably truncated or overwritten in place. Write a new "
    "file and rename it to the old name, or use --no-mmap",
    "SIGKILL": "the system has probably run out of memory",
}


class FileState(NamedTuple):
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "FileState | None":
        try:
            found = os.stat(path)
        except OSError:
            return None
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


FileStates = Mapping[Path, FileState | None]


def file_states(paths: Iterable[Path]) -> FileStates:
    return {path: FileState.of(path) for path in paths}


def describe_changes(states: FileStates) -> Iterator[str]:
    """Yield a sentence for each file that differs from its earlier state."""
    for path, before in states.items():
        now = FileState.of(path)
        if now == before or before is None:
            continue
        if now is None:
            yield f"{path} was deleted since the service started"
        elif now.inode != before.inode:
            yield f"{path} was replaced since the service started"
        else:
            yield (
                f"{path} was changed in place since the service started: from {before.size:,} to "
                f"{now.size:,} bytes"
            )


class WorkerProcess:
    def __init__(self, target: Target) -> None:
        self.heartbeats, sender = spawn.Pipe(duplex=False)
        function, arguments = target(sender)
        self.process: SpawnProcess = spawn.Process(target=function, args=arguments, daemon=True)
        self.process.start()
        sender.close()
        self.is_ready, self.last_heartbeat = False, time.monotonic()
        self.is_stopping = False

    def check_alive(self) -> bool:
        """Return whether the process runs; kill it if it hangs."""
        try:
            while self.heartbeats.poll():
                self.is_ready, self.last_heartbeat = self.heartbeats.recv(), time.monotonic()
        except (OSError, EOFError):  # it is exiting
            pass
        if self.process.is_alive() and time.monotonic() > self.last_heartbeat + HANG_SECONDS:
            logger.error("worker %s does not respond; killing it", self.process.pid)
            self.process.kill()
            self.process.join()
        return self.process.is_alive()

    def terminate(self) -> None:
        if not self.is_stopping and self.process.is_alive():
            self.is_stopping = True
            number = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)  # on Windows
            os.kill(self.process.pid or 0, number)

    def exit_reason(self) -> str:
        code = self.process.exitcode or 0
        if code >= 0:
            return f"exited with code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        cause = LIKELY_CAUSES.get(name)
        return f"was killed by {name}" + (f": {cause}" if cause else "")


class Supervisor:
    def __init__(self, target: Target, n_workers: int, model_files: FileStates) -> None:
        self.target, self.n_workers, self.model_files = target, n_workers, model_files
        self.workers: list[WorkerProcess] = []
        self.retiring: list[WorkerProcess] = []  # until their replacements are ready
        self.crash_times: deque[float] = deque()
        self.startup_failed = False  # for the last worker that died
        self.should_stop = self.should_reload = False

    def run(self, grace_seconds: float) -> int:
        """Run until a signal stops it; return the exit code."""
        for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._handle_signal)
        can_run = True
        while can_run and not self.should_stop:
            can_run = self._maintain_workers()
            time.sleep(POLL_SECONDS)
        self._stop(grace_seconds)
        return int(not can_run)

    def _handle_signal(self, number: int, frame: object) -> None:
        if number == getattr(signal, "SIGHUP", None):
            self.should_reload = True
        else:
            self.should_stop = True

    def _maintain_workers(self) -> bool:
        """Start missing workers. Return False if none is left and none can be started."""
        self._remove_dead(self.workers)
        self._remove_dead(self.retiring)
        if self.should_reload:
            self.should_reload = False
            logger.info("reloading: new workers will read the model files and replace the old ones")
            self.retiring += self.workers
            self.workers = []
            self.crash_times.clear()
        while self.crash_times and self.crash_times[0] < time.monotonic() - RESTART_WINDOW_SECONDS:
            self.crash_times.popleft()
        has_none = not (self.workers or self.retiring)
        if has_none and self.startup_failed:
            logger.error("no worker can start; stopping")
            return False
        if len(self.crash_times) <= MAX_RESTARTS:
            while len(self.workers) < self.n_workers and not self.should_stop:
                self.workers.append(WorkerProcess(self.target))
        elif has_none:
            logger.error("%d workers died within a minute; stopping", len(self.crash_times))
            return False
        if len(self.workers) == self.n_workers and all(w.is_ready for w in self.workers):
            for worker in self.retiring:
                worker.terminate()
        return True

    def _remove_dead(self, workers: list[WorkerProcess]) -> None:
        for worker in [w for w in workers if not w.check_alive()]:
            workers.remove(worker)
            if worker.is_stopping:
                continue
            logger.error("worker %s %s", worker.process.pid, worker.exit_reason())
            for change in describe_changes(self.model_files):
                logger.error("%s", change)
            self.crash_times.append(time.monotonic())
            self.startup_failed = worker.process.exitcode == STARTUP_FAILED

    def _stop(self, grace_seconds: float) -> None:
        workers = self.workers + self.retiring
        for worker in workers:
            worker.terminate()
        until = time.monotonic() + grace_seconds + KILL_SECONDS
        for worker in workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                logger.error("worker %s did not stop in time; killing it", worker.process.pid)
                worker.process.kill()
                worker.process.join()
