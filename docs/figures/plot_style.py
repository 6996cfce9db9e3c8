"""What the drawings share: colours that everybody can tell apart, axes without frames."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

BLUE, ORANGE, GREEN, PINK, GREY, SKY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#777777",
    "#56b4e9",
)
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, GREY)


def tidy(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)


def without_ticks(axes):
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def rows_of(name):
    """Rows of a table that the documentation keeps, as dicts of texts."""
    with Path("..", name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def means_by(rows, keys, value):
    """{keys of a row: mean of a column}"""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in keys)].append(float(row[value]))
    return {key: float(np.mean(values)) for key, values in found.items()}
