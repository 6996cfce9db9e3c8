"""Attributes that are computed once, however many threads read them first."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sketchforest
from sketchforest._lazy import locked_property

N_THREADS = 16


class Counted:
    """Computes slowly enough that all threads ask before the first is done."""

    def __init__(self) -> None:
        self.n_computed = 0
        self.all_ask = threading.Barrier(N_THREADS)
        self.fails = False

    @locked_property
    def value(self) -> object:
        """What is asked for."""
        self.n_computed += 1
        if self.fails:
            raise ValueError("not now")
        threading.Event().wait(0.05)
        return object()

    def ask(self) -> object:
        self.all_ask.wait()
        return self.value


def test_threads_that_ask_at_once_get_one_value():
    counted = Counted()
    with ThreadPoolExecutor(N_THREADS) as threads:
        values = [threads.submit(counted.ask) for _ in range(N_THREADS)]
    assert len({id(value.result()) for value in values}) == 1
    assert counted.n_computed == 1


def test_a_value_that_could_not_be_computed_is_computed_when_it_is_asked_for_again():
    counted = Counted()
    counted.fails = True
    with pytest.raises(ValueError, match="not now"):
        _ = counted.value
    counted.fails = False
    assert counted.value is counted.value


def test_no_lock_stays_with_the_instance():
    counted = Counted()
    before = set(vars(counted))
    _ = counted.value
    assert set(vars(counted)) == before | {"value"}


def test_the_class_shows_the_description():
    assert Counted.value.__doc__ == "What is asked for."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_child_does_not_wait_for_a_thread_of_its_parent():
    started, may_end = threading.Event(), threading.Event()

    class Slow:
        @locked_property
        def value(self) -> int:
            started.set()
            may_end.wait()
            return os.getpid()

    slow = Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    started.wait()
    child = os.fork()
    if not child:
        may_end.set()
        os._exit(0 if slow.value == os.getpid() else 1)
    may_end.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert slow.value == os.getpid()


def test_the_package_does_not_use_the_property_that_has_no_lock():
    package = Path(sketchforest.__file__).parent
    pattern = re.compile(
        r"import .*\bcached_property|functools\.cached_property\(|@cached_property"
    )
    assert [path.name for path in package.rglob("*.py") if pattern.search(path.read_text())] == []
