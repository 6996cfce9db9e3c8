"""Names in Markdown."""

import re

_SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def plain_markdown(text: object) -> str:
    """Text that a reader of Markdown shows as it is, in one line: no mark-up, no HTML, and no end
    of a table's cell."""
    line = " ".join(str(text).split())
    line = re.sub("[&<>]", lambda found: _ENTITIES[found[0]], line)
    return _SPECIAL.sub(r"\\\1", line)
