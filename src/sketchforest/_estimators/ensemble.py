"""What all forests share: bootstrap, warm start, out-of-bag scores, single trees."""

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from sketchforest._estimators.base import LabelPredictor, OutputPredictor, TreeEnsemble
from sketchforest._estimators.thresholds import DEFAULT, best_thresholds, is_out_of_bag
from sketchforest._selection.auto import (
    AUTO_STARTS,
    AUTO_TREES,
    choose_settings,
    grow_until_flat,
    keep_choices,
)
from sketchforest._selection.comparison import Race
from sketchforest._selection.out_of_bag import Criterion, Judge
from sketchforest._trees import predict as _predict
from sketchforest._trees.grow import GrowSettings, Problem, rows_of_share
from sketchforest._trees.model import Forest, Labels, SparseRows, Tree
from sketchforest.metrics import get_metric, lrap, r2
from sketchforest.tree import DecisionTreeClassifier, DecisionTreeRegressor


class ForestEnsemble(TreeEnsemble):
    def _n_trees(self) -> int:
        return int(self.n_estimators)

    def _grow_settings(self, X: Any, labels: Labels, n_drawable: int) -> GrowSettings:
        if isinstance(self.oob_score, str):
            self._check_oob_metric(labels.shape[1])
        return super()._grow_settings(X, labels, n_drawable)

    def _n_draws(self, n_drawable: int) -> int | None:
        if not self.bootstrap and self.max_samples is None:
            if is_out_of_bag(getattr(self, "threshold", None)):
                raise ValueError(
                    "threshold must be a number or 'top-K' where bootstrap=False; got "
                    f"{self.threshold!r}. Use bootstrap=True, or max_samples=0.8, to leave rows "
                    "out of each tree."
                )
            if self.oob_score:
                raise ValueError(
                    f"oob_score must be False where bootstrap=False; got {self.oob_score!r}. Use "
                    "bootstrap=True, or max_samples=0.8, to leave rows out of each tree."
                )
            return None
        if self.max_samples is None:
            return n_drawable
        if isinstance(self.max_samples, float | np.floating):
            return rows_of_share(self.max_samples, n_drawable)
        if self.max_samples > n_drawable:
            raise ValueError(
                f"max_samples must be at most the number of rows, {n_drawable}; "
                f"got {self.max_samples}. Use None for all of them."
            )
        return int(self.max_samples)

    def _seed(self) -> int:
        # Later trees of a warm start take the next places of the first one's streams.
        return self._settings.seed if self._goes_on() else super()._seed()

    def _goes_on(self) -> bool:
        return bool(self.warm_start) and "_forest" in vars(self)

    def _value(self, name: str) -> Any:
        value = getattr(self, name)
        return AUTO_STARTS[name] if isinstance(value, str) and value == "auto" else value

    def _settle(self, problem: Problem) -> tuple[GrowSettings, list[Tree]]:
        open_names = [name for name in AUTO_STARTS if getattr(self, name) == "auto"]
        if self._goes_on():
            self._check_goes_on(problem.labels.shape)
            return keep_choices(problem.settings, self._settings, open_names), self._forest.trees()
        if not open_names:
            return problem.settings, []
        return choose_settings(self._race(problem), open_names)

    def _check_goes_on(self, shape: tuple[int, int]) -> None:
        n_old = self._forest.n_trees
        if self._labels.shape != shape:
            raise ValueError(
                "X and Y must be those of the first fit where warm_start=True, of "
                f"{self._labels.shape[0]} rows and {self._labels.shape[1]} outputs or classes; "
                f"got {shape[0]} and {shape[1]}. Use warm_start=False to fit anew."
            )
        if self.n_estimators == "auto":
            return
        if self.n_estimators < n_old:
            raise ValueError(
                f"n_estimators must be at least the {n_old} trees already grown where "
                f"warm_start=True; got {self.n_estimators}. Use warm_start=False to fit anew."
            )
        if self.n_estimators == n_old:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not grow new trees.",
                stacklevel=4,  # the call of fit
            )

    def _grow(self, problem: Problem, settings: GrowSettings, first: list[Tree]) -> list[Tree]:
        if self.n_estimators == "auto":
            return grow_until_flat(self._race(problem), settings, first)
        return super()._grow(problem, settings, first)

    def _race(self, problem: Problem) -> Race:
        """To compare settings by rows that trees did not see."""
        n_target = AUTO_TREES if self.n_estimators == "auto" else int(self.n_estimators)
        judge = Judge(problem, self._criterion(), problem.settings.seed)
        return Race(judge, problem, n_target, self._shares_projection(), self.n_jobs)

    def _criterion(self) -> Criterion:
        """What "auto" values are chosen by."""
        raise NotImplementedError

    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        check_is_fitted(self)
        return self._forest.n_trees

    def _after_fit(self, X: Any, rows: np.ndarray | None) -> None:
        if not (self.oob_score or self._decides_out_of_bag()):
            return
        in_bag = _predict.in_bag(self._forest, self._labels.shape[0])
        is_left_out = np.diff(in_bag.indptr) < self._forest.n_trees
        if not is_left_out.all():
            warnings.warn(
                "Out-of-bag predictions are missing (zero) for "
                f"{np.count_nonzero(~is_left_out)} of {len(is_left_out)} rows, which are in the "
                "bag of every tree. Use more trees.",
                stacklevel=3,  # the call of fit
            )
        if rows is not None:  # rows of weight 0 are as good as not there
            is_left_out &= np.isin(np.arange(len(is_left_out)), rows)
        truth, prediction = self._predict_out_of_bag(X, in_bag)
        if self._decides_out_of_bag():
            self._choose_thresholds(truth[is_left_out], prediction[is_left_out])
        if not self.oob_score:
            return
        self._keep_out_of_bag(prediction)
        self.oob_score_ = math.nan
        if is_left_out.any():
            self.oob_score_ = float(self._oob_metric()(truth[is_left_out], prediction[is_left_out]))

    def _decides_out_of_bag(self) -> bool:
        return False

    def _choose_thresholds(self, truth: Any, scores: Any) -> None:
        raise NotImplementedError

    def _check_oob_metric(self, n_labels: int) -> None:
        """Raises for a name that no metric has, before the trees are grown."""
        raise NotImplementedError

    def _oob_metric(self) -> Callable[[Any, Any], float]:
        """The meaning of `oob_score`, as a function of what `_predict_out_of_bag` gives."""
        raise NotImplementedError

    def _predict_out_of_bag(self, X: Any, in_bag: Any) -> tuple[Any, Any]:
        """Truth and prediction, for all rows."""
        raise NotImplementedError

    def _keep_out_of_bag(self, prediction: Any) -> None:
        raise NotImplementedError

    def _shares_projection(self) -> bool:
        return bool(self.shared_projection)

    def _jobs(self) -> int | None:
        return self.n_jobs

    def _single_tree(self, kind: type, index: int) -> Any:
        """Tree number `index` as an estimator of its own, on the same arrays."""
        tree = kind(splitter="random" if self._has_random_cuts else "best")
        ours, theirs = self.get_params(deep=False), tree.get_params(deep=False)
        tree.set_params(**{name: ours[name] for name in ours if name in theirs})
        vars(tree).update({name: v for name, v in vars(self).items() if name not in ours})
        tree._keep(Forest.from_trees([self._forest.tree(index)]), self._labels)
        tree._number = self._address(index)
        return tree

    @property
    def feature_importances_(self) -> np.ndarray:
        """(n_features,) mean over the trees of each feature's share in the decrease of impurity,
        in the space that the splits were searched in."""
        return super().feature_importances_

    @property
    def estimators_(self) -> list:
        """The trees, each as a fitted single-tree estimator on the forest's own arrays."""
        check_is_fitted(self)
        return [self._single_tree(self._tree_kind, i) for i in range(self._forest.n_trees)]


