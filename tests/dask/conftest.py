"""Dask clusters of worker processes on this machine."""

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


@pytest.fixture(scope="session")
def client():
    with local_client(3) as client:
        yield client


@pytest.fixture
def mortal_client():
    """A cluster for one test, which may kill its workers."""
    with local_client(4) as client:
        yield client


@pytest.fixture(params=["strict", pytest.param("tolerant", marks=pytest.mark.slow)])
def scheduler(request, mortal_client):
    """Make the scheduler of `mortal_client` give up a task as soon as its worker dies, or not."""

    def be_strict(dask_scheduler):
        dask_scheduler.allowed_failures = 0

    if request.param == "strict":
        mortal_client.run_on_scheduler(be_strict)
