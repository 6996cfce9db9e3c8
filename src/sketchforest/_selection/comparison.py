"""Comparison of settings by out-of-bag scores.

All settings share one seed, so tree number i of each sees the same rows. The trees of a setting are
the first trees of its forest, so no tree is ever grown twice.
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

# Average number of trees that did not see a row when a candidate is first scored. With fewer,
# forests of three sizes for a learning curve do not exist.
FIRST_OUT_OF_BAG_TREES = 7
# If the trees of a forest see all rows, those to compare see this share, and the rest scores them.
PROBE_SHARE = 0.75
# With c times the features, a tree takes c**COST_EXPONENT of the time: measured on five sets.
COST_EXPONENT = 0.6


@dataclass(eq=False)
class Candidate:
    settings: GrowSettings
    data: TrainingData
    outputs: Labels | None  # of all trees; None if each tree has its own
    setting: Setting | None = None  # the same as parameters of an estimator, in a search
    trees: list[Tree] = field(default_factory=list)
    leaves: np.ndarray | None = None  # (n_scored_rows, n_trees)
    curve: LearningCurve | None = None  # None if there are too few trees
    grow_seconds: float = 0.0  # wall-clock time with all threads
    score_seconds: float = 0.0
    is_dropped: bool = False
    # If its trees leave no row out, a score derived from other candidates.
    assumed_score: PredictedScore | None = None
    kept: KeptTrees | None = None  # where finished trees are kept

    @property
    def n_trees(self) -> int:
        return len(self.trees)

    @property
    def seconds_per_tree(self) -> float:
        return self.grow_seconds / max(self.n_trees, 1)

    @property
    def n_first_trees(self) -> int:
        """Number of trees after which most scored rows have some that did not see them."""
        left_out = self.settings.left_out_share(self.data.n_drawable)
        return int(np.ceil(FIRST_OUT_OF_BAG_TREES / max(left_out, 0.1)))


class Comparison:
    """Candidates on one problem, compared at their predicted scores with `n_target` trees."""

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
        self, settings: GrowSettings, problem: Problem | None = None, setting: Setting | None = None
    ) -> Candidate:
        """Add a candidate without trees; `problem` is another encoding of the same rows."""
        data = (problem or self.problem).data
        candidate = Candidate(settings, data, self._shared_outputs(data, settings), setting)
        if self._keep is not None:
            candidate.kept = self._keep(settings)
        self.candidates.append(candidate)
        return candidate

    @property
    def in_doubt(self) -> list[Candidate]:
        """Candidates that have a score and may still be best."""
        return [c for c in self.candidates if not c.is_dropped and c.curve is not None]

    def _shared_outputs(self, data: TrainingData, settings: GrowSettings) -> Labels | None:
        if settings.projection is not None:
            return share_outputs(data, settings)
        if self._original_outputs is None:  # once for all settings and encodings of X
            self._original_outputs = share_outputs(data, settings)
        return self._original_outputs

    def grow(self, candidates: Sequence[Candidate], n_trees: int) -> None:
        """Grow each candidate to a number of trees. An interrupt leaves all of them unchanged."""
        tasks = [(c, tree) for c in candidates for tree in range(c.n_trees, n_trees)]
        stop = _core.StopFlag()
        grown = run_all(partial(_grow, stop), tasks, n_jobs=self.n_jobs, on_abort=stop.set)
        for candidate in candidates:
            new = [
                tree for (owner, _), tree in zip(tasks, grown, strict=True) if owner is candidate
            ]
            candidate.trees = candidate.trees + new

    def score(self, candidate: Candidate) -> None:
        """Score the trees that have not been scored."""
        n_scored = 0 if candidate.leaves is None else candidate.leaves.shape[1]
        if n_scored == candidate.n_trees:
            return
        leaves = self.scorer.find_leaves(candidate.trees[n_scored:])
        if candidate.leaves is not None:
            leaves = np.hstack([candidate.leaves, leaves])
        candidate.curve = self.scorer.learning_curve(candidate.trees, leaves, self.n_jobs)
        candidate.leaves = leaves
        self._scores.clear()  # all candidates share an estimate of the offset of their curves

    def predict_score(self, candidate: Candidate, n_trees: int | None = None) -> PredictedScore:
        """The predicted score with `n_trees` trees, by default the target."""
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
        is_exact = self.scorer.metric.is_squared_error
        return predict_score(candidate.curve, n_trees, offset, is_exact)


def _grow(stop: _core.StopFlag, task: tuple[Candidate, int]) -> Tree:
    candidate, tree = task
    grow = partial(grow_one, candidate.data, candidate.settings, candidate.outputs, stop, 1)
    return get_or_grow(candidate.kept, grow, tree)
