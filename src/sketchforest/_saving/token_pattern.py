"""Token patterns that take linear time on every text.

A regular expression from a file must not keep a service busy, and Python cannot interrupt a match.

A valid pattern is a sequence of characters and character classes, with at most one group. One item
may be repeated without bound, provided that what follows cannot make the search backtrack through a
long run at each position:

- nothing follows, as in ``\\S+``;
- ``\\b`` follows ``\\w+``, which always ends at a boundary;
- ``\\b`` follows and the pattern starts with ``\\b``, so that a match can start at few positions.

Bounded repetitions take at most `MAX_STEPS` at each position: a few seconds for the worst pattern
and a text of 1 MB, and a tenth of a second for ordinary patterns.
"""

import re
from typing import NamedTuple

MAX_LENGTH = 200
MAX_REPEATS = 2
MAX_STEPS = 64
MAX_BOUNDED_STEPS = 20  # of a pattern between two boundaries
_PREFIX = "(?u)"
_CHARACTER = r"\\[wWdDsSbB.\-'\\]|\[\^?(?:\\.|[^\\\[\]])+\]|[^\\\[\](){}|*+?^$]"
_PART = re.compile(
    rf"(?P<character>{_CHARACTER})|(?P<repeat>[?+*]|\{{\d{{1,2}}(?:,\d{{0,2}})?\}})"
    r"|(?P<opens>\((?:\?:)?)|(?P<closes>\))"
)
_BOUNDARY = r"\b"


class _Item(NamedTuple):
    """A character or a class with the bounds of its repetition; `most` is None if unbounded."""

    character: str
    least: int = 1
    most: int | None = 1


def is_linear_time(pattern: object) -> bool:
    """Return whether a value is a valid token pattern, as described above."""
    if type(pattern) is not str or len(pattern) > MAX_LENGTH:
        return False
    items = _items(pattern.removeprefix(_PREFIX))
    if items is None or sum(item.least != 1 or item.most != 1 for item in items) > MAX_REPEATS:
        return False
    unbounded = [at for at, item in enumerate(items) if item.most is None]
    if len(unbounded) > 1:
        return False
    for at in unbounded:
        before, repeated, after = items[:at], items[at], items[at + 1 :]
        if after and not _ends_at_boundary(before, repeated, after):
            return False
        items = [*before, repeated._replace(most=repeated.least)]
    if _steps(items) > MAX_STEPS:
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _ends_at_boundary(before: list[_Item], repeated: _Item, after: list[_Item]) -> bool:
    """Return whether few searches backtrack through the same run of repeated characters."""
    if [item.character for item in after] != [_BOUNDARY]:
        return False
    if repeated.character == r"\w":
        return True
    begins_at_one = bool(before) and before[0].character == _BOUNDARY
    is_fixed = all(item.least == item.most for item in before)
    return begins_at_one and is_fixed and _steps([*before, repeated]) <= MAX_BOUNDED_STEPS


def _items(pattern: str) -> list[_Item] | None:
    """Parse a pattern, ignoring its group; return None if it contains anything else."""
    items: list[_Item] = []
    groups, before, at = [], "", 0
    while at < len(pattern):
        found = _PART.match(pattern, at)
        if found is None:
            return None
        kind, text = str(found.lastgroup), found[0]
        if kind == "character":
            items.append(_Item(text))
        elif kind != "repeat":
            groups.append(kind)
        elif before == "character":
            items[-1] = _Item(items[-1].character, *_bounds(text))
        else:
            return None
        before, at = kind, found.end()
    return items if groups in ([], ["opens", "closes"]) else None


def _bounds(repeat: str) -> tuple[int, int | None]:
    if repeat in "?*+":
        return int(repeat == "+"), 1 if repeat == "?" else None
    least, comma, most = repeat[1:-1].partition(",")
    return int(least), int(most) if most else None if comma else int(least)


def _steps(items: list[_Item]) -> int:
    """Return the maximum number of steps of a search that fails at one position."""
    steps = 0
    for item in reversed(items):
        most = item.least if item.most is None else item.most
        steps = most + (most - item.least + 1) * steps
    return steps
