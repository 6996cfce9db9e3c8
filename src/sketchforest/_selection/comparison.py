"""Settings that grow trees side by side, and are compared by rows that the trees did not see.

All settings share one seed, so tree number i of each is drawn on the same rows, and no tree is
ever grown twice: the trees of a setting are the first ones of the forest that it would be.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sketchforest import _core
from sketchforest._selection.learning_curve import Curve, Estimate, common_bend, extrapolate
from sketchforest._selection.out_of_bag import Judge
from sketchforest._trees.grow import GrowSettings, Problem, TrainingData, grow_one, share_outputs
from sketchforest._trees.model import Labels, Tree
from sketchforest._trees.parallel import run_all

# Trees that did not see a row, on average, when a setting is looked at for the first time: with
# fewer, there are no three sizes of forests to make a curve of.
FIRST_OPINIONS = 7


@dataclass(eq=False)
class Runner:
    """A setting and its trees."""

    settings: GrowSettings
    data: TrainingData
    outputs: Labels | None  # what all its trees are grown on; None: each has its own
    trees: list[Tree] = field(default_factory=list)
    leaves: np.ndarray | None = None
    curve: Curve | None = None
    grow_seconds: float = 0.0

    @property
    def n_trees(self) -> int:
        return len(self.trees)

    @property
    def n_first_trees(self) -> int:
        """As many as give every judge some opinions."""
        n_rows, n_draws = self.data.n_drawable, self.settings.n_draws
        assert n_draws is not None  # some rows are left out
        left_out = 1 - n_draws / n_rows
        if self.settings.with_replacement:
            left_out = (1 - 1 / n_rows) ** n_draws
        return int(np.ceil(FIRST_OPINIONS / max(left_out, 0.1)))


class Race:
    """Settings on one problem, to be compared at `n_target` trees."""

    def __init__(
        self,
        judge: Judge,
        problem: Problem,
        n_target: int,
        shares_projection: bool,
        n_jobs: int | None,
    ):
        self.judge, self.problem, self.n_target, self.n_jobs = judge, problem, n_target, n_jobs
        self.runners: list[Runner] = []
        self._shares_projection = shares_projection
        self._original_outputs: Labels | None = None

    def enter(self, settings: GrowSettings, problem: Problem | None = None) -> Runner:
        """A new runner, without trees; `problem` for another coding of the same rows."""
        data = (problem or self.problem).data
        runner = Runner(settings, data, self._shared_outputs(data, settings))
        self.runners.append(runner)
        return runner

    def _shared_outputs(self, data: TrainingData, settings: GrowSettings) -> Labels | None:
        if settings.projection is not None:
            return share_outputs(data, settings, self._shares_projection)
        if self._original_outputs is None:  # once for all settings, of all codings of X
            self._original_outputs = share_outputs(data, settings, self._shares_projection)
        return self._original_outputs

    def grow(self, runners: Sequence[Runner], n_trees: Sequence[int]) -> None:
        """Grows each runner on to its number of trees. Broken off, it leaves all as they were."""
        tasks = [
            (runner, tree)
            for runner, n in zip(runners, n_trees, strict=True)
            for tree in range(runner.n_trees, n)
        ]
        stop = _core.StopFlag()
        work = partial(_grow_timed, stop)
        grown = run_all(work, tasks, n_jobs=self.n_jobs, on_abort=stop.set)
        for runner in runners:
            mine = [g for (owner, _), g in zip(tasks, grown, strict=True) if owner is runner]
            runner.trees = runner.trees + [tree for tree, _ in mine]
            runner.grow_seconds += sum(seconds for _, seconds in mine)

    def look(self, runner: Runner) -> None:
        """Lets the judges see the trees that they have not seen yet."""
        n_seen = 0 if runner.leaves is None else runner.leaves.shape[1]
        if n_seen == runner.n_trees:
            return
        leaves = self.judge.find_leaves(runner.trees[n_seen:])
        if runner.leaves is not None:
            leaves = np.hstack([runner.leaves, leaves])
        runner.curve = self.judge.curve(runner.trees, leaves, self.n_jobs)
        runner.leaves = leaves

    def estimate(self, runner: Runner, n_trees: int | None = None) -> Estimate:
        """Its score at `n_trees` trees, or at the target."""
        assert runner.curve is not None
        leaf = runner.settings.min_samples_leaf
        alike = [
            other.curve
            for other in self.runners
            if other.curve is not None and other.settings.min_samples_leaf == leaf
        ]
        is_exact = self.judge.criterion.is_squared_error
        bend = common_bend(runner.curve, alike, leaf)
        return extrapolate(runner.curve, n_trees or self.n_target, bend, is_exact)


def _grow_timed(stop: _core.StopFlag, task: tuple[Runner, int]) -> tuple[Tree, float]:
    runner, tree = task
    started = time.perf_counter()
    grown = grow_one(runner.data, runner.settings, runner.outputs, tree, stop)
    return grown, time.perf_counter() - started
