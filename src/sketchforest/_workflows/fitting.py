"""Where trees are grown: here, on workers of this machine, or on a cluster."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._utils.typing import Matrix
from sketchforest._workflows import Model

if TYPE_CHECKING:
    from distributed import Client


class Where(NamedTuple):
    """On this machine by threads, unless one of the first two is given."""

    dask: str | None = None  # address of the scheduler of a cluster
    workers: int | None = None  # processes of this machine
    checkpoint_dir: Path | None = None

    @property
    def is_usual(self) -> bool:
        return self == Where()


def fit_there(model: Model, X: Matrix, Y: Matrix, where: Where) -> None:
    """The same bits, wherever it is."""
    if where.is_usual:
        model.fit(X, Y)
        return
    if not isinstance(model, ForestMixin):
        given = [name for name, value in where._asdict().items() if value is not None]
        raise ValueError(f"{given[0]} must be left out for a single tree.")
    if where.dask is None and where.workers is None:
        model.fit(X, Y, checkpoint_dir=where.checkpoint_dir)
        return
    from sketchforest import dask

    with _cluster(where) as (client, shared_dir):
        dask.fit(model, X, Y, client, shared_dir=shared_dir, checkpoint_dir=where.checkpoint_dir)


@contextmanager
def _cluster(where: Where) -> Iterator[tuple["Client", str | None]]:
    """A client, and a folder that its workers can open, if one is known."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ValueError(
            "--dask and --workers need Dask; install it with: pip install 'sketchforest[dask]'"
        ) from error
    if where.dask is not None:
        try:
            client = Client(where.dask, timeout="10s")
        except (OSError, ValueError) as error:
            raise ValueError(
                f"dask must be the address of a scheduler, as in tcp://host:8786; at "
                f"{where.dask!r} none answers."
            ) from error
        with client:
            yield client, None
        return
    n_threads = max(1, (os.cpu_count() or 1) // (where.workers or 1))
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=where.workers,
            threads_per_worker=n_threads,
            memory_limit=0,  # the system's own; workers map the same data
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client, folder
