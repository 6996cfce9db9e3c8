"""All trees of a fit: their settings, where some are chosen by rows that trees did not see."""

from sketchforest._estimators.preparation import Prepared
from sketchforest._selection.auto import AUTO_TREES, choose_settings, grow_until_flat
from sketchforest._selection.comparison import Comparison
from sketchforest._selection.out_of_bag import Criterion, OutOfBagScorer
from sketchforest._trees.grow import grow_trees
from sketchforest._trees.model import Tree
from sketchforest._trees.problem import GrowSettings


def grow(prepared: Prepared) -> tuple[GrowSettings, list[Tree]]:
    """How the trees are grown, and all of them; those of an earlier fit come first."""
    params, problem = prepared.params, prepared.problem
    settings, trees = problem.settings, []
    if prepared.earlier is not None:
        trees = prepared.earlier.forest.trees()
    elif params.auto_names:
        settings, trees = choose_settings(_comparison(prepared), params.auto_names)
    if params.n_estimators == "auto":
        return settings, grow_until_flat(_comparison(prepared), settings, trees)
    first = settings.first_tree
    missing = range(first + len(trees), first + int(params.n_estimators))
    return settings, trees + grow_trees(
        problem.data, settings, missing, params.n_jobs, params.verbose
    )


def _comparison(prepared: Prepared) -> Comparison:
    params, problem = prepared.params, prepared.problem
    metric = "squared_error"
    if prepared.targets.is_classification:
        metric = params.oob_score if isinstance(params.oob_score, str) else "lrap"
    scorer = OutOfBagScorer(problem, Criterion.of(metric), problem.settings.seed)
    n_target = AUTO_TREES if params.n_estimators == "auto" else int(params.n_estimators)
    return Comparison(scorer, problem, n_target, params.n_jobs)