class ForestClassifier(LabelPredictor, ForestEnsemble):
    _tree_kind = DecisionTreeClassifier

    def _take_targets(self, Y: Any) -> SparseRows:
        labels = super()._take_targets(Y)
        if self._classes is not None and self.threshold != DEFAULT:
            raise ValueError(
                f"threshold must be {DEFAULT} for classes, of which the most probable is predicted;"
                f" got {self.threshold!r}. It is for indicator matrices Y."
            )
        return labels

    def _criterion(self) -> Criterion:
        return Criterion.of(self.oob_score if isinstance(self.oob_score, str) else "lrap")

    def _check_oob_metric(self, n_labels: int) -> None:
        one_label = sparse.csr_array(([1.0], ([0], [0])), shape=(1, n_labels))
        try:
            get_metric(self.oob_score)(one_label, one_label)
        except ValueError as error:
            raise ValueError(
                f"oob_score must be True, False, a callable or the name of a metric; "
                f"got {self.oob_score!r}: {error}"
            ) from error

    def _oob_metric(self) -> Callable[[Any, Any], float]:
        if isinstance(self.oob_score, str):
            return get_metric(self.oob_score)
        if self._classes is None:
            return self.oob_score if callable(self.oob_score) else lrap
        metric = self.oob_score if callable(self.oob_score) else accuracy_score
        return partial(_score_classes, metric, self._classes)

    def _predict_out_of_bag(self, X: Any, in_bag: Any) -> tuple[Any, Any]:
        scores: Any
        truth = self._labels.to_csr(np.uint8)
        if self._classes is None and self._sparse_labels:
            scores = _predict.predict_csr(self._source, X, self.n_jobs, np.float32, forget=in_bag)
        else:
            scores = self._probabilities(X, forget=in_bag)
        if self._classes is None and not self._sparse_labels:
            truth = truth.toarray()
        return truth, scores

    def _keep_out_of_bag(self, prediction: Any) -> None:
        self.oob_decision_function_ = prediction

    def _decides_out_of_bag(self) -> bool:
        return is_out_of_bag(self.threshold)

    def _choose_thresholds(self, truth: Any, scores: Any) -> None:
        self.thresholds_ = best_thresholds(
            sparse.csr_array(truth), sparse.csr_array(scores), self.threshold
        )


