"""Mean scores with standard deviations, and how far they are from each other."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sketchforest._utils.units import UNKNOWN

_ROUNDING = 1e-9  # 0.004 > 0.004 must not be decided by the last bit


@dataclass(frozen=True)
class Score:
    """Mean LRAP and its standard deviation over splits; None of a single split."""

    mean: float
    sd: float | None

    def text(self, digits: int) -> str:
        spread = "" if self.sd is None else f" ± {self.sd:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


def score(values: Sequence[float]) -> Score | None:
    """Mean and standard deviation (with n - 1) of the values."""
    if not values:
        return None
    return Score(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def gap(one: Score, other: Score) -> float | None:
    """Distance of the means in units of the larger standard deviation."""
    larger = max(one.sd or 0.0, other.sd or 0.0)
    return abs(one.mean - other.mean) / larger if larger else None


def mark(ours: Score, paper: Score) -> str:
    """ "*" if the means differ by more than one of the larger standard deviations, "**" by two."""
    distance = gap(ours, paper)
    if distance is None:
        return ""
    return "**" if distance > 2 + _ROUNDING else "*" if distance > 1 + _ROUNDING else ""


def verdict(score: Score, reference: Score) -> str:
    """The paper's own test: "worse" or "better" than the forest on the original outputs by more
    than one (the larger) standard deviation."""
    distance = gap(score, reference)
    if distance is None or distance <= 1 + _ROUNDING:
        return ""
    return "worse" if score.mean < reference.mean else "better"


def score_text(score: Score | None) -> str:
    return UNKNOWN if score is None else score.text(3)
