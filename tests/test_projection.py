"""Random projections of the outputs."""

import math
import pickle

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from label_matrices import RANDOM, dense, labels, peak_bytes, with_wide_indices
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from sketchforest.projection import (
    AchlioptasProjection,
    GaussianProjection,
    HadamardProjection,
    RademacherProjection,
    SparseProjection,
    SubsampleProjection,
    matrix,
    project_labels,
    resolve_projection,
    sketch,
)

SIGNS = {
    "rademacher": lambda d: 1.0,
    "achlioptas": lambda d: 3.0,
    "sparse": math.sqrt,
}


def total_variance(Y):
    return np.var(Y, axis=0, dtype=float).sum()


# --- the random matrices -------------------------------------------------------------------------


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize(("n_labels", "n_components"), [(37, 5), (64, 1), (6, 6)])
def test_squared_norms_are_preserved_in_expectation(name, n_labels, n_components):
    rng = np.random.default_rng(1)
    y = rng.standard_normal(n_labels)
    y /= np.linalg.norm(y)
    projection = resolve_projection(name)
    norms = [np.sum((projection.draw(n_labels, n_components, rng).T @ y) ** 2) for _ in range(1500)]
    standard_error = np.std(norms) / math.sqrt(len(norms))
    assert abs(np.mean(norms) - 1) < 4 * standard_error + 1e-5
    assert standard_error < 0.1


@pytest.mark.parametrize("name", RANDOM)
def test_matrices_are_float32_of_the_asked_shape(name):
    P = resolve_projection(name).draw(50, 7, np.random.default_rng(0))
    assert P.shape == (50, 7)
    assert P.dtype == np.float32
    assert sparse.issparse(P) == (name in {"achlioptas", "sparse", "subsample"})


@pytest.mark.parametrize("name", RANDOM)
def test_one_stream_gives_one_matrix_and_other_streams_give_others(name):
    Y = labels(5, 200)
    draws = [dense(matrix(name, Y, 8, np.random.default_rng(seed))) for seed in (0, 0, 1)]
    assert np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


@pytest.mark.parametrize("name", RANDOM)
def test_successive_draws_of_one_stream_differ(name):
    rng = np.random.default_rng(0)
    Y = labels(5, 200)
    assert not np.array_equal(dense(matrix(name, Y, 8, rng)), dense(matrix(name, Y, 8, rng)))


def test_gaussian_entries_are_normal_with_variance_one_over_m():
    P = GaussianProjection().draw(20_000, 4, np.random.default_rng(0)).astype(float)
    standard = P * 2
    # 3 for the fourth moment tells a normal law from any other of the same variance
    for power, moment, spread in [(1, 0, 1), (2, 1, 2), (4, 3, 96)]:
        error = np.mean(standard**power) - moment
        assert abs(error) < 4 * math.sqrt(spread / P.size)


@pytest.mark.parametrize("name", SIGNS)
def test_signs_have_the_values_and_probabilities_of_the_paper(name):
    n_labels, n_components = 2500, 20
    s = SIGNS[name](n_labels)
    P = dense(resolve_projection(name).draw(n_labels, n_components, np.random.default_rng(0)))
    value = np.float32(math.sqrt(s / n_components))
    assert set(np.unique(P)) <= {-value, np.float32(0), value}
    probability = 1 / (2 * s)
    tolerance = 4 * math.sqrt(probability * (1 - probability) / P.size)
    for entry in (value, -value):
        assert abs(np.mean(entry == P) - probability) < tolerance


@pytest.mark.parametrize("s", [1.0, 1.5, 3.0, 20.0])
def test_every_entry_is_non_zero_with_probability_one_over_s(s):
    rng = np.random.default_rng(0)
    draws = np.array([dense(RademacherProjection(s).draw(4, 3, rng)) != 0 for _ in range(3000)])
    tolerance = 4.5 * math.sqrt((1 / s) * (1 - 1 / s) / len(draws))
    assert np.abs(draws.mean(axis=0) - 1 / s).max() <= tolerance
    # independent entries: the counts have the binomial variance
    expected = 12 * (1 / s) * (1 - 1 / s)
    assert draws.sum(axis=(1, 2)).var() == pytest.approx(expected, rel=0.15)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.floats(1, 1e30), st.integers(0, 2**32))
def test_sign_matrices_are_canonical_csr_for_any_s(n_labels, n_components, s, seed):
    P = RademacherProjection(s).draw(n_labels, n_components, np.random.default_rng(seed))
    assert P.shape == (n_labels, n_components)
    if s > 1:
        P.check_format(full_check=True)
        assert P.has_canonical_format
        assert np.all(P.data != 0)


