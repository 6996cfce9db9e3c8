"""Token patterns that end: a regular expression of a file must not run for hours on a short text.

They are a sequence of characters and classes of them, of which one may be repeated without bound
and another one a few times, with one group at most: a search that fails has then tried each length
at each place once. Alternatives, nested and neighbouring repeats may try more ways than there are
seconds.
"""

import re

LONGEST = 200
MOST_REPEATS = 2
_PREFIX = "(?u)"
_CHARACTER = r"\\[wWdDsSbB.\-'\\]|\[\^?(?:\\.|[^\\\[\]])+\]|[^\\\[\](){}|*+?^$]"
_PART = re.compile(
    rf"(?P<character>{_CHARACTER})|(?P<unbounded>[+*]|\{{\d{{1,2}},\}})|(?P<exact>\{{\d{{1,2}}\}})"
    r"|(?P<bounded>\?|\{\d{1,2},\d{1,2}\})|(?P<opens>\((?:\?:)?)|(?P<closes>\))"
)


def is_ending_pattern(pattern: object) -> bool:
    """Whether it is one of them."""
    if type(pattern) is not str or len(pattern) > LONGEST:
        return False
    kinds = _kinds(pattern.removeprefix(_PREFIX))
    if kinds is None:
        return False
    repeats = ("unbounded", "exact", "bounded")
    follow = zip(["", *kinds], kinds, strict=False)
    if any(kind in repeats and before != "character" for before, kind in follow):
        return False
    n_unbounded, n_repeats = kinds.count("unbounded"), len([k for k in kinds if k in repeats])
    groups = [kind for kind in kinds if kind in ("opens", "closes")]
    if n_unbounded > 1 or n_repeats > MOST_REPEATS or groups not in ([], ["opens", "closes"]):
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _kinds(pattern: str) -> list[str] | None:
    """What the pattern consists of, part by part; None where something else is in it."""
    kinds, at = [], 0
    while at < len(pattern):
        found = _PART.match(pattern, at)
        if found is None:
            return None
        kinds.append(str(found.lastgroup))
        at = found.end()
    return kinds
