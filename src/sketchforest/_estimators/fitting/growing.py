"""Growing the trees of a fit, after choosing settings that are "auto"."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sketchforest._estimators.fitting.preparation import Prepared
from sketchforest._estimators.parameters import Parameters
from sketchforest._selection.auto import AUTO_TREES, choose_settings, grow_until_flat
from sketchforest._selection.comparison import Comparison
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest._trees.bag import left_out_rows
from sketchforest._trees.grow import KeptTrees, grow_trees
from sketchforest._trees.grow_on_gpu import grow_trees_on_gpu
from sketchforest._trees.model import Tree
from sketchforest._trees.parallel import run_all
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.pruning import prune

# Returns the place where finished trees with these settings are kept.
Keep = Callable[[GrowSettings], KeptTrees]


def grow(
    prepared: Prepared, keep: Keep | None = None, grow_many: Callable[..., list[Tree]] = grow_trees
) -> tuple[GrowSettings, list[Tree]]:
    """The chosen settings and all trees, those of an earlier fit first.

    `grow_many` replaces `grow_trees` to grow trees elsewhere, on a cluster for example.
    """
    params, problem = prepared.params, prepared.problem
    settings, trees = problem.settings, list[Tree]()
    if params.device == "cuda":
        _check_gpu_fit(params, is_here=grow_many is grow_trees)
        grow_many = grow_trees_on_gpu
    if prepared.earlier is not None:
        trees = prepared.earlier.forest.with_weights(None).trees()
    elif params.auto_names:
        settings, trees = choose_settings(_comparison(prepared, keep), params.auto_names)
    if params.n_estimators == "auto":
        trees = grow_until_flat(_comparison(prepared, keep, settings), settings, trees)
    else:
        first = settings.first_tree
        missing = range(first + len(trees), first + int(params.n_estimators))
        kept = None if keep is None else keep(settings)
        trees = trees + grow_many(
            problem.data, settings, missing, params.n_jobs, params.verbose, kept
        )
    if params.ccp_alpha == 0:
        return settings, trees
    # Those of an earlier fit are pruned already.
    n_earlier = 0 if prepared.earlier is None else prepared.earlier.forest.n_trees
    prune_one = partial(prune, targets=prepared.targets, alpha=float(params.ccp_alpha))
    n_jobs, verbose, what = params.n_jobs, params.verbose, "pruning trees"
    new = run_all(prune_one, trees[n_earlier:], n_jobs=n_jobs, description=what, verbose=verbose)
    return settings, trees[:n_earlier] + new


def _check_gpu_fit(params: Parameters, *, is_here: bool) -> None:
    if not is_here:
        raise ValueError(
            "device must be None or 'cpu' on a Dask cluster, where trees are grown on CPUs; got "
            "'cuda'."
        )
    names = [*params.auto_names, *(["n_estimators"] if params.n_estimators == "auto" else [])]
    if names:
        raise ValueError(
            f"{names[0]} must be a number for device='cuda', since 'auto' compares settings on the "
            "CPU; got 'auto'. Find a value with device=None, on a sample of the rows."
        )


def _comparison(
    prepared: Prepared, keep: Keep | None, settings: GrowSettings | None = None
) -> Comparison:
    """A comparison on out-of-bag rows: of a probe's trees, or of a forest with these settings."""
    params, problem = prepared.params, prepared.problem
    metric = "squared_error"
    if prepared.targets.is_classification:
        metric = params.oob_score if isinstance(params.oob_score, str) else "lrap"
    rows = None if settings is None else left_out_rows(problem.data, settings)
    scored = problem if rows is None else replace(problem, data=replace(problem.data, rows=rows))
    scorer = OutOfBagScorer(scored, ScoreMetric.of(metric), problem.settings.seed)
    n_target = AUTO_TREES if params.n_estimators == "auto" else int(params.n_estimators)
    return Comparison(scorer, problem, n_target, params.n_jobs, keep)
