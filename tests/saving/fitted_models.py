"""Small models of every kind, for tests of model files."""

import numpy as np
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.random((120, 6))
LABELS = (RNG.random((120, 40)) < 0.1).astype(int)
NAMES = np.array(["ash", "oak", "yew"])[RNG.integers(0, 3, 120)]

FITTED = {
    "sparse labels": lambda: RandomForestClassifier(
        20, n_components=4, random_state=0, oob_score=True
    ).fit(X, sparse.csr_array(LABELS)),
    "dense labels": lambda: RandomForestClassifier(5, projection="sparse", random_state=0).fit(
        X, LABELS
    ),
    "classes": lambda: RandomForestClassifier(
        5, class_weight={"ash": 2.0}, random_state=np.random.RandomState(3)
    ).fit(X, NAMES),
    "columns of classes": lambda: RandomForestClassifier(5, random_state=0).fit(
        X, np.stack([NAMES, NAMES[::-1]], axis=1)
    ),
    "tree": lambda: DecisionTreeClassifier(max_depth=3).fit(X, NAMES),
    "extra tree": lambda: ExtraTreeClassifier(random_state=0).fit(X, LABELS),
    "stump": lambda: DecisionTreeClassifier().fit(X, np.zeros(120, int)),
    "outputs": lambda: ExtraTreesRegressor(5, random_state=0).fit(X, X[:, :2]),
    "weighted output": lambda: RandomForestRegressor(5, random_state=0).fit(X, X[:, 0], X[:, 1]),
    "sparse outputs": lambda: RandomForestRegressor(5, random_state=0).fit(
        X, sparse.csr_array(LABELS * 0.5)
    ),
    "doubles": lambda: RandomForestRegressor(5, random_state=0).fit(1 + X * 1e-12, X[:, 0]),
}


def dense(values):
    return values.toarray() if sparse.issparse(values) else values
