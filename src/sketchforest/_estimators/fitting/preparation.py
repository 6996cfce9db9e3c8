"""Before the first tree: what was given to `fit` is checked, encoded, and nothing is kept yet."""

import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_random_state

from sketchforest._estimators.fitting.class_weight import balance_bag, weigh_classes
from sketchforest._estimators.fitting.fingerprint import fingerprint
from sketchforest._estimators.fitting.out_of_bag import check_oob_metric
from sketchforest._estimators.parameters import (
    ClassWeight,
    NComponents,
    Parameters,
    RandomState,
    n_features_drawn,
    n_rows_meant,
)
from sketchforest._estimators.fitting.scales import moderate_weights, search_outputs
from sketchforest._estimators.fitting.targets import (
    check_class_targets,
    check_real_targets,
    with_impurity,
)
from sketchforest._estimators.predicting.thresholds import DEFAULT, GLOBAL, f1_kind, given_decision
from sketchforest._estimators.fitting.validation import (
    FeatureNames,
    check_same_length,
    check_sample_weight,
    check_training_features,
)
from sketchforest._estimators.fitting.warm_start import (
    changes_nothing,
    check_warm_start,
    warn_of_no_new_trees,
)
from sketchforest._selection.auto import AUTO_MAX_FEATURES, AUTO_N_COMPONENTS, keep_choices
from sketchforest._trees.encoding import encode
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.impurity import CRITERIA, Impurity
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.problem import (
    GrowSettings,
    ObliqueSettings,
    Problem,
    TrainingData,
    rows_of_share,
)
from sketchforest._trees.random import TreeSeed
from sketchforest._trees.targets import Targets
from sketchforest._typing import Matrix, MatrixLike, WeightsLike
from sketchforest.projection import (
    Projection,
    ProjectionLike,
    TransformerProjection,
    resolve_n_components,
    resolve_projection,
)

LARGEST_SEED = np.iinfo(np.int32).max
# Defaults of forests of oblique and other trees; what they reach is in docs/accuracy.md.
MIXED_COMPONENTS, MIXED_LEAF = 32, 2  # of the other trees
MANY_LABELS, MANY_LABELS_COMPONENTS, FEW_LABELS_COMPONENTS = 256, 64, 32  # of the oblique ones
# Where rows must be left out, three of ten trees leave out the same ones: a fifth, but not more
# than a threshold, or a score, needs. See docs/study/thresholds.md.
OUT_OF_BAG_TREES, OUT_OF_BAG_SHARE = 0.3, 5
ROWS_FOR_THRESHOLD, ROWS_FOR_SCORE = 1_000, 10_000
MOST_DRAWS = np.iinfo(np.int32).max
LEAST_OBLIQUE_ROWS = 11  # in a node that is split


@dataclass(frozen=True)
class Prepared:
    """What a fit begins with."""

    params: Parameters
    problem: Problem
    targets: Targets
    features: FeatureNames
    fingerprint: str | None = None  # of X and weights; None: of a single tree, which has no use
    earlier: Fitted | None = None  # where trees are added to those of an earlier fit
    changes_nothing: bool = False  # there are no trees to add to them

    def with_parameters(self, params: Parameters) -> "Prepared":
        """The same data for other parameters, of which none changes how they are encoded."""
        shape, n_drawable = self.problem.X.shape, self.problem.data.n_drawable
        settings = _grow_settings(params, shape, self.targets, n_drawable, self.earlier)
        return replace(self, params=params, problem=replace(self.problem, settings=settings))


