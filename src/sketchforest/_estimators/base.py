"""What all estimators share: one way through fit, and what is known after it."""

import copy
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.growing import grow
from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.plain_state import PlainState
from sketchforest._estimators.preparation import (
    Prepared,
    advance,
    check_targets,
    prepare,
)
from sketchforest._estimators.targets import with_impurity
from sketchforest._estimators.thresholds import relabelled
from sketchforest._estimators.validation import are_texts, check_features, check_width
from sketchforest._saving.estimators import save_estimator
from sketchforest._saving.json_values import Json
from sketchforest._trees.fitted import Fitted, Targets
from sketchforest._trees.model import Forest, Labels, Tree
from sketchforest._trees.outputs import draw_matrix
from sketchforest._trees.predict import ForestPredictor, leaves_of
from sketchforest._trees.problem import GrowSettings
from sketchforest._trees.structure import leaf_numbers
from sketchforest._typing import Matrix, MatrixLike, WeightsLike

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

# What follows from the trees and their labels, and must go when one of the two changes.
DERIVED = ("oob_score_", "oob_decision_function_", "oob_prediction_", "_f1_thresholds", "tree_")
# What a file carried along for its readers; it is not true of other data.
ATTACHED = (
    "label_names_",
    "feature_names_",
    "vectorizer_",
    "notes_",
    "row_numbers_",
    "row_ids_",
    "row_texts_",
)


def joined(prepared: Prepared, trees: Sequence[Tree]) -> ForestPredictor:
    """The trees as one forest, which predicts."""
    forest = Forest.from_trees(trees, prepared.params.n_jobs)
    return ForestPredictor.of(forest, prepared.targets)


def weights_of_rows(model: "TreesEstimator", checked: Matrix) -> sparse.csr_array:
    """What `leaf_weights` gives for rows that are checked already, whose names are gone."""
    predictor = ForestPredictor.of_training_rows(model._forest, model._labels.shape[0])
    return predictor.average_sparse(checked, model._n_jobs, np.float64)


