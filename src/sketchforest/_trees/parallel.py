"""Many trees, or many blocks of rows: threads, progress and interrupts."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from sketchforest._progress import progress_bar

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    description: str = "",
    verbose: int = 0,
    on_abort: Callable[[], None] = lambda: None,
) -> list[Result]:
    """work(task) for each task, results in order. `on_abort` is called when the run is broken off,
    by an error or by Ctrl-C; no thread is at work any more when this returns or raises.

    The native core releases the GIL, so threads are enough; another backend of joblib is used
    where the user has set one. The threads are our own: joblib looks for results every ten
    milliseconds, in which several trees are grown.
    """
    if len(tasks) <= 1:
        return [work(task) for task in tasks]
    watched = _Watched(work)
    try:
        with (
            _results(watched, tasks, n_jobs) as results,
            _progress(description, len(tasks), verbose) as track,
            _told(on_abort),  # before the threads are waited for
        ):
            return list(track(results))
    except BaseException:
        on_abort()
        watched.stop()
        raise


def run_blocks(
    work: Callable[[Task], Result], tasks: Sequence[Task], *, n_jobs: int | None
) -> list[Result]:
    """work(task) for each short task, results in order, on threads that share memory."""
    with _on_threads(work, tasks, n_jobs) as results:
        return list(results)


@contextmanager
def _results(work: "_Watched", tasks: Sequence[Any], n_jobs: int | None) -> Iterator[Iterable[Any]]:
    backend, _ = get_active_backend(prefer="threads")
    if not getattr(backend, "uses_threads", False):
        yield _make_parallel(n_jobs)(delayed(work)(task) for task in tasks)
        return
    config = get_config()  # of scikit-learn, which a projection of the user's may ask for

    def configured(task: Any) -> Any:
        with config_context(**config):
            return work(task)

    with _on_threads(configured, tasks, n_jobs) as results:
        yield results


@contextmanager
def _told(on_abort: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        on_abort()
        raise


@contextmanager
def _on_threads(
    work: Callable[[Any], Any], tasks: Sequence[Any], n_jobs: int | None
) -> Iterator[Iterable[Any]]:
    n_threads = min(effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        yield map(work, tasks)
        return
    threads = _Threads(work, tasks, n_threads)
    try:
        yield threads.results()
    finally:  # after Ctrl-C too: no thread is left, and no task is begun
        threads.stop()


class _Threads:
    """Threads that take one task after the other. Ctrl-C, which is heard in the main thread, finds
    it at no lock of Python's: an executor that is interrupted while it takes on work may hang."""

    def __init__(self, work: Callable[[Any], Any], tasks: Sequence[Any], n_threads: int) -> None:
        self._work = work
        self._tasks = tasks
        self._numbers = iter(range(len(tasks)))
        self._taking = threading.Lock()  # of the threads alone
        self._done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self._is_stopped = False
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(n_threads)]

    def results(self) -> Iterator[Any]:
        """In the order of the tasks; or the first error."""
        for thread in self._threads:
            thread.start()
        early: dict[int, Any] = {}
        for number in range(len(self._tasks)):
            while number not in early:
                done, result, error = self._done.get()
                if error is not None:
                    raise error
                early[done] = result
            yield early.pop(number)

    def stop(self) -> None:
        self._is_stopped = True
        for thread in self._threads:
            if thread.ident is not None:  # it was started
                thread.join()

    def _run(self) -> None:
        while not self._is_stopped:
            with self._taking:
                number = next(self._numbers, None)
            if number is None:
                return
            try:
                self._done.put((number, self._work(self._tasks[number]), None))
            except BaseException as error:
                self._done.put((number, None, error))


class _Watched:
    """The work, and the threads that are at it. Sent to another process, it is the work alone."""

    # No __dict__, since `delayed` would take a copy of it along to the other process.
    __slots__ = ("_at_work", "_changed", "_is_stopped", "_work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._at_work: set[int] = set()
        self._is_stopped = False
        self._changed = threading.Condition()

    def __call__(self, task: Any) -> Any:
        with self._changed:
            if self._is_stopped:
                raise _StoppedError
            self._at_work.add(threading.get_ident())
        try:
            return self._work(task)
        finally:
            with self._changed:
                self._at_work.discard(threading.get_ident())
                self._changed.notify_all()

    def stop(self) -> None:
        """Nothing is begun any more, and what was begun has ended when this returns: a thread that
        is still in the native core when Python shuts down brings the process down."""
        with self._changed:
            self._is_stopped = True
            self._changed.wait_for(lambda: self._at_work <= {threading.get_ident()})

    def __reduce__(self) -> Any:
        return _itself, (self._work,)


class _StoppedError(Exception):
    """The run was broken off before the task was begun."""


def _itself(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return work


def _make_parallel(n_jobs: int | None) -> Parallel:
    try:
        return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    except ValueError:  # some backends, multiprocessing among them, give all results at once
        return Parallel(n_jobs=n_jobs, prefer="threads")


@contextmanager
def _progress(
    description: str, total: int, verbose: int
) -> Iterator[Callable[[Iterable[Any]], Iterable[Any]]]:
    if not verbose:
        yield lambda results: results
        return
    with progress_bar() as progress:
        yield lambda results: progress.track(results, total=total, description=description)