def prepare(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: MatrixLike,
    sample_weight: WeightsLike = None,
) -> Prepared:
    """Checks and encodes what a fit is given. The estimator stays as it is."""
    params = Parameters.of(estimator)
    is_added_to = params.warm_start and estimator.__sklearn_is_fitted__()
    earlier = estimator.fitted_ if is_added_to else None
    X, features = check_training_features(estimator, X, is_warm_start=earlier is not None)
    targets = with_impurity(check_targets(estimator, y), CRITERIA[params.criterion])
    _check_threshold(params, targets)
    check_same_length(X, targets.labels.shape[0])
    weights = check_sample_weight(sample_weight, X.shape[0])
    weights = None if weights is None else moderate_weights(weights)
    rows_seen = None if params.is_tree else fingerprint(X, weights)
    class_weight = _class_weight_of_rows(params, targets)
    weights = weigh_classes(class_weight, targets, weights, is_tree=params.is_tree)
    rows = None if weights is None else np.flatnonzero(weights).astype(np.int32)
    n_drawable = X.shape[0] if rows is None else len(rows)
    check_oob_metric(params, targets)
    settings = _grow_settings(params, X.shape, targets, n_drawable, earlier)
    has_all = earlier is not None and changes_nothing(params, earlier)
    if has_all:
        warn_of_no_new_trees()
    elif earlier is not None:
        check_warm_start(params, targets, rows_seen, earlier)
    is_balanced = class_weight == "balanced_subsample"
    has_oblique = settings.oblique is not None
    is_all_oblique = settings.oblique is not None and settings.oblique.share == 1
    known = X if rows is None else X[rows]  # a row of weight 0 is as good as removed
    feature_map = FeatureMap.learn(known, params.n_jobs) if has_oblique else None
    is_transformed = isinstance(settings.projection, TransformerProjection)
    # Logarithms are taken of counts as they are, and absolute errors are no squares.
    is_variance = targets.impurity is Impurity.VARIANCE
    outputs = search_outputs(
        targets.labels,
        rows,
        may_scale=is_variance and not is_transformed,
        may_move=targets.impurity is not Impurity.POISSON,
    )
    data = TrainingData(
        X=None if is_all_oblique else encode(X, settings.random_cuts, params.n_jobs),
        labels=outputs.labels,
        label_exponent=outputs.exponent,
        impurity=targets.native_impurity,
        # Zeros are said by the rows; of the others, only ratios count.
        sample_weight=None if weights is None or len(np.unique(weights[rows])) == 1 else weights,
        rows=rows,
        # A product over many labels is so uneven that a bag would be a handful of rows.
        draws_by_weight=targets.has_classes
        or not isinstance(class_weight, str | dict | list)
        or class_weight == "balanced_subsample",
        balance=partial(balance_bag, targets) if is_balanced else None,
        feature_map=feature_map,
        oblique_rows=None if feature_map is None else feature_map.transform(X, params.n_jobs),
    )
    problem = Problem(X, targets.labels, data, settings)
    return Prepared(params, problem, targets, features, rows_seen, earlier, has_all)


def check_targets(estimator: BaseEstimator, y: MatrixLike) -> Targets:
    check = check_class_targets if is_classifier(estimator) else check_real_targets
    return check(estimator, y)


def advance(random_state: RandomState) -> None:
    """Moves a generator of the user's on, when a fit has succeeded: `prepare` drew its seed from a
    copy, so that a fit that fails changes nothing."""
    if isinstance(random_state, np.random.RandomState):
        random_state.randint(LARGEST_SEED)


def _draw_seed(random_state: RandomState) -> int:
    if isinstance(random_state, TreeSeed):
        return random_state.seed
    if isinstance(random_state, np.random.RandomState):
        random_state = copy.deepcopy(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))


def _check_threshold(params: Parameters, targets: Targets) -> None:
    is_usual = params.threshold in (DEFAULT, GLOBAL) if np.isscalar(params.threshold) else False
    if targets.has_classes and not is_usual:
        raise ValueError(
            "threshold must be left out for classes, of which the most probable is predicted;"
            f" got {params.threshold!r}. It is for indicator matrices Y."
        )
    if not targets.has_classes and f1_kind(params.threshold) is None:
        given_decision(params.threshold, targets.labels.shape[1])


