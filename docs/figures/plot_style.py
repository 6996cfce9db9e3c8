"""Style shared by all figures: colours safe for color-blind readers, axes without frames."""

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


def clean_axes(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)


def hide_axes(axes):
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def read_rows(name):
    """Read a CSV file below docs/ as a list of dicts of strings."""
    with Path("..", name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def means_by(rows, keys, value):
    """Average a column over all rows with the same keys."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in keys)].append(float(row[value]))
    return {key: float(np.mean(values)) for key, values in found.items()}
