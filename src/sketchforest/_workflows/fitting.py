"""Fit a model with threads, local processes, or a Dask cluster."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sketchforest._estimators.forest_mixin import ForestMixin
from sketchforest._features import Model
from sketchforest._utils.typing import Matrix

if TYPE_CHECKING:
    from distributed import Client


class Backend(NamedTuple):
    """Threads of this process, unless `dask` or `workers` is given."""

    dask: str | None = None  # scheduler address of a cluster
    workers: int | None = None  # local processes
    checkpoint_dir: Path | None = None


def fit_on(backend: Backend, model: Model, X: Matrix, Y: Matrix) -> None:
    """Fit the model; the result does not depend on the backend."""
    given = [name for name, value in backend._asdict().items() if value is not None]
    if not given:
        model.fit(X, Y)
    elif not isinstance(model, ForestMixin):
        raise ValueError(f"{given[0]} is for forests; got a {type(model).__name__}. Leave it out.")
    elif given == ["checkpoint_dir"]:
        model.fit(X, Y, checkpoint_dir=backend.checkpoint_dir)
    else:
        from sketchforest import dask

        checkpoint_dir = backend.checkpoint_dir
        with _cluster(backend) as (client, shared_dir):
            dask.fit(model, X, Y, client, shared_dir=shared_dir, checkpoint_dir=checkpoint_dir)


@contextmanager
def _cluster(backend: Backend) -> Iterator[tuple["Client", str | None]]:
    """Yield a client, and a folder that its workers share if one is known."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ValueError(
            "--dask and --workers need Dask. Install it with: pip install 'sketchforest[dask]'"
        ) from error
    if backend.dask is not None:
        try:
            client = Client(backend.dask, timeout="10s")
        except (OSError, ValueError) as error:
            raise ValueError(
                "dask must be the address of a running scheduler, such as tcp://host:8786; got "
                f"no response from {backend.dask!r}."
            ) from error
        with client:
            yield client, None
        return
    n_threads = max(1, (os.cpu_count() or 1) // (backend.workers or 1))
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=backend.workers,
            threads_per_worker=n_threads,
            memory_limit=0,  # workers map the same data, which Dask would count for each
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client, folder
