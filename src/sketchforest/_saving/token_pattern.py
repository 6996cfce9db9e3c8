"""Token patterns that take time in proportion to the text: a regular expression of a file must not
keep a service busy, and Python cannot interrupt one.

A pattern is a sequence of characters and classes of them, with one group at most. One of them may
be repeated without bound, if what follows it cannot make the search take back one character after
the other at each place of a long run:

- nothing follows, as in ``\\S+``;
- ``\\b`` follows ``\\w+``, after which there always is a boundary;
- ``\\b`` follows and the pattern begins with ``\\b``: then few places of a run can begin a match.

All that is repeated a bounded number of times takes at most `MOST_STEPS` at each place: a few
seconds for the worst pattern and a text of 1 MB, a tenth of a second for ordinary ones.
"""

import re
from typing import NamedTuple

LONGEST = 200
MOST_REPEATS = 2
MOST_STEPS = 64
MOST_AT_ONCE = 20  # characters before those without bound, where boundaries stand around them
_PREFIX = "(?u)"
_CHARACTER = r"\\[wWdDsSbB.\-'\\]|\[\^?(?:\\.|[^\\\[\]])+\]|[^\\\[\](){}|*+?^$]"
_PART = re.compile(
    rf"(?P<character>{_CHARACTER})|(?P<repeat>[?+*]|\{{\d{{1,2}}(?:,\d{{0,2}})?\}})"
    r"|(?P<opens>\((?:\?:)?)|(?P<closes>\))"
)
_BOUNDARY = r"\b"


class _Item(NamedTuple):
    """A character or a class, and how often it may stand there; without bound where most is
    None."""

    character: str
    least: int = 1
    most: int | None = 1


def is_ending_pattern(pattern: object) -> bool:
    """Whether it is one of them."""
    if type(pattern) is not str or len(pattern) > LONGEST:
        return False
    items = _items(pattern.removeprefix(_PREFIX))
    if items is None or sum(item.least != 1 or item.most != 1 for item in items) > MOST_REPEATS:
        return False
    unbounded = [at for at, item in enumerate(items) if item.most is None]
    if len(unbounded) > 1:
        return False
    if unbounded:
        [at] = unbounded
        before, repeated, after = items[:at], items[at], items[at + 1 :]
        if after and not _ends_at_boundary(before, repeated, after):
            return False
        items = [*before, repeated._replace(most=repeated.least)]
    if _steps(items) > MOST_STEPS:
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _ends_at_boundary(before: list[_Item], repeated: _Item, after: list[_Item]) -> bool:
    """Whether few searches run through the same run of repeated characters, and then back."""
    if [item.character for item in after] != [_BOUNDARY]:
        return False
    if repeated.character == r"\w":
        return True
    begins_at_one = bool(before) and before[0].character == _BOUNDARY
    is_fixed = all(item.least == item.most for item in before)
    return begins_at_one and is_fixed and _steps([*before, repeated]) <= MOST_AT_ONCE


def _items(pattern: str) -> list[_Item] | None:
    """What the pattern consists of, without its group; None where something else is in it."""
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
    """Of a search that fails at a place, at most."""
    steps = 0
    for item in reversed(items):
        most = item.least if item.most is None else item.most
        steps = most + (most - item.least + 1) * steps
    return steps
