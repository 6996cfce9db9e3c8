"""Data with enough labels to be projected, and targets of other types."""

import numpy as np
import pytest
from every_kind import N_LABELS, N_TRAIN

from sketchforest.datasets import make_multilabel


@pytest.fixture(scope="module")
def data():
    """Sparse X and Y of 200 rows and 30 features; the first 150 rows are for training."""
    return make_multilabel(200, 30, N_LABELS, labels_per_row=4, features_per_row=8, random_state=0)


@pytest.fixture(scope="module", name="X")
def features(data):
    noise = np.random.default_rng(0).normal(size=data.X.shape)
    return (data.X.toarray() + 0.1 * noise)[:N_TRAIN]


@pytest.fixture(scope="module", name="X_new")
def new_features(data):
    noise = np.random.default_rng(1).normal(size=data.X.shape)
    return (data.X.toarray() + 0.1 * noise)[N_TRAIN:]


@pytest.fixture(scope="module", name="Y")
def labels(data):
    return data.Y.toarray().astype(np.int64)[:N_TRAIN]


@pytest.fixture(scope="module")
def outputs(X, Y):
    """Real outputs of the training rows."""
    return Y * 2.5 + X[:, :1]


@pytest.fixture(scope="module")
def names(X):
    return np.array(["ash", "birch", "cedar", "date"])[np.digitize(X[:, 0] + X[:, 1], [0, 0.5, 1])]
