"""Data with enough labels to be projected, and targets of other types."""

import numpy as np
import pytest
from every_kind import N_LABELS, N_TRAIN
from sklearn.datasets import make_multilabel_classification

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


@pytest.fixture(scope="module")
def labelled():
    """X (120, 8) and an indicator matrix Y of 40 labels, more than are kept without projection."""
    X, Y = make_multilabel_classification(
        n_samples=120, n_features=8, n_classes=40, n_labels=4, random_state=0
    )
    return X.astype(float), Y


@pytest.fixture(scope="module")
def classes(labelled):
    X, _ = labelled
    return np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [5, 8])]


@pytest.fixture(name="XY")
def rows_and_labels():
    """X (150, 12) and an indicator matrix Y of 40 labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12))
    return X, (X[:, :1] + rng.normal(size=(150, 40)) > 1).astype(np.uint8)
