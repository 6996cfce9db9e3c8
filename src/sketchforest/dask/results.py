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
    client: "Client", keys: Sequence[Key], submit: "Callable[[Key], Future]"
) -> Iterator[tuple[Key, Any]]:
    """Each key with the result of its task, in the order in which they end. An error is raised
    here; then, or where the results are no longer asked for, the other tasks are cancelled."""
    from distributed import KilledWorker, as_completed

    running = {submit(key): key for key in keys}
    trials = dict.fromkeys(keys, 0)
    done = as_completed(list(running))
    try:
        for future in done:
            if future.status == "finished":
                yield running.pop(future), future.result()
                continue
            error = future.exception() if future.status == "error" else None
            if not isinstance(error, KilledWorker):
                raise error or _cluster_is_gone()
            key = running[future]
            trials[key] += 1
            if trials[key] > MORE_TRIALS:
                raise RuntimeError(
                    "Workers died again and again of the same task: perhaps of too little memory. "
                    "Give them more, or fewer threads each."
                ) from error
            future.retry()  # and what it depends on
            done.add(future)
    finally:
        client.cancel(list(running))


def _cluster_is_gone() -> RuntimeError:
    return RuntimeError(
        "The cluster was closed, or has forgotten the fit. Fit again; with checkpoint_dir, it goes "
        "on where it was."
    )
