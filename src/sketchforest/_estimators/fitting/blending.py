"""After the last tree: the weights of a sketch forest's parts, and corrections by other labels."""

import sys
from typing import NamedTuple

import numpy as np

from sketchforest._estimators.parameters import Parameters
from sketchforest._selection.blending import (
    MOST_CORRECTED,
    choose_weights,
    corrections,
    tree_weights,
)
from sketchforest._selection.held_out import (
    ENOUGH_PER_LABEL,
    ENOUGH_ROWS,
    deal_folds,
    hold_out,
    kinds,
    mean_output,
)
from sketchforest._trees.blended import Blend, BlendedPredictor
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.grow import grow_forests
from sketchforest._trees.grow_on_gpu import grow_forests_on_gpu
from sketchforest._trees.linear import Folds, Ridge, is_feasible
from sketchforest._trees.model import Forest
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.predict import ForestPredictor
from sketchforest._trees.problem import Problem
from sketchforest._trees.targets import Targets
from sketchforest._utils.progress import stage

# Of fewer rows, nothing can be learnt about a blend.
LEAST_ROWS = 20


class Blending(NamedTuple):
    """The blended predictor, and the regression that was fitted without some of the rows."""

    predictor: ForestPredictor | BlendedPredictor
    ridge: Ridge | None = None


def fit_blend(params: Parameters, targets: Targets, problem: Problem, fitted: Fitted) -> Blending:
    """Fit the linear part and the weights; trees alone, if nothing is to be blended with them."""
    n_rows, n_outputs = problem.data.n_drawable, targets.labels.shape[1]
    # Sparse numbers would no longer be sparse.
    is_linear = params.linear != 0 and (targets.is_classification or not targets.is_sparse)
    if is_linear and not is_feasible(n_rows, problem.X.shape[1], n_outputs):
        is_linear = False
        if params.verbose:
            n_features = problem.X.shape[1]
            sizes = f"{n_features:,} features and {n_outputs:,} outputs"
            print(f"no linear part: {sizes} have too many weights", file=sys.stderr)
    corrects = (
        params.label_correlations and targets.is_classification and n_outputs <= MOST_CORRECTED
    )
    # Balanced labels have scores that are not to be near the truth.
    if not (is_linear or corrects) or n_rows < LEAST_ROWS or targets.is_balanced:
        return Blending(fitted.forest_predictor)
    with stage("fitting the linear part", 1) as shown:
        blending = _blended(params, targets, problem, fitted, is_linear, corrects)
        shown.advance()
    return blending


def _blended(
    params: Parameters,
    targets: Targets,
    problem: Problem,
    fitted: Fitted,
    is_linear: bool,
    corrects: bool,
) -> Blending:
    forest, settings, n_jobs = fitted.forest, fitted.settings, params.n_jobs
    blend, folds = Blend.of(targets), deal_folds(problem, forest.n_trees)
    ridge = _ridge(problem, folds, n_jobs) if is_linear else None
    shares = dict(kinds(settings))
    weight = 0.0 if params.linear == "auto" or not is_linear else float(params.linear)
    weights = np.array([*((1 - weight) * share for share in shares.values()), weight])
    weights = weights if is_linear else weights[:-1]
    if params.linear == "auto" or corrects:
        grow = grow_forests_on_gpu if params.device == "cuda" else grow_forests
        n_enough = ENOUGH_ROWS
        if corrects:
            n_enough = max(n_enough, ENOUGH_PER_LABEL * targets.labels.shape[1])
        found = hold_out(
            problem, settings, forest.trees(), folds, ridge, blend, n_enough, n_jobs, grow
        )
        if params.linear == "auto":
            are_labels = targets.is_indicator
            chosen = choose_weights(found, [*shares.values()], are_labels=are_labels, n_jobs=n_jobs)
            total = chosen.sum() if targets.is_classification else 1.0  # of probabilities
            weights = chosen / total if total > 0 else weights
        if corrects:
            blend = blend.but(corrections=corrections(found, found.mixed(weights, n_jobs), n_jobs))
    of_kinds = weights[: len(shares)]
    blend = blend.but(of_trees=float(of_kinds.sum()))
    if not targets.is_classification:
        blend = blend.but(offset=(1 - weights.sum()) * mean_output(problem))
    if ridge is not None and weights[-1] > 0:
        blend = blend.but(linear=ridge.fit(), weight=float(weights[-1]))
    votes = tree_weights(_are_oblique(forest), shares, dict(zip(shares, of_kinds, strict=True)))
    predictor = ForestPredictor.of(forest.with_weights(votes), targets)
    return Blending(BlendedPredictor(predictor, blend), None if blend.linear is None else ridge)


def _are_oblique(forest: Forest) -> np.ndarray:
    if forest.directions is None:
        return np.zeros(forest.n_trees, bool)
    return forest.directions.is_oblique.astype(bool)


def _ridge(problem: Problem, folds: Folds, n_jobs: int | None) -> Ridge:
    data, X = problem.data, problem.X
    feature_map, seen = data.feature_map, data.oblique_rows
    if feature_map is None or seen is None:  # no tree is oblique
        feature_map = FeatureMap.learn(X if data.rows is None else X[data.rows], n_jobs)
        seen = feature_map.transform(X, n_jobs)
    seed = problem.settings.seed
    return Ridge(feature_map, seen, problem.labels, folds, data.sample_weight, seed, n_jobs)
