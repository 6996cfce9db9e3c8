"""Methods and attributes of forests."""

import os
from collections.abc import Iterator
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.fitting.blending import fit_blend
from sketchforest._estimators.fitting.checkpoints import checkpointed
from sketchforest._estimators.fitting.growing import grow
from sketchforest._estimators.fitting.out_of_bag import Attributes, oob_attributes
from sketchforest._estimators.fitting.preparation import Prepared, prepare
from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.tree_list import TreeListMixin
from sketchforest._trees.bag import drawn_rows
from sketchforest._trees.calibration import Calibration
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.hierarchy import decision_paths
from sketchforest._trees.predict import leaves_of
from sketchforest._trees.targets import F1Thresholds
from sketchforest._utils.typing import MatrixLike, WeightsLike


@described_methods
class ForestMixin(TreeListMixin):
    """A sequence of trees, each a fitted estimator."""

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: WeightsLike = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the forest to training data.

        Parameters
        ----------
        checkpoint_dir : str or path, optional
            A folder that keeps each finished tree until the fit is complete. If the process dies,
            call fit again with the same data and parameters: it continues from there, and the
            result is identical. Other data or parameters are refused.
        """
        of_fit = prepare(self, X, y, sample_weight)
        if of_fit.changes_nothing:
            return self
        with checkpointed(checkpoint_dir, of_fit) as (prepared, keep):
            return self._commit(prepared, *grow(prepared, keep))

    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        return self.fitted_.forest.n_trees

    @property
    def estimator(self) -> TreesEstimator:
        """An unfitted tree of the class in the forest, with default parameters."""
        return self._tree_class(splitter=self._splitter)

    @property
    def estimator_(self) -> TreesEstimator:
        """An unfitted tree with the parameters of the trees in the forest."""
        check_is_fitted(self)
        return self._tree_class(**self._tree_params())

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The indices of the rows drawn for each tree, int32, repeated if drawn repeatedly."""
        fitted = self.fitted_
        forest, settings = fitted.forest, fitted.settings
        trees = enumerate(forest.trees())
        return [drawn_rows(tree, settings, number, forest.n_rows) for number, tree in trees]

    @property
    def _n_samples_bootstrap(self) -> int | None:
        """Number of rows drawn for each tree, under the name that scikit-learn's forests use."""
        return self.fitted_.settings.n_draws

    def _scored(self, fitted: Fitted, prepared: Prepared) -> Fitted:
        params, targets, problem = prepared.params, prepared.targets, prepared.problem
        predictor, ridge = fit_blend(params, targets, problem, fitted)
        if predictor is not fitted.predictor:
            fitted = fitted.but(predictor=predictor)
        found = oob_attributes(params, targets, problem, predictor, ridge)
        return self._set_oob_score_and_attributes(fitted, *found) if any(found) else fitted

    def _set_oob_score_and_attributes(
        self,
        fitted: Fitted,
        found: Attributes,
        thresholds: F1Thresholds | None,
        calibration: Calibration | None,
    ) -> Fitted:
        """Named as in scikit-learn, whose tests look for it."""
        return fitted.but(out_of_bag=found, f1_thresholds=thresholds, calibration=calibration)

    def __len__(self) -> int:
        return self.n_estimators_

    def __getitem__(self, index: int) -> TreesEstimator:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[TreesEstimator]:
        return iter(self.estimators_)

    def decision_path(self, X: MatrixLike) -> tuple[sparse.csr_array, np.ndarray]:
        """Return the nodes that each row passes through, marked with 1.

        Returns
        -------
        indicator : (n_samples, n_nodes) CSR
            The nodes of all trees, one tree after the other.
        n_nodes_ptr : (n_trees + 1,) array
            The first column of each tree.
        """
        fitted = self.fitted_
        leaves = leaves_of(fitted.forest, self._check_new(X, fitted), self._n_jobs)
        return decision_paths(fitted.forest, leaves)
