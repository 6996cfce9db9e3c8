"""What forests have and single trees have not."""

from typing import ClassVar

from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.base import TreesEstimator
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import Forest


class ForestMixin(TreesEstimator):
    """Many trees, each of which is an estimator, too."""

    _tree_class: ClassVar[type[TreesEstimator]]

    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        check_is_fitted(self)
        return self._forest.n_trees

    @property
    def estimators_(self) -> list[TreesEstimator]:
        """The trees, each as a fitted single-tree estimator on the forest's own arrays."""
        check_is_fitted(self)
        return [self._single_tree(index) for index in range(self._forest.n_trees)]

    def _single_tree(self, index: int) -> TreesEstimator:
        tree = self._tree_class()
        ours, theirs = self.get_params(deep=False), tree.get_params(deep=False)
        same = {name: ours[name] for name in ours if name in theirs and ours[name] is not None}
        is_oblique = self._settings.is_oblique(index)
        tree.set_params(**same, splitter="oblique" if is_oblique else self._splitter)
        tree.__dict__.update({name: v for name, v in vars(self).items() if name not in ours})
        forest = Forest.from_trees([self._forest.tree(index)])
        tree._keep(Fitted(forest, self._targets, self._settings))
        tree._is_relabelled = self._is_relabelled
        tree._number = self._settings.projection_stream(index)
        return tree
