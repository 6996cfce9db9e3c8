"""The search: begin with usual settings, step to better neighbours, grow on those in doubt.

A setting is dropped when the leader is clearly better on paired rows, or when it cannot be better
by more than a trifle. What is left of the budget goes to the setting that could still be best.
"""

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sketchforest._selection.auto import COST_EXPONENT, PROBE_SHARE
from sketchforest._selection.comparison import Race, Runner
from sketchforest._selection.learning_curve import Estimate
from sketchforest._trees.grow import Problem, rows_of_share
from sketchforest.projection import resolve_projection
from sketchforest.tuning import budget as _budget
from sketchforest.tuning.budget import Budget
from sketchforest.tuning.space import Setting, Space

# Standard errors of the paired difference from which on a setting is beaten, and the share of the
# score that is not worth a decision.
CLEARLY = 2.0
TRIFLE = 0.002
# Of the score: how far settings lie apart. On eight sets, it was between 0.5% and 6%.
USUAL_SPREAD = 0.02
# Of the budget, for looking at new settings.
EXPLORING_SHARE = 0.65
# Of the budget, for the fit of one setting.
LARGEST_SHARE = 1 / 3
# Trees that are grown between two looks at the clock, when the winner is finished.
FINAL_CHUNKS = 8
# Trees on half of the rows tell what all rows would gain: about this share of what the other half
# gained, since scores grow with the logarithm of the rows.
GAIN_OF_ALL_ROWS = np.log(1 / PROBE_SHARE) / np.log(2)
# Standard errors that it must be above: few, since of 18 sets all rows lost much on two only.
MORE_ROWS_ARE_BETTER = 0.5


@dataclass(eq=False)
class Contender:
    """A setting in the race."""

    setting: Setting
    runner: Runner
    grow_seconds: float = 0.0  # on the wall, with all threads
    look_seconds: float = 0.0
    is_beaten: bool = False
    foretold: Estimate | None = None  # by another setting's rows, where it has none of its own

    @property
    def seconds_per_tree(self) -> float:
        return self.grow_seconds / max(self.runner.n_trees, 1)


