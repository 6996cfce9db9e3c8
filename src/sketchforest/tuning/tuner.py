"""The search: start with default settings, move to better neighbors, refine close candidates.

A candidate is dropped if the leader is clearly better on paired rows, or if it could not be better
by more than a trifle. The rest of the budget goes to candidates that could still be best.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from sketchforest._selection.comparison import PROBE_SHARE, Candidate, Comparison
from sketchforest._selection.setting import Setting
from sketchforest._trees.problem import Problem
from sketchforest._utils.warning import warn
from sketchforest.tuning import budget as _budget
from sketchforest.tuning.budget import Budget
from sketchforest.tuning.costs import Costs
from sketchforest.tuning.space import Space

# A candidate is dropped if it is behind by this many standard errors of the paired difference.
# Differences below a TRIFLE of the score do not matter.
CLEARLY = 2.0
TRIFLE = 0.002
# Typical spread of settings relative to the score. On eight sets, it was between 0.5% and 6%.
USUAL_SPREAD = 0.02
# Share of the budget for trying new settings.
EXPLORING_SHARE = 0.65
# Number of steps in which the winner is completed, with a look at the clock after each.
FINAL_CHUNKS = 8
# Trees on half of the rows predict the gain of using all rows: about this share of what the other
# half gained, since scores grow with the logarithm of the number of rows.
GAIN_OF_ALL_ROWS = np.log(1 / PROBE_SHARE) / np.log(2)
# Required standard errors of that gain: few, since all rows lost much on only 2 of 18 sets.
MORE_ROWS_ARE_BETTER = 0.5


class Tuner:
    def __init__(
        self,
        comparison: Comparison,
        problem_of: Callable[[Setting], Problem],
        encoding_seconds: float,
        space: Space,
        budget: Budget,
        report: Callable[[float, float, str], None],
        probing: Collection[str] = (),
    ):
        """Estimators in `probing` leave rows out only for the comparison."""
        self._comparison, self._problem_of, self._space = comparison, problem_of, space
        self._budget, self._encoding_seconds, self._report = budget, encoding_seconds, report
        self._costs = Costs(budget, comparison.n_target, probing)
        self._tried: set[Setting] = set()
        self.is_complete = True  # not interrupted

    def run(self) -> Candidate:
        """Search, and return the winner with as many of its trees as the budget allows."""
        try:
            self._begin()
            self._explore()
            self._refine()
            winner = self._choose_rows(self.leader)
            self._finish(winner)
        except KeyboardInterrupt:
            if not any(candidate.trees for candidate in self._comparison.candidates):
                raise
            winner, self.is_complete = self.leader, False
            warn(
                f"Interrupted after {len(self._comparison.candidates)} settings; returning the "
                f"best of them so far, with {winner.n_trees} trees."
            )
        return winner

    @property
    def leader(self) -> Candidate:
        """The best candidate that the budget allows to complete."""
        scored = [c for c in self._comparison.candidates if c.curve is not None]
        if not scored:
            return max(self._comparison.candidates, key=lambda c: c.n_trees)
        left = self._budget.left_to_finish
        payable = [c for c in scored if self._costs.to_finish(c) <= left]
        if not payable:
            predict = self._comparison.predict_score
            return max(scored, key=lambda c: (c.n_trees, predict(c).score))
        return self._best(payable)

    def _best(self, candidates: Sequence[Candidate]) -> Candidate:
        """The candidate with the largest expected lead over the most promising start.

        Leads are shrunk by their uncertainty, towards a prior in favor of the promising start.
        """
        predict = self._comparison.predict_score
        promising = self._space.promising
        usual = next((c for c in candidates if c.setting == promising), None)
        if usual is None:
            return max(candidates, key=lambda c: predict(c).score)
        known = predict(usual)
        spread = max(USUAL_SPREAD * abs(known.score), 1e-12)

        def likely_lead(candidate: Candidate) -> float:
            if candidate is usual:
                return 0.0
            lead, se = predict(candidate).lead_over(known)
            return (lead * spread**2 - spread * se**2) / (spread**2 + se**2)

        return max(candidates, key=likely_lead)

    def _begin(self) -> None:
        starts = self._space.starts()
        first = self._add(starts[0])
        n_first = min(first.n_first_trees, self._comparison.n_target)
        if self._budget.limit is not None and self._budget.in_trees:
            n_first = min(n_first, int(self._budget.limit))
        # The very first trees take longer than later ones.
        self._grow(first, n_first // 2, is_scored=False)
        warm_up = first.grow_seconds
        self._grow(first, n_first)
        seconds_per_tree = (first.grow_seconds - warm_up) / (n_first - n_first // 2)
        n_target = self._comparison.n_target
        self._budget.set_default(self._encoding_seconds + n_target * seconds_per_tree)
        for setting in starts[1:]:
            self._try(setting, is_start=True)

    def _explore(self) -> None:
        assert self._budget.limit is not None
        while self._budget.spent < EXPLORING_SHARE * self._budget.limit:
            self._drop_the_worse()
            assert self.leader.setting is not None
            new = (s for s in self._space.neighbors(self.leader.setting) if s not in self._tried)
            setting = next(new, None)
            if setting is None:
                return
            self._try(setting)

    def _refine(self) -> None:
        predict = self._comparison.predict_score
        while True:
            self._drop_the_worse()
            leader, in_doubt = self.leader, self._comparison.in_doubt
            growing = [c for c in in_doubt if c.n_trees < self._comparison.n_target]
            growing = [c for c in growing if self._costs.affords_doubling(c, leader)]
            if len(in_doubt) < 2 or not growing:
                return
            hopeful = max(growing, key=lambda c: predict(c).score + predict(c).se)
            self._grow(hopeful, min(2 * hopeful.n_trees, self._comparison.n_target))

    def _choose_rows(self, winner: Candidate) -> Candidate:
        """Decide whether the trees of the winner see all rows.

        Such trees leave no rows to score them. Instead, compare with trees that see half as many
        rows: if those are worse, trees on all rows are usually better. If not, trees on all rows
        would be too similar.
        """
        if not self._costs.is_probe(winner) or winner.curve is None:
            return winner
        if self._costs.of_all_rows(winner) > self._budget.left_to_finish:
            return winner
        assert winner.setting is not None
        half = self._add(replace(winner.setting, row_share=PROBE_SHARE / 2))
        # Leave each row out as often as the winner's trees do.
        n_trees = round(winner.n_trees * half.n_first_trees / winner.n_first_trees)
        self._grow(half, min(max(half.n_first_trees, n_trees), self._comparison.n_target))
        if half.curve is None:
            return winner
        score = self._comparison.predict_score(winner)
        lead, se = score.lead_over(self._comparison.predict_score(half))
        if lead < MORE_ROWS_ARE_BETTER * se:
            return half if -lead > CLEARLY * se else winner
        chosen = self._add(replace(winner.setting, row_share=1.0))
        chosen.assumed_score = score.shifted(GAIN_OF_ALL_ROWS * lead, GAIN_OF_ALL_ROWS * se)
        return chosen

    def _finish(self, winner: Candidate) -> None:
        n_target = self._comparison.n_target
        chunk = -(-(n_target - winner.n_trees) // FINAL_CHUNKS)
        while winner.n_trees < n_target:
            n_trees = min(winner.n_trees + chunk, n_target)
            if self._budget.in_trees:
                n_trees = min(n_trees, winner.n_trees + int(self._budget.left))
            cost = self._costs.of_trees(winner, n_trees - winner.n_trees)
            if cost > self._budget.left_to_finish or n_trees == winner.n_trees:
                warn(
                    f"The budget ended at {winner.n_trees} of the {n_target} trees. Use a larger "
                    "budget or a smaller n_estimators."
                )
                return
            self._grow(winner, n_trees, is_scored=False)
        if winner.settings.leaves_rows_out:
            self._score(winner)

    def _try(self, setting: Setting, *, is_start: bool = False) -> None:
        """Grow the first trees of a new setting, if the budget allows."""
        self._tried.add(setting)
        leader = self.leader
        new = self._add(setting)
        n_first = min(new.n_first_trees, self._comparison.n_target)
        cost = self._costs.of_new_setting(setting, leader, n_first)
        is_too_expensive = not is_start and self._costs.is_too_expensive(setting, leader)
        if is_too_expensive or cost + self._costs.reserve(leader) > self._budget.left:
            self._comparison.candidates.remove(new)
            return
        self._grow(new, n_first)

    def _add(self, setting: Setting) -> Candidate:
        problem = self._problem_of(setting)
        self._tried.add(setting)
        return self._comparison.add(problem.settings, problem, setting)

    def _grow(self, candidate: Candidate, n_trees: int, *, is_scored: bool = True) -> None:
        before, started = candidate.n_trees, _budget.clock()
        self._comparison.grow([candidate], n_trees)
        candidate.grow_seconds += _budget.clock() - started
        self._budget.n_trees_spent += n_trees - before
        if is_scored:
            self._score(candidate)
        if self._budget.limit is not None:
            self._report(self._budget.spent, self._budget.limit, str(self.leader.setting))

    def _score(self, candidate: Candidate) -> None:
        started = _budget.clock()
        self._comparison.score(candidate)
        candidate.score_seconds += _budget.clock() - started

    def _drop_the_worse(self) -> None:
        leader = self.leader
        if leader.curve is None:
            return
        best = self._comparison.predict_score(leader)
        for candidate in self._comparison.in_doubt:
            if candidate is leader:
                continue
            lead, se = best.lead_over(self._comparison.predict_score(candidate))
            trifle = TRIFLE * abs(best.score)
            if lead > CLEARLY * se or CLEARLY * se - lead < trifle:
                candidate.is_dropped = True


def no_report(spent: float, limit: float, leader: str) -> None:
    pass
