"""Linear algebra runs on one thread while a forest is fitted, and on all of them afterwards."""

import os
import threading

import pytest
from threadpoolctl import ThreadpoolController

from sketchforest._utils import blas
from sketchforest._utils.blas import one_blas_thread

N_THREADS = 3  # as if there were so many cores


def counts():
    return {library.num_threads for library in libraries.lib_controllers}


libraries = ThreadpoolController().select(user_api="blas")
pytestmark = pytest.mark.skipif(not libraries.lib_controllers, reason="BLAS has no known threads")


@pytest.fixture(autouse=True)
def several_threads():
    with libraries.limit(limits=N_THREADS):
        yield


def test_the_last_to_leave_sets_the_threads_back():
    with one_blas_thread():
        with one_blas_thread():
            assert counts() == {1}
        assert counts() == {1}
    assert counts() == {N_THREADS}


def test_another_thread_may_be_the_last_to_leave():
    held, left = one_blas_thread(), threading.Event()

    def work():
        with one_blas_thread():
            left.wait()

    worker = threading.Thread(target=work)
    with held:
        worker.start()
        while blas._limit._n_users < 2:
            pass
    assert counts() == {1}
    left.set()
    worker.join()
    assert counts() == {N_THREADS}


def test_threads_are_set_back_after_an_error():
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert counts() == {N_THREADS}


def test_many_python_threads_agree():
    seen, barrier = [], threading.Barrier(8)

    def work():
        barrier.wait()
        for _ in range(50):
            with one_blas_thread():
                seen.append(counts())

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == [{1}] * 400
    assert counts() == {N_THREADS}


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="no fork on this system")
def test_a_forked_child_does_not_inherit_the_limit():
    with one_blas_thread():
        child = os.fork()
        if child == 0:
            is_free = counts() == {N_THREADS} and not blas._limit._guard.locked()
            os._exit(0 if is_free else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
