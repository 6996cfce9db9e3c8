"""The settings of all trees, resolved from parameters and data."""

import copy

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_random_state

from sketchforest._estimators.constructors import ClassWeight, NComponents, RandomState
from sketchforest._estimators.parameters import Parameters, n_features_sampled, resolve_n_rows
from sketchforest._estimators.predicting.decisions import f1_kind
from sketchforest._selection.auto import AUTO_MAX_FEATURES, AUTO_MAX_FEATURES_OF_MIXED, keep_choices
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.problem import GrowSettings, ObliqueSettings, rows_of_share
from sketchforest._trees.random import TreeSeed
from sketchforest._trees.targets import Targets
from sketchforest._utils.typing import Matrix
from sketchforest.projection import (
    Projection,
    ProjectionLike,
    TransformerProjection,
    TreeType,
    resolve_n_components,
    resolve_projection,
)

LARGEST_SEED = np.iinfo(np.int32).max
# Defaults of a mixed forest of classifiers; docs/accuracy.md has the results. Those of regressors
# split nodes of any size: cuts of single features part a few rows as well as many.
EXTRA_TREES_MIN_SAMPLES_LEAF, OBLIQUE_MIN_SAMPLES_SPLIT = 2, 11
# A mixed forest that needs out-of-bag rows leaves the same ones out of three in ten trees: a fifth
# of all rows, but no more than a threshold, or a score, needs. See docs/study/thresholds.md.
OUT_OF_BAG_TREES, OUT_OF_BAG_SHARE = 0.3, 5
ROWS_FOR_THRESHOLD, ROWS_FOR_SCORE = 1_000, 10_000
MAX_DRAWS = np.iinfo(np.int32).max


def grow_settings(
    params: Parameters,
    shape: tuple[int, int],
    targets: Targets,
    n_drawable: int,
    earlier: Fitted | None,
) -> GrowSettings:
    """The settings of all trees, with the usual values for parameters that are "auto"."""
    n_rows, n_features = shape  # fractions count rows of weight 0, as in scikit-learn
    chosen = [] if params.is_tree else params.auto_names
    max_features = params.max_features
    if "max_features" in chosen:
        max_features = AUTO_MAX_FEATURES_OF_MIXED if params.is_mixed else AUTO_MAX_FEATURES
    n_components = None if "n_components" in chosen else params.n_components
    tree_type: TreeType = "extra" if params.is_mixed else "any"
    projection, m = _resolve_projection(params.projection, n_components, targets, tree_type)
    if projection is not None and not targets.criterion.allows_projection:
        if not params.has_default_projection:
            raise ValueError(
                f"projection must be None for criterion={params.criterion!r}, since projections "
                f"preserve only variances; got projection={params.projection!r}, "
                f"n_components={params.n_components!r}."
            )
        # Whoever names only a criterion of scikit-learn asks for scikit-learn's trees.
        projection = m = None
    oblique = _oblique_settings(params, n_components, targets, n_rows, n_drawable)
    n_left_out = _n_left_out(params, targets, n_drawable)
    default_leaf = EXTRA_TREES_MIN_SAMPLES_LEAF if targets.is_classification else 1
    settings = GrowSettings(
        max_features=n_features_sampled(max_features, n_features),
        random_cuts=params.splitter == "random",
        max_depth=None if params.max_depth is None else int(params.max_depth),
        min_samples_split=max(2, resolve_n_rows(params.min_samples_split or 2, n_rows)),
        min_samples_leaf=resolve_n_rows(params.min_samples_leaf or default_leaf, n_rows),
        min_weight_fraction_leaf=float(params.min_weight_fraction_leaf),
        min_impurity_decrease=float(params.min_impurity_decrease),
        max_leaf_nodes=None if params.max_leaf_nodes is None else int(params.max_leaf_nodes),
        n_draws=_n_draws(params, targets, n_drawable),
        projection=projection,
        n_components=m,
        impurity_scale=targets.impurity_scale,
        # Trees of a warm start continue the random streams of the first fit.
        seed=draw_seed(params.random_state) if earlier is None else earlier.settings.seed,
        first_tree=params.random_state.tree if isinstance(params.random_state, TreeSeed) else 0,
        with_replacement=bool(params.bootstrap),
        shared_projection=bool(params.shared_projection),
        oblique=oblique,
        out_of_bag_trees=OUT_OF_BAG_TREES if n_left_out else None,
        out_of_bag_rows=n_left_out,
        max_bins=None if params.max_bins is None else int(params.max_bins),
    )
    return settings if earlier is None else keep_choices(settings, earlier.settings, chosen)


