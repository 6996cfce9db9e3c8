"""Mean scores with standard deviations, and how far apart they are."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sketchforest._utils.units import UNKNOWN

_ROUNDING = 1e-9  # so that rounding does not decide whether 0.004 > 0.004


@dataclass(frozen=True)
class Score:
    """Mean LRAP and its standard deviation over splits, which is None for a single split."""

    mean: float
    sd: float | None

    def text(self, digits: int) -> str:
        spread = "" if self.sd is None else f" ± {self.sd:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


def score(values: Sequence[float]) -> Score | None:
    """Compute the mean and the standard deviation (with n - 1)."""
    if not values:
        return None
    return Score(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def score_of(row: Any, name: str) -> Score | None:
    """Read a score from the columns `name` and `name`_sd; None if it is missing."""
    mean, sd = getattr(row, name), getattr(row, f"{name}_sd")
    return None if pd.isna(mean) else Score(float(mean), None if pd.isna(sd) else float(sd))


def gap(one: Score | None, other: Score | None) -> float | None:
    """Measure the distance of the means in units of the larger standard deviation."""
    if one is None or other is None:
        return None
    larger = max(one.sd or 0.0, other.sd or 0.0)
    return abs(one.mean - other.mean) / larger if larger else None


def mark(ours: Score | None, paper: Score | None) -> str:
    """Return "*" if the means are more than one (the larger) sd apart, "**" for two."""
    distance = gap(ours, paper) or 0.0
    return "**" if distance > 2 + _ROUNDING else "*" if distance > 1 + _ROUNDING else ""


def verdict(score: Score | None, reference: Score | None) -> str:
    """Apply the paper's test: "worse" or "better" by more than one (the larger) sd."""
    if score is None or reference is None or (gap(score, reference) or 0.0) <= 1 + _ROUNDING:
        return ""
    return "worse" if score.mean < reference.mean else "better"


def score_text(score: Score | None) -> str:
    return UNKNOWN if score is None else score.text(3)
