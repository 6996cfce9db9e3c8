"""Attributes that are computed when they are first read, by one thread."""

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class _Computing:
    """Values that are being computed, each with its lock: gone as soon as no thread uses it."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._locks = WeakValueDictionary[tuple[int, str], Any]()

    def lock_of(self, instance: object, name: str) -> Any:
        # Since Python 3.14, Ctrl-C may come between the lock of a `with` and its block, so that the
        # lock is never given back. The returned ones are gone all the same; the guard would not be.
        try:
            self._guard.acquire()
            return self._locks.setdefault((id(instance), name), threading.RLock())
        finally:
            try:  # noqa: SIM105 - `suppress` may be interrupted before the lock is given back
                self._guard.release()
            except RuntimeError:  # the interrupt came before the lock
                pass

    def forget_other_threads(self) -> None:
        """A forked child has copies of locks whose holders it does not have."""
        self.__init__()  # type: ignore[misc]


_computing = _Computing()
lock_of = _computing.lock_of  # of an attribute of an instance
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_computing.forget_other_threads)


class locked_property(Generic[Value]):  # noqa: N801 - used like `property`
    """As `functools.cached_property`, which may compute several values at once and keep the last:
    here all threads get the same value, computed once.

    The lock belongs to one attribute of one instance, and to this process: nobody waits for another
    instance, nor a forked child for a thread of its parent.
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
        # Once the value is there, Python finds it before it asks this descriptor.
        values = instance.__dict__
        with lock_of(instance, self._name):
            if self._name not in values:
                values[self._name] = self._compute(instance)
            value: Value = values[self._name]
            return value
