"""What the tables of all commands share."""

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


def as_it_is(text: str) -> str:
    """Names may hold brackets, which rich would take for markup."""
    return text.replace("[", r"\[")


def number_or_none(value: float) -> float | None:
    """JSON has no NaN."""
    return None if np.isnan(value) else float(value)