class Tuner:
    """One search; `contenders` is what it has found so far."""

    def __init__(
        self,
        race: Race,
        problems: dict[str, Problem],
        encoding_seconds: float,
        space: Space,
        budget: Budget,
        report: Callable[[float, float, str], None],
        probing: Collection[str] = (),
    ):
        """`probing` estimators leave rows out for the sake of the race alone."""
        self.contenders: list[Contender] = []
        self._probing = probing
        self._race, self._problems, self._space, self._budget = race, problems, space, budget
        self._encoding_seconds, self._report = encoding_seconds, report
        self._tried: set[Setting] = set()
        self._estimates: dict[Contender, Estimate] = {}

    def run(self) -> Contender:
        """The winner, grown to the number of trees asked for, as far as the budget reaches."""
        try:
            self._begin()
            self._explore()
            self._refine()
            winner = self._choose_rows(self.leader)
            self._finish(winner)
        except KeyboardInterrupt:
            if not any(contender.runner.trees for contender in self.contenders):
                raise
            warnings.warn(
                f"Interrupted after {len(self.contenders)} settings; the best of them so far is "
                f"returned, with the {self.leader.runner.n_trees} trees that it has.",
                stacklevel=3,  # the call of tune
            )
            winner = self.leader
        return winner

    @property
    def leader(self) -> Contender:
        """The best of those that the budget allows to finish; the first, before any is judged."""
        judged = [c for c in self.contenders if c.runner.curve is not None]
        if not judged:
            return max(self.contenders, key=lambda c: c.runner.n_trees)
        left = self._budget.left_to_finish
        payable = [c for c in judged if self._cost_to_finish(c) <= left]
        if not payable:
            return max(judged, key=lambda c: (c.runner.n_trees, self.estimate(c).score))
        return self._best(payable)

    def _best(self, contenders: Sequence[Contender]) -> Contender:
        """By what is likely: a lead that is less sure than settings differ says little, and the
        most promising setting is expected to be ahead of another by as much as they differ."""
        promising = self._space.starts()[-1]
        usual = next((c for c in contenders if c.setting == promising), None)
        if usual is None:
            return max(contenders, key=lambda c: self.estimate(c).score)
        known = self.estimate(usual)
        spread = max(USUAL_SPREAD * abs(known.score), 1e-12)

        def likely_lead(contender: Contender) -> float:
            if contender is usual:
                return 0.0
            lead, se = self.estimate(contender).lead_over(known)
            return (lead * spread**2 - spread * se**2) / (spread**2 + se**2)

        return max(contenders, key=likely_lead)

    def estimate(self, contender: Contender) -> Estimate:
        if contender.foretold is not None:
            return contender.foretold
        if contender not in self._estimates:
            self._estimates[contender] = self._race.estimate(contender.runner)
        return self._estimates[contender]

    # ---- the parts of the search

    def _begin(self) -> None:
        starts = self._space.starts()
        first = self._enter(starts[0])
        n_first = min(first.runner.n_first_trees, self._race.n_target)
        if self._budget.limit is not None and self._budget.in_trees:
            n_first = min(n_first, int(self._budget.limit))
        # The very first trees take longer than those of a fit in the end will.
        self._grow(first, n_first // 2, looks=False)
        warm_up = first.grow_seconds
        self._grow(first, n_first)
        seconds_per_tree = (first.grow_seconds - warm_up) / (n_first - n_first // 2)
        self._budget.set_default(self._encoding_seconds + self._race.n_target * seconds_per_tree)
        for setting in starts[1:]:
            self._try(setting, is_start=True)

    def _explore(self) -> None:
        assert self._budget.limit is not None
        while self._budget.spent < EXPLORING_SHARE * self._budget.limit:
            self._drop_the_beaten()
            new = (s for s in self._space.neighbours(self.leader.setting) if s not in self._tried)
            setting = next(new, None)
            if setting is None:
                return
            self._try(setting)

    def _refine(self) -> None:
        while True:
            self._drop_the_beaten()
            leader = self.leader
            growing = [c for c in self._in_doubt() if c.runner.n_trees < self._race.n_target]
            growing = [c for c in growing if self._affords_doubling(c, leader)]
            if len(self._in_doubt()) < 2 or not growing:
                return
            hopeful = max(growing, key=lambda c: self.estimate(c).score + self.estimate(c).se)
            self._grow(hopeful, self._doubled(hopeful))

    def _choose_rows(self, winner: Contender) -> Contender:
        """The winner, or what it would be if its trees saw all rows. Those leave no row to judge
        them; but where half of the rows are worse than what it has, all are better as a rule, and
        where they are not, trees that see all rows are too much alike."""
        if winner.setting.estimator not in self._probing or winner.runner.curve is None:
            return winner
        if self._cost_of_all_rows(winner) > self._budget.left_to_finish:
            return winner
        half = self._enter(replace(winner.setting, row_share=PROBE_SHARE / 2))
        self._grow(half, self._as_many_opinions(half, winner))
        if half.runner.curve is None:
            return winner
        estimate = self.estimate(winner)
        lead, se = estimate.lead_over(self.estimate(half))
        if lead < MORE_ROWS_ARE_BETTER * se:
            return half if -lead > CLEARLY * se else winner
        chosen = self._enter(replace(winner.setting, row_share=1.0))
        chosen.foretold = estimate.shifted(GAIN_OF_ALL_ROWS * lead, GAIN_OF_ALL_ROWS * se)
        return chosen

    def _as_many_opinions(self, new: Contender, old: Contender) -> int:
        """Trees of which every judge hears as many as of the old one's."""
        trees = old.runner.n_trees * new.runner.n_first_trees / old.runner.n_first_trees
        return min(max(new.runner.n_first_trees, round(trees)), self._race.n_target)

    def _finish(self, winner: Contender) -> None:
        n_target = self._race.n_target
        chunk = -(-(n_target - winner.runner.n_trees) // FINAL_CHUNKS)
        while winner.runner.n_trees < n_target:
            n_trees = min(winner.runner.n_trees + chunk, n_target)
            if self._budget.in_trees:
                n_trees = min(n_trees, winner.runner.n_trees + int(self._budget.left))
            cost = self._cost(winner, n_trees - winner.runner.n_trees)
            if cost > self._budget.left_to_finish or n_trees == winner.runner.n_trees:
                warnings.warn(
                    f"The budget ended at {winner.runner.n_trees} of the {n_target} trees asked "
                    "for. Use a larger budget, or fewer trees.",
                    stacklevel=4,  # the call of tune
                )
                return
            self._grow(winner, n_trees, looks=False)
        if not winner.setting.sees_all_rows:
            self._look(winner)

    # ---- its steps

    def _try(self, setting: Setting, *, is_start: bool = False) -> None:
        """Grows the first trees of a new setting, if the budget allows."""
        self._tried.add(setting)
        leader = self.leader
        new = self._enter(setting)
        n_first = min(new.runner.n_first_trees, self._race.n_target)
        cost = self._likely_cost(setting, leader, n_first)
        is_dear = not (self._budget.in_trees or is_start) and (
            self._likely_cost(setting, leader, self._race.n_target) > self._dearest
        )
        if is_dear or cost + self._reserve(leader) > self._budget.left:
            self.contenders.pop()
            self._race.runners.remove(new.runner)
            return
        self._grow(new, n_first)

    @property
    def _dearest(self) -> float:
        """The most that a fit may take; the settings that are compared need the rest."""
        assert self._budget.limit is not None
        return LARGEST_SHARE * self._budget.limit

    def _likely_cost(self, setting: Setting, known: Contender, n_trees: int) -> float:
        """Of trees of a new setting, to grow and to look at, by what those of a known one took."""
        if self._budget.in_trees:
            return n_trees
        ratio = max(1.0, setting.max_features / known.setting.max_features) ** COST_EXPONENT
        return n_trees * ratio * known.seconds_per_tree + known.look_seconds

    def _enter(self, setting: Setting) -> Contender:
        problem = self._problems[setting.estimator]
        n_draws = problem.settings.n_draws
        if setting.sees_all_rows:
            n_draws = None
        elif setting.row_share is not None:
            n_draws = rows_of_share(setting.row_share, problem.data.n_drawable)
        settings = replace(
            problem.settings,
            projection=resolve_projection(setting.projection),
            n_components=setting.n_components,
            max_features=setting.max_features,
            min_samples_leaf=setting.min_samples_leaf,
            n_draws=n_draws,
        )
        self._tried.add(setting)
        contender = Contender(setting, self._race.enter(settings, problem))
        self.contenders.append(contender)
        return contender

    def _grow(self, contender: Contender, n_trees: int, *, looks: bool = True) -> None:
        before, started = contender.runner.n_trees, _budget.clock()
        self._race.grow([contender.runner], [n_trees])
        contender.grow_seconds += _budget.clock() - started
        self._budget.n_trees_spent += n_trees - before
        if looks:
            self._look(contender)
        if self._budget.limit is not None:
            self._report(self._budget.spent, self._budget.limit, str(self.leader.setting))

    def _look(self, contender: Contender) -> None:
        started = _budget.clock()
        self._race.look(contender.runner)
        self._estimates.clear()  # all settings share what is known of the curves' bend
        contender.look_seconds += _budget.clock() - started

    def _drop_the_beaten(self) -> None:
        leader = self.leader
        best = self.estimate(leader) if leader.runner.curve is not None else None
        for contender in self._in_doubt():
            if contender is leader or best is None:
                continue
            lead, se = best.lead_over(self.estimate(contender))
            trifle = TRIFLE * abs(best.score)
            if lead > CLEARLY * se or CLEARLY * se - lead < trifle:
                contender.is_beaten = True

    def _in_doubt(self) -> list[Contender]:
        return [c for c in self.contenders if not c.is_beaten and c.runner.curve is not None]

    def _doubled(self, contender: Contender) -> int:
        return min(2 * contender.runner.n_trees, self._race.n_target)

    def _affords_doubling(self, contender: Contender, leader: Contender) -> bool:
        more = self._doubled(contender) - contender.runner.n_trees
        looks = 0.0 if self._budget.in_trees else contender.look_seconds
        # What the leader grows now, it need not grow in the end, unless it starts anew then.
        is_kept = contender is leader and leader.setting.estimator not in self._probing
        reserve = 0.0 if is_kept else self._reserve(leader)
        return self._cost(contender, more) + looks + reserve <= self._budget.left

    def _cost_to_finish(self, contender: Contender) -> float:
        return self._cost(contender, self._race.n_target - contender.runner.n_trees)

    def _reserve(self, leader: Contender) -> float:
        """What the leader's last trees may cost."""
        if leader.setting.estimator in self._probing:
            return self._cost_of_all_rows(leader)
        return self._cost_to_finish(leader)

    def _cost_of_all_rows(self, contender: Contender) -> float:
        """Of trees on half of the rows, and of all trees on all rows."""
        n_half = max(contender.runner.n_trees, contender.runner.n_first_trees) / 2
        n_all = self._race.n_target
        if self._budget.in_trees:
            return n_half + n_all
        return (n_half / 2 + n_all / PROBE_SHARE) * contender.seconds_per_tree

    def _cost(self, contender: Contender, n_trees: int) -> float:
        return n_trees if self._budget.in_trees else n_trees * contender.seconds_per_tree


def no_report(spent: float, limit: float, leader: Any) -> None:
    pass
