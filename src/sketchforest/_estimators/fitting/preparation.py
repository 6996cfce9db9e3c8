"""Before the first tree: validate and encode what `fit` is given."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from sketchforest._estimators.constructors import ClassWeight, RandomState
from sketchforest._estimators.fitting.class_weight import (
    balance_bag,
    balances_labels,
    check_class_weight,
    weigh_classes,
)
from sketchforest._estimators.fitting.out_of_bag import check_oob_metric
from sketchforest._estimators.fitting.scales import rescale_weights, search_outputs
from sketchforest._estimators.fitting.settings import (
    LARGEST_SEED,
    class_weight_of_rows,
    grow_settings,
)
from sketchforest._estimators.fitting.targets import (
    check_class_targets,
    check_real_targets,
    with_criterion,
)
from sketchforest._estimators.fitting.validation import (
    FeatureNames,
    check_same_length,
    check_sample_weight,
    check_training_features,
)
from sketchforest._estimators.fitting.warm_start import (
    changes_nothing,
    check_warm_start,
    fingerprint,
    warn_of_no_new_trees,
)
from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predicting.decisions import (
    DEFAULT,
    GLOBAL,
    f1_kind,
    given_decision,
    warn_of_former_name,
)
from sketchforest._trees.encoding import encode
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.grow_on_gpu import check_device
from sketchforest._trees.label_weights import balanced_label_weights, weighted_labels
from sketchforest._trees.oblique_features import FeatureMap
from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.problem import GrowSettings, Problem, TrainingData
from sketchforest._trees.targets import Targets
from sketchforest._utils.row_hashes import row_hashes
from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.projection import TransformerProjection

HASHED_ROWS = 1 << 14  # by one thread at a time


@dataclass(frozen=True)
class Prepared:
    """The validated and encoded input of a fit."""

    params: Parameters
    problem: Problem
    targets: Targets
    features: FeatureNames
    row_hashes: np.ndarray
    fingerprint: str | None = None  # of X and weights; None for a single tree
    earlier: Fitted | None = None  # the fit that a warm start adds trees to
    changes_nothing: bool = False  # a warm start without new trees

    def with_parameters(self, params: Parameters) -> "Prepared":
        """The same data with other parameters that do not affect the encoding."""
        shape, n_drawable = self.problem.X.shape, self.problem.data.n_drawable
        settings = grow_settings(params, shape, self.targets, n_drawable, self.earlier)
        return replace(self, params=params, problem=replace(self.problem, settings=settings))


def prepare(
    estimator: BaseEstimator, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None
) -> Prepared:
    """Validate and encode the input of a fit. The estimator does not change."""
    params = Parameters.of(estimator)
    check_device(params.device)
    warn_of_former_name(params.threshold)
    is_warm_start = params.warm_start and estimator.__sklearn_is_fitted__()
    earlier = estimator.fitted_ if is_warm_start else None
    X, features = check_training_features(estimator, X, is_warm_start=is_warm_start)
    targets = with_criterion(check_targets(estimator, y), params.split_criterion)
    if not targets.has_classes and f1_kind(params.threshold) is None:
        given_decision(params.threshold, targets.labels.shape[1])  # one per label, if an array
    if targets.has_classes and not (
        np.isscalar(params.threshold) and params.threshold in (DEFAULT, GLOBAL)
    ):
        raise ValueError(
            "threshold must keep its default for multi-class Y, since the most probable class is "
            f"predicted; got {params.threshold!r}. Thresholds apply if Y is an indicator matrix."
        )
    if targets.has_classes and params.calibrate is not None:
        raise ValueError(
            f"calibrate must be None for multi-class Y; got {params.calibrate!r}. Use "
            "scikit-learn's CalibratedClassifierCV."
        )
    check_same_length(X, targets.labels.shape[0])
    weights = check_sample_weight(sample_weight, X.shape[0])
    weights = None if weights is None else rescale_weights(weights)
    hashes, row_fingerprint = _hashed(X, weights, params)
    check_class_weight(params.class_weight, is_tree=params.is_tree)
    targets = replace(targets, is_balanced=balances_labels(params, targets))
    class_weight = None if targets.is_balanced else class_weight_of_rows(params, targets)
    weights = weigh_classes(class_weight, targets, weights, is_tree=params.is_tree)
    rows = None if weights is None else np.flatnonzero(weights).astype(np.int32)
    n_drawable = X.shape[0] if rows is None else len(rows)
    check_oob_metric(params, targets)
    settings = grow_settings(params, X.shape, targets, n_drawable, earlier)
    has_all = earlier is not None and changes_nothing(params, earlier)
    if has_all:
        warn_of_no_new_trees()
    elif earlier is not None:
        check_warm_start(params, targets, row_fingerprint, earlier)
    data = _encoded(X, targets, settings, params.n_jobs, rows, weights, class_weight)
    problem = Problem(X, targets.labels, data, settings)
    return Prepared(params, problem, targets, features, hashes, row_fingerprint, earlier, has_all)


def _hashed(
    X: Matrix, weights: np.ndarray | None, params: Parameters
) -> tuple[np.ndarray, str | None]:
    """The hashes of rows, and the fingerprint of all."""
    parts = [X]
    if isinstance(X, np.ndarray):
        parts = [X[first : first + HASHED_ROWS] for first in range(0, X.shape[0], HASHED_ROWS)]
    n_jobs = params.n_jobs if len(parts) > 1 else 1
    hashes = np.concatenate(run_blocks(row_hashes, parts, n_jobs=n_jobs))
    return hashes, None if params.is_tree else fingerprint(X, weights, n_jobs)


def _encoded(
    X: Matrix,
    targets: Targets,
    settings: GrowSettings,
    n_jobs: int | None,
    rows: np.ndarray | None,
    weights: np.ndarray | None,
    class_weight: ClassWeight,
) -> TrainingData:
    is_balanced = class_weight == "balanced_subsample"
    is_all_oblique = settings.oblique is not None and settings.oblique.share == 1
    known = X if rows is None else X[rows]  # rows of weight 0 are ignored
    feature_map = None
    if settings.oblique is not None:
        feature_map = FeatureMap.learn(known, n_jobs, by_value=not targets.is_classification)
    is_transformed = isinstance(settings.projection, TransformerProjection)
    labels = targets.labels
    if targets.is_balanced and targets.criterion.allows_projection:
        labels = weighted_labels(targets.class_labels, balanced_label_weights(targets.class_labels))
    outputs = search_outputs(
        labels,
        rows,
        may_scale=targets.criterion.allows_projection and not is_transformed,
        may_shift=targets.criterion.allows_shift,
        standardizes=settings.oblique is not None,
    )
    return TrainingData(
        X=None if is_all_oblique else encode(X, settings.random_cuts, n_jobs, settings.max_bins),
        labels=outputs.labels,
        label_exponent=outputs.exponent,
        criterion=targets.criterion,
        native_criterion=targets.native_criterion,
        # Zeros are expressed by `rows`; of the others, only ratios matter.
        sample_weight=None if weights is None or len(np.unique(weights[rows])) == 1 else weights,
        rows=rows,
        # A product over many labels is so uneven that a bag would have a handful of rows.
        draws_by_weight=targets.has_classes
        or not isinstance(class_weight, str | dict | list)
        or is_balanced,
        balance=partial(balance_bag, targets) if is_balanced else None,
        feature_map=feature_map,
        oblique_rows=None if feature_map is None else feature_map.transform(X, n_jobs),
    )


def check_targets(estimator: BaseEstimator, y: MatrixLike) -> Targets:
    check = check_class_targets if is_classifier(estimator) else check_real_targets
    return check(estimator, y)


def advance(random_state: RandomState) -> None:
    """Advance the user's random generator after a successful fit.

    `prepare` draws the seed from a copy, so that a fit that fails changes nothing.
    """
    if isinstance(random_state, np.random.RandomState):
        random_state.randint(LARGEST_SEED)
