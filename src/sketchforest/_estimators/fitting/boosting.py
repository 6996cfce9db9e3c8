"""Fitting by boosting: from the input to the fitted model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from sketchforest._boosting.binning import bin_features
from sketchforest._boosting.loop import BoostData, Progress, boost, measure
from sketchforest._boosting.model import (
    BoostedFitted,
    BoostedPredictor,
    join_trees,
    without_rows,
)
from sketchforest._boosting.scores import Scores, check_scores_fit, initial_output
from sketchforest._boosting.settings import BoostSettings
from sketchforest._estimators.constructors import ClassWeight
from sketchforest._estimators.fitting.class_weight import check_class_weight, weigh_classes
from sketchforest._estimators.fitting.preparation import check_targets
from sketchforest._estimators.fitting.settings import draw_seed
from sketchforest._estimators.fitting.validation import (
    FeatureNames,
    check_same_length,
    check_sample_weight,
    check_training_features,
)
from sketchforest._estimators.fitting.warm_start import fingerprint
from sketchforest._estimators.parameters import n_features_sampled, resolve_n_rows
from sketchforest._estimators.predicting.decisions import f1_kind, given_decision
from sketchforest._trees.model import Labels, SparseRows
from sketchforest._trees.predict import find_leaves
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.random import SHARED, Purpose, generator
from sketchforest._trees.targets import Targets
from sketchforest._utils.progress import stage, watched
from sketchforest._utils.row_hashes import row_hashes
from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.projection import (
    Projection,
    TransformerProjection,
    resolve_n_components,
    resolve_projection,
)

# As many gradients as fill a row of eight numbers with its weight and its count: docs/guide.
DEFAULT_N_COMPONENTS = 6
# With early_stopping="auto", and rows whose training loss is computed, as in scikit-learn.
MANY_ROWS = MOST_SCORED = 10_000


@dataclass(frozen=True)
class _Prepared:
    """The validated input of a fit, without rows of weight 0."""

    X: Matrix
    features: FeatureNames
    targets: Targets
    weights: np.ndarray | None
    fingerprint: str


def fit_boosting(
    estimator: BaseEstimator, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike
) -> BoostedFitted:
    """The fitted model. The estimator does not change."""
    is_warm_start = estimator.warm_start and estimator.__sklearn_is_fitted__()
    earlier = estimator.fitted_ if is_warm_start else None
    return _boosted(estimator, _prepare(estimator, X, y, sample_weight, earlier), earlier)


def _prepare(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: MatrixLike,
    sample_weight: WeightsLike,
    earlier: BoostedFitted | None,
) -> _Prepared:
    checked, features = check_training_features(estimator, X, is_warm_start=earlier is not None)
    targets = check_targets(estimator, y)
    check_scores_fit(targets.labels.shape)
    check_same_length(checked, targets.labels.shape[0])
    weights = check_sample_weight(sample_weight, checked.shape[0])
    if is_classifier(estimator):
        _check_threshold(estimator.threshold, targets)
        weights = _times_class_weights(estimator.class_weight, targets, weights)
    rows = None if weights is None else np.flatnonzero(weights)
    if rows is not None and len(rows) < checked.shape[0]:
        assert weights is not None
        checked, weights = checked[rows], weights[rows]
        targets = replace(targets, labels=_rows_of(targets.labels, rows))
    if weights is not None:
        weights = weights / weights.mean()
    Y = targets.labels if isinstance(targets.labels, np.ndarray) else targets.labels.to_csr()
    known = fingerprint(checked, weights) + fingerprint(Y, None)
    if earlier is not None:
        _check_warm_start(estimator, known, earlier)
    return _Prepared(checked, features, targets, weights, known)


def _rows_of(labels: Labels, rows: np.ndarray) -> Labels:
    if isinstance(labels, np.ndarray):
        return labels[rows]
    return SparseRows.from_csr(labels.to_csr()[rows])


def _times_class_weights(
    class_weight: ClassWeight, targets: Targets, weights: np.ndarray | None
) -> np.ndarray | None:
    check_class_weight(class_weight, is_tree=True)
    if isinstance(class_weight, str) and targets.is_indicator:
        raise ValueError(
            "class_weight must be None or dicts for many labels in boosting, where a row has one "
            f"weight for all of them; got {class_weight!r}. Use a forest, or lower thresholds."
        )
    return weigh_classes(class_weight, targets, weights, is_tree=False)


def _check_threshold(threshold: Any, targets: Targets) -> None:
    if f1_kind(threshold) is not None:
        raise ValueError(
            f"threshold must be a number, one per label or 'top-K' for boosting; got {threshold!r},"
            " which needs out-of-bag rows. Use a forest."
        )
    if not targets.has_classes:
        given_decision(threshold, targets.labels.shape[1])


def _check_warm_start(estimator: BaseEstimator, known: str, earlier: BoostedFitted) -> None:
    if known != earlier.fingerprint:
        raise ValueError(
            "With warm_start=True, X, Y and sample_weight must be those of the first fit, in the "
            "same order; got others. Use warm_start=False to fit from scratch."
        )
    if estimator.max_iter < earlier.forest.n_trees:
        raise ValueError(
            f"With warm_start=True, max_iter must be at least the {earlier.forest.n_trees} trees "
            f"already grown; got {estimator.max_iter}. Use warm_start=False to fit from scratch."
        )


def _boosted(
    estimator: BaseEstimator, prepared: _Prepared, earlier: BoostedFitted | None
) -> BoostedFitted:
    """The fitted model of the prepared rows."""
    targets, n_jobs = prepared.targets, estimator.n_jobs
    n_rows = prepared.X.shape[0]
    growing = _grow_settings(estimator, prepared.X.shape, targets)
    if earlier is not None:  # the random streams of the first fit go on
        growing = replace(growing, seed=earlier.settings.seed)
    boosting = _boost_settings(estimator, n_rows)
    drawn = generator(growing.seed, SHARED, Purpose.SCORED_ROWS).permutation(n_rows)
    validation, train = np.split(drawn.astype(np.uint32), [boosting.n_validation])
    scored = np.sort(train[:MOST_SCORED])
    validation, train = np.sort(validation), np.sort(train)
    output = initial_output(targets, train, prepared.weights)
    scores = Scores(targets, output, prepared.weights, n_jobs)
    data = BoostData(bin_features(prepared.X, n_jobs), scores, train, scored, validation, n_jobs)
    done = Progress([], [], [])
    measure(data, boosting, done)
    if earlier is not None:
        done = _again(data, prepared.X, boosting, earlier)
    with _shown(estimator.verbose, boosting.max_iter) as show:
        done = boost(data, growing, boosting, done, show).best
    forest, values = join_trees(done.trees, prepared.features.n_features, n_jobs)
    names = {} if targets.label_names is None else {"label_names_": targets.label_names}
    return BoostedFitted(
        BoostedPredictor.of(forest, values, output),
        without_rows(targets),
        growing,
        prepared.features.n_features,
        prepared.features.names,
        prepared.fingerprint,
        row_hashes(prepared.X),
        attached=names,
        input_columns=prepared.features.columns,
        stops_early=boosting.n_iter_no_change is not None,
        train_scores=np.array(done.train_scores),
        validation_scores=np.array(done.validation_scores),
    )


@contextmanager
def _shown(verbose: int, max_iter: int) -> Iterator[Callable[[Progress], None]]:
    """Show the number of trees and the loss that early stopping monitors."""
    if not verbose:
        yield lambda done: None
        return
    with watched(shows_ends=True), stage("boosting", max_iter) as shown:

        def show(done: Progress) -> None:
            *_, score = [None, *done.watched_scores]
            loss = "" if score is None else f", loss {-score:.5f}"
            shown.update(len(done.trees), name=f"boosting{loss}")

        yield show


def _again(data: BoostData, X: Matrix, boosting: BoostSettings, earlier: BoostedFitted) -> Progress:
    """Restore the scores of the earlier fit by repeating its additions."""
    forest, values = earlier.forest, earlier.boosted.leaf_values
    leaves = find_leaves(forest, X)
    n_known = forest.n_trees + 1  # trees after the best are grown again
    train_scores = earlier.train_scores[:n_known].tolist()
    done = Progress([], train_scores, earlier.validation_scores[:n_known].tolist())
    for number, first in enumerate(forest.first_leaves):
        tree = forest.tree(number)
        of_tree = values[first : first + tree.n_leaves].astype(np.float32)
        data.scores.add(np.ascontiguousarray(leaves[:, number]), of_tree)
        done.trees.append((tree, of_tree))
    return done


def _grow_settings(
    estimator: BaseEstimator, shape: tuple[int, int], targets: Targets
) -> GrowSettings:
    projection, m = _projection(estimator, targets.labels.shape[1])
    return GrowSettings(
        max_features=n_features_sampled(estimator.max_features, shape[1]),
        random_cuts=False,
        max_depth=estimator.max_depth,
        min_samples_split=2,
        min_samples_leaf=resolve_n_rows(estimator.min_samples_leaf, shape[0]),
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        max_leaf_nodes=estimator.max_leaf_nodes,
        n_draws=None,
        projection=projection,
        n_components=m,
        impurity_scale=1.0,
        seed=draw_seed(estimator.random_state),
    )


def _projection(estimator: BaseEstimator, n_outputs: int) -> tuple[Projection | None, int | None]:
    is_linear = estimator.leaf_fit == "linear" and n_outputs > 1
    projection = resolve_projection(
        "gaussian" if is_linear and estimator.projection is None else estimator.projection
    )
    if projection is None:
        return None, None
    looks_at_outputs = getattr(projection, "fits_labels", False)
    looks_at_outputs = looks_at_outputs and not hasattr(projection, "draw_by_norm")
    if isinstance(projection, TransformerProjection) or looks_at_outputs:
        raise ValueError(
            "projection must not depend on the outputs for boosting, which does not store all "
            f"gradients; got {estimator.projection!r}. Use 'gaussian' or None."
        )
    if is_linear:
        return projection, 1
    if estimator.n_components is not None:
        return projection, resolve_n_components(estimator.n_components, n_outputs)
    return (None, None) if n_outputs <= DEFAULT_N_COMPONENTS else (projection, DEFAULT_N_COMPONENTS)


def _boost_settings(estimator: BaseEstimator, n_rows: int) -> BoostSettings:
    stops = estimator.early_stopping
    stops = n_rows > MANY_ROWS if isinstance(stops, str) else bool(stops)
    fraction = estimator.validation_fraction
    n_validation = 0 if not stops or fraction is None else resolve_n_rows(fraction, n_rows)
    if n_validation >= n_rows:
        raise ValueError(
            f"validation_fraction must leave training rows; got {fraction!r} of {n_rows} rows."
            " Use a smaller fraction, or early_stopping=False."
        )
    return BoostSettings(
        max_iter=int(estimator.max_iter),
        learning_rate=float(estimator.learning_rate),
        l2_regularization=float(estimator.l2_regularization),
        subsample=float(estimator.subsample),
        leaf_fit=estimator.leaf_fit,
        n_validation=n_validation,
        n_iter_no_change=int(estimator.n_iter_no_change) if stops else None,
        tol=float(estimator.tol),
    )
