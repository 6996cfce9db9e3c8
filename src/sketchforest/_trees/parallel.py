"""Many trees, or many blocks of rows: threads, progress and interrupts."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from sketchforest import _core
from sketchforest._progress import stage, watched

Task = TypeVar("Task")
Result = TypeVar("Result")


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
    work: Callable[[Task], Result], tasks: Sequence[Task], *, n_jobs: int | None
) -> list[Result]:
    """work(task) for each short task, results in order, on threads that share memory."""
    with _on_threads(work, tasks, n_jobs) as results:
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
    config = get_config()  # of scikit-learn, which a projection of the user's may ask for

    def configured(task: Task) -> Result:
        with config_context(**config):
            return work(task)

    n_threads = effective_n_jobs(n_jobs)
    if most_threads is not None:
        n_threads = min(n_threads, most_threads)
    with _on_threads(configured, tasks, n_threads, on_abort) as results:
        yield results


@contextmanager
def _on_threads(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    n_jobs: int | None,
    on_abort: Callable[[], None] = lambda: None,
) -> Iterator[Iterable[Result]]:
    """Results in order, from threads that take one task after the other.

    An executor that is interrupted while it takes on work may hang. Here Ctrl-C, which is heard in
    the main thread, finds it at no lock of Python's; no task is begun after it, and no thread is
    left: one that is in the native core when Python shuts down brings the process down.
    """
    # When the process ends, threads other than the one that ends it rest.
    n_threads = 1 if _core.is_closing() else min(effective_n_jobs(n_jobs), len(tasks))
    numbers = iter(range(len(tasks)))
    taking = threading.Lock()
    done: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()
    is_stopped = threading.Event()

    def take_tasks() -> None:
        while not is_stopped.is_set():
            with taking:
                number = next(numbers, None)
            if number is None:
                return
            try:
                done.put((number, work(tasks[number]), None))
            except BaseException as error:
                is_stopped.set()  # nothing is begun after an error
                done.put((number, None, error))

    def results() -> Iterator[Result]:
        for thread in threads:
            thread.start()
        early: dict[int, Result] = {}
        for number in range(len(tasks)):
            while number not in early:
                finished, result, error = done.get()
                if error is not None:
                    raise error
                early[finished] = result  # type: ignore[assignment]
            yield early.pop(number)

    threads = [threading.Thread(target=take_tasks, daemon=True) for _ in range(n_threads)]
    try:
        yield results() if n_threads > 1 else map(work, tasks)
    except BaseException:
        on_abort()  # before the threads are waited for
        raise
    finally:
        is_stopped.set()
        for thread in threads:
            if thread.ident is not None:  # it was started
                thread.join()


@contextmanager
def _tracked(
    results: Iterable[Result], description: str, total: int, verbose: int
) -> Iterator[Iterable[Result]]:
    if not verbose or total <= 1:
        yield results
        return
    with watched(shows_ends=True), stage(description, total) as shown:
        yield shown.over(results)
