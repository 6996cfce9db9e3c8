"""What forests and single trees, classifiers and regressors share."""

import copy
import math
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sketchforest import _core
from sketchforest._estimators.class_weight import check_class_weight, row_weights
from sketchforest._estimators.thresholds import DEFAULT, is_out_of_bag, n_best
from sketchforest._estimators.validation import (
    check_class_targets,
    check_features,
    check_k,
    check_parameters,
    check_real_targets,
    check_same_length,
    check_sample_weight,
    unchanged_on_error,
)
from sketchforest._trees import predict as _predict
from sketchforest._trees.encoding import encode
from sketchforest._trees.grow import (
    GrowSettings,
    Problem,
    TrainingData,
    draw_matrix,
    grow_one,
    share_outputs,
)
from sketchforest._trees.model import Forest, Labels, SparseRows, Tree
from sketchforest._trees.parallel import run_all
from sketchforest._trees.random import SHARED
from sketchforest.metrics import r2
from sketchforest.projection import TransformerProjection, resolve_n_components, resolve_projection

# What follows from the trees and their labels, and must go when one of the two changes.
DERIVED = ("oob_score_", "oob_decision_function_", "oob_prediction_", "thresholds_")
# What a file carried along for its readers; it is not true of other data.
ATTACHED = ("label_names_", "feature_names_", "vectorizer_", "notes_")


