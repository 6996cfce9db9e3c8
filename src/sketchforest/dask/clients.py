"""The cluster: which one, and how many threads it has."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client


def the_client(client: "Client | None") -> "Client":
    """The given one, or the one that was made last."""
    try:
        from distributed import default_client
    except ImportError as error:
        raise ImportError(
            "sketchforest.dask needs Dask; install it with: pip install 'sketchforest[dask]'"
        ) from error
    try:
        return default_client(client)
    except ValueError:
        raise ValueError(
            "client must be a distributed.Client, or there must be one; got None. Make one: "
            "client = distributed.Client('tcp://scheduler:8786')."
        ) from None


def n_threads(client: "Client") -> int:
    """Of all workers that there are now; at least one, for there may be some soon."""
    return max(1, sum(client.nthreads().values()))
