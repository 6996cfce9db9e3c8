"""What tuning may cost, in seconds or in trees."""

import re
import time

# Ten fits of the usual forest, less an error of what is measured on its first trees, and less the
# seconds of work that a fit does not have.
DEFAULT_FITS, OTHER_WORK = 8.0, 0.05
# Of the seconds: what is planned for, and where growing ends. Trees take longer than foretold at
# times, and a forest with all its trees is worth a few percent more.
PLANNED, LAST = 0.92, 1.04
SOFT = 0.1

clock = time.perf_counter


class Budget:
    """A limit and what is spent. Trees are counted by the tuner, seconds by the clock."""

    def __init__(self, budget: object, started: float):
        self._started = started
        self.n_trees_spent = 0
        self.is_default = budget is None
        self.in_trees = isinstance(budget, str)
        self.limit = _n_trees(budget) if isinstance(budget, str) else _seconds(budget)

    def set_default(self, seconds_of_a_fit: float) -> None:
        """Without a limit of the user's, it is a multiple of a usual fit."""
        if self.limit is None:
            limit = DEFAULT_FITS * seconds_of_a_fit
            self.limit = max(limit - OTHER_WORK, limit / 2)

    @property
    def spent(self) -> float:
        return self.n_trees_spent if self.in_trees else clock() - self._started

    @property
    def left(self) -> float:
        """What may still be planned for."""
        assert self.limit is not None
        return (1 if self.in_trees else PLANNED) * self.limit - self.spent

    @property
    def left_to_finish(self) -> float:
        """What the winner may still take for the rest of its trees."""
        assert self.limit is not None
        left = (1 if self.in_trees else LAST) * self.limit - self.spent
        # Nobody has set the default one: all trees are worth more than keeping it to the second.
        return max(left, SOFT * self.limit) if self.is_default else left


def _n_trees(budget: str) -> int:
    match = re.fullmatch(r"\s*([1-9][0-9]*) trees?\s*", budget)
    if match is None:
        raise _wrong(budget)
    return int(match[1])


def _seconds(budget: object) -> float | None:
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 < budget < 1e12:
        raise _wrong(budget)
    return float(budget)


def _wrong(budget: object) -> ValueError:
    return ValueError(
        "budget must be a number of seconds above 0, a number of trees as in '2000 trees', or "
        f"None; got {budget!r}. None is what ten usual fits cost."
    )
