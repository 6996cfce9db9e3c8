"""After the last tree: the weights of a sketch forest's parts, and corrections by other labels."""

from typing import NamedTuple

import numpy as np

from sketchforest._estimators.parameters import Parameters
from sketchforest._selection.blending import (
    MOST_CORRECTED,
    OF_LABELS,
    OF_OTHERS,
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
from sketchforest._trees.grow import grow_trees
from sketchforest._trees.grow_on_gpu import grow_trees_on_gpu
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
    """Trees and what is blended with them, and the regression that leaves rows out."""

    predictor: ForestPredictor | BlendedPredictor
    ridge: Ridge | None = None


def fit_blend(params: Parameters, targets: Targets, problem: Problem, fitted: Fitted) -> Blending:
    """Trees alone, if nothing is to be blended with them."""
    n_rows, n_outputs = problem.data.n_drawable, targets.labels.shape[1]
    # Sparse numbers would no longer be sparse.
    may_be_linear = targets.is_classification or not targets.is_sparse
    is_small = is_feasible(n_rows, problem.X.shape[1], n_outputs)
    is_linear = params.linear != 0 and may_be_linear and is_small
    corrects = (
        params.label_correlations and targets.is_classification and n_outputs <= MOST_CORRECTED
    )
    # Balanced labels have scores that are not to be near the truth.
    if not (is_linear or corrects) or n_rows < LEAST_ROWS or targets.is_balanced:
        return Blending(fitted.forest_predictor)
    with stage("fitting the linear part", 1) as shown:
        forest, blend = fitted.forest, Blend.of(targets)
        folds = deal_folds(problem, forest.n_trees)
        ridge = _ridge(problem, folds, params.n_jobs) if is_linear else None
        of_kinds = dict(kinds(fitted.settings))
        weights = [*of_kinds.values(), *([0.0] * is_linear)]
        if is_linear and params.linear != "auto":
            weight = float(params.linear)
            weights = [*((1 - weight) * share for share in of_kinds.values()), weight]
        if params.linear == "auto" or corrects:
            grow = grow_trees_on_gpu if params.device == "cuda" else grow_trees
            trees, n_jobs = forest.trees(), params.n_jobs
            n_enough = max(ENOUGH_ROWS, ENOUGH_PER_LABEL * n_outputs if corrects else 0)
            found = hold_out(
                problem, fitted.settings, trees, folds, ridge, blend, n_enough, n_jobs, grow
            )
            if params.linear == "auto":
                deviation = OF_LABELS if targets.is_indicator else OF_OTHERS
                shares = [*of_kinds.values()]
                chosen = choose_weights(found, shares, deviation, params.n_jobs)
                # Probabilities that are stretched would be those of too many labels.
                total = chosen.sum() if targets.is_classification else 1.0
                weights = (chosen / total).tolist() if total > 0 else weights
            if corrects:
                blend = blend.but(
                    corrections=corrections(found, found.mixed(weights), params.n_jobs)
                )
        of_trees = weights[: len(of_kinds)]
        lacking = 1 - sum(weights)
        blend = blend.but(
            of_trees=sum(of_trees),
            offset=None if targets.is_classification else lacking * mean_output(problem),
        )
        if ridge is not None and weights[-1] > 0:
            blend = blend.but(linear=ridge.fit(), weight=weights[-1])
        shown.advance()
    votes = tree_weights(_are_oblique(forest), dict(zip(of_kinds, of_trees, strict=True)))
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
