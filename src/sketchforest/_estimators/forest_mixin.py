"""What forests have and single trees have not."""

import os
from collections.abc import Iterator
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.fitting.checkpoints import checkpointed
from sketchforest._estimators.fitting.growing import grow
from sketchforest._estimators.fitting.out_of_bag import Attributes, oob_attributes
from sketchforest._estimators.fitting.preparation import Prepared, prepare
from sketchforest._estimators.inspection.to_sklearn import sklearn_twin
from sketchforest._estimators.tree_list import TreeListMixin
from sketchforest._trees.bag import drawn_rows
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.hierarchy import decision_paths
from sketchforest._trees.predict import leaves_of
from sketchforest._trees.targets import F1Thresholds
from sketchforest._typing import MatrixLike, WeightsLike


class ForestMixin(TreeListMixin):
    """Many trees, each of which is an estimator, too."""

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: WeightsLike = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
    ) -> Self:
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
        checkpoint_dir : str or path, optional
            A folder in which each tree is kept when it is finished, until all are. A fit that was
            killed, called again with the same data and parameters, goes on there and ends with the
            same bits; other data and parameters are refused.

        Returns
        -------
        self
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
        """A single tree of the kind that the forest grows, with no other parameter set."""
        return self._tree_class(splitter=self._splitter)

    @property
    def estimator_(self) -> TreesEstimator:
        """A single tree of the parameters that the forest's have, not fitted."""
        check_is_fitted(self)
        return self._tree_class(**self._tree_params())

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows that each tree was grown on, as int32 numbers, as often as it drew them."""
        fitted = self.fitted_
        forest, settings = fitted.forest, fitted.settings
        trees = enumerate(forest.trees())
        return [drawn_rows(tree, settings, number, forest.n_rows) for number, tree in trees]

    @property
    def _n_samples_bootstrap(self) -> int | None:
        """Rows drawn for each tree, under the name that readers of scikit-learn's forests know."""
        return self.fitted_.settings.n_draws

    def _scored(self, fitted: Fitted, prepared: Prepared) -> Fitted:
        found, thresholds = oob_attributes(
            prepared.params, prepared.targets, prepared.problem, fitted.forest_predictor
        )
        if not found and thresholds is None:
            return fitted
        return self._set_oob_score_and_attributes(fitted, found, thresholds)

    def _set_oob_score_and_attributes(
        self, fitted: Fitted, found: Attributes, thresholds: F1Thresholds | None
    ) -> Fitted:
        """By scikit-learn's name."""
        return fitted.but(out_of_bag=found, f1_thresholds=thresholds)

    def __len__(self) -> int:
        """Number of trees."""
        return self.n_estimators_

    def __getitem__(self, index: int) -> TreesEstimator:
        """A tree of `estimators_`."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[TreesEstimator]:
        """The trees of `estimators_`."""
        return iter(self.estimators_)

    def decision_path(self, X: MatrixLike) -> tuple[sparse.csr_array, np.ndarray]:
        """The nodes that each row comes through.

        (n_samples, nodes of all trees) CSR with 1 for them, and (n_trees + 1,) the column at which
        the nodes of each tree begin.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or data frame, or texts for a text model

        Returns
        -------
        paths : (n_samples, n_nodes) CSR
        first : (n_trees + 1,) array
        """
        fitted = self.fitted_
        leaves = leaves_of(fitted.forest, self._check_new(X, fitted), self._n_jobs)
        return decision_paths(fitted.forest, leaves)

    def to_sklearn(self) -> BaseEstimator:
        """The same trees as a fitted forest of scikit-learn, for tools that ask for one.

        They have the same nodes, and it predicts the same, where values of X are read as float32.
        Which rows a tree was grown on is not told. Refused for oblique trees, and where its dense
        tables of outputs do not fit into memory.

        Returns
        -------
        estimator of scikit-learn
        """
        return sklearn_twin(self._frozen())