def _oblique_settings(
    params: Parameters, n_components: NComponents, targets: Targets, n_rows: int, n_drawable: int
) -> ObliqueSettings | None:
    share = 1.0 if params.splitter == "oblique" else float(params.oblique)
    if share == 0:
        return None
    if not targets.criterion.allows_projection:
        raise ValueError(
            f"splitter must be 'best' or 'random' for criterion={params.criterion!r}; got "
            "'oblique', which maximizes variances only."
        )
    projection, m = _resolve_projection(params.projection, n_components, targets, "oblique")
    split, leaf = params.min_samples_split, params.min_samples_leaf
    if split is None and not targets.is_classification:
        min_samples_split = 2
    elif split is None:  # directions of few rows overfit, but tiny sets need some splits
        min_samples_split = min(OBLIQUE_MIN_SAMPLES_SPLIT, 2 + n_drawable // 10)
    else:
        min_samples_split = max(2, resolve_n_rows(split, n_rows))
    return ObliqueSettings(
        share,
        projection,
        m,
        min_samples_split,
        min_samples_leaf=1 if leaf is None else resolve_n_rows(leaf, n_rows),
        ridge=float(params.ridge),
        cuts_single_features=not targets.is_classification,
    )


def class_weight_of_rows(params: Parameters, targets: Targets) -> ClassWeight:
    """The class weights of all rows: if each tree sees all rows, they are balanced only once."""
    is_by_bag = params.class_weight == "balanced_subsample"
    draws_rows = not params.sees_all_rows or _n_left_out(params, targets, OUT_OF_BAG_SHARE) > 0
    return "balanced" if is_by_bag and not draws_rows else params.class_weight


def _n_left_out(params: Parameters, targets: Targets, n_drawable: int) -> int:
    """Number of rows that some trees of a mixed forest leave out, to score it or to choose its
    threshold. The other trees see all rows."""
    if not (params.is_mixed and params.sees_all_rows):
        return 0
    is_for_labels = params.calibrate is not None or _chooses_threshold(params, targets)
    needed = ROWS_FOR_THRESHOLD if is_for_labels else 0
    needed = ROWS_FOR_SCORE if params.oob_score else needed
    return min(n_drawable // OUT_OF_BAG_SHARE, needed)


def _chooses_threshold(params: Parameters, targets: Targets) -> bool:
    return targets.is_indicator and f1_kind(params.threshold) is not None


def _resolve_projection(
    given: ProjectionLike, n_components: NComponents, targets: Targets, tree_type: TreeType
) -> tuple[Projection | TransformerProjection | None, int | None]:
    projection = resolve_projection(given)
    if isinstance(projection, TransformerProjection):
        if not targets.is_sparse:  # the labels were given dense, but are stored sparse
            to_dense = FunctionTransformer(_to_dense, accept_sparse=True)
            projection = TransformerProjection(make_pipeline(to_dense, projection.transformer))
        return projection, None  # it determines the number of components itself
    if projection is None:
        return None, None
    m = resolve_n_components(n_components, targets.labels.shape[1], tree_type)
    return (None, None) if m is None else (projection, m)


def _to_dense(Y: Matrix) -> np.ndarray:
    return Y if isinstance(Y, np.ndarray) else Y.toarray()


def _n_draws(params: Parameters, targets: Targets, n_drawable: int) -> int | None:
    """Number of rows drawn for each tree; None for every row once."""
    if params.is_tree or (params.is_mixed and params.sees_all_rows):
        return None
    if params.sees_all_rows:
        if _chooses_threshold(params, targets):
            raise ValueError(
                "threshold must be a number or 'top-K' if bootstrap=False; got "
                f"{params.threshold!r}. Use bootstrap=True or max_samples=0.8 to leave rows out "
                "of each tree."
            )
        if params.calibrate is not None:
            raise ValueError(
                f"calibrate must be None if bootstrap=False; got {params.calibrate!r}. Use "
                "bootstrap=True or max_samples=0.8 to leave rows out of each tree."
            )
        if params.oob_score:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True; got bootstrap=False and "
                f"oob_score={params.oob_score!r}. Set bootstrap=True, or max_samples=0.8 to leave "
                "rows out of each tree."
            )
        return None
    if params.max_samples is None:
        return n_drawable
    n_draws = int(params.max_samples)
    if isinstance(params.max_samples, float | np.floating):
        n_draws = rows_of_share(params.max_samples, n_drawable)
    if n_draws > n_drawable and not params.bootstrap:
        raise ValueError(
            f"max_samples must be at most the number of rows, {n_drawable}, if bootstrap=False; "
            f"got {params.max_samples}. Use bootstrap=True."
        )
    if n_draws > MAX_DRAWS:
        raise ValueError(
            f"max_samples must be at most {MAX_DRAWS} rows per tree; got {params.max_samples}."
        )
    return n_draws


def draw_seed(random_state: RandomState) -> int:
    if isinstance(random_state, TreeSeed):
        return random_state.seed
    if isinstance(random_state, np.random.RandomState):
        random_state = copy.deepcopy(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))
