"""Warnings that point at the line of user code that caused them."""

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_PACKAGE = str(Path(__file__).parent.parent)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Like `warnings.warn`, with the stacklevel of the first caller outside this package."""
    level = 2
    while level < 100 and _is_ours(level):
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(level: int) -> bool:
    try:
        return sys._getframe(level).f_code.co_filename.startswith(_PACKAGE)
    except ValueError:  # no such frame: the whole stack is ours
        return False


def warn_of_old_name(old: str, new: str) -> None:
    message = f"{old} was renamed to {new}; the old name will be removed in the next release."
    warn(message, FutureWarning)


def deprecated_names(module: str, replacements: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose old names live on in `module` and warn when read."""

    def get(name: str) -> object:
        if name in replacements:
            warn(
                f"{name} will be removed in the next release; use {replacements[name]}.",
                FutureWarning,
            )
            found: object = getattr(import_module(module), name)
            return found
        package = module.rpartition(".")[0]
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get


def deprecated_alias(
    old_name: str, function: Callable[Parameters, Result]
) -> Callable[Parameters, Result]:
    """The function under the name it had in the last release; calling it warns."""

    @wraps(function)
    def alias(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        warn_of_old_name(old_name, function.__name__)
        return function(*args, **kwargs)

    alias.__doc__ = f"Deprecated name of `{function.__name__}`."
    return alias
