"""What the tables of all commands share."""

import re

import numpy as np
from rich import box
from rich.table import Table

SHOWN = 10  # labels, features and rows in a table


def plain_table(*columns: str, right: tuple[str, ...] = (), header: bool = True) -> Table:
    """A table without a frame; the columns of `right` are numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_header=header, show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    return table


# Control characters, which a terminal takes for orders, and those that turn the direction of text.
_ORDERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def as_it_is(text: str) -> str:
    """What stands in a file, shown and not obeyed by the terminal."""
    return _ORDERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def number_or_none(value: float) -> float | None:
    """JSON has no NaN."""
    return None if np.isnan(value) else float(value)
