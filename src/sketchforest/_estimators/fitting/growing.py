"""All trees of a fit: their settings, where some are chosen by rows that trees did not see."""

from collections.abc import Callable
from functools import partial

from sketchforest._estimators.fitting.preparation import Prepared
from sketchforest._selection.auto import AUTO_TREES, choose_settings, grow_until_flat
from sketchforest._selection.comparison import Comparison
from sketchforest._selection.out_of_bag import Criterion, OutOfBagScorer
from sketchforest._trees.grow import KeptTrees, grow_trees
from sketchforest._trees.model import Tree
from sketchforest._trees.parallel import run_all
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.pruning import prune

# Where finished trees of these settings are kept.
Keep = Callable[[GrowSettings], KeptTrees]


def grow(
    prepared: Prepared, keep: Keep | None = None, grow_many: Callable[..., list[Tree]] = grow_trees
) -> tuple[GrowSettings, list[Tree]]:
    """How the trees are grown, and all of them; those of an earlier fit come first. `grow_many`
    stands in for `grow_trees`, to grow them somewhere else."""
    settings, trees = _grow_whole(prepared, keep, grow_many)
    return settings, _pruned(prepared, trees)


def _grow_whole(
    prepared: Prepared, keep: Keep | None, grow_many: Callable[..., list[Tree]]
) -> tuple[GrowSettings, list[Tree]]:
    params, problem = prepared.params, prepared.problem
    settings, trees = problem.settings, []
    if prepared.earlier is not None:
        trees = prepared.earlier.forest.trees()
    elif params.auto_names:
        settings, trees = choose_settings(_comparison(prepared, keep), params.auto_names)
    if params.n_estimators == "auto":
        return settings, grow_until_flat(_comparison(prepared, keep), settings, trees)
    first = settings.first_tree
    missing = range(first + len(trees), first + int(params.n_estimators))
    kept = None if keep is None else keep(settings)
    return settings, trees + grow_many(
        problem.data, settings, missing, params.n_jobs, params.verbose, kept
    )


def _pruned(prepared: Prepared, trees: list[Tree]) -> list[Tree]:
    """Those of an earlier fit are pruned already, and stay as they are."""
    params, targets = prepared.params, prepared.targets
    if params.ccp_alpha == 0:
        return trees
    n_earlier = 0 if prepared.earlier is None else prepared.earlier.forest.n_trees
    prune_one = partial(prune, targets=targets, alpha=float(params.ccp_alpha))
    return trees[:n_earlier] + run_all(
        prune_one,
        trees[n_earlier:],
        n_jobs=params.n_jobs,
        description="pruning trees",
        verbose=params.verbose,
    )


def _comparison(prepared: Prepared, keep: Keep | None) -> Comparison:
    params, problem = prepared.params, prepared.problem
    metric = "squared_error"
    if prepared.targets.is_classification:
        metric = params.oob_score if isinstance(params.oob_score, str) else "lrap"
    scorer = OutOfBagScorer(problem, Criterion.of(metric), problem.settings.seed)
    n_target = AUTO_TREES if params.n_estimators == "auto" else int(params.n_estimators)
    return Comparison(scorer, problem, n_target, params.n_jobs, keep)
