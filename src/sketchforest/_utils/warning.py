"""Warnings that point at the user's own line, however deep inside they are raised."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent.parent)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """As `warnings.warn`, with the stacklevel of the first caller outside of this package."""
    level = 2
    while level < 100 and _is_ours(level):
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(level: int) -> bool:
    try:
        return sys._getframe(level).f_code.co_filename.startswith(_PACKAGE)
    except ValueError:  # there is no such frame: all of the stack is ours
        return False
