"""Work through joblib: in order, and at an end when it is at an end."""

import threading
import time

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
