"""Predicted costs of a search, in seconds or trees."""

from collections.abc import Collection

from sketchforest._selection.comparison import COST_EXPONENT, PROBE_SHARE, Candidate
from sketchforest._selection.setting import Setting
from sketchforest.tuning.budget import Budget

# Share of the budget for the fit of one setting.
LARGEST_SHARE = 1 / 3


class Costs:
    """Costs of growing trees of candidates; the winner gets `n_target` trees."""

    def __init__(self, budget: Budget, n_target: int, probing: Collection[str]):
        """Estimators in `probing` leave rows out only for the comparison."""
        self._budget, self._n_target, self._probing = budget, n_target, probing

    def of_trees(self, candidate: Candidate, n_trees: int) -> float:
        return n_trees if self._budget.in_trees else n_trees * candidate.seconds_per_tree

    def to_finish(self, candidate: Candidate) -> float:
        return self.of_trees(candidate, self._n_target - candidate.n_trees)

    def of_new_setting(self, setting: Setting, known: Candidate, n_trees: int) -> float:
        """The cost of growing and scoring trees of a new setting, estimated from a known one."""
        if self._budget.in_trees:
            return n_trees
        assert known.setting is not None
        n_more = max(1.0, setting.max_features / known.setting.max_features)
        ratio = float(n_more**COST_EXPONENT)
        return n_trees * ratio * known.seconds_per_tree + known.score_seconds

    def is_too_expensive(self, setting: Setting, known: Candidate) -> bool:
        """Whether one fit would use up too much of the budget."""
        if self._budget.in_trees:
            return False
        assert self._budget.limit is not None
        cost = self.of_new_setting(setting, known, self._n_target)
        return cost > LARGEST_SHARE * self._budget.limit

    def reserve(self, leader: Candidate) -> float:
        """The cost of completing the leader."""
        return self.of_all_rows(leader) if self.is_probe(leader) else self.to_finish(leader)

    def of_all_rows(self, candidate: Candidate) -> float:
        """The cost of trees on half of the rows, then of all trees on all rows."""
        n_half = max(candidate.n_trees, candidate.n_first_trees) / 2
        if self._budget.in_trees:
            return n_half + self._n_target
        return (n_half / 2 + self._n_target / PROBE_SHARE) * candidate.seconds_per_tree

    def affords_doubling(self, candidate: Candidate, leader: Candidate) -> bool:
        more = min(candidate.n_trees, self._n_target - candidate.n_trees)
        scoring = 0.0 if self._budget.in_trees else candidate.score_seconds
        # Trees of the leader are needed in the end anyway, unless it is grown again on all rows.
        is_kept = candidate is leader and not self.is_probe(leader)
        reserve = 0.0 if is_kept else self.reserve(leader)
        return self.of_trees(candidate, more) + scoring + reserve <= self._budget.left

    def is_probe(self, candidate: Candidate) -> bool:
        """Whether its trees leave rows out only for the comparison."""
        assert candidate.setting is not None
        return candidate.setting.estimator in self._probing
