"""Attributes computed on first access, by one thread."""

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class _Computing:
    """Locks of the values being computed; each is dropped when no thread uses it."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._locks = WeakValueDictionary[tuple[int, str], Any]()

    def lock_of(self, instance: object, name: str) -> Any:
        # Since Python 3.14, Ctrl-C may arrive between the lock of a `with` and its block. The lock
        # is then never released. Returned locks are dropped anyway; the guard would stay locked.
        try:
            self._guard.acquire()
            return self._locks.setdefault((id(instance), name), threading.RLock())
        finally:
            try:  # noqa: SIM105 - `suppress` may be interrupted before the lock is released
                self._guard.release()
            except RuntimeError:  # interrupted before the lock was acquired
                pass

    def forget_other_threads(self) -> None:
        """Reset after a fork: the child has copies of locks, but not the threads that hold them."""
        self.__init__()  # type: ignore[misc]


_computing = _Computing()
lock_of = _computing.lock_of  # takes an instance and the name of an attribute
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_computing.forget_other_threads)


class locked_property(Generic[Value]):  # noqa: N801 - used like `property`
    """Like `functools.cached_property`, but computed only once, so all threads get the same value.

    Each attribute of each instance has its own lock, which a forked child does not inherit.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        # Once the value is stored, Python finds it before this descriptor.
        values = instance.__dict__
        with lock_of(instance, self._name):
            if self._name not in values:
                values[self._name] = self._compute(instance)
            value: Value = values[self._name]
            return value
