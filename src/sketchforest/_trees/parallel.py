"""Run many tasks, such as trees or blocks of rows: threads, progress and interrupts."""

import _thread
import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial, reduce
from typing import Generic, TypeVar

from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from sketchforest import _core
from sketchforest._utils.progress import stage, watched

# Memory for a new thread: its stack, and what it needs before its first task.
THREAD_BYTES = 1 << 25


class StoppedError(Exception):
    """Work that was stopped because other work failed or was interrupted."""


Task = TypeVar("Task")
Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`.

    joblib's own function counts processes, and warns inside the processes of a pool.
    """
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
    """Call work(task) for each task; return the results in order.

    `on_abort` is called on an error or Ctrl-C. No thread is still working when this returns or
    raises.

    The core releases the GIL, so threads suffice. If the user has set another joblib backend, that
    is used. The threads, at most `most_threads`, are our own: joblib polls for results every ten
    milliseconds, long enough to grow several trees.
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
    """Like `run_all`, always on threads, for short tasks."""
    with _on_threads(work, tasks, n_jobs, on_abort) as results:
        return list(results)


def run_and_reduce(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    combine: Callable[[Result, Result], Result],
    *,
    n_jobs: int | None,
) -> Result:
    """Like `run_blocks`, with the results combined in order, as soon as they are known."""
    with _on_threads(work, tasks, n_jobs) as results:
        return reduce(combine, results)


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
        # Some backends, such as multiprocessing, return all results at once.
        is_lazy = getattr(backend, "supports_return_generator", False)
        return_as = "generator" if is_lazy else "list"
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)
        try:
            yield parallel(delayed(work)(task) for task in tasks)
        except BaseException:
            on_abort()
            raise
        return
    # A user-defined projection may read scikit-learn's configuration.
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
    """Yield results in order. This thread and others take one task after the other.

    An executor may hang if it is interrupted while work is submitted, and so may a thread that has
    no memory to start. Here nothing waits for a thread that has not started: if need be, this
    thread does all the work. No task starts after an error or Ctrl-C, and no thread is left behind:
    one that is in the core when Python shuts down would crash the process.
    """
    # Other threads no longer run while the interpreter shuts down.
    n_threads = 1 if _core.is_closing() else min(count_threads(n_jobs), len(tasks))
    shared = _SharedTasks(work, tasks, on_abort, around_thread)
    try:
        for _ in range(n_threads - 1):
            shared.start_thread()
        yield shared.results()
    except BaseException:
        on_abort()  # before waiting for the threads
        raise
    finally:
        shared.stop()


class _SharedTasks(Generic[Task, Result]):
    """Tasks shared by several threads, and their results.

    Threads report without allocating memory, because there may be none left.
    """

    def __init__(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        on_abort: Callable[[], None],
        around_thread: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._work, self._tasks, self._on_abort = work, tasks, on_abort
        self._around_thread = around_thread
        self._numbers = list(range(len(tasks)))[::-1]  # not yet started, in reverse
        self._found: list[Result | None] = [None] * len(tasks)
        self._is_found = bytearray(len(tasks))
        self._error: BaseException | None = None  # the first one
        self._at_work: list[_thread.LockType] = []  # each held by a working thread
        self._is_stopped = False

    def start_thread(self) -> None:
        """Start a thread if there is memory for it."""
        with suppress(RuntimeError, MemoryError, OSError):
            mmap.mmap(-1, THREAD_BYTES).close()  # raises if there is not
            _thread.start_new_thread(self._help, (_thread.allocate_lock(),))

    def results(self) -> Iterator[Result]:
        next_one = 0
        while self._take_one():
            while next_one < len(self._tasks) and self._is_found[next_one]:
                yield self._given_away(next_one)
                next_one += 1
        self._wait()  # even after an error, which may have been caused by another one
        if self._error is not None:
            raise self._error
        for number in range(next_one, len(self._tasks)):
            yield self._given_away(number)

    def stop(self) -> None:
        """Wait until no thread is working, even if Ctrl-C is pressed again."""
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
        """Run the next task. Return whether there was one and nothing has failed."""
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
            self._is_stopped = True  # no task starts after an error
            if self._error is None or isinstance(self._error, StoppedError):
                self._error = error
            self._on_abort()  # at once: other tasks may take minutes
            return False
        return True

    def _given_away(self, number: int) -> Result:
        result, self._found[number] = self._found[number], None
        return result  # type: ignore[return-value]

    def _wait(self) -> None:
        # An interrupt may leave this thread with a lock (see `lock_of`). Its owner has ended then,
        # and it is no longer in the list.
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
