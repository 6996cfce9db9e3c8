"""The estimators' "auto" values: candidates compared inside `fit`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sketchforest._selection.comparison import Candidate, Comparison
from sketchforest._selection.learning_curve import PredictedScore
from sketchforest._trees.model import Tree
from sketchforest._trees.problem import GrowSettings, rows_of_share

# What is compared first, and taken where there are too few trees to compare anything.
AUTO_N_COMPONENTS: None = None  # the default, see projection.resolve_n_components
AUTO_MAX_FEATURES: Literal["sqrt"] = "sqrt"
# n_estimators="auto" ends where twice the trees would gain less than this share of the score's
# possible range, as far as can be predicted, or at the last of these.
TOLERANCE = 0.002
FIRST_TREES, AUTO_TREES = 32, 1024
# Standard errors of the difference, by which a setting must be better than the usual one. On eight
# sets, 1 gained a quarter of what this does, and 0 little more, with larger losses at times.
CONVINCING = 0.5
# A tree with c times the features takes about this power of c of the time: measured on five sets.
COST_EXPONENT = 0.6
# Of the rows, where the forest's own trees see all: some are left out to score the trees.
PROBE_SHARE = 0.75


def keep_choices(
    settings: GrowSettings, earlier: GrowSettings, names: Sequence[str]
) -> GrowSettings:
    """The settings with the values that were chosen when the first trees were grown."""
    chosen = {name: getattr(earlier, name) for name in names}
    if "n_components" in names:
        chosen["projection"] = earlier.projection
    return replace(settings, **chosen)


def choose_settings(
    comparison: Comparison, names: Sequence[str]
) -> tuple[GrowSettings, list[Tree]]:
    """The settings with "auto" values chosen, and the chosen one's trees. All that are compared
    together cost at most about what the usual forest does."""
    start = comparison.problem.settings
    first = comparison.add(_probe(comparison, start))
    n_first, cost = first.n_first_trees, float(first.n_first_trees)
    for settings in _settings_to_try(comparison, names):
        more = n_first * (settings.max_features / start.max_features) ** COST_EXPONENT
        if cost + more <= comparison.n_target:
            comparison.add(_probe(comparison, settings))
            cost += more
    candidates = comparison.candidates
    if len(candidates) < 2:
        return start, []
    comparison.grow(candidates, n_first)
    for candidate in candidates:
        comparison.score(candidate)
    if any(candidate.curve is None for candidate in candidates):
        return start, []
    best = _best(comparison, candidates)
    chosen = keep_choices(start, best.settings, names)
    # Probes of trees that see all rows are no trees of the forest.
    return chosen, best.trees if best.settings == chosen else []


def _best(comparison: Comparison, candidates: Sequence[Candidate]) -> Candidate:
    """The first, which is the usual setting, unless the best is convincingly better."""
    scores: dict[Candidate, PredictedScore] = {
        candidate: comparison.predict_score(candidate) for candidate in candidates
    }
    usual = candidates[0]
    best = max(candidates, key=lambda candidate: scores[candidate].score)
    lead, se = scores[best].lead_over(scores[usual])
    return best if lead > CONVINCING * se else usual


def _probe(comparison: Comparison, settings: GrowSettings) -> GrowSettings:
    if settings.n_draws is not None and settings.n_draws < comparison.problem.data.n_drawable:
        return settings
    if settings.n_draws is not None and settings.with_replacement:
        return settings
    n_draws = rows_of_share(PROBE_SHARE, comparison.problem.data.n_drawable)
    return replace(settings, n_draws=n_draws, with_replacement=False)


def _settings_to_try(comparison: Comparison, names: Sequence[str]) -> list[GrowSettings]:
    """Others than the start, the more promising first."""
    start = comparison.problem.settings
    n_features, n_labels = comparison.problem.X.shape[1], comparison.problem.labels.shape[1]
    more_features = min(n_features, 4 * start.max_features)
    settings = [start]
    if "max_features" in names:
        settings.append(replace(start, max_features=more_features))
    if "n_components" in names and start.projection is not None:
        fewer = max(1, round(np.log(n_labels)))
        settings += [replace(s, n_components=fewer) for s in settings]
        settings += [replace(start, n_components=min(128, n_labels))]
    if "max_features" in names:
        settings.append(replace(start, max_features=min(n_features, 2 * start.max_features)))
    return [s for s in settings if s != start]


def grow_until_flat(
    comparison: Comparison, settings: GrowSettings, first: list[Tree]
) -> list[Tree]:
    """Trees, doubled in number until twice as many would gain next to nothing."""
    if settings.n_draws is None:
        raise ValueError(
            "n_estimators must be an int where bootstrap=False and max_samples=None; got 'auto', "
            "which needs rows that trees leave out. Use bootstrap=True or max_samples=0.8."
        )
    comparison.candidates = []
    candidate = comparison.add(settings)
    candidate.trees = first
    n_trees = max(FIRST_TREES, len(first))
    while True:
        comparison.grow([candidate], n_trees)
        comparison.score(candidate)
        if n_trees >= AUTO_TREES or _is_flat(comparison, candidate):
            return candidate.trees
        n_trees = min(2 * n_trees, AUTO_TREES)


def _is_flat(comparison: Comparison, candidate: Candidate) -> bool:
    if candidate.curve is None:
        return False
    now = comparison.predict_score(candidate, candidate.n_trees).score
    twice = comparison.predict_score(candidate, 2 * candidate.n_trees).score
    return bool(abs(twice - now) <= TOLERANCE * max(abs(now), 1e-12))