class TreesEstimator(PlainState):
    """Trees grown on a projection of the outputs; their leaves keep training rows."""

    _splitter: ClassVar[str] = "best"  # of a forest; a single tree has it as a parameter
    _criteria: ClassVar[tuple[str, ...]]  # that splits may be searched by
    _forest: Forest
    _targets: Targets
    _settings: GrowSettings
    _fingerprint: str | None
    _predictor: ForestPredictor
    _is_relabelled: bool

    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : (n_samples, n_features) array, scipy sparse matrix or data frame
            NaN means missing.
        y : (n_samples, n_outputs) array, scipy sparse matrix or data frame, or (n_samples,) array
            The labels Y. A classifier takes an indicator matrix of zeros and ones, one class a row,
            or several columns of classes; a regressor takes numbers.
        sample_weight : (n_samples,) array, optional
            A weight of 0 leaves a row out.

        Returns
        -------
        self
        """
        prepared = prepare(self, X, y, sample_weight)
        if prepared.changes_nothing:
            return self
        return self._commit(prepared, *grow(prepared))

    def _commit(
        self,
        prepared: Prepared,
        settings: GrowSettings,
        trees: Sequence[Tree],
        predictor: ForestPredictor | None = None,
    ) -> Self:
        """Makes the result of a fit this estimator's own: all of it, or after an error nothing. The
        predictor is of these trees, where one was made before."""
        predictor = predictor or joined(prepared, trees)
        fitted = Fitted(predictor.forest, prepared.targets, settings, prepared.fingerprint)
        if prepared.earlier is None:
            for name in (*ATTACHED, "feature_names_in_"):
                self.__dict__.pop(name, None)
        self._keep(fitted, predictor)
        self.n_features_in_ = prepared.features.n_features
        if prepared.features.names is not None:
            self.feature_names_in_ = prepared.features.names
        advance(prepared.params.random_state)
        return self

    def _keep(self, fitted: Fitted, predictor: ForestPredictor | None = None) -> None:
        """Makes the trees and the labels of their training rows those of this estimator."""
        for name in DERIVED:
            self.__dict__.pop(name, None)
        self._forest, self._targets, self._settings = fitted.forest, fitted.targets, fitted.settings
        self._fingerprint = fitted.fingerprint
        self._predictor = predictor or ForestPredictor.of(fitted.forest, fitted.targets)
        self._is_relabelled = False
        self.n_outputs_ = fitted.targets.n_outputs
        if fitted.targets.label_names is not None:
            self.label_names_ = fitted.targets.label_names

    @property
    def n_components_(self) -> int | None:
        """Dimension of the projection that the trees were grown on; None: the outputs themselves,
        or a transformer that has its own."""
        check_is_fitted(self)
        oblique = self._settings.oblique
        is_all_oblique = oblique is not None and oblique.share == 1
        settings = self._settings.of_oblique_trees if is_all_oblique else self._settings
        return settings.n_components

    @property
    def max_features_(self) -> int:
        """Number of features drawn at each split."""
        check_is_fitted(self)
        return self._settings.max_features

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) mean over the trees of each feature's share in the decrease of impurity,
        in the space that the splits were searched in: the projected one, where outputs are
        projected."""
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        used, shares = self._forest.used_features()
        importances[used] = shares
        return importances

    def apply(self, X: MatrixLike) -> np.ndarray:
        """(n_samples, n_trees) number of the leaf of each row in each tree, where nodes are counted
        as scikit-learn counts them: a node, what is on its left, what is on its right.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        (n_samples, n_trees) int array
        """
        checked = self._check_new(X)
        return leaf_numbers(self._forest, leaves_of(self._forest, checked, self._n_jobs))

    def leaf_weights(self, X: MatrixLike) -> sparse.csr_array:
        """(n_samples, n_train) CSR: how much each training row contributes to each prediction.

        Rows sum to 1, and ``leaf_weights(X) @ Y`` is the prediction, unless leaves predict medians.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        (n_samples, n_train) float64 CSR
        """
        return weights_of_rows(self, self._check_new(X))

    def relabel(self, Y_new: MatrixLike) -> Self:
        """The same trees with other labels on the same training rows, as a new estimator.

        `Y_new` has a row for each training row, and any number of outputs. Nothing is grown, and no
        row is scored again: the threshold that was chosen for all labels stays, and those for each
        stay where there are as many labels as before. A data frame names its labels; else give
        names to `attach`.

        Parameters
        ----------
        Y_new : as Y for `fit`, of the same training rows

        Returns
        -------
        estimator
            In O(non-zeros of Y_new).
        """
        check_is_fitted(self)
        targets = with_impurity(check_targets(self, Y_new), self._targets.impurity)
        n_train = self._labels.shape[0]
        if targets.labels.shape[0] != n_train:
            raise ValueError(
                f"Y_new must have one row for each of the {n_train} training rows; "
                f"got {targets.labels.shape[0]}. Use fit for other rows."
            )
        twin = copy.copy(self)
        twin.__dict__.pop("label_names_", None)
        twin._keep(Fitted(self._forest, targets, self._settings, self._fingerprint))
        if "_f1_thresholds" in vars(self) and targets.is_indicator:
            kept = relabelled(vars(self)["_f1_thresholds"], targets.labels.shape[1])
            twin.__dict__["_f1_thresholds"] = kept
        twin._is_relabelled = True
        return twin

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        compact: bool = False,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        vectorizer: "TfidfVectorizer | None" = None,
        notes: dict[str, Json] | None = None,
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
            What made X from text, kept in `vectorizer_`; its terms are the feature names. Its token
            pattern must be one that ends on every text: one character or class repeated without
            bound, no alternatives, as in the default.
        notes : dict of JSON values, optional
            Whatever else is worth knowing, kept in `notes_`.
        """
        Parameters.of(self)  # a file with others would be refused
        names = {"label_names": label_names, "feature_names": feature_names}
        given = {name: value for name, value in names.items() if value is not None}
        save_estimator(self, path, compact, given, vectorizer, notes)

    def projection_matrix(self, tree: int = 0) -> np.ndarray | sparse.csr_array:
        """(n_outputs, n_components) matrix P that tree number `tree` was grown on.

        It is not stored but drawn again from the tree's random stream.

        Parameters
        ----------
        tree : int, default=0

        Returns
        -------
        (n_outputs, n_components) float32 array or CSR
        """
        check_is_fitted(self)
        if not 0 <= tree < self._forest.n_trees:
            raise ValueError(f"tree must be from 0 to {self._forest.n_trees - 1}; got {tree!r}.")
        settings, directions = self._settings, self._forest.directions
        if directions is not None and directions.is_oblique[tree]:
            settings = settings.of_oblique_trees
        if settings.projection is None:
            raise ValueError(
                "projection_matrix is for trees grown on a projection; these were grown on the "
                f"original outputs, with projection={self.projection!r}."
            )
        if self._is_relabelled:
            raise ValueError(
                "projection_matrix belongs to the labels that the trees were grown on; these were "
                "replaced by relabel. Ask the estimator before relabel."
            )
        # A single tree that was taken from a forest has its number there.
        stream = vars(self).get("_number", settings.projection_stream(tree))
        return draw_matrix(self._labels, settings, stream)

    @property
    def _labels(self) -> Labels:
        return self._targets.labels

    @property
    def _n_jobs(self) -> int | None:
        return getattr(self, "n_jobs", None)

    def _check_new(self, X: MatrixLike) -> Matrix:
        """Rows as the trees want them; a text model makes them of texts."""
        check_is_fitted(self)
        vectorizer = vars(self).get("vectorizer_")
        if vectorizer is not None and are_texts(X):
            made: Matrix = vectorizer.transform(X)
            check_width(made.shape[1], self.n_features_in_)
            return made
        return check_features(self, X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags
