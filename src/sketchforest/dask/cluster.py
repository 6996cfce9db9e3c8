"""The Dask cluster: its client, tasks, and their results even when workers fail."""

import operator
import pickle
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sketchforest._estimators.forest_mixin import ForestMixin

if TYPE_CHECKING:
    from distributed import Client, Future

Key = TypeVar("Key", bound=Hashable)
# The scheduler gives up on a task whose workers keep dying, since the task may be what kills them.
# The workers may also have been taken away, so submit such a task again this many times.
MAX_RETRIES = 5
_GONE = (
    "The cluster was closed or restarted during the work. Run it again; sketchforest.dask.fit with "
    "checkpoint_dir keeps the finished trees."
)


def resolve_client(client: "Client | None") -> "Client":
    """Return the given client, or the one created last."""
    try:
        from distributed import default_client
    except ImportError as error:
        raise ImportError(
            "sketchforest.dask needs Dask. Install it with: pip install 'sketchforest[dask]'"
        ) from error
    try:
        return default_client(client)
    except ValueError:
        raise ValueError(
            "client must be a distributed.Client; got None, and no client exists. Create one with "
            "client = distributed.Client('tcp://scheduler:8786')."
        ) from None


def check_n_trees(forest: ForestMixin) -> int:
    """Return the number of trees of a forest to fit on a cluster."""
    if not isinstance(forest, ForestMixin):
        raise ValueError(
            f"forest must be a sketchforest forest; got {type(forest).__name__}. Fit a single tree "
            "with its own fit method."
        )
    if forest.n_estimators == "auto":
        raise ValueError(
            "n_estimators must be an int on a cluster; got 'auto'. Choose a number, or fit on one "
            "machine."
        )
    return int(forest.n_estimators)


def n_threads(client: "Client") -> int:
    """Count the threads of all workers; 1 if no worker has joined yet."""
    return max(1, sum(client.nthreads().values()))


def send(client: "Client", function: Callable[..., Any]) -> "Future":
    """Send a function to the cluster, for tasks made by `call`.

    It travels as bytes and is unpickled by a task. A worker that cannot unpickle the arguments of a
    task drops its connection, and the client never hears of it; an error inside a task is raised.
    """
    import cloudpickle

    with warnings.catch_warnings():
        # Large on purpose: scattered data would be lost with the worker that holds them.
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(pickle.loads, cloudpickle.dumps(function), pure=False)


def call(client: "Client", sent: "Future", *arguments: object) -> "Future":
    """Submit a call of a function from `send`; arguments are futures or built-in types."""
    return client.submit(operator.call, sent, *arguments, pure=False)


def results_as_done(
    client: "Client", keys: Sequence[Key], submit: "Callable[[Sequence[Key]], Sequence[Future]]"
) -> Iterator[tuple[Key, Any]]:
    """Yield each key with the result of its task, in order of completion.

    `submit` creates the tasks of the given keys and everything they depend on. It is called again
    for tasks lost with their workers. An error in a task is raised here; the remaining tasks are
    then cancelled, as they are when the caller stops iterating.
    """
    from distributed import as_completed

    running: dict[Future, Key] = {}
    n_retries = dict.fromkeys(keys, 0)

    def start(wanted: Sequence[Key]) -> "Sequence[Future]":
        futures = submit(wanted)
        running.update(zip(futures, wanted, strict=True))
        return futures

    done = as_completed(start(keys))
    try:
        for future in done:
            if future not in running:  # already submitted again
                continue
            if future.status == "finished":
                yield running.pop(future), future.result()
                continue
            if not _lost_its_workers(future):
                raise (future.exception() if future.status == "error" else RuntimeError(_GONE))
            # The tasks share their dependencies, so several are usually lost at once.
            lost = [running.pop(other) for other in list(running) if _lost_its_workers(other)]
            for key in lost:
                n_retries[key] += 1
                if n_retries[key] > MAX_RETRIES:
                    raise RuntimeError(
                        "Workers keep dying while they run the same task, possibly because they "
                        "run out of memory. Use workers with more memory or fewer threads."
                    ) from future.exception()
            done.update(start(lost))
    finally:
        client.cancel(list(running))


def _lost_its_workers(future: "Future") -> bool:
    from distributed import KilledWorker

    return future.status == "error" and isinstance(future.exception(), KilledWorker)
