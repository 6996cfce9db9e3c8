"""Projections that users write, and invalid ones."""

import math
import pickle
import re

import numpy as np
import pytest
from label_matrices import RANDOM, labels
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer

from sketchforest import RandomForestClassifier
from sketchforest.projection import (
    GaussianProjection,
    Projection,
    RademacherProjection,
    TransformerProjection,
    matrix,
    resolve_n_components,
    resolve_projection,
    sketch,
)


def refused(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}$")


class Reverse(Projection):
    def draw(self, n_labels, n_components, rng):
        return np.eye(n_labels)[::-1, :n_components]


class MostFrequent(Projection):
    fits_labels = True

    def fit(self, Y, n_components, rng):
        return sparse.eye_array(Y.shape[1]).tocsc()[:, np.argsort(-Y.sum(axis=0))[:n_components]]


class Duck:
    def draw(self, n_labels, n_components, rng):
        return np.ones((n_labels, n_components))


@pytest.mark.parametrize(
    ("projection", "expected"),
    [
        (Reverse(), [[1.0, 0.0], [1.0, 1.0]]),
        (MostFrequent(), [[1.0, 0.0], [1.0, 1.0]]),
        (Duck(), [[1.0, 1.0], [2.0, 2.0]]),
    ],
    ids=["draw", "fit", "duck"],
)
def test_projections_of_the_user_are_used(projection, expected):
    Y = np.array([[0, 0, 1], [0, 1, 1]])
    assert matrix(projection, Y, 2, np.random.default_rng(0)).dtype == np.float32
    assert np.array_equal(sketch(projection, Y, 2, np.random.default_rng(0)), expected)


def test_names_and_objects_resolve_and_resolved_ones_stay():
    for name in [*RANDOM, "pca"]:
        projection = resolve_projection(name)
        assert isinstance(projection, Projection)
        assert resolve_projection(projection) is projection
        assert pickle.loads(pickle.dumps(projection)) == projection
    assert resolve_projection(None) is None
    wrapped = resolve_projection(TruncatedSVD(2))
    assert isinstance(wrapped, TransformerProjection)
    assert resolve_projection(wrapped) is wrapped


@pytest.mark.parametrize(
    ("n_components", "n_labels", "expected"),
    [
        (None, 64, None),
        (None, 65, 64),
        (1, 10, 1),
        (50, 10, 50),
        (np.int32(7), 10, 7),
        (np.uint64(7), 10, 7),
        (1.0, 10, 10),
        (0.25, 10, 3),
        (np.float32(0.5), 10, 5),
        (1e-9, 10, 1),
        ("log", 983, 7),
        ("log", 1, 1),
        ("log", 159, 5),
        ("sqrt", 983, 31),
        ("sqrt", 13, 4),
        ("sqrt", 1, 1),
        ("all", 10, 10),
    ],
)
def test_n_components_resolves_to_a_plain_count(n_components, n_labels, expected):
    resolved = resolve_n_components(n_components, n_labels)
    assert resolved == expected
    assert type(resolved) in (int, type(None))


@pytest.mark.parametrize("wrong", [0, -3, 0.0, 1.5, math.nan, True, np.True_, "half", [3], 2j])
def test_a_wrong_n_components_is_named_with_its_rule_and_a_way_out(wrong):
    message = (
        "n_components must be an int of at least 1, a fraction in (0, 1], 'log', 'sqrt', 'all', "
        f"None, or 'auto' in a forest; got {wrong!r}. Use projection=None to keep the original "
        "outputs."
    )
    with refused(message):
        resolve_n_components(wrong, 10)


@pytest.mark.parametrize("wrong", ["gausian", "", 3, GaussianProjection, LogisticRegression()])
def test_a_wrong_projection_is_named_with_what_is_allowed(wrong):
    message = (
        "projection must be 'gaussian', 'rademacher', 'achlioptas', 'sparse', 'hadamard', "
        "'subsample', 'norm-subsample', 'top-norm', 'pca', None, a Projection instance or a "
        f"scikit-learn transformer; got {wrong!r}."
    )
    with refused(message):
        resolve_projection(wrong)


@pytest.mark.parametrize("name", ["hadamard", "subsample"])
def test_samples_without_replacement_cannot_project_upwards(name):
    message = (
        f"n_components must be at most n_labels=6 for projection='{name}'; got 9. "
        "Use 'rademacher' to project to more dimensions."
    )
    with refused(message):
        sketch(name, labels(20, 6), 9, np.random.default_rng(0))


@pytest.mark.parametrize(("n_samples", "n_labels"), [(6, 50), (50, 6)])
def test_pca_has_no_more_components_than_samples_or_labels(n_samples, n_labels):
    message = (
        "n_components must be at most min(n_samples, n_labels)=6 for projection='pca'; got 9. "
        "Use 'rademacher' to project to more dimensions."
    )
    with refused(message):
        sketch("pca", labels(n_samples, n_labels), 9, np.random.default_rng(0))


@pytest.mark.parametrize("s", [0.5, math.inf, math.nan])
def test_s_is_at_least_one(s):
    message = (
        f"s must be a finite number of at least 1; got {s}. Use s=1 for a matrix without zeros."
    )
    with refused(message):
        RademacherProjection(s)


@pytest.mark.parametrize("projection", [None, TruncatedSVD(2)])
def test_only_a_projection_has_a_matrix(projection):
    message = (
        "projection must be a name or a Projection to have a matrix; "
        f"got {resolve_projection(projection)!r}. Use sketch to get Z alone."
    )
    with refused(message):
        matrix(projection, labels(9, 6), 2, np.random.default_rng(0))


def test_a_matrix_of_the_wrong_shape_is_refused():
    class Transposed(Projection):
        def draw(self, n_labels, n_components, rng):
            return np.ones((n_components, n_labels))

    message = (
        "projection must return P of shape (n_labels, n_components)=(6, 2); "
        "Transposed returned (2, 6)."
    )
    with refused(message):
        sketch(Transposed(), labels(9, 6), 2, np.random.default_rng(0))


@pytest.mark.parametrize(("fits_labels", "method"), [(False, "draw"), (True, "fit")])
def test_a_projection_without_its_method_says_so(fits_labels, method):
    projection = type("Empty", (Projection,), {"fits_labels": fits_labels})()
    with pytest.raises(NotImplementedError, match=f"Empty does not define {method}"):
        sketch(projection, labels(9, 6), 2, np.random.default_rng(0))


class Given(Projection):
    """A matrix that is given, whatever it holds."""

    def __init__(self, value):
        self.value = value

    def draw(self, n_labels, n_components, rng):
        return np.full((n_labels, n_components), self.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "as_projection", [Given, lambda v: FunctionTransformer(lambda Y: np.full(Y.shape, v))]
)
def test_what_is_not_finite_is_refused(value, as_projection):
    X, Y = np.random.default_rng(0).random((30, 3)), np.ones((30, 4)) - np.eye(30, 4)
    forest = RandomForestClassifier(3, projection=as_projection(value), n_components=2)
    with pytest.raises(ValueError, match=r"projection must return finite numbers; .* returned NaN"):
        forest.fit(X, Y)


@pytest.mark.parametrize("cut", [lambda Y: Y[:3], lambda Y: Y[:, 0]])
def test_a_transformer_gives_a_row_for_each_row(cut):
    X, Y = np.random.default_rng(0).random((30, 3)), np.eye(30, 4)
    forest = RandomForestClassifier(3, projection=FunctionTransformer(cut))
    with pytest.raises(ValueError, match=r"one row per row of Y \(30\); Pipeline returned"):
        forest.fit(X, Y)
