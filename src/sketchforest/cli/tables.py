"""Tables for the terminal."""

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from rich import box
from rich.table import Table

SHOWN = 10  # labels, features or rows in a table

# Control characters, which could send commands to the terminal, and bidirectional overrides.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Collection[str] = (),
    show_header: bool = True,
    title: str | None = None,
) -> Table:
    """Return a table without a frame; the columns in `right` are right-aligned."""
    table = Table(
        title=title, box=box.SIMPLE_HEAD, show_header=show_header, show_edge=False, pad_edge=False
    )
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    for row in rows:
        table.add_row(*map(escaped, row))
    return table


def escaped(text: str) -> str:
    """Escape what a terminal would interpret; names may come from any file."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def number_or_none(value: float) -> float | None:
    """Replace NaN, which JSON does not have."""
    return None if np.isnan(value) else float(value)