def _grow_settings(
    params: Parameters,
    shape: tuple[int, int],
    targets: Targets,
    n_drawable: int,
    earlier: Fitted | None,
) -> GrowSettings:
    n_rows, n_features = shape  # a share of the rows counts those of weight 0, as in scikit-learn
    chosen = [] if params.is_tree else params.auto_names
    max_features = AUTO_MAX_FEATURES if "max_features" in chosen else params.max_features
    n_components = AUTO_N_COMPONENTS if "n_components" in chosen else params.n_components
    if params.is_mixed and n_components is None and targets.labels.shape[1] > MIXED_COMPONENTS:
        n_components = MIXED_COMPONENTS
    projection, m = _resolve_projection(params.projection, n_components, targets)
    if targets.impurity is not Impurity.VARIANCE and projection is not None:
        _check_not_projected(params)
        projection = m = None
    oblique = _oblique_settings(params, targets, n_rows, n_drawable)
    n_left_out = _n_left_out(params, targets, n_drawable)
    settings = GrowSettings(
        max_features=n_features_drawn(max_features, n_features),
        random_cuts=params.splitter == "random",
        max_depth=None if params.max_depth is None else int(params.max_depth),
        min_samples_split=max(2, n_rows_meant(params.min_samples_split or 2, n_rows)),
        min_samples_leaf=n_rows_meant(params.min_samples_leaf or MIXED_LEAF, n_rows),
        min_weight_fraction_leaf=float(params.min_weight_fraction_leaf),
        min_impurity_decrease=float(params.min_impurity_decrease),
        max_leaf_nodes=None if params.max_leaf_nodes is None else int(params.max_leaf_nodes),
        n_draws=_n_draws(params, targets, n_drawable),
        projection=projection,
        n_components=m,
        impurity_scale=targets.impurity_scale,
        # Later trees of a warm start take the next places of the first one's streams.
        seed=_draw_seed(params.random_state) if earlier is None else earlier.settings.seed,
        first_tree=params.random_state.tree if isinstance(params.random_state, TreeSeed) else 0,
        with_replacement=bool(params.bootstrap),
        shared_projection=bool(params.shared_projection),
        oblique=oblique,
        out_of_bag_trees=OUT_OF_BAG_TREES if n_left_out else None,
        out_of_bag_rows=n_left_out,
    )
    return settings if earlier is None else keep_choices(settings, earlier.settings, chosen)


