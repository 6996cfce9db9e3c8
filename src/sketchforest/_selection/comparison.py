"""Settings that grow trees side by side, and are compared by rows that the trees did not see.

All settings share one seed, so tree number i of each is drawn on the same rows, and no tree is
ever grown twice: the trees of a setting are the first ones of the forest that it would be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sketchforest import _core
from sketchforest._selection.learning_curve import (
    LearningCurve,
    PredictedScore,
    predict_score,
    usual_offset,
)
from sketchforest._selection.out_of_bag import OutOfBagScorer
from sketchforest._selection.setting import Setting
from sketchforest._trees.grow import KeptTrees, get_or_grow, grow_one
from sketchforest._trees.model import Labels, Tree
from sketchforest._trees.outputs import share_outputs
from sketchforest._trees.parallel import run_all
from sketchforest._trees.problem import GrowSettings, Problem, TrainingData

# Trees that did not see a row, on average, when a candidate is scored for the first time: with
# fewer, there are no three sizes of forests to make a curve of.
FIRST_OUT_OF_BAG_TREES = 7


@dataclass(eq=False)
class Candidate:
    """A setting under test, and its trees so far."""

    settings: GrowSettings
    data: TrainingData
    outputs: Labels | None  # what all its trees are grown on; None: each has its own
    setting: Setting | None = None  # the same in the words of users, in a search
    trees: list[Tree] = field(default_factory=list)
    leaves: np.ndarray | None = None  # of the scored rows
    curve: LearningCurve | None = None  # None: too few trees to score
    grow_seconds: float = 0.0  # on the wall, with all threads
    score_seconds: float = 0.0
    is_dropped: bool = False
    # Where its trees leave no row out: a score that another candidate's trees tell.
    assumed_score: PredictedScore | None = None
    kept: KeptTrees | None = None  # where finished trees are kept, if they are

    @property
    def n_trees(self) -> int:
        return len(self.trees)

    @property
    def seconds_per_tree(self) -> float:
        return self.grow_seconds / max(self.n_trees, 1)

    @property
    def n_first_trees(self) -> int:
        """As many as give every scored row some trees that did not see it."""
        left_out = self.settings.left_out_share(self.data.n_drawable)
        return int(np.ceil(FIRST_OUT_OF_BAG_TREES / max(left_out, 0.1)))


class Comparison:
    """Candidates on one problem, to be compared at `n_target` trees."""

    def __init__(
        self,
        scorer: OutOfBagScorer,
        problem: Problem,
        n_target: int,
        n_jobs: int | None,
        keep: Callable[[GrowSettings], KeptTrees] | None = None,
    ):
        self.scorer, self.problem, self.n_target, self.n_jobs = scorer, problem, n_target, n_jobs
        self._keep = keep
        self.candidates: list[Candidate] = []
        self._original_outputs: Labels | None = None
        self._scores: dict[tuple[Candidate, int], PredictedScore] = {}

    def add(
        self,
        settings: GrowSettings,
        problem: Problem | None = None,
        setting: Setting | None = None,
    ) -> Candidate:
        """A new candidate, without trees; `problem` for another coding of the same rows."""
        data = (problem or self.problem).data
        candidate = Candidate(settings, data, self._shared_outputs(data, settings), setting)
        if self._keep is not None:
            candidate.kept = self._keep(settings)
        self.candidates.append(candidate)
        return candidate

    @property
    def in_doubt(self) -> list[Candidate]:
        """Candidates that are scored, and may still be best."""
        return [c for c in self.candidates if not c.is_dropped and c.curve is not None]

    def _shared_outputs(self, data: TrainingData, settings: GrowSettings) -> Labels | None:
        if settings.projection is not None:
            return share_outputs(data, settings)
        if self._original_outputs is None:  # once for all settings, of all codings of X
            self._original_outputs = share_outputs(data, settings)
        return self._original_outputs

    def grow(self, candidates: Sequence[Candidate], n_trees: int) -> None:
        """Grows each candidate on to a number of trees. Broken off, it leaves all as they were."""
        tasks = [(c, tree) for c in candidates for tree in range(c.n_trees, n_trees)]
        stop = _core.StopFlag()
        grown = run_all(partial(_grow, stop), tasks, n_jobs=self.n_jobs, on_abort=stop.set)
        for candidate in candidates:
            new = [
                tree for (owner, _), tree in zip(tasks, grown, strict=True) if owner is candidate
            ]
            candidate.trees = candidate.trees + new

    def score(self, candidate: Candidate) -> None:
        """Has the trees scored that are not yet."""
        n_scored = 0 if candidate.leaves is None else candidate.leaves.shape[1]
        if n_scored == candidate.n_trees:
            return
        leaves = self.scorer.find_leaves(candidate.trees[n_scored:])
        if candidate.leaves is not None:
            leaves = np.hstack([candidate.leaves, leaves])
        candidate.curve = self.scorer.learning_curve(candidate.trees, leaves, self.n_jobs)
        candidate.leaves = leaves
        self._scores.clear()  # all candidates share what is known of the curves' offset

    def predict_score(self, candidate: Candidate, n_trees: int | None = None) -> PredictedScore:
        """Its score at `n_trees` trees, or at the target."""
        if candidate.assumed_score is not None:
            return candidate.assumed_score
        key = candidate, n_trees or self.n_target
        if key not in self._scores:
            self._scores[key] = self._predict_score(*key)
        return self._scores[key]

    def _predict_score(self, candidate: Candidate, n_trees: int) -> PredictedScore:
        assert candidate.curve is not None
        leaf = candidate.settings.min_samples_leaf
        alike = [
            other.curve
            for other in self.candidates
            if other.curve is not None and other.settings.min_samples_leaf == leaf
        ]
        offset = usual_offset(candidate.curve, alike, leaf)
        is_exact = self.scorer.criterion.is_squared_error
        return predict_score(candidate.curve, n_trees, offset, is_exact)


def _grow(stop: _core.StopFlag, task: tuple[Candidate, int]) -> Tree:
    candidate, tree = task
    grow = partial(grow_one, candidate.data, candidate.settings, candidate.outputs, stop, 1)
    return get_or_grow(candidate.kept, grow, tree)
