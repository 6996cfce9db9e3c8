"""All estimators, small, for tests of scikit-learn's tools."""

import every_kind
from every_kind import FORESTS
from sklearn.base import is_classifier

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

CLASSIFIERS = (*every_kind.CLASSIFIERS, ExtraTreeClassifier)
TREES = (DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor)
ESTIMATORS = (*FORESTS, *TREES)


def small(kind, **params):
    """An estimator that is quick to fit and always the same."""
    if kind in FORESTS:
        params = {"n_estimators": 5} | params
    return kind(**({"random_state": 0} | params))


def targets_for(kind, labelled):
    X, Y = labelled
    return Y if kind in CLASSIFIERS else Y + X[:, :1]


def predictions(estimator, X):
    return estimator.predict_proba(X) if is_classifier(estimator) else estimator.predict(X)
