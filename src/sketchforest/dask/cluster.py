"""Results of tasks as they are done, whatever becomes of the workers."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from distributed import Client, Future

Key = TypeVar("Key", bound=Hashable)
# The scheduler gives a task up when workers that had it die again and again: they may have died of
# it. We ask so many times more, for they may have been taken away.
MORE_TRIALS = 5


def results_as_done(
    client: "Client", keys: Sequence[Key], submit: "Callable[[Sequence[Key]], Sequence[Future]]"
) -> Iterator[tuple[Key, Any]]:
    """Each key with the result of its task, in the order in which they end. An error is raised
    here; then, or where the results are no longer asked for, the other tasks are cancelled.

    `submit` makes the tasks of some keys, with all that they depend on, which may have been given
    up, too.
    """
    from distributed import as_completed

    running: dict[Future, Key] = {}
    trials = dict.fromkeys(keys, 0)

    def start(wanted: Sequence[Key]) -> "Sequence[Future]":
        futures = submit(wanted)
        running.update(zip(futures, wanted, strict=True))
        return futures

    done = as_completed(start(keys))
    try:
        for future in done:
            if future not in running:  # begun anew already
                continue
            if future.status == "finished":
                yield running.pop(future), future.result()
                continue
            if not _was_given_up(future):
                raise (future.exception() if future.status == "error" else _cluster_is_gone())
            # What they depend on was given up for all of them at once.
            again = [running.pop(other) for other in list(running) if _was_given_up(other)]
            for key in again:
                trials[key] += 1
                if trials[key] > MORE_TRIALS:
                    raise RuntimeError(
                        "Workers died again and again of the same task: perhaps of too little "
                        "memory. Give them more, or fewer threads each."
                    ) from future.exception()
            done.update(start(again))
    finally:
        client.cancel(list(running))


def _was_given_up(future: "Future") -> bool:
    from distributed import KilledWorker

    return future.status == "error" and isinstance(future.exception(), KilledWorker)


def _cluster_is_gone() -> RuntimeError:
    return RuntimeError(
        "The cluster was closed, or has forgotten the fit. Fit again; with checkpoint_dir, it goes "
        "on where it was."
    )
