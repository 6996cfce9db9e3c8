"""Attributes that are computed once, however many threads read them first."""

import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sketchforest
from sketchforest._utils.lazy import locked_property

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


# Ctrl-C at any moment, many times; what is said at last is said by another thread.
INTERRUPTED = """
import random, signal, sys, threading, time
from sketchforest._utils.lazy import lock_of
from sketchforest._trees.parallel import run_blocks

class Owner:
    pass

owner, end = Owner(), time.monotonic() + 1
asked = {
    "lock_of": lambda: lock_of(owner, "name"),
    "run_blocks": lambda: run_blocks(time.sleep, [0] * 4, n_jobs=2),
}[sys.argv[1]]
is_asking = False


def interrupt(*_):
    global is_asking
    if is_asking:
        is_asking = False
        raise KeyboardInterrupt


def ask():
    while is_asking:
        asked()


sys.unraisablehook = lambda unraisable: None  # an interrupt of a weak reference's end
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 3e-4, 3e-4)
while time.monotonic() < end:
    try:
        is_asking = True
        ask()  # Python 3.13.0 does not catch what a loop in this place raises as it jumps
    except KeyboardInterrupt:
        pass
other = threading.Thread(target=asked, daemon=True)
other.start()
other.join(20)
print("held" if other.is_alive() else "free")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
@pytest.mark.parametrize("asked", ["lock_of", "run_blocks"])
def test_interrupts_leave_no_lock_behind(asked):
    command = [sys.executable, "-c", INTERRUPTED, asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "free\n", done.stderr