class ForestRegressor(OutputPredictor, ForestEnsemble):
    _tree_kind = DecisionTreeRegressor

    def _criterion(self) -> Criterion:
        return Criterion.of("squared_error")

    def _check_oob_metric(self, n_labels: int) -> None:
        if self.oob_score != "r2":
            raise ValueError(
                "oob_score must be True, False, 'r2' or a callable f(Y_true, Y_pred) for a "
                f"regressor; got {self.oob_score!r}."
            )

    def _oob_metric(self) -> Callable[[Any, Any], float]:
        return self.oob_score if callable(self.oob_score) else r2

    def _predict_out_of_bag(self, X: Any, in_bag: Any) -> tuple[Any, Any]:
        if isinstance(self._labels, SparseRows):
            truth: Any = self._labels.to_csr(np.float64)
            mean = _predict.predict_csr(self._source, X, self.n_jobs, np.float64, forget=in_bag)
        else:
            truth = self._labels
            mean = _predict.predict_dense(self._source, X, self.n_jobs, np.float64, forget=in_bag)
        if self._is_vector:
            truth, mean = truth.ravel(), mean.ravel()
        return truth, mean

    def _keep_out_of_bag(self, prediction: Any) -> None:
        self.oob_prediction_ = prediction


def _score_classes(
    metric: Callable[[Any, Any], float], classes: np.ndarray, truth: Any, scores: np.ndarray
) -> float:
    return metric(classes[truth.indices], classes[scores.argmax(axis=1)])
