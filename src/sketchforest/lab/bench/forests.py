"""The forests of the benchmark: scikit-learn's and ours, on labels or on one shared Z."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sketchforest.lab.data import Problem
from sketchforest.lab.measure import pickled_size


@dataclass(frozen=True)
class Options:
    """How a method is fitted. Of ``n_estimators`` trees, ``n_grown`` are really grown."""

    n_estimators: int = 100
    n_grown: int = 100
    n_jobs: int = 2
    seed: int = 0
    is_dense: bool = False  # X as an array


class Contender:
    """One method on one problem; its data lie in memory in the form that it wants."""

    X_test: Any  # can be sliced
    predicts_labels = True
    n_estimators: int
    nodes_per_tree: float | None = None
    x_format = "csr"

    def fit(self) -> None:
        raise NotImplementedError

    def n_bytes(self) -> int:
        """Size of the saved model."""
        raise NotImplementedError

    def prepare_predictions(self) -> None:
        """Between fitting and predicting, not timed."""

    def predict(self, X: Any) -> Any:
        """The score of every label, in whatever form the library gives them."""
        raise NotImplementedError

    def scores(self, prediction: Any) -> npt.NDArray[Any]:
        """(n_samples, n_labels) array of what `predict` gave."""
        return prediction

    def use_one_thread(self) -> None:
        """Before predicting row by row: starting threads takes longer than one row."""


class ForestContender(Contender):
    """An estimator with scikit-learn's interface."""

    def __init__(self, estimator: Any, problem: Problem, options: Options, Z: Any = None):
        self.estimator = estimator
        self.n_estimators = options.n_estimators
        self.X, self.X_test = problem.X_train, problem.X_test
        self.x_format = "dense" if options.is_dense else "csr"
        if options.is_dense:
            self.X, self.X_test = (X.astype(np.float32).toarray() for X in (self.X, self.X_test))
        self.Y = problem.Y_train if Z is None else Z
        self.predicts_labels = Z is None

    def fit(self) -> None:
        self.estimator.fit(self.X, self.Y)

    def n_bytes(self) -> int:
        return pickled_size(self.estimator)

    def use_one_thread(self) -> None:
        self.estimator.n_jobs = 1


class SklearnForest(ForestContender):
    """A forest of scikit-learn, which takes outputs only as a dense array."""

    def __init__(self, estimator: Any, problem: Problem, options: Options, Z: Any = None):
        super().__init__(estimator, problem, options, Z)
        # What its trees read, so that nothing is left to convert while it is timed.
        self.X, self.X_test = (X.astype(np.float32, copy=False) for X in (self.X, self.X_test))
        if Z is None:
            self.Y = problem.Y_train.toarray().astype(np.float64)

    def fit(self) -> None:
        super().fit()
        self.nodes_per_tree = float(
            np.mean([tree.tree_.node_count for tree in self.estimator.estimators_])
        )

    def prepare_predictions(self) -> None:
        # A forest of as many trees as asked predicts at its real cost, though trees recur.
        grown = self.estimator.estimators_
        repeats = -(-self.n_estimators // len(grown))
        self.estimator.estimators_ = (grown * repeats)[: self.n_estimators]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return self.estimator.predict(X)


class SketchForest(ForestContender):
    """A forest of this library."""

    def fit(self) -> None:
        super().fit()
        n_splits = len(self.estimator._forest.nodes) / self.n_estimators
        self.nodes_per_tree = 2 * n_splits + 1

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return self.estimator.predict_proba(X)


def sklearn_forest(
    problem: Problem, options: Options, *, kind: str = "RandomForest", n_shared: int | None = None
) -> SklearnForest:
    """On the original outputs, or on ``n_shared`` projected ones, the same for all trees."""
    from sklearn import ensemble

    estimator = getattr(ensemble, f"{kind}Regressor")(
        n_estimators=options.n_grown,
        max_features="sqrt",
        n_jobs=options.n_jobs,
        random_state=options.seed,
    )
    return SklearnForest(estimator, problem, options, _shared_outputs(problem, n_shared, options))


def sketch_forest(
    problem: Problem,
    options: Options,
    *,
    kind: str = "RandomForest",
    n_components: int | None = None,
    n_shared: int | None = None,
) -> SketchForest:
    """On the original outputs, on projections of each tree's own, or on scikit-learn's Z."""
    import sketchforest

    family = "Classifier" if n_shared is None else "Regressor"
    estimator = getattr(sketchforest, kind + family)(
        n_estimators=options.n_estimators,
        max_features="sqrt",
        n_jobs=options.n_jobs,
        random_state=options.seed,
        projection=None if n_components is None else "gaussian",
        n_components=n_components,
    )
    return SketchForest(estimator, problem, options, _shared_outputs(problem, n_shared, options))


def _shared_outputs(problem: Problem, n_shared: int | None, options: Options) -> Any:
    if n_shared is None:
        return None
    rng = np.random.default_rng(options.seed)
    P = rng.normal(scale=n_shared**-0.5, size=(problem.Y_train.shape[1], n_shared))
    return np.ascontiguousarray(problem.Y_train @ P, dtype=np.float32)  # as forests project