def test_rademacher_is_dense_without_zeros_and_sparse_with_them():
    rng = np.random.default_rng(0)
    assert isinstance(RademacherProjection().draw(9, 3, rng), np.ndarray)
    assert isinstance(RademacherProjection(s=2).draw(9, 3, rng), sparse.csr_array)
    assert isinstance(AchlioptasProjection().draw(9, 3, rng), sparse.csr_array)
    assert isinstance(SparseProjection().draw(9, 3, rng), sparse.csr_array)


def test_a_sparse_matrix_is_generated_in_the_memory_of_its_non_zeros():
    n_labels, n_components = 1_000_000, 32
    dense_bytes = 4 * n_labels * n_components
    projection = RademacherProjection(s=1000)
    projection.draw(9, 3, np.random.default_rng(0))  # what is imported now is not counted
    peak = peak_bytes(lambda: projection.draw(n_labels, n_components, np.random.default_rng(0)))
    assert peak < dense_bytes / 4


@pytest.mark.parametrize("n_labels", [1, 2, 5, 8, 33, 300])
def test_hadamard_is_distinct_scaled_columns_of_sylvesters_matrix(n_labels):
    n_components = max(1, n_labels // 2)
    P = HadamardProjection().draw(n_labels, n_components, np.random.default_rng(0))
    order = 1 << math.ceil(math.log2(n_labels))
    H = scipy.linalg.hadamard(order)[:n_labels] / math.sqrt(n_components)
    columns = [np.flatnonzero(np.isclose(column[:, None], H).all(axis=0)) for column in P.T]
    assert all(len(column) == 1 for column in columns)
    assert len(np.unique(columns)) == n_components


def test_a_full_hadamard_projection_is_a_rotation():
    P = HadamardProjection().draw(16, 16, np.random.default_rng(0))
    np.testing.assert_allclose(P.T @ P, np.eye(16), atol=1e-6)


def test_hadamard_never_builds_the_square_matrix():
    peak = peak_bytes(lambda: HadamardProjection().draw(100_000, 4, np.random.default_rng(0)))
    assert peak < 12 * 100_000 * 4


def test_subsample_picks_distinct_labels_one_a_component():
    P = SubsampleProjection().draw(10, 7, np.random.default_rng(0))
    picked = P.tocsc()
    assert np.array_equal(np.diff(picked.indptr), np.ones(7))
    assert len(np.unique(picked.indices)) == 7
    np.testing.assert_allclose(P.data, math.sqrt(10 / 7), rtol=1e-6)


# --- distances and variances ---------------------------------------------------------------------


def test_variance_is_half_the_mean_squared_pairwise_distance():
    Y = dense(labels(40, 30))
    mean_squared_distance = 2 * pdist(Y, "sqeuclidean").sum() / 40**2
    assert total_variance(Y) == pytest.approx(mean_squared_distance / 2)


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("n_components", [2, 8, 32])
def test_variances_are_distorted_no_more_than_distances(name, n_components):
    # Theorem 1, with the smallest epsilon of every draw; it holds for any subsample too
    Y = labels(30, 64, density=0.2)
    rng = np.random.default_rng(0)
    original = pdist(dense(Y), "sqeuclidean")
    for _ in range(20):
        Z = sketch(name, Y, n_components, rng)
        epsilon = np.abs(pdist(Z, "sqeuclidean") / original - 1).max() + 1e-5
        node = rng.choice(30, 12, replace=False)
        for rows in (slice(None), node):
            ratio = total_variance(Z[rows]) / total_variance(dense(Y)[rows])
            assert abs(ratio - 1) <= epsilon


@pytest.mark.parametrize("name", ["gaussian", "rademacher", "achlioptas", "hadamard"])
def test_johnson_lindenstrauss_holds_for_most_draws_at_its_bound_and_soon_for_all(name):
    n_samples, epsilon = 25, 0.5
    Y = labels(n_samples, 600, density=0.05)
    original = pdist(dense(Y), "sqeuclidean")
    rng = np.random.default_rng(0)

    def share_of_good_draws(n_components):
        distances = (pdist(sketch(name, Y, n_components, rng), "sqeuclidean") for _ in range(60))
        return np.mean([np.abs(d / original - 1).max() <= epsilon for d in distances])

    enough = math.ceil(8 * epsilon**-2 * math.log(n_samples))
    # the lemma promises one good matrix; about four draws in five are good, and all at twice m
    assert share_of_good_draws(enough) >= 0.6
    assert share_of_good_draws(2 * enough) >= 0.95
    assert share_of_good_draws(enough // 16) <= 0.1


# --- products ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_P", [dense, sparse.csr_array])
@pytest.mark.parametrize("make_Y", [dense, sparse.csr_array, sparse.csr_matrix, with_wide_indices])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, float])
@pytest.mark.parametrize("s", [3.0, 500.0])
def test_project_labels_is_the_dense_product(make_P, make_Y, dtype, s):
    Y = labels(40, 300).astype(dtype)
    P = RademacherProjection(s).draw(300, 20, np.random.default_rng(0))
    assert P.nnz > 0
    Z = project_labels(make_Y(Y), make_P(P))
    assert type(Z) is np.ndarray
    assert Z.dtype == np.float32
    assert Z.flags.c_contiguous
    np.testing.assert_allclose(Z, dense(Y).astype(float) @ dense(P), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["subsample", "sparse"])