def _oblique_settings(
    params: Parameters, targets: Targets, n_rows: int, n_drawable: int
) -> ObliqueSettings | None:
    share = 1.0 if params.splitter == "oblique" else float(params.oblique)
    if share == 0:
        return None
    if targets.impurity is not Impurity.VARIANCE:
        raise ValueError(
            f"splitter must be 'best' or 'random' for criterion={params.criterion!r}; got "
            "'oblique', whose directions are those of the largest variance."
        )
    # Always projected, upwards too, unless the user wants the outputs themselves: on sets with few
    # labels, trees on the same outputs are too much alike.
    n_labels, n_components = targets.labels.shape[1], params.n_components
    if n_components is None:
        n_components = FEW_LABELS_COMPONENTS if n_labels < MANY_LABELS else MANY_LABELS_COMPONENTS
    projection, m = _resolve_projection(params.projection, n_components, targets)
    # Directions of few rows overfit; but a handful of rows in all must not remain one leaf.
    least = min(LEAST_OBLIQUE_ROWS, 2 + n_drawable // 10)
    by_default = ObliqueSettings(share, projection, m, least, ridge=float(params.ridge))
    split, leaf = params.min_samples_split, params.min_samples_leaf
    if split is not None:
        by_default = replace(by_default, min_samples_split=max(2, n_rows_meant(split, n_rows)))
    if leaf is not None:
        by_default = replace(by_default, min_samples_leaf=n_rows_meant(leaf, n_rows))
    return by_default


def _class_weight_of_rows(params: Parameters, targets: Targets) -> ClassWeight:
    """Where each tree sees all rows, these are balanced once."""
    is_by_bag = params.class_weight == "balanced_subsample"
    draws_rows = (
        params.bootstrap
        or params.max_samples is not None
        or _n_left_out(params, targets, OUT_OF_BAG_SHARE) > 0
    )
    return "balanced" if is_by_bag and not draws_rows else params.class_weight


def _n_left_out(params: Parameters, targets: Targets, n_drawable: int) -> int:
    """Rows that some trees of a forest of both kinds, whose trees see all of them as a rule, do not
    see: those that score it, or choose its threshold."""
    if not (params.is_mixed and _sees_all_rows(params)):
        return 0
    needed = ROWS_FOR_THRESHOLD if _chooses_threshold(params, targets) else 0
    needed = ROWS_FOR_SCORE if params.oob_score else needed
    return min(n_drawable // OUT_OF_BAG_SHARE, needed)


def _sees_all_rows(params: Parameters) -> bool:
    return not params.bootstrap and params.max_samples is None


def _chooses_threshold(params: Parameters, targets: Targets) -> bool:
    return targets.is_indicator and f1_kind(params.threshold) is not None


def _check_not_projected(params: Parameters) -> None:
    """A projection that nobody asked for is left out: who names the criterion of scikit-learn's
    estimators, and no projection, wants their trees."""
    if not params.leaves_projection_to_us:
        raise ValueError(
            f"projection must be None for criterion={params.criterion!r}, since a projection of "
            f"outputs keeps their variances alone; got projection={params.projection!r}, "
            f"n_components={params.n_components!r}."
        )


def _resolve_projection(
    given: ProjectionLike, n_components: NComponents, targets: Targets
) -> tuple[Projection | TransformerProjection | None, int | None]:
    projection = resolve_projection(given)
    if isinstance(projection, TransformerProjection):
        if not targets.is_sparse:
            projection = TransformerProjection(_given_dense(projection.transformer))
        return projection, None  # it has its own number of components
    if projection is None:
        return None, None
    m = resolve_n_components(n_components, targets.labels.shape[1])
    return (None, None) if m is None else (projection, m)


def _given_dense(transformer: BaseEstimator) -> Pipeline:
    """The transformer of labels that were given dense, and are kept sparse."""
    return make_pipeline(FunctionTransformer(_to_dense, accept_sparse=True), transformer)


def _to_dense(Y: Matrix) -> np.ndarray:
    return Y if isinstance(Y, np.ndarray) else Y.toarray()


def _n_draws(params: Parameters, targets: Targets, n_drawable: int) -> int | None:
    """Rows drawn for each tree; None: every row once."""
    if params.is_tree or (params.is_mixed and _sees_all_rows(params)):
        return None
    if _sees_all_rows(params):
        if _chooses_threshold(params, targets):
            raise ValueError(
                "threshold must be a number or 'top-K' where bootstrap=False; got "
                f"{params.threshold!r}. Use bootstrap=True, or max_samples=0.8, to leave rows "
                "out of each tree."
            )
        if params.oob_score:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True; got bootstrap=False and "
                f"oob_score={params.oob_score!r}. Or use max_samples=0.8, to leave rows out of "
                "each tree."
            )
        return None
    if params.max_samples is None:
        return n_drawable
    n_draws = int(params.max_samples)
    if isinstance(params.max_samples, float | np.floating):
        n_draws = rows_of_share(params.max_samples, n_drawable)
    if n_draws > n_drawable and not params.bootstrap:
        raise ValueError(
            f"max_samples must be at most the number of rows, {n_drawable}, where they are drawn "
            f"without replacement; got {params.max_samples}. Use bootstrap=True."
        )
    if n_draws > MOST_DRAWS:
        raise ValueError(
            f"max_samples must be at most {MOST_DRAWS} rows for a tree; got {params.max_samples}."
        )
    return n_draws
