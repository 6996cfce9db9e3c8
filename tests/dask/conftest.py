"""Clusters of local processes."""

from contextlib import contextmanager

import pytest


@contextmanager
def local_client(n_workers):
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")  # idle workers poll
def client():
    with local_client(2) as client:
        yield client


@pytest.fixture
def mortal_client():
    """A cluster whose workers a test may kill."""
    with local_client(4) as client:
        yield client


@pytest.fixture
def two_workers():
    """A cluster whose workers a test may break."""
    with local_client(2) as client:
        yield client


@pytest.fixture(params=["strict", pytest.param("tolerant", marks=pytest.mark.slow)])
def scheduler(request, mortal_client):
    """A strict scheduler gives up on a task when the first worker dies of it."""

    def be_strict(dask_scheduler):
        dask_scheduler.allowed_failures = 0

    if request.param == "strict":
        mortal_client.run_on_scheduler(be_strict)
