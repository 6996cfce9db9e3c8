"""The methods that the study of boosting compares, with trees of the same depth and bins.

Worker processes import the libraries on demand.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

from sketchforest import (
    RandomForestClassifier,
    RandomForestRegressor,
    SketchBoostingClassifier,
    SketchBoostingRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)
from sketchforest._utils.typing import Matrix

DEPTH, LEARNING_RATE, BINS = 6, 0.1, 255
MOST_TREES, PATIENCE, HELD_OUT = 500, 10, 0.1  # with early stopping
OURS: dict[str, dict[str, Any]] = {  # by what splits are searched on
    "sketch boosting": {"projection": "gaussian"},
    "sketch boosting on all outputs": {"projection": None},
    "sketch boosting on one component": {"projection": "gaussian", "leaf_fit": "linear"},
}
XGBOOST = {
    "xgboost, multi-output trees": "multi_output_tree",
    "xgboost, single-output trees": "one_output_per_tree",
}
FORESTS = {
    "random forest": (RandomForestClassifier, RandomForestRegressor),
    "sketch forest": (SketchForestClassifier, SketchForestRegressor),
}
# One model per output.
LIGHTGBM, HISTOGRAMS = "lightgbm", "histogram gradient boosting"
CATBOOST = "catboost"
METHODS = (*OURS, *XGBOOST, LIGHTGBM, CATBOOST, HISTOGRAMS, *FORESTS)


def is_per_output(method: str) -> bool:
    return method in (LIGHTGBM, HISTOGRAMS)


def needs_dense(method: str) -> tuple[bool, bool]:
    """Whether a method takes neither sparse X nor sparse Y."""
    is_ours = method in OURS or method in FORESTS
    return method in (HISTOGRAMS, CATBOOST), not is_ours


def boosting_of_depth(
    method: str, is_classifier: bool, n_trees: int, n_jobs: int, seed: int
) -> Any:
    """An unfitted model of so many trees; that of one output for methods with a model for each."""
    kind = "Classifier" if is_classifier else "Regressor"
    if method in FORESTS:
        forest = FORESTS[method][not is_classifier]
        return forest(n_trees, n_jobs=n_jobs, random_state=seed)
    if method in OURS:
        ours = SketchBoostingClassifier if is_classifier else SketchBoostingRegressor
        return ours(
            max_iter=n_trees,
            learning_rate=LEARNING_RATE,
            max_depth=DEPTH,
            max_leaf_nodes=None,
            early_stopping=False,
            n_jobs=n_jobs,
            random_state=seed,
            **OURS[method],
        )
    if method in XGBOOST:
        import xgboost

        return getattr(xgboost, f"XGB{kind}")(
            n_estimators=n_trees,
            learning_rate=LEARNING_RATE,
            max_depth=DEPTH,
            max_bin=BINS,
            tree_method="hist",
            multi_strategy=XGBOOST[method],
            n_jobs=n_jobs,
            random_state=seed,
        )
    if method == LIGHTGBM:
        import lightgbm

        return getattr(lightgbm, f"LGBM{kind}")(
            n_estimators=n_trees,
            learning_rate=LEARNING_RATE,
            max_depth=DEPTH,
            num_leaves=2**DEPTH,
            max_bin=BINS,
            n_jobs=n_jobs,
            random_state=seed,
            verbose=-1,
        )
    if method == CATBOOST:
        import catboost

        return getattr(catboost, f"CatBoost{kind}")(
            iterations=n_trees,
            learning_rate=LEARNING_RATE,
            depth=DEPTH,
            border_count=BINS - 1,
            loss_function="MultiLogloss" if is_classifier else "MultiRMSE",
            thread_count=n_jobs,
            random_seed=seed,
            verbose=False,
            allow_writing_files=False,
        )
    histograms = HistGradientBoostingClassifier if is_classifier else HistGradientBoostingRegressor
    return histograms(
        max_iter=n_trees,
        learning_rate=LEARNING_RATE,
        max_depth=DEPTH,
        max_leaf_nodes=None,
        max_bins=BINS,
        early_stopping=False,
        random_state=seed,
    )


def of_all_outputs(method: str, is_classifier: bool, n_trees: int, n_jobs: int, seed: int) -> Any:
    """An unfitted model of all outputs."""
    model = boosting_of_depth(method, is_classifier, n_trees, n_jobs, seed)
    if not is_per_output(method):
        return model
    return (MultiOutputClassifier if is_classifier else MultiOutputRegressor)(model)


def probabilities(model: Any, X: Matrix) -> np.ndarray:
    """(n_rows, n_labels) probabilities of labels."""
    found = model.predict_proba(X)
    return np.stack([p[:, 1] for p in found], axis=1) if isinstance(found, list) else found


def as_taken(method: str, X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    """X and Y in the form that a method takes."""
    dense_X, dense_Y = needs_dense(method)
    if method == LIGHTGBM and sparse.issparse(X):
        X = sparse.csr_matrix(X, dtype=np.float32)  # it knows neither sparse arrays nor bytes
    return _dense(X) if dense_X else X, _dense(Y) if dense_Y else Y


def _dense(matrix: Matrix) -> Matrix:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def stopped_early(method: str, X: np.ndarray, Y: np.ndarray, seed: int) -> Callable[[Any], Any]:
    """The `predict` of regressors that stop by a tenth of the rows; forests see all rows."""
    if method in FORESTS:
        return of_all_outputs(method, False, 100, 1, seed).fit(X, Y).predict
    if method in OURS:
        model = SketchBoostingRegressor(
            max_iter=MOST_TREES,
            early_stopping=True,
            validation_fraction=HELD_OUT,
            n_iter_no_change=PATIENCE,
            random_state=seed,
            **OURS[method],
        )
        return model.fit(X, Y).predict
    if method == HISTOGRAMS:
        model = of_all_outputs(method, False, MOST_TREES, 1, seed)
        model.estimator.set_params(
            early_stopping=True, validation_fraction=HELD_OUT, n_iter_no_change=PATIENCE
        )
        return model.fit(X, Y).predict
    X_train, X_held, Y_train, Y_held = train_test_split(X, Y, test_size=HELD_OUT, random_state=seed)
    model = boosting_of_depth(method, False, MOST_TREES, 1, seed)
    if method == LIGHTGBM:
        import lightgbm

        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        models = [
            clone(model).fit(X_train, y, eval_set=[(X_held, held)], callbacks=[stop])
            for y, held in zip(Y_train.T, Y_held.T, strict=True)
        ]
        return lambda rows: np.stack([each.predict(rows) for each in models], axis=1)
    if method == CATBOOST:
        model.fit(X_train, Y_train, eval_set=(X_held, Y_held), early_stopping_rounds=PATIENCE)
    else:
        model.set_params(early_stopping_rounds=PATIENCE)
        model.fit(X_train, Y_train, eval_set=[(X_held, Y_held)], verbose=False)
    return model.predict
