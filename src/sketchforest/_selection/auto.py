"""The estimators' "auto" values: a short race inside `fit`."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sketchforest._selection.comparison import Race, Runner
from sketchforest._selection.learning_curve import Estimate
from sketchforest._trees.grow import GrowSettings, rows_of_share
from sketchforest._trees.model import Tree

# What is compared first, and taken where there are too few trees to compare anything.
AUTO_STARTS = {"n_components": None, "max_features": "sqrt"}
# n_estimators="auto" ends where twice the trees would gain less than this share of the score's
# possible range, as far as it can be foretold, or at the last of these.
TOLERANCE = 0.002
FIRST_TREES, AUTO_TREES = 32, 1024
# Standard errors of the difference, by which a setting must be better than the usual one. On eight
# sets, 1 gained a quarter of what this does, and 0 little more, with larger losses at times.
CONVINCING = 0.5
# A tree with c times the features takes about this power of c of the time: measured on five sets.
COST_EXPONENT = 0.6
# Rows that trees leave out to be judged, where the forest's own trees leave out none.
PROBE_SHARE = 0.75


def keep_choices(
    settings: GrowSettings, earlier: GrowSettings, names: Sequence[str]
) -> GrowSettings:
    """The settings with the values that were chosen when the first trees were grown."""
    chosen = {name: getattr(earlier, name) for name in names}
    if "n_components" in names:
        chosen["projection"] = earlier.projection
    return replace(settings, **chosen)


def choose_settings(race: Race, names: Sequence[str]) -> tuple[GrowSettings, list[Tree]]:
    """The settings with "auto" values chosen, and the chosen one's trees. All that are compared
    together cost at most about what the usual forest does."""
    start = race.problem.settings
    first = race.enter(_probe(race, start))
    n_first, cost = first.n_first_trees, float(first.n_first_trees)
    for settings in _candidates(race, names):
        more = n_first * (settings.max_features / start.max_features) ** COST_EXPONENT
        if cost + more <= race.n_target:
            race.enter(_probe(race, settings))
            cost += more
    runners = race.runners
    if len(runners) < 2:
        return start, []
    race.grow(runners, [n_first] * len(runners))
    for runner in runners:
        race.look(runner)
    if any(runner.curve is None for runner in runners):
        return start, []
    best = _best(race, runners)
    chosen = keep_choices(start, best.settings, names)
    # Probes of trees that see all rows are no trees of the forest.
    return chosen, best.trees if best.settings == chosen else []


def _best(race: Race, runners: Sequence[Runner]) -> Runner:
    """The first, which is the usual setting, unless the best is convincingly better."""
    estimates: dict[Runner, Estimate] = {runner: race.estimate(runner) for runner in runners}
    usual = runners[0]
    best = max(runners, key=lambda runner: estimates[runner].score)
    lead, se = estimates[best].lead_over(estimates[usual])
    return best if lead > CONVINCING * se else usual


def _probe(race: Race, settings: GrowSettings) -> GrowSettings:
    if settings.n_draws is not None and settings.n_draws < race.problem.data.n_drawable:
        return settings
    if settings.n_draws is not None and settings.with_replacement:
        return settings
    n_draws = rows_of_share(PROBE_SHARE, race.problem.data.n_drawable)
    return replace(settings, n_draws=n_draws, with_replacement=False)


def _candidates(race: Race, names: Sequence[str]) -> list[GrowSettings]:
    """Others than the start, the more promising first."""
    start = race.problem.settings
    n_features, n_labels = race.problem.X.shape[1], race.problem.labels.shape[1]
    more_features = min(n_features, 4 * start.max_features)
    candidates = [start]
    if "max_features" in names:
        candidates.append(replace(start, max_features=more_features))
    if "n_components" in names and start.projection is not None:
        fewer = max(1, round(np.log(n_labels)))
        candidates += [replace(c, n_components=fewer) for c in candidates]
        candidates += [replace(start, n_components=min(128, n_labels))]
    if "max_features" in names:
        candidates.append(replace(start, max_features=min(n_features, 2 * start.max_features)))
    return [settings for settings in candidates if settings != start]


def grow_until_flat(race: Race, settings: GrowSettings, first: list[Tree]) -> list[Tree]:
    """Trees, doubled in number until twice as many would gain next to nothing."""
    if settings.n_draws is None:
        raise ValueError(
            "n_estimators must be an int where bootstrap=False and max_samples=None; got 'auto', "
            "which needs rows that trees leave out. Use bootstrap=True or max_samples=0.8."
        )
    race.runners = []
    runner = race.enter(settings)
    runner.trees = first
    n_trees = max(FIRST_TREES, len(first))
    while True:
        race.grow([runner], [n_trees])
        race.look(runner)
        if n_trees >= AUTO_TREES or _is_flat(race, runner):
            return runner.trees
        n_trees = min(2 * n_trees, AUTO_TREES)


def _is_flat(race: Race, runner: Runner) -> bool:
    if runner.curve is None:
        return False
    now = race.estimate(runner, runner.n_trees).score
    twice = race.estimate(runner, 2 * runner.n_trees).score
    return bool(abs(twice - now) <= TOLERANCE * max(abs(now), 1e-12))
