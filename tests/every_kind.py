"""All estimators, and helpers to fit them, for tests of their common behavior."""

import numpy as np
import pytest

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)

FOREST_CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier)
FOREST_REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor, SketchForestRegressor)
CLASSIFIERS = (*FOREST_CLASSIFIERS, DecisionTreeClassifier)
REGRESSORS = (*FOREST_REGRESSORS, DecisionTreeRegressor)
FORESTS = (*FOREST_CLASSIFIERS, *FOREST_REGRESSORS)
ESTIMATORS = (*CLASSIFIERS, *REGRESSORS)

N_TRAIN, N_LABELS = 150, 70  # more labels than are kept unprojected
LEAVES = pytest.mark.parametrize("leaf_size", [1, 12])  # stored as rows, and as means
OOB = {"n_estimators": 40, "bootstrap": True}  # enough trees for every row to be out of bag


def trees_alone(kind):
    """The parameters by which the trees predict alone."""
    if kind is SketchForestRegressor:
        return {"linear": 0}
    return {"linear": 0, "label_correlations": False} if kind is SketchForestClassifier else {}


def fitted(kind, X, Y, sample_weight=None, **params):
    if kind in FORESTS:
        params = {"n_estimators": 7} | params
    return kind(**({"random_state": 0} | params)).fit(X, Y, sample_weight)


def predictions(estimator, X):
    return (
        estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.predict(X)
    )


def targets(kind, Y, outputs):
    return Y if kind in CLASSIFIERS else outputs


def bag(estimator, index):
    """Rows in the bag of a tree, and their weights."""
    tree = estimator.fitted_.forest.tree(index)
    return tree.members, np.ones(len(tree.members)) if tree.weights is None else tree.weights
