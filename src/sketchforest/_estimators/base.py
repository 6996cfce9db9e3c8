"""What all estimators share: one way through fit, and what is known after it."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags

from sketchforest._estimators.fitted_state import FittedState
from sketchforest._estimators.fitting.growing import grow
from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.fitting.preparation import (
    Prepared,
    advance,
    check_targets,
    prepare,
)
from sketchforest._estimators.fitting.targets import with_impurity
from sketchforest._estimators.predicting.thresholds import with_labels
from sketchforest._estimators.fitting.validation import are_texts, check_features, check_width
from sketchforest._saving.estimators import save_estimator
from sketchforest._saving.json_values import Json
from sketchforest._sparse import checked_if_sparse
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.hierarchy import leaf_numbers
from sketchforest._trees.model import Forest, Tree
from sketchforest._trees.outputs import draw_matrix
from sketchforest._trees.predict import ForestPredictor, Kept, leaves_of
from sketchforest._trees.problem import GrowSettings
from sketchforest._typing import Matrix, MatrixLike, WeightsLike

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer


def joined(prepared: Prepared, trees: Sequence[Tree]) -> ForestPredictor:
    """The trees as one forest, which predicts."""
    targets, n_features = prepared.targets, prepared.features.n_features
    n_rows = targets.labels.shape[0]
    forest = Forest.from_trees(trees, n_features, n_rows, prepared.params.n_jobs)
    return ForestPredictor.of(forest, targets)


def weights_of_rows(fitted: Fitted, checked: Matrix, n_jobs: int | None) -> sparse.csr_array:
    """What `leaf_weights` gives for rows that are checked already, whose names are gone."""
    predictor = ForestPredictor.of_training_rows(fitted.forest)
    return predictor.average_sparse(checked, n_jobs, Kept(np.float64))


class TreesEstimator(FittedState):
    """Trees grown on a projection of the outputs; their leaves keep training rows."""

    _splitter: ClassVar[str] = "best"  # of a forest; a single tree has it as a parameter
    _criteria: ClassVar[tuple[str, ...]]  # that splits may be searched by

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
        """Publishes the result of a fit; after an error, nothing has changed. The predictor is of
        these trees, where one was made before."""
        fitted = Fitted(
            predictor or joined(prepared, trees),
            prepared.targets,
            settings,
            prepared.features.n_features,
            prepared.features.names,
            prepared.fingerprint,
        )
        names = {} if prepared.earlier is None else dict(prepared.earlier.attached)
        if prepared.targets.label_names is not None:
            names["label_names_"] = prepared.targets.label_names
        self._publish(self._scored(replace(fitted, attached=names), prepared))
        advance(prepared.params.random_state)
        return self

    def _scored(self, fitted: Fitted, prepared: Prepared) -> Fitted:
        """With its out-of-bag scores and thresholds; a single tree has no out-of-bag rows."""
        return fitted

    @property
    def n_components_(self) -> int | None:
        """Dimension of the projection that the trees were grown on; None: the outputs themselves,
        or a transformer that has its own."""
        settings = self.fitted_.settings
        is_all_oblique = settings.oblique is not None and settings.oblique.share == 1
        return (settings.of_oblique_trees if is_all_oblique else settings).n_components

    @property
    def max_features_(self) -> int:
        """Number of features drawn at each split."""
        return self.fitted_.settings.max_features

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) mean over the trees of each feature's share in the decrease of impurity,
        in the space that the splits were searched in: the projected one, where outputs are
        projected."""
        fitted = self.fitted_
        importances = np.zeros(fitted.n_features)
        used, shares = fitted.forest.used_features
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
        fitted = self.fitted_
        leaves = leaves_of(fitted.forest, self._check_new(X, fitted), self._n_jobs)
        return leaf_numbers(fitted.forest, leaves)

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
        fitted = self.fitted_
        return weights_of_rows(fitted, self._check_new(X, fitted), self._n_jobs)

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
        fitted = self.fitted_
        targets = with_impurity(check_targets(self, Y_new), fitted.targets.impurity)
        n_train, n_labels = fitted.labels.shape[0], targets.labels.shape[1]
        if targets.labels.shape[0] != n_train:
            raise ValueError(
                f"Y_new must have one row for each of the {n_train} training rows; "
                f"got {targets.labels.shape[0]}. Use fit for other rows."
            )
        thresholds = fitted.f1_thresholds if targets.is_indicator else None
        attached = {name: v for name, v in fitted.attached.items() if name != "label_names_"}
        if targets.label_names is not None:
            attached["label_names_"] = targets.label_names
        relabelled = replace(
            fitted,
            predictor=ForestPredictor.of(fitted.forest, targets),
            targets=targets,
            f1_thresholds=None if thresholds is None else with_labels(thresholds, n_labels),
            is_relabelled=True,
            out_of_bag={},
            attached=attached,
        )
        return self._with(relabelled)

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
        fitted = self.fitted_
        n_trees, directions = fitted.forest.n_trees, fitted.forest.directions
        if not 0 <= tree < n_trees:
            raise ValueError(f"tree must be from 0 to {n_trees - 1}; got {tree!r}.")
        settings = fitted.settings
        if directions is not None and directions.is_oblique[tree]:
            settings = settings.of_oblique_trees
        if settings.projection is None:
            raise ValueError(
                "projection_matrix is for trees grown on a projection; these were grown on the "
                f"original outputs, with projection={self.projection!r}."
            )
        if fitted.is_relabelled:
            raise ValueError(
                "projection_matrix belongs to the labels that the trees were grown on; these were "
                "replaced by relabel. Ask the estimator before relabel."
            )
        # A single tree that was taken from a forest has its stream there.
        stream = fitted.projection_stream
        stream = settings.projection_stream(tree) if stream is None else stream
        return draw_matrix(fitted.labels, settings, stream)

    @property
    def _n_jobs(self) -> int | None:
        return getattr(self, "n_jobs", None)

    def _check_new(self, X: MatrixLike, fitted: Fitted) -> Matrix:
        """Rows as these trees want them; a text model makes them of texts."""
        vectorizer = fitted.attached.get("vectorizer_")
        if vectorizer is not None and are_texts(X):
            made: Matrix = checked_if_sparse("X", vectorizer.transform(X))
            check_width(made.shape[1], fitted.n_features)
            return made
        return check_features(self._with(fitted), X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags
