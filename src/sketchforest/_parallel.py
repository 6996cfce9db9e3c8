"""Many trees, or many blocks of rows, through joblib: progress and interrupts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sklearn.utils.parallel import Parallel, delayed

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_all(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    description: str = "",
    verbose: int = 0,
    shared_memory: bool = False,
    on_abort: Callable[[], None] = lambda: None,
) -> list[Result]:
    """work(task) for each task, results in order. `on_abort` is called when the run is broken off.

    The native core releases the GIL, so threads are enough; another backend of joblib is used
    where the user has set one, unless the work needs `shared_memory`.
    """
    if len(tasks) == 1:  # joblib takes longer to start than a row takes to predict
        return [work(tasks[0])]
    try:
        sharing = {"require": "sharedmem"} if shared_memory else {"prefer": "threads"}
        parallel = _make_parallel(n_jobs, **sharing)
        results = parallel(delayed(work)(task) for task in tasks)
        with _progress(description, len(tasks), verbose) as track:
            return list(track(results))
    except BaseException:
        on_abort()
        raise


def _make_parallel(n_jobs: int | None, **sharing: str) -> Parallel:
    try:
        return Parallel(n_jobs=n_jobs, return_as="generator", **sharing)
    except ValueError:  # some backends, multiprocessing among them, give all results at once
        return Parallel(n_jobs=n_jobs, **sharing)


@contextmanager
def _progress(
    description: str, total: int, verbose: int
) -> Iterator[Callable[[Iterable[Any]], Iterable[Any]]]:
    if not verbose:
        yield lambda results: results
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as progress:
        yield lambda results: progress.track(results, total=total, description=description)
