"""Many trees, or many blocks of rows: threads, progress and interrupts."""

import _thread
import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Generic, TypeVar

from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from sketchforest import _core
from sketchforest._utils.progress import stage, watched

# That a thread is begun with: its stack, and what it takes before its first task.
THREAD_BYTES = 1 << 25


class StoppedError(Exception):
    """Work that was stopped from outside, since other work failed or was broken off."""


Task = TypeVar("Task")
Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """How many `n_jobs` means; joblib's own function warns in processes of a pool, where it thinks
    of processes."""
    backend, usual = get_active_backend(prefer="threads")
    return int(backend.effective_n_jobs(usual if n_jobs is None else n_jobs))


def run_all(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    most_threads: int | None = None,
    description: str = "",
    verbose: int = 0,
    on_abort: Callable[[], None] = lambda: None,
) -> list[Result]:
    """work(task) for each task, results in order. `on_abort` is called when the run is broken off,
    by an error or by Ctrl-C; no thread of ours is at work any more when this returns or raises.

    The native core releases the GIL, so threads are enough; another backend of joblib is used
    where the user has set one. The threads, of which there are no more than `most_threads`, are
    our own: joblib looks for results every ten milliseconds, in which several trees are grown.
    """
    with (
        _results(work, tasks, n_jobs, most_threads, on_abort) as results,
        _tracked(results, description, len(tasks), verbose) as tracked,
    ):
        return list(tracked)


def run_blocks(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    on_abort: Callable[[], None] = lambda: None,
) -> list[Result]:
    """work(task) for each short task, results in order, on threads that share memory."""
    with _on_threads(work, tasks, n_jobs, on_abort) as results:
        return list(results)


@contextmanager
def _results(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    n_jobs: int | None,
    most_threads: int | None,
    on_abort: Callable[[], None],
) -> Iterator[Iterable[Result]]:
    backend, _ = get_active_backend(prefer="threads")
    if len(tasks) > 1 and not getattr(backend, "uses_threads", False):
        # Some backends, multiprocessing among them, give all results at once.
        is_lazy = getattr(backend, "supports_return_generator", False)
        return_as = "generator" if is_lazy else "list"
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)
        try:
            yield parallel(delayed(work)(task) for task in tasks)
        except BaseException:
            on_abort()
            raise
        return
    # Of scikit-learn, which a projection of the user's may ask for.
    configured = partial(config_context, **get_config())
    n_threads = count_threads(n_jobs)
    if most_threads is not None:
        n_threads = min(n_threads, most_threads)
    with _on_threads(work, tasks, n_threads, on_abort, configured) as results:
        yield results


@contextmanager
def _on_threads(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    n_jobs: int | None,
    on_abort: Callable[[], None] = lambda: None,
    around_thread: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Iterator[Iterable[Result]]:
    """Results in order. This thread and others take one task after the other.

    An executor that is interrupted while it takes on work may hang, and so may a thread that finds
    no memory to begin. Here nobody waits for a thread that has not begun: this one does all the
    work, if need be. No task is begun after an error or Ctrl-C, and no thread is left: one that is
    in the native core when Python shuts down brings the process down.
    """
    # When the process ends, threads other than the one that ends it rest.
    n_threads = 1 if _core.is_closing() else min(count_threads(n_jobs), len(tasks))
    shared = _SharedTasks(work, tasks, on_abort, around_thread)
    try:
        for _ in range(n_threads - 1):
            shared.begin_thread()
        yield shared.results()
    except BaseException:
        on_abort()  # before the threads are waited for
        raise
    finally:
        shared.stop()


class _SharedTasks(Generic[Task, Result]):
    """Tasks that several threads take from, and their results. What threads say is said without
    taking memory, of which there may be none."""

    def __init__(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        on_abort: Callable[[], None],
        around_thread: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._work, self._tasks, self._on_abort = work, tasks, on_abort
        self._around_thread = around_thread
        self._numbers = list(range(len(tasks)))[::-1]  # that are to be begun
        self._found: list[Result | None] = [None] * len(tasks)
        self._is_found = bytearray(len(tasks))
        self._error: BaseException | None = None  # the first one
        self._at_work: list[_thread.LockType] = []  # held by a thread while it is at work
        self._is_stopped = False

    def begin_thread(self) -> None:
        """Fewer threads do the same, where there is no memory for more."""
        with suppress(RuntimeError, MemoryError, OSError):
            mmap.mmap(-1, THREAD_BYTES).close()  # is there so much?
            _thread.start_new_thread(self._help, (_thread.allocate_lock(),))

    def results(self) -> Iterator[Result]:
        next_one = 0
        while self._take_one():
            while next_one < len(self._tasks) and self._is_found[next_one]:
                yield self._given_away(next_one)
                next_one += 1
        self._wait()  # after an error, too: it may be a consequence of another one
        if self._error is not None:
            raise self._error
        for number in range(next_one, len(self._tasks)):
            yield self._given_away(number)

    def stop(self) -> None:
        """Returns when no thread is at work; Ctrl-C, once more, does not leave one behind."""
        self._is_stopped = True
        while True:
            try:
                return self._wait()
            except KeyboardInterrupt:
                continue

    def _help(self, at_work: _thread.LockType) -> None:
        with at_work:
            self._at_work.append(at_work)
            try:
                _core.prepare_thread()
                with self._around_thread():
                    while self._take_one():
                        pass
            finally:
                self._at_work.remove(at_work)

    def _take_one(self) -> bool:
        """Whether there was a task, and nothing has failed."""
        try:
            if self._is_stopped or not self._numbers:
                return False
            try:
                number = self._numbers.pop()
            except IndexError:  # another thread took the last one
                return False
            self._found[number] = self._work(self._tasks[number])
            self._is_found[number] = True
        except BaseException as error:
            self._is_stopped = True  # nothing is begun after an error
            if self._error is None or isinstance(self._error, StoppedError):
                self._error = error
            self._on_abort()  # by the one that failed: others may be at a task of minutes
            return False
        return True

    def _given_away(self, number: int) -> Result:
        result, self._found[number] = self._found[number], None
        return result  # type: ignore[return-value]

    def _wait(self) -> None:
        # An interrupt may leave a lock with this thread (see `lock_of`): it is of a thread that has
        # ended, and off the list.
        while at_work := next(iter(self._at_work), None):
            with at_work:
                pass


@contextmanager
def _tracked(
    results: Iterable[Result], description: str, total: int, verbose: int
) -> Iterator[Iterable[Result]]:
    if not verbose or total <= 1:
        yield results
        return
    with watched(shows_ends=True), stage(description, total) as shown:
        yield shown.over(results)
