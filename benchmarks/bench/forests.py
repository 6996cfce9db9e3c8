"""The forests of the benchmark: scikit-learn's and ours, on labels or on one shared Z."""

from typing import Any

import numpy as np

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.data import Matrix, TrainTestSplit, as_array
from benchmarks.measure import pickled_size


class ForestAdapter(ModelAdapter):
    """An estimator with scikit-learn's interface."""

    def __init__(
        self, estimator: Any, data: TrainTestSplit, options: Options, Z: np.ndarray | None
    ):
        self.estimator = estimator
        self.n_estimators = options.n_estimators
        self.X, self.X_test = data.X_train, data.X_test
        self.x_format = "dense" if options.is_dense else "csr"
        if options.is_dense:
            self.X, self.X_test = (as_array(X.astype(np.float32)) for X in (self.X, self.X_test))
        self.Y: Matrix = data.Y_train if Z is None else Z
        self.predicts_labels = Z is None

    def fit(self) -> None:
        self.estimator.fit(self.X, self.Y)

    def n_bytes(self) -> int:
        return pickled_size(self.estimator)

    def scores(self, prediction: np.ndarray) -> np.ndarray:
        return prediction

    def use_one_thread(self) -> None:
        self.estimator.n_jobs = 1


class SklearnForest(ForestAdapter):
    """A forest of scikit-learn, which takes dense outputs only."""

    def __init__(
        self, estimator: Any, data: TrainTestSplit, options: Options, Z: np.ndarray | None
    ):
        super().__init__(estimator, data, options, Z)
        # The type that its trees read, so that no conversion is timed.
        self.X, self.X_test = (X.astype(np.float32, copy=False) for X in (self.X, self.X_test))
        if Z is None:
            self.Y = data.Y_train.toarray().astype(np.float64)

    def fit(self) -> None:
        super().fit()
        self.nodes_per_tree = float(
            np.mean([tree.tree_.node_count for tree in self.estimator.estimators_])
        )

    def prepare_predictions(self) -> None:
        # Repeat trees until predictions cost as much as those of the whole forest.
        grown = self.estimator.estimators_
        repeats = -(-self.n_estimators // len(grown))
        self.estimator.estimators_ = (grown * repeats)[: self.n_estimators]

    def predict(self, X: Matrix) -> np.ndarray:
        return self.estimator.predict(X)


class SketchForest(ForestAdapter):
    """A forest of this library."""

    def fit(self) -> None:
        super().fit()
        n_splits = len(self.estimator.fitted_.forest.nodes) / self.n_estimators
        self.nodes_per_tree = 2 * n_splits + 1

    def predict(self, X: Matrix) -> np.ndarray:
        return self.estimator.predict_proba(X)


def sklearn_forest(
    data: TrainTestSplit,
    options: Options,
    *,
    kind: str = "RandomForest",
    n_shared: int | None = None,
) -> SklearnForest:
    """Make a forest on the original outputs, or on `n_shared` outputs that all trees share."""
    # Imported here: the memory of other libraries is measured without it.
    from sklearn import ensemble

    estimator = getattr(ensemble, f"{kind}Regressor")(
        n_estimators=options.n_grown,
        max_features="sqrt",
        n_jobs=options.n_jobs,
        random_state=options.seed,
    )
    return SklearnForest(estimator, data, options, _shared_outputs(data, n_shared, options))


def sketch_forest(
    data: TrainTestSplit,
    options: Options,
    *,
    kind: str = "RandomForest",
    n_components: int | None = None,
    n_shared: int | None = None,
) -> SketchForest:
    """Make a forest on the original outputs, on one projection per tree, or on a shared one."""
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
    return SketchForest(estimator, data, options, _shared_outputs(data, n_shared, options))


def flagship(data: TrainTestSplit, options: Options) -> SketchForest:
    """Make a sketch forest with its default settings."""
    import sketchforest

    estimator = sketchforest.SketchForestClassifier(
        options.n_estimators, n_jobs=options.n_jobs, random_state=options.seed
    )
    return SketchForest(estimator, data, options, None)


def _shared_outputs(
    data: TrainTestSplit, n_shared: int | None, options: Options
) -> np.ndarray | None:
    if n_shared is None:
        return None
    rng = np.random.default_rng(options.seed)
    P = rng.normal(scale=n_shared**-0.5, size=(data.Y_train.shape[1], n_shared))
    return np.ascontiguousarray(data.Y_train @ P, dtype=np.float32)  # the type that forests use
