"""Linear algebra with one thread for each call."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The threads of BLAS are set for the whole process: the first who asks for one thread sets
    them, and the last who leaves sets them back."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._n_users = 0
        self._before: list[int] = []  # threads of each library

    def acquire(self) -> None:
        with self._guard:
            if self._n_users == 0:
                self._before = [library.num_threads for library in _libraries()]
                _set_threads([1] * len(self._before))
            self._n_users += 1

    def release(self) -> None:
        with self._guard:
            self._n_users -= 1
            if self._n_users == 0:
                _set_threads(self._before)

    def forget_other_threads(self) -> None:
        """Reset after a fork: the threads that would release the limit are not in the child."""
        if self._n_users > 0:
            _set_threads(self._before)
        self.__init__()  # type: ignore[misc]


@cache
def _libraries() -> list[Any]:
    """The libraries of NumPy and SciPy; finding them takes milliseconds."""
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _set_threads(counts: list[int]) -> None:
    for library, n_threads in zip(_libraries(), counts, strict=True):
        # Since threadpoolctl 3.8, what other threads ask for is ignored until the first is done.
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)
        library.set_num_threads(n_threads)
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forget_other_threads)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run each call of BLAS on one thread, in the whole process.

    Threads of BLAS wait for each other in busy loops. If other processes need the cores, a second
    thread makes small problems twenty times as slow. Results do not depend on the number of cores
    either.
    """
    _limit.acquire()
    try:
        yield
    finally:
        _limit.release()
