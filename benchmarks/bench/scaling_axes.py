"""The sizes that the scaling study doubles, and the exponents that it fits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

MEANINGS = {
    "n": "training rows",
    "p": "features",
    "m": "projected outputs",
    "d": "labels",
    "t": "trees",
    "threads": "threads",
}
COSTS = ("fit_seconds", "predict_seconds", "added_bytes")


@dataclass(frozen=True)
class Point:
    """The size of one problem and of its forest; the fields are the axes of the study."""

    n: int = 4000
    p: int = 1000
    m: int = 8
    d: int = 500
    t: int = 16
    threads: int = 1


@dataclass(frozen=True)
class Axis:
    """Medians along one axis, and the exponent of each cost."""

    name: str
    values: list[int]
    costs: list[dict[str, float]]
    exponents: dict[str, float | None]


def parse_base(text: str, base: Point | None = None) -> Point:
    """Change some sizes of the base, such as "n=8000,t=32"."""
    base = base or Point()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.partition("=")
        if name not in MEANINGS or not number.isdecimal() or int(number) < 1:
            names = ", ".join(MEANINGS)
            raise ValueError(f"base must be like n=4000,t=16, of {names}; got {part!r}.")
        base = replace(base, **{name: int(number)})
    return base


def exponent(values: Sequence[float], costs: Sequence[float]) -> float | None:
    """Fit log(cost) = a + b log(value) by least squares and return b; None below two points."""
    points = [(x, y) for x, y in zip(values, costs, strict=True) if y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    x, y = np.log(np.array(points, float)).T
    return float(np.polyfit(x, y, 1)[0])
