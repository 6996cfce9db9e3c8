"""After the last tree: the linear part of a sketch forest, and corrections by other labels."""

from typing import NamedTuple

import numpy as np

from sketchforest._estimators.parameters import Parameters
from sketchforest._selection.blending import MOST_CORRECTED, choose_weight, corrections, cross_fit
from sketchforest._trees.blended import Blend
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.grow import grow_trees
from sketchforest._trees.grow_on_gpu import grow_trees_on_gpu
from sketchforest._trees.linear import Ridge, is_feasible
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.problem import Problem
from sketchforest._trees.targets import Targets
from sketchforest._utils.progress import stage

# Of fewer rows, nothing can be learnt about a blend.
LEAST_ROWS = 20


class Blending(NamedTuple):
    """A blend, and the regression that leaves rows out."""

    blend: Blend
    ridge: Ridge | None


def fit_blend(
    params: Parameters, targets: Targets, problem: Problem, fitted: Fitted
) -> Blending | None:
    """None where the trees predict alone."""
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
        return None
    with stage("fitting the linear part", 1) as shown:
        ridge = _ridge(problem, params.n_jobs)
        blend = Blend.of(targets)
        weight = float(params.linear) if is_linear and params.linear != "auto" else 0.0
        chooses = is_linear and params.linear == "auto"
        if chooses or corrects:
            n_trees = fitted.forest.n_trees
            grow = grow_trees_on_gpu if params.device == "cuda" else grow_trees
            found = cross_fit(problem, fitted.settings, ridge, blend, n_trees, params.n_jobs, grow)
            weight = choose_weight(found) if chooses else weight
            if corrects:
                blend = blend.but(corrections=corrections(found.mixed(weight), params.n_jobs))
        if weight > 0:
            blend = blend.but(linear=ridge.fit(), weight=weight)
        shown.advance()
    return Blending(blend, ridge if weight > 0 else None)


def _ridge(problem: Problem, n_jobs: int | None) -> Ridge:
    data, X = problem.data, problem.X
    rows = np.arange(data.n_rows) if data.rows is None else data.rows
    feature_map, seen = data.feature_map, data.oblique_rows
    if feature_map is None or seen is None:  # no tree is oblique
        feature_map = FeatureMap.learn(X if data.rows is None else X[rows], n_jobs)
        seen = feature_map.transform(X, n_jobs)
    seed = problem.settings.seed
    return Ridge(feature_map, seen, problem.labels, rows, data.sample_weight, seed, n_jobs)
