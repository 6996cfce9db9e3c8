"""Data and forests for tests of single trees."""

import numpy as np

from sketchforest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest.datasets import make_multilabel


def regression_data(seed, n_outputs=1, n=500, p=5):
    """float32 features, which scikit-learn casts to; every partition has a score of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    Y = X @ rng.normal(size=(p, n_outputs)) + rng.normal(size=(n, n_outputs))
    return X, Y.ravel() if n_outputs == 1 else Y


def label_data(seed=0, n=200, p=40, d=60):
    data = make_multilabel(n, p, d, labels_per_row=4, features_per_row=p / 6, random_state=seed)
    return data.X, data.Y


BIG_LEAVES = {"min_samples_leaf": 10, "random_state": 0}  # averaged through a table of leaf means
FORESTS = {
    "labels": RandomForestClassifier(5, n_components=6, random_state=0),
    "labels, weighted": RandomForestClassifier(5, projection=None, random_state=0),
    "labels, extra-trees": ExtraTreesClassifier(5, n_components=6, random_state=0),
    "labels, weighted, big leaves": RandomForestClassifier(5, n_components=6, **BIG_LEAVES),
    "outputs": RandomForestRegressor(5, n_components=2, random_state=0),
    "outputs, weighted, big leaves": ExtraTreesRegressor(5, **BIG_LEAVES),
    "one output": RandomForestRegressor(5, random_state=0),
}