def test_project_labels_never_makes_sparse_factors_dense(name):
    Y = labels(1000, 100_000, density=1e-4)
    P = matrix(name, Y, 32, np.random.default_rng(0))
    assert peak_bytes(lambda: project_labels(Y, P)) < 4 * 100_000 * 32 / 4


@pytest.mark.parametrize("name", [*RANDOM, "pca"])
def test_sketch_is_the_labels_times_the_matrix_of_the_same_stream(name):
    Y = labels(60, 40)
    P = matrix(name, Y, 6, np.random.default_rng(3))
    Z = sketch(name, Y, 6, np.random.default_rng(3))
    np.testing.assert_allclose(Z, Y.toarray() @ dense(P), rtol=1e-5, atol=1e-5)


def test_no_projection_keeps_the_labels():
    Y = labels(6, 40)
    rng = np.random.default_rng(0)
    assert sketch(None, Y, 3, rng) is Y
    assert sketch("gaussian", Y, None, rng) is Y


# --- scikit-learn transformers -------------------------------------------------------------------

TRANSFORMERS = [
    GaussianRandomProjection(5, random_state=0),
    SparseRandomProjection(5, dense_output=False),
    make_pipeline(MaxAbsScaler(), TruncatedSVD(5, algorithm="randomized", n_iter=1)),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_transformers_follow_the_stream_and_are_not_touched(transformer):
    Y = labels(80, 40)
    before = pickle.dumps(transformer)
    Z, again, other = (sketch(transformer, Y, None, np.random.default_rng(s)) for s in (0, 0, 1))
    assert Z.shape == (80, 5)
    assert Z.dtype == np.float32
    assert np.array_equal(dense(Z), dense(again))
    assert not np.array_equal(dense(Z), dense(other))
    assert pickle.dumps(transformer) == before


def test_a_sparse_sketch_of_a_transformer_stays_sparse():
    transformer = SparseRandomProjection(5, dense_output=False)
    Z = sketch(transformer, labels(80, 40), None, np.random.default_rng(0))
    assert isinstance(Z, sparse.csr_array)


class FirstLabels(BaseEstimator):
    """Has fit and transform, but no fit_transform."""

    def fit(self, Y):
        self.n_kept_ = Y.shape[1] // 2
        return self

    def transform(self, Y):
        return Y[:, : self.n_kept_]


def test_a_transformer_may_lack_fit_transform():
    Y = labels(10, 8)
    Z = sketch(FirstLabels(), Y, None, np.random.default_rng(0))
    assert np.array_equal(dense(Z), Y.toarray()[:, :4])


@pytest.mark.parametrize("is_sparse", [False, True])
def test_labels_drawn_by_norm_preserve_squared_distances_in_expectation(is_sparse):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 12)) * np.logspace(-1, 1, 12)
    y = Y[0] - Y[1]
    given = sparse.csr_array(Y) if is_sparse else Y
    lengths = [
        np.square(y @ matrix("norm-subsample", given, 4, np.random.default_rng(seed))).sum()
        for seed in range(4000)
    ]
    assert np.mean(lengths) == pytest.approx(y @ y, rel=0.05)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_labels_of_largest_norm_are_kept_as_they_are(is_sparse):
    Y = np.array([[1.0, 0, 3, 0], [1.0, 0, 0, -2]])
    given = sparse.csr_array(Y) if is_sparse else Y
    Z = sketch("top-norm", given, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(Z, Y[:, [2, 3]])
