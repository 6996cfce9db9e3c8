"""The short form of a search: parameters that are "auto" are chosen inside `fit`.

It compares settings as `sketchforest.tuning` does, on out-of-bag rows and at the score predicted
for all trees, but it only tries a handful of them, which cost no more than the usual forest.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sketchforest._selection.comparison import COST_EXPONENT, PROBE_SHARE, Candidate, Comparison
from sketchforest._trees.model import Tree
from sketchforest._trees.problem import GrowSettings, rows_of_share

# The usual setting. It is kept if too few trees are grown to compare anything.
AUTO_MAX_FEATURES: Literal["sqrt"] = "sqrt"
AUTO_MAX_FEATURES_OF_MIXED: Literal["4sqrt"] = "4sqrt"
# n_estimators="auto" stops once doubling the trees is predicted to change the score by less than
# this share of it, and at AUTO_TREES at the latest.
TOLERANCE = 0.002
FIRST_TREES, AUTO_TREES = 32, 1024
# Standard errors by which a setting must beat the usual one. On eight sets, 1 gained a quarter of
# what this does, and 0 hardly more, with larger losses at times.
CONVINCING = 0.5


def keep_choices(
    settings: GrowSettings, earlier: GrowSettings, names: Sequence[str]
) -> GrowSettings:
    """The settings with the values of `names` taken from earlier ones."""
    if "max_features" in names:
        settings = replace(settings, max_features=earlier.max_features)
    if "n_components" not in names:
        return settings
    oblique = settings.oblique
    if oblique is not None and earlier.oblique is not None:
        of_oblique = earlier.of_oblique_trees
        oblique = replace(
            oblique, projection=of_oblique.projection, n_components=of_oblique.n_components
        )
    return replace(
        settings, projection=earlier.projection, n_components=earlier.n_components, oblique=oblique
    )


def choose_settings(
    comparison: Comparison, names: Sequence[str]
) -> tuple[GrowSettings, list[Tree]]:
    """Choose the parameters `names`; returns the settings, and trees that were grown with them.

    All settings together cost about as much as the usual forest.
    """
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
    usual, best = first, max(candidates, key=lambda c: comparison.predict_score(c).score)
    lead, se = comparison.predict_score(best).lead_over(comparison.predict_score(usual))
    best = best if lead > CONVINCING * se else usual
    chosen = keep_choices(start, best.settings, names)
    # Trees of a probe that left rows out do not belong to the forest.
    return chosen, best.trees if best.settings == chosen else []


def _probe(comparison: Comparison, settings: GrowSettings) -> GrowSettings:
    """The settings, changed if need be so that trees leave enough rows out to be scored."""
    if settings.n_draws is not None and settings.n_draws < comparison.problem.data.n_drawable:
        return settings
    if settings.n_draws is not None and settings.with_replacement:
        return settings
    n_draws = rows_of_share(PROBE_SHARE, comparison.problem.data.n_drawable)
    return replace(
        settings, n_draws=n_draws, with_replacement=False, out_of_bag_trees=None, out_of_bag_rows=0
    )


def _settings_to_try(comparison: Comparison, names: Sequence[str]) -> list[GrowSettings]:
    """The alternatives to the usual setting, most promising first."""
    start = comparison.problem.settings
    n_features, n_labels = comparison.problem.X.shape[1], comparison.problem.labels.shape[1]
    more_features = min(n_features, 4 * start.max_features)
    settings = [start]
    if "max_features" in names:
        settings.append(replace(start, max_features=more_features))
    of_oblique = None if start.oblique is None else start.oblique.projection
    if "n_components" in names and (start.projection is not None or of_oblique is not None):
        fewer = max(1, round(np.log(n_labels)))
        settings += [_with_components(s, fewer) for s in settings]
        settings += [_with_components(start, min(128, n_labels))]
    if "max_features" in names:
        settings.append(replace(start, max_features=min(n_features, 2 * start.max_features)))
    return [s for s in settings if s != start]


def _with_components(settings: GrowSettings, m: int) -> GrowSettings:
    """The settings with m components for every type of tree whose outputs are projected."""
    oblique = settings.oblique
    if oblique is not None and oblique.projection is not None:
        oblique = replace(oblique, n_components=m)
    is_projected = settings.projection is not None
    return replace(settings, n_components=m if is_projected else None, oblique=oblique)


def grow_until_flat(
    comparison: Comparison, settings: GrowSettings, first: list[Tree]
) -> list[Tree]:
    """Double the number of trees until doubling is predicted to change the score very little."""
    if not settings.leaves_rows_out:
        raise ValueError(
            "n_estimators must be an int if bootstrap=False and max_samples=None; got 'auto', "
            "which needs out-of-bag rows. Use bootstrap=True or max_samples=0.8."
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
