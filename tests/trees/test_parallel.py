"""Work through joblib: in order, and at an end when it is at an end."""

import _thread
import multiprocessing
import threading
import time
import warnings

import joblib
import pytest

from sketchforest._trees.parallel import run_all, run_blocks


def square(number):
    return number**2


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_come_in_the_order_of_their_tasks(n_jobs):
    def slow_at_first(number):
        time.sleep(0.02 if number == 0 else 0)
        return square(number)

    assert run_all(slow_at_first, range(20), n_jobs=n_jobs) == [n**2 for n in range(20)]
    assert run_all(square, [3], n_jobs=n_jobs) == [9]


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_work_may_go_to_other_processes(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        assert run_all(square, range(4), n_jobs=2) == [0, 1, 4, 9]


def square_on_threads(number):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return run_blocks(square, range(number), n_jobs=2)


def test_processes_of_a_pool_have_threads_and_no_warning():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(square_on_threads, (4,)) == [0, 1, 4, 9]


def test_shared_memory_is_kept_whatever_the_backend():
    seen = []
    with joblib.parallel_config("loky", n_jobs=2):
        run_blocks(seen.append, range(4), n_jobs=2)
    assert sorted(seen) == [0, 1, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_give_results_in_order_and_none_is_begun_after_an_error(n_jobs):
    assert run_blocks(square, range(20), n_jobs=n_jobs) == [n**2 for n in range(20)]
    begun = []

    def fails(number):
        begun.append(number)
        raise KeyboardInterrupt

    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run_blocks(fails, range(10_000), n_jobs=n_jobs)
    n_begun = len(begun)
    assert n_begun < 10_000
    assert threading.active_count() == n_threads


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_no_thread_is_at_work_after_an_error(error):
    stop, at_work, begun = threading.Event(), set(), []

    def work(number):
        begun.append(number)
        if number == 1:
            raise error("enough")
        at_work.add(number)
        stop.wait(30)
        time.sleep(0.2)  # what takes a while to stop
        at_work.discard(number)

    with pytest.raises(error, match="enough"):
        run_all(work, range(50), n_jobs=2, on_abort=stop.set)
    assert stop.is_set()
    assert not at_work
    n_begun = len(begun)
    time.sleep(0.1)
    assert len(begun) == n_begun < 50


@pytest.mark.parametrize("n_started", [0, 1])
def test_threads_that_cannot_start_are_done_without(n_started, monkeypatch):
    start, started = _thread.start_new_thread, []

    def scarce(*args):
        if len(started) == n_started:
            raise RuntimeError("can't start new thread")
        started.append(args)
        return start(*args)

    monkeypatch.setattr(_thread, "start_new_thread", scarce)
    assert run_blocks(square, range(50), n_jobs=4) == [n**2 for n in range(50)]
    assert len(started) == n_started


def test_threads_that_never_begin_are_not_waited_for(monkeypatch):
    """One that finds no memory for its first call ends without a word."""
    monkeypatch.setattr(_thread, "start_new_thread", lambda *args: 1)
    assert run_blocks(square, range(50), n_jobs=4) == [n**2 for n in range(50)]


def test_work_that_finds_no_memory_ends_in_a_memory_error():
    def work(number):
        if number == 7:
            raise MemoryError
        return number

    with pytest.raises(MemoryError):
        run_blocks(work, range(50), n_jobs=4)


def test_a_failure_stops_the_long_task_of_another_thread():
    stop, begun = threading.Event(), threading.Barrier(2, timeout=30)

    def work(number):
        begun.wait()
        if number == 1:
            raise ValueError("enough")
        assert stop.wait(30)

    with pytest.raises(ValueError, match="enough"):
        run_all(work, range(2), n_jobs=2, on_abort=stop.set)


def test_two_interrupts_leave_no_thread_at_work():
    main, at_work, is_interrupted = threading.get_ident(), set(), threading.Event()

    def work(number):
        if threading.get_ident() == main:
            is_interrupted.wait(30)
            time.sleep(30)  # which the first one breaks off
        at_work.add(number)
        is_interrupted.set()
        _thread.interrupt_main()
        time.sleep(0.2)  # the main thread waits for this one
        _thread.interrupt_main()
        time.sleep(0.2)
        at_work.discard(number)

    with pytest.raises(KeyboardInterrupt):
        run_blocks(work, range(2), n_jobs=2)
    assert is_interrupted.is_set()
    assert not at_work


def test_an_error_of_the_only_task_is_passed_on():
    def fails(task):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        run_all(fails, [1], n_jobs=2)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_counts_the_tasks(n_jobs, capfd):
    run_all(square, range(7), n_jobs=n_jobs, description="squaring", verbose=1)
    out, err = capfd.readouterr()
    assert out == ""
    assert "squaring" in err
    assert "7 of 7" in err