class TreeEnsemble(BaseEstimator):
    """Trees grown on a projection of the outputs; their leaves keep training rows."""

    _has_random_cuts: bool = False  # extra-trees: one random cut a feature
    _sparse_labels: bool
    _labels: Labels
    _forest: Forest
    _source: _predict.Source
    _settings: GrowSettings

    # ---- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : (n_samples, n_features) array, scipy sparse matrix or data frame
            NaN means missing.
        y : (n_samples, n_outputs) array, scipy sparse matrix or data frame, or (n_samples,) array
            The labels Y. A classifier takes an indicator matrix of zeros and ones, or one class a
            row; a regressor takes numbers.
        sample_weight : (n_samples,) array, optional
            A weight of 0 leaves a row out.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            problem = self._take_problem(X, y, sample_weight)
            settings, first_trees = self._settle(problem)
            trees = self._grow(problem, settings, first_trees)
            self._take_trees(problem, settings, Forest.from_trees(trees, self._jobs()))
            self._name_labels(y)
            self._after_fit(problem.X, problem.data.rows)
        return self

    def _take_problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """What is given to a fit, checked and encoded; remembers its names and kinds."""
        check_parameters(self.get_params(deep=False))
        X = check_features(self, X, reset=not self._goes_on())
        if not self._goes_on():
            for name in ATTACHED:
                self.__dict__.pop(name, None)
        labels = self._take_targets(y)
        check_same_length(X, labels)
        weights = check_sample_weight(sample_weight, X.shape[0])
        weights, balance = self._weigh_classes(labels, weights)
        rows = None if weights is None else np.flatnonzero(weights).astype(np.int32)
        settings = self._grow_settings(X, labels, X.shape[0] if rows is None else len(rows))
        data = TrainingData(
            encode(X, self._has_random_cuts, self._jobs()),
            _search_outputs(labels, rows),
            weights,
            rows,
            balance,
        )
        return Problem(X, labels, data, settings)

    def _settle(self, problem: Problem) -> tuple[GrowSettings, list[Tree]]:
        """How trees are grown, and those that are there already."""
        return problem.settings, []

    def _take_trees(self, problem: Problem, settings: GrowSettings, forest: Forest) -> None:
        self._keep(forest, problem.labels)
        self._settings, self._is_relabelled = settings, False

    def _keep(self, forest: Forest, labels: Labels) -> None:
        """Makes the trees and the labels of their training rows those of this estimator."""
        self._forest, self._labels = forest, labels
        self._source = _predict.Source(forest, labels)
        self.n_outputs_ = self._count_outputs()
        for name in DERIVED:
            self.__dict__.pop(name, None)

    def _take_targets(self, Y: Any) -> Labels:
        """The labels as they are stored; remembers their kind."""
        raise NotImplementedError

    def _count_outputs(self) -> int:
        return self._labels.shape[1]

    def _n_trees(self) -> int:
        return 1

    def _n_draws(self, n_drawable: int) -> int | None:
        return None

    def _goes_on(self) -> bool:
        """Whether trees are added to those that are there."""
        return False

    def _after_fit(self, X: Any, rows: np.ndarray | None) -> None:
        pass

    def _weigh_classes(
        self, labels: Labels, weights: np.ndarray | None
    ) -> tuple[np.ndarray | None, Any]:
        """The weights of the rows with those of their classes, and how to balance each tree."""
        return weights, None

    def _grow_settings(self, X: Any, labels: Labels, n_drawable: int) -> GrowSettings:
        projection = resolve_projection(self.projection)
        n_components = None
        if isinstance(projection, TransformerProjection):
            if not self._sparse_labels:
                projection = TransformerProjection(_fed_densely(projection.transformer))
        elif projection is not None:
            n_components = resolve_n_components(self._value("n_components"), labels.shape[1])
            if n_components is None:
                projection = None
        return GrowSettings(
            max_features=n_features_drawn(self._value("max_features"), X.shape[1]),
            random_cuts=self._has_random_cuts,
            max_depth=None if self.max_depth is None else int(self.max_depth),
            min_samples_split=max(2, _count(self.min_samples_split, n_drawable)),
            min_samples_leaf=_count(self.min_samples_leaf, n_drawable),
            min_weight_fraction_leaf=float(self.min_weight_fraction_leaf),
            min_impurity_decrease=float(self.min_impurity_decrease),
            max_leaf_nodes=None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            n_draws=self._n_draws(n_drawable),
            projection=projection,
            n_components=n_components,
            impurity_scale=self._impurity_scale(labels.shape[1]),
            seed=self._seed(),
            with_replacement=bool(getattr(self, "bootstrap", True)),
        )

    def _value(self, name: str) -> Any:
        """The parameter, or what stands for "auto" until that is chosen."""
        return getattr(self, name)

    def _impurity_scale(self, n_outputs: int) -> float:
        """From the variance summed over outputs to scikit-learn's impurity."""
        return 1 / n_outputs

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _grow(self, problem: Problem, settings: GrowSettings, first: list[Tree]) -> list[Tree]:
        """All trees; those of `first` are there already."""
        return first + self._grow_trees(problem.data, settings, range(len(first), self._n_trees()))

    def _grow_trees(self, data: TrainingData, settings: GrowSettings, indices: range) -> list:
        stop = _core.StopFlag()
        shared = share_outputs(data, settings, self._shares_projection())
        return run_all(
            partial(_grow_numbered, data, settings, shared, stop),
            indices,
            n_jobs=self._jobs(),
            description="growing trees",
            verbose=getattr(self, "verbose", 0),
            on_abort=stop.set,
        )

    # ---- what is known after fitting

    @property
    def n_components_(self) -> int | None:
        """Dimension of the projection that the trees were grown on; None: the outputs themselves,
        or a transformer that has its own."""
        check_is_fitted(self)
        return self._settings.n_components

    @property
    def max_features_(self) -> int:
        """Number of features drawn at each split."""
        check_is_fitted(self)
        return self._settings.max_features

    def apply(self, X: Any) -> np.ndarray:
        """(n_samples, n_trees) number of the leaf, within its tree, of each row."""
        X = self._check_new(X)
        return _predict.apply(self._forest, X, self._jobs())

    def leaf_weights(self, X: Any) -> sparse.csr_array:
        """(n_samples, n_train) CSR: how much each training row contributes to each prediction.

        Rows sum to 1, and ``leaf_weights(X) @ Y`` is the prediction.
        """
        X = self._check_new(X)
        source = _predict.identity_source(self._forest, self._labels.shape[0])
        return _predict.predict_csr(source, X, self._jobs(), np.float64)

    def relabel(self, Y_new: Any) -> Self:
        """The same trees with other labels on the same training rows, as a new estimator.

        `Y_new` has a row for each training row, and any number of outputs. Nothing is grown.
        """
        check_is_fitted(self)
        twin = copy.copy(self)
        labels = twin._take_targets(Y_new)
        n_train = self._labels.shape[0]
        if labels.shape[0] != n_train:
            raise ValueError(
                f"Y_new must have one row for each of the {n_train} training rows; "
                f"got {labels.shape[0]}. Use fit for other rows."
            )
        twin._keep(self._forest, labels)
        twin._is_relabelled = True
        twin.__dict__.pop("label_names_", None)
        twin._name_labels(Y_new)
        return twin

    def _name_labels(self, Y: Any) -> None:
        """Keeps the names of the columns, where Y is a data frame that has them."""
        names = list(getattr(Y, "columns", []))
        if len(names) == self._labels.shape[1] and all(isinstance(name, str) for name in names):
            self.label_names_ = np.array(names)

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) share of each feature in the decrease of impurity, in the space that the
        splits were searched in: the projected one, where outputs are projected."""
        check_is_fitted(self)
        gains = self._forest.feature_gains(self.n_features_in_)
        total = gains.sum()
        return gains.sum(axis=0) / total if total > 0 else gains.sum(axis=0)

    def save(
        self,
        path: Any,
        *,
        compact: bool = False,
        label_names: Any = None,
        feature_names: Any = None,
        vectorizer: Any = None,
        notes: Any = None,
    ) -> None:
        """Write the model to a file, for `sketchforest.load_forest`.

        The file holds arrays and JSON, nothing that is executed. It is written beside the target
        and moved there when it is whole.

        Parameters
        ----------
        path : str or path
        compact : bool, default=False
            Leave out what predictions do not need: the gain of each split, and with them
            `feature_importances_`.
        label_names, feature_names : sequences of str, optional
            Kept for readers of the file, who find them in `label_names_` and `feature_names_`.
        vectorizer : TfidfVectorizer, optional
            What made X from text, kept in `vectorizer_`; its terms are the feature names.
        notes : dict of JSON values, optional
            Whatever else is worth knowing, kept in `notes_`.
        """
        from sketchforest._saving.estimators import save_estimator

        names = {"label_names": label_names, "feature_names": feature_names}
        given = {name: value for name, value in names.items() if value is not None}
        save_estimator(self, path, compact, given, vectorizer, notes)

    def projection_matrix(self, tree: int = 0) -> np.ndarray | sparse.csr_array:
        """(n_outputs, n_components) matrix P that tree number `tree` was grown on.

        It is not stored but drawn again from the tree's random stream.
        """
        check_is_fitted(self)
        if not 0 <= tree < self._forest.n_trees:
            raise ValueError(f"tree must be from 0 to {self._forest.n_trees - 1}; got {tree!r}.")
        if self._settings.projection is None:
            raise ValueError(
                "projection_matrix is for trees grown on a projection; these were grown on the "
                f"original outputs, with projection={self.projection!r}."
            )
        if self._is_relabelled:
            raise ValueError(
                "projection_matrix belongs to the labels that the trees were grown on; these were "
                "replaced by relabel. Ask the estimator before relabel."
            )
        return draw_matrix(self._labels, self._settings, self._address(tree))

    def _address(self, tree: int) -> int:
        """Whose random stream drew the projection of the tree."""
        return SHARED if self._shares_projection() else tree

    def _shares_projection(self) -> bool:
        return False

    def _averages(
        self,
        X: Any,
        dtype: type[np.floating],
        way_out: str,
        forget: sparse.csr_array | None = None,
    ) -> np.ndarray:
        _predict.check_fits_memory((X.shape[0], self._labels.shape[1]), dtype, way_out)
        return _predict.predict_dense(self._source, X, self._jobs(), dtype, forget)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _jobs(self) -> int | None:
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags


class LabelPredictor(ClassifierMixin, TreeEnsemble):
    """Multi-label, multi-class and binary classification."""

    _labels: SparseRows
    _classes: np.ndarray | None  # None: multi-label
    _is_tree: ClassVar[bool] = False
    threshold: Any = DEFAULT  # a parameter of the forests

    def _take_targets(self, Y: Any) -> SparseRows:
        targets = check_class_targets(self, Y)
        self._classes = targets.classes
        self._label_dtype, self._sparse_labels = targets.dtype, targets.is_sparse
        return targets.labels

    def _count_outputs(self) -> int:
        return 1 if self._classes is not None else self._labels.n_columns

    def _weigh_classes(
        self, labels: Any, weights: np.ndarray | None
    ) -> tuple[np.ndarray | None, Any]:
        check_class_weight(self.class_weight, is_tree=self._is_tree)
        if self.class_weight is None:
            return weights, None
        if self.class_weight == "balanced_subsample":
            return weights, partial(_balance_bag, labels, self._classes)
        present = None if weights is None else (weights > 0).astype(float)
        of_classes = row_weights(self.class_weight, labels, self._classes, present)
        product = of_classes if weights is None else weights * of_classes
        if not product.any():
            raise ValueError(
                "class_weight must leave a row with a weight above 0; got "
                f"{self.class_weight!r}, which leaves none."
            )
        return product, None

    def _impurity_scale(self, n_outputs: int) -> float:
        # Gini: over the classes 1 - sum p^2, the summed variance of their indicators; over the
        # labels the mean of 2 p (1 - p).
        return 1.0 if self._classes is not None else 2 / n_outputs

    @property
    def classes_(self) -> np.ndarray:
        """(n_classes,) classes, or for many labels (n_labels, 2) with [0, 1] for each."""
        check_is_fitted(self)
        if self._classes is not None:
            return self._classes
        return np.tile(np.array([0, 1], dtype=self._label_dtype), (self.n_outputs_, 1))

    @property
    def n_classes_(self) -> int | list[int]:
        """Number of classes, or for many labels a list with 2 for each."""
        check_is_fitted(self)
        return len(self._classes) if self._classes is not None else [2] * self.n_outputs_

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_samples, n_labels) float32 probability of each label, or (n_samples, n_classes).

        A result that is larger than the memory is refused: `predict_sparse` and `predict_topk`
        give what matters of it.
        """
        return self._probabilities(self._check_new(X))

    def _probabilities(self, X: Any, forget: sparse.csr_array | None = None) -> np.ndarray:
        dtype = np.float32 if self._classes is None else np.float64
        P = self._averages(X, dtype, "Use predict_sparse or predict_topk.", forget)
        return np.minimum(P, 1, out=P)  # which rounding may exceed, and log_loss then refuses

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`, of the same shape; -inf where that is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray | sparse.csr_array:
        """(n_samples, n_labels) indicators, sparse if fitted on sparse Y; or (n_samples,) classes.

        A label is predicted where its probability is above the threshold; of several most probable
        classes, the first.
        """
        X = self._check_new(X)
        if self._classes is not None:
            return self._classes[_predict.predict_largest(self._source, X, self._jobs())]
        k, above = self._decision()
        if k is None and not self._sparse_labels:
            return (self._probabilities(X) > above).astype(self._label_dtype)
        likely = self._likely_labels(X)
        likely.data = np.ones(likely.nnz, self._label_dtype)
        return likely if self._sparse_labels else likely.toarray()

    def _likely_labels(self, X: Any) -> sparse.csr_array:
        """(n_samples, n_labels) CSR, float32: the probabilities of labels that are predicted."""
        k, above = self._decision()
        return _predict.predict_csr(self._source, X, self._jobs(), np.float32, k, above)

    def _decision(self) -> tuple[int | None, Any]:
        """How many labels a row has at most, and the probability that each must exceed."""
        check_parameters({"threshold": self.threshold})
        if is_out_of_bag(self.threshold):
            if not hasattr(self, "thresholds_"):
                raise ValueError(
                    "threshold must be a number or 'top-K' where labels or threshold were changed "
                    f"after fit; got {self.threshold!r}. Fit again, or use set_params."
                )
            return None, self.thresholds_
        k = n_best(self.threshold)
        if k is None:
            return None, np.float32(self.threshold)
        return min(k, self._labels.n_columns), None

    def predict_sparse(self, X: Any, k: int | None = None) -> sparse.csr_array:
        """(n_samples, n_labels) CSR, float32, of the probabilities above zero, or of the k largest
        in each row."""
        X = self._check_new(X)
        if k is not None:
            k = check_k(k, self._labels.shape[1])
        return _predict.predict_csr(self._source, X, self._jobs(), np.float32, k)

    def predict_topk(self, X: Any, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """The k most probable labels and their probabilities, both (n_samples, k), best first.

        Labels are column numbers of Y, or classes where Y had one dimension. Equal probabilities
        come in order of label.
        """
        X = self._check_new(X)
        k = check_k(k, self._labels.shape[1])
        labels, scores = _predict.predict_best(self._source, X, self._jobs(), k)
        return (labels if self._classes is None else self._classes[labels]), scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class OutputPredictor(RegressorMixin, TreeEnsemble):
    """Regression on one or many real outputs."""

    def _take_targets(self, Y: Any) -> Labels:
        targets = check_real_targets(self, Y)
        self._is_vector = targets.is_vector
        self._sparse_labels = isinstance(targets.labels, SparseRows)
        return targets.labels

    def predict(self, X: Any) -> np.ndarray | sparse.csr_array:
        """(n_samples,) or (n_samples, n_outputs) means of the outputs, sparse if fitted on sparse
        Y."""
        X = self._check_new(X)
        if self._sparse_labels:
            return _predict.predict_csr(self._source, X, self._jobs(), np.float64)
        averages = self._averages(X, np.float64, "Predict fewer rows at a time.")
        return averages.ravel() if self._is_vector else averages

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination R2 of `predict(X)`, the mean over the outputs; Y may be
        sparse."""
        return r2(y, self.predict(X), sample_weight)


def _grow_numbered(
    data: TrainingData, settings: GrowSettings, shared: Any, stop: _core.StopFlag, index: int
) -> Any:
    return grow_one(data, settings, shared, index, stop)


def _search_outputs(labels: Labels, rows: np.ndarray | None) -> Labels:
    """What splits are searched on, or projected from: dense labels are moved towards zero, since
    floats keep more digits there and scores do not change, and made as narrow as they can be."""
    if not isinstance(labels, np.ndarray):
        return labels
    counted = labels if rows is None else labels[rows]
    mean, spread = counted.mean(axis=0), counted.std(axis=0)
    # Moved by a multiple of a power of two near the spread, integers keep sums without rounding,
    # and so ties between splits.
    grid = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=spread > 0)))
    is_far = np.abs(mean) > 4 * spread
    outputs = labels - np.where(is_far, grid * np.round(mean / grid), 0)
    with np.errstate(over="ignore"):
        narrow = outputs.astype(np.float32)
    return narrow if np.array_equal(narrow, outputs) else outputs


def _fed_densely(transformer: Any) -> Any:
    """The transformer of labels that were given dense, and are kept sparse."""
    return make_pipeline(FunctionTransformer(_to_dense, accept_sparse=True), transformer)


def _to_dense(Y: Any) -> np.ndarray:
    return Y.toarray() if sparse.issparse(Y) else Y


def _balance_bag(
    labels: SparseRows, classes: np.ndarray | None, rows: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    picked = SparseRows.from_csr(labels.to_csr()[rows])
    return row_weights("balanced", picked, classes, counts)


def n_features_drawn(max_features: Any, n_features: int) -> int:
    if max_features is None:
        return n_features
    if max_features == "auto":
        raise ValueError(
            "max_features must be 'sqrt', 'log2', an int, a fraction or None for a single tree; "
            "got 'auto', which is for forests."
        )
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, float | np.floating):
        return max(1, int(max_features * n_features))
    return min(int(max_features), n_features)


def _count(number: Any, n_rows: int) -> int:
    """A number of rows, given as such or as a fraction."""
    return math.ceil(number * n_rows) if isinstance(number, float | np.floating) else int(number)
