"""Principal components of the labels."""

import math

import numpy as np
import pytest
from label_matrices import dense, labels, peak_bytes, with_wide_indices
from scipy import sparse
from sklearn.decomposition import PCA

from sketchforest.projection import PCAProjection, _pca, matrix


@pytest.fixture(params=["gram", "products"])
def pca_branch(request, monkeypatch):
    monkeypatch.setattr(_pca, "MAX_GRAM_LABELS", 2000 if request.param == "gram" else 0)


@pytest.mark.usefixtures("pca_branch")
@pytest.mark.parametrize("make", [dense, sparse.csr_array, sparse.csr_matrix, with_wide_indices])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, float])
def test_pca_is_the_leading_components_of_scikit_learn(make, dtype):
    Y = labels(200, 30)
    P = PCAProjection().fit(make(Y.astype(dtype)), 6)
    components = PCA(6, svd_solver="full").fit(Y.toarray()).components_
    signs = np.sign(np.sum(P.T * components, axis=1, keepdims=True))
    assert P.dtype == np.float32
    np.testing.assert_allclose(P.T * signs, components, atol=1e-5)


@pytest.mark.usefixtures("pca_branch")
def test_the_largest_entry_of_a_principal_component_is_positive():
    P = PCAProjection().fit(labels(200, 40), 10)
    assert np.all(P[np.abs(P).argmax(axis=0), np.arange(10)] > 0)


@pytest.mark.usefixtures("pca_branch")
def test_the_first_of_equal_entries_decides_the_sign():
    # two labels that exclude each other: entries of opposite sign, equal but for the last digit
    for seed in range(20):
        first = np.random.default_rng(seed).random(50) < 0.4
        Y = np.column_stack([np.zeros((50, 3)), first, ~first])
        expected = np.array([0, 0, 0, 1, -1]) / math.sqrt(2)
        np.testing.assert_allclose(PCAProjection().fit(Y, 1).ravel(), expected, atol=1e-6)


def test_both_ways_to_the_principal_components_agree(monkeypatch):
    Y = labels(300, 60)
    by_gram = PCAProjection().fit(Y, 8)
    monkeypatch.setattr(_pca, "_eigenvectors_of_gram", None)
    monkeypatch.setattr(_pca, "MAX_GRAM_LABELS", 0)
    np.testing.assert_allclose(PCAProjection().fit(Y, 8), by_gram, atol=1e-5)


@pytest.mark.usefixtures("pca_branch")
def test_pca_stands_a_large_mean():
    Y = np.random.default_rng(0).standard_normal((200, 20)) * np.arange(1, 21)
    shifted = PCAProjection().fit(Y + 1e7, 5)
    np.testing.assert_allclose(shifted, PCAProjection().fit(Y, 5), atol=1e-5)


@pytest.mark.usefixtures("pca_branch")
def test_pca_of_one_label_a_row_finds_every_direction():
    classes = np.repeat(np.arange(20), np.arange(1, 21))
    Y = sparse.csr_array(np.eye(20)[classes])
    P = PCAProjection().fit(Y, 9)
    variances = np.var(Y @ P, axis=0)
    expected = PCA(9, svd_solver="full").fit(Y.toarray()).explained_variance_
    np.testing.assert_allclose(variances * len(classes) / (len(classes) - 1), expected, rtol=1e-4)


def labels_of_rank(rank):
    rng = np.random.default_rng(0)
    return sparse.csr_array(rng.integers(0, 2, (50, rank)) @ rng.integers(0, 2, (rank, 30)))


@pytest.mark.usefixtures("pca_branch")
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_pca_is_orthonormal_beyond_the_rank_of_the_labels(rank):
    P = PCAProjection().fit(labels_of_rank(rank), 10)
    np.testing.assert_allclose(P.T @ P, np.eye(10), atol=1e-5)


@pytest.mark.skipif(not _pca.SEEDED_RESTARTS, reason="this SciPy cannot seed ARPACK's restarts")
@pytest.mark.usefixtures("pca_branch")
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_pca_is_repeatable_beyond_the_rank_of_the_labels(rank):
    P, again = (PCAProjection().fit(labels_of_rank(rank), 10) for _ in range(2))
    assert np.array_equal(P, again)


def test_all_principal_components_of_many_labels_are_a_rotation(monkeypatch):
    monkeypatch.setattr(_pca, "MAX_GRAM_LABELS", 0)
    P = PCAProjection().fit(labels(50, 20), 20)
    np.testing.assert_allclose(P.T @ P, np.eye(20), atol=1e-5)


def test_pca_of_many_sparse_labels_never_makes_them_dense():
    Y = labels(2000, 5000, density=0.001)
    dense_bytes = 4 * Y.shape[0] * Y.shape[1]
    assert peak_bytes(lambda: PCAProjection().fit(Y, 4)) < dense_bytes / 10


def test_pca_is_the_same_for_every_stream():
    Y = labels(50, 20)
    assert not PCAProjection.is_random
    assert np.array_equal(*(matrix("pca", Y, 5, np.random.default_rng(seed)) for seed in (0, 1)))
