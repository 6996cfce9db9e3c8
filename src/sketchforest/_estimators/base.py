"""Base class of trees and forests: `fit`, and the attributes and methods of fitted models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from scipy import sparse

from sketchforest._estimators.estimator import Estimator
from sketchforest._estimators.fitting.growing import grow
from sketchforest._estimators.fitting.preparation import Prepared, advance, check_targets, prepare
from sketchforest._estimators.fitting.targets import with_criterion
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.parameters import Parameters
from sketchforest._estimators.predicting.decisions import for_n_labels
from sketchforest._estimators.predicting.training_rows import weights_of_rows
from sketchforest._trees.criterion import Criterion
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.hierarchy import leaf_numbers
from sketchforest._trees.model import Forest, Tree
from sketchforest._trees.outputs import draw_matrix
from sketchforest._trees.predict import ForestPredictor, leaves_of
from sketchforest._trees.problem import GrowSettings
from sketchforest._utils.typing import MatrixLike, WeightsLike

if TYPE_CHECKING:
    pass


@described_methods
class TreesEstimator(Estimator):
    """Trees grown on a projection of the outputs; their leaves keep training rows."""

    _splitter: ClassVar[str] = "best"  # of a forest; single trees have the parameter `splitter`
    _criteria: ClassVar[Mapping[str, Criterion]]  # values of the parameter `criterion`

    def _check_parameters(self) -> None:
        Parameters.of(self)

    def fit(self, X: MatrixLike, y: MatrixLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the estimator to training data."""
        prepared = prepare(self, X, y, sample_weight)
        if prepared.changes_nothing:
            return self
        return self._commit(prepared, *grow(prepared))

    def _commit(self, prepared: Prepared, settings: GrowSettings, trees: Sequence[Tree]) -> Self:
        """Publish the result of a fit. An error before that leaves the estimator as it was.

        `dask` and `tuning` call it, too, with trees that they grew.
        """
        targets, features = prepared.targets, prepared.features
        n_rows, n_jobs = targets.labels.shape[0], prepared.params.n_jobs
        forest = Forest.from_trees(trees, features.n_features, n_rows, n_jobs)
        fitted = Fitted(
            ForestPredictor.of(forest, targets),
            targets,
            settings,
            features.n_features,
            features.names,
            prepared.fingerprint,
            prepared.row_hashes,
            input_columns=features.columns,
        )
        names = {} if prepared.earlier is None else dict(prepared.earlier.attached)
        if targets.label_names is not None:
            names["label_names_"] = targets.label_names
        self._publish(self._scored(replace(fitted, attached=names), prepared))
        advance(prepared.params.random_state)
        return self

    def _scored(self, fitted: Fitted, prepared: Prepared) -> Fitted:
        """Add out-of-bag scores and thresholds; a single tree has none."""
        return fitted

    @property
    def n_components_(self) -> int | None:
        """Dimension of the projection that the trees were grown on.

        None if outputs are not projected, or by a transformer that chooses the dimension itself.
        """
        settings = self.fitted_.settings
        is_all_oblique = settings.oblique is not None and settings.oblique.share == 1
        return (settings.of_oblique_trees if is_all_oblique else settings).n_components

    @property
    def max_features_(self) -> int:
        """Number of features sampled at each split."""
        return self.fitted_.settings.max_features

    def apply(self, X: MatrixLike) -> np.ndarray:
        """Return the leaf that each row reaches in each tree.

        Nodes are numbered as in scikit-learn: a node, its left subtree, its right subtree.

        Returns
        -------
        (n_samples, n_trees) int array
        """
        fitted = self.fitted_
        leaves = leaves_of(fitted.forest, self._check_new(X, fitted), self._n_jobs)
        return leaf_numbers(fitted.forest, leaves)

    def leaf_weights(self, X: MatrixLike) -> sparse.csr_array:
        """Return the weight of each training row in each prediction.

        The weights of a prediction sum to 1, and ``leaf_weights(X) @ Y`` is the prediction of the
        trees, unless leaves predict medians. A sketch forest adds its linear part to that.

        Returns
        -------
        (n_samples, n_train) float64 CSR
        """
        fitted = self.fitted_
        return weights_of_rows(fitted, self._check_new(X, fitted), self._n_jobs)

    def relabel(self, Y_new: MatrixLike) -> Self:
        """Replace the labels of the training rows, without growing new trees.

        Returns a new estimator with the same trees, in time proportional to the non-zeros of
        `Y_new`. Out-of-bag scores are dropped. So are the linear part of a sketch forest and its
        corrections, which cannot be refitted without X: only the trees predict, all with the same
        weight. A threshold chosen for all labels is kept, and per-label thresholds are kept if the
        number of labels stays the same. Label names come from a data frame, or from `attach`.

        Parameters
        ----------
        Y_new : as Y for `fit`
            One row for each training row, with any number of outputs.

        Returns
        -------
        estimator
        """
        fitted = self.fitted_
        targets = with_criterion(check_targets(self, Y_new), fitted.targets.criterion)
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
            predictor=ForestPredictor.of(fitted.forest.with_weights(None), targets),
            targets=targets,
            f1_thresholds=None if thresholds is None else for_n_labels(thresholds, n_labels),
            is_relabelled=True,
            out_of_bag={},
            attached=attached,
        )
        return self._with(relabelled)

    def projection_matrix(self, tree: int = 0) -> np.ndarray | sparse.csr_array:
        """Return the projection matrix P of one tree.

        It is not stored, but drawn again from the random stream of the tree.

        Parameters
        ----------
        tree : int, default=0
            Index of the tree.

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
                "projection_matrix needs trees that were grown on a projection; these were grown "
                f"on the original outputs, with projection={self.projection!r}."
            )
        if fitted.is_relabelled:
            raise ValueError(
                "projection_matrix needs the labels that the trees were grown on; relabel replaced "
                "them. Call it on the estimator before relabel."
            )
        # A single tree taken from a forest keeps its random stream.
        stream = fitted.projection_stream
        stream = settings.projection_stream(tree) if stream is None else stream
        return draw_matrix(fitted.labels, settings, stream)
