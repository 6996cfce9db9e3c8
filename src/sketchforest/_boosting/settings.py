"""What a boosted fit is given besides the data."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BoostSettings:
    """How trees are added up; `GrowSettings` says how each is grown."""

    max_iter: int
    learning_rate: float
    l2_regularization: float
    subsample: float
    leaf_fit: Literal["outputs", "linear"]
    n_validation: int  # rows held out
    n_iter_no_change: int | None  # None: no early stopping
    tol: float

    def is_over(self, scores: list[float]) -> bool:
        """Whether none of the last scores (larger is better) beats the score before them by
        `tol`."""
        if self.n_iter_no_change is None or len(scores) <= self.n_iter_no_change:
            return False
        *_, before = scores[: -self.n_iter_no_change]
        return max(scores[-self.n_iter_no_change :]) <= before + self.tol
