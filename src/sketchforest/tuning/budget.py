"""The budget of a search, in seconds or trees."""

import re
import time

# Ten fits of the default forest, reduced by the error of measuring its first trees, and by the
# seconds of work that a fit does not do.
DEFAULT_FITS, OTHER_WORK = 8.0, 0.05
# Shares of the budget in seconds: what is planned for, and where growing ends. Trees sometimes take
# longer than predicted, and a complete forest is worth a few percent more.
PLANNED, LAST = 0.92, 1.04
SOFT = 0.1

_WRONG = (
    "budget must be a number of seconds above 0, a number of trees as in '2000 trees', or None; "
    "got {!r}. None is the cost of ten default fits."
)
clock = time.perf_counter


class Budget:
    """A limit and how much of it is spent. The tuner counts trees, the clock counts seconds."""

    def __init__(self, budget: object, started: float):
        self._started = started
        self.n_trees_spent = 0
        self.is_default = budget is None
        self.in_trees = isinstance(budget, str)
        self.limit = _n_trees(budget) if isinstance(budget, str) else _seconds(budget)

    def set_default(self, seconds_of_a_fit: float) -> None:
        if self.limit is None:
            limit = DEFAULT_FITS * seconds_of_a_fit
            self.limit = max(limit - OTHER_WORK, limit / 2)

    @property
    def spent(self) -> float:
        return self.n_trees_spent if self.in_trees else clock() - self._started

    @property
    def left(self) -> float:
        """How much may still be planned for."""
        assert self.limit is not None
        return (1 if self.in_trees else PLANNED) * self.limit - self.spent

    @property
    def left_to_finish(self) -> float:
        """How much the remaining trees of the winner may cost."""
        assert self.limit is not None
        left = (1 if self.in_trees else LAST) * self.limit - self.spent
        # The user did not ask for the default limit: a complete forest matters more than seconds.
        return max(left, SOFT * self.limit) if self.is_default else left


def _n_trees(budget: str) -> int:
    match = re.fullmatch(r"\s*([1-9][0-9]*) trees?\s*", budget)
    if match is None:
        raise ValueError(_WRONG.format(budget))
    return int(match[1])


def _seconds(budget: object) -> float | None:
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget < 1e12:
        raise ValueError(_WRONG.format(budget))
    return float(budget)
