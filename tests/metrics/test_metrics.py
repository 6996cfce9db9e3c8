"""The ranking metrics."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
import reference_metrics as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from ranking_cases import ALL_METRICS, each_metric
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from sketchforest.metrics import (
    _ranks,
    coverage_error,
    get_metric,
    greater_is_better,
    label_ranking_loss,
    lrap,
    ndcg_at_k,
    precision_at_k,
    propensities,
    psp_at_k,
    row_values,
    top_k,
)

SEEDS = range(20)


def random_case(seed, tied=True):
    """Truth with an empty and a full row; scores with many ties, many zeros, some negative."""
    rng = np.random.default_rng(seed)
    n_samples, n_labels = rng.integers(3, 12, size=2)
    if seed % 4 == 0:  # so many true labels that scores are sorted, not compared
        n_labels = 40
    Y = (rng.random((n_samples, n_labels)) < rng.random()).astype(int)
    Y[0], Y[1] = 0, 1
    if tied:
        S = rng.integers(-2, 4, size=Y.shape) * 0.1 * (rng.random(Y.shape) < 0.5)
    else:
        S = rng.permuted(np.arange(Y.size).reshape(Y.shape), axis=1) / Y.size - 0.5
    return Y, S, rng.random(n_samples)


def shuffled_csr(M, rng, index_dtype=np.int64):
    """The same matrix as CSR with half of the zeros stored and each row's entries out of order."""
    rows, labels = np.nonzero((M != 0) | (rng.random(M.shape) < 0.5))
    order = np.lexsort((rng.random(rows.size), rows))
    result = sparse.csr_array(M.shape, dtype=M.dtype)
    result.data = M[rows, labels][order]
    result.indices = labels[order].astype(index_dtype)
    result.indptr = np.searchsorted(rows, np.arange(len(M) + 1)).astype(index_dtype)
    return result


def split_entries(M):
    """The same matrix as COO with each entry stored as two halves."""
    half = sparse.coo_array(M / 2)
    both = [np.concatenate([part, part]) for part in (half.data, half.row, half.col)]
    return sparse.coo_array((both[0], (both[1], both[2])), shape=M.shape)


def repeated_entries(Y):
    """The same indicator with each true label listed twice."""
    rows, labels = (np.repeat(part, 2) for part in np.nonzero(Y))
    return sparse.coo_array((np.ones(len(rows), dtype=int), (rows, labels)), shape=Y.shape)


# Against scikit-learn


@pytest.mark.parametrize("seed", SEEDS)
def test_lrap_equals_scikit_learn_when_rows_without_labels_count_as_one(seed):
    Y, S, weight = random_case(seed)
    for w in (None, weight):
        expected = sklearn_metrics.label_ranking_average_precision_score(Y, S, sample_weight=w)
        got = lrap(Y, S, no_label_rows="one", sample_weight=w)
        assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["coverage_error", "label_ranking_loss"])
def test_coverage_and_ranking_loss_equal_scikit_learn(name, seed):
    Y, S, weight = random_case(seed)
    for w in (None, weight):
        expected = getattr(sklearn_metrics, name)(Y, S, sample_weight=w)
        assert get_metric(name)(Y, S, sample_weight=w) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_ndcg_equals_scikit_learn_without_ties(seed):
    Y, S, weight = random_case(seed, tied=False)
    for k in range(1, Y.shape[1] + 1):
        for w in (None, weight):
            expected = sklearn_metrics.ndcg_score(Y, S, k=k, sample_weight=w)
            assert ndcg_at_k(Y, S, k, sample_weight=w) == pytest.approx(expected, abs=1e-12)


# Against the definitions


@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_follow_their_definitions(seed):
    Y, S, weight = random_case(seed)
    chance = np.random.default_rng(seed).uniform(0.1, 1, Y.shape[1])
    for w in (None, weight):
        pairs = [
            (lrap(Y, S, sample_weight=w), reference.lrap(Y, S, w)),
            (coverage_error(Y, S, sample_weight=w), reference.coverage_error(Y, S, w)),
            (label_ranking_loss(Y, S, sample_weight=w), reference.label_ranking_loss(Y, S, w)),
        ]
        for k in range(1, Y.shape[1] + 1):
            pairs += [
                (precision_at_k(Y, S, k, sample_weight=w), reference.precision_at_k(Y, S, k, w)),
                (ndcg_at_k(Y, S, k, sample_weight=w), reference.ndcg_at_k(Y, S, k, w)),
                (
                    psp_at_k(Y, S, chance, k, sample_weight=w),
                    reference.psp_at_k(Y, S, chance, k, w),
                ),
            ]
        got, expected = zip(*pairs, strict=True)
        assert got == pytest.approx(expected, abs=1e-12)


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
        elements=st.sampled_from([-2.0, -0.0, 0.0, 0.0, 0.5, 0.5, 1.0]),
    ),
    st.data(),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_top_k_orders_by_score_then_label_for_dense_and_sparse(S, data):
    k = data.draw(st.integers(1, S.shape[1]))
    expected = [reference.ranking(row)[:k] for row in S]
    for form in (S, sparse.csr_array(S), shuffled_csr(S, np.random.default_rng(0))):
        labels, scores = top_k(form, k)
        assert labels.tolist() == expected
        assert scores.tolist() == np.take_along_axis(S, labels, axis=1).tolist()


def test_propensities_follow_jain_and_feed_psp():
    Y_train, _, _ = random_case(0)
    for A, B in [(0.55, 1.5), (0.5, 0.4)]:
        expected = reference.propensities(Y_train, A, B)
        assert propensities(Y_train, A, B) == pytest.approx(expected, abs=1e-12)
        Y, S, _ = random_case(0, tied=False)
        from_train = psp_at_k(Y, S, k=2, Y_train=sparse.csr_array(Y_train), A=A, B=B)
        assert from_train == pytest.approx(psp_at_k(Y, S, expected, k=2), abs=1e-12)


def test_values_computed_by_napkinxc_are_reproduced():
    i, j = np.indices((50, 20))
    Y = (i * i + 3 * j * j + i * j) % (5 + j) == 1
    S = (37 * i + 61 * j) % 101
    # napkinXC 0.7.2: precision_at_k, ndcg_at_k, and psprecision_at_k with its own propensities.
    computed = {
        1: (0.14, 0.14, 0.1874261646815128),
        3: (0.14666666666666664, 0.16671803889393835, 0.24616894355194002),
        5: (0.12800000000000003, 0.19644324745953995, 0.2884759449862048),
    }
    for k, expected in computed.items():
        got = precision_at_k(Y, S, k), ndcg_at_k(Y, S, k), psp_at_k(Y, S, k=k, Y_train=Y)
        assert got == pytest.approx(expected, abs=1e-12)


# Dense and sparse


@each_metric
@pytest.mark.parametrize("seed", SEEDS[:5])
def test_every_form_of_the_same_data_gives_exactly_the_same_value(metric, seed):
    Y, S, weight = random_case(seed)
    rng = np.random.default_rng(seed)
    expected = metric(Y, S, sample_weight=weight)
    truths = [Y.astype(bool), Y.astype(np.float32), shuffled_csr(Y, rng), repeated_entries(Y)]
    scores = [shuffled_csr(S, rng), shuffled_csr(S, rng, np.int32), split_entries(S)]
    formats = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
    for container in (sparse.coo_array, sparse.coo_matrix):
        truths += [container(Y).asformat(name) for name in formats]
        scores += [container(S).asformat(name) for name in formats]
    for truth in truths:
        assert metric(truth, S, sample_weight=weight) == expected
    for score in scores:
        assert metric(Y, score, sample_weight=weight) == expected


@each_metric
def test_narrow_score_types_rank_as_their_values(metric):
    Y, _, _ = random_case(3)
    S = np.random.default_rng(3).integers(0, 3, Y.shape)
    for dtype in (bool, np.uint8, np.int16, np.float16, np.float32):
        narrow = S.astype(dtype)
        assert metric(Y, narrow) == metric(Y, narrow.astype(float))


@each_metric
def test_blocks_of_rows_do_not_change_the_value(metric, monkeypatch):
    Y, S, weight = random_case(5)
    expected = metric(Y, S, sample_weight=weight)
    for size in (1, 30):
        monkeypatch.setattr(_ranks, "BLOCK_SIZE", size)
        for score in (S, sparse.csr_array(S)):
            assert metric(Y, score, sample_weight=weight) == expected


@each_metric
def test_inputs_are_left_as_they_were(metric):
    Y, S, _ = random_case(1)
    rng = np.random.default_rng(1)
    inputs = [shuffled_csr(Y, rng), shuffled_csr(S, rng)]
    before = [(M.data.copy(), M.indices.copy(), M.indptr.copy()) for M in inputs]
    metric(*inputs)
    for M, arrays in zip(inputs, before, strict=True):
        assert all(map(np.array_equal, (M.data, M.indices, M.indptr), arrays))


def test_absent_labels_rank_above_negative_scores():
    Y = [[0, 0, 1, 0]]
    S = sparse.csr_array([[-1.0, 0, 0, 2.0]])
    assert top_k(S, 4)[0].tolist() == [[3, 1, 2, 0]]
    assert lrap(Y, S) == 1 / 3
    assert precision_at_k(Y, S, 3) == 1 / 3


def peak_memory(function, *arguments):
    tracemalloc.start()
    try:
        return function(*arguments), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["lrap", "precision_at_3"])
def test_dense_scores_are_ranked_in_a_fraction_of_their_memory(name):
    S = np.random.default_rng(0).random((4000, 2000))
    Y = sparse.eye_array(*S.shape)
    _, peak = peak_memory(get_metric(name), Y, S)
    assert peak < S.nbytes / 2


def test_a_hundred_thousand_labels_are_scored_in_the_memory_of_the_non_zeros():
    n, per_row = 100_000, 10
    rng = np.random.default_rng(0)
    # One label from each tenth of the labels, and the first of them is the true one.
    labels = rng.integers(n // per_row, size=(n, per_row)) + np.arange(0, n, n // per_row)
    scores = rng.random(labels.size), labels.ravel(), np.arange(0, labels.size + 1, per_row)
    S = sparse.csr_array(scores, shape=(n, n))
    Y = sparse.csr_array((np.ones(n, bool), labels[:, 0], np.arange(n + 1)), shape=(n, n))

    def evaluate():
        return {name: metric(Y, S) for name, metric in ALL_METRICS.items()}

    values, peak = peak_memory(evaluate)
    assert peak < 10 * (S.data.nbytes + S.indices.nbytes)
    assert values["precision_at_1"] == pytest.approx(1 / per_row, abs=0.01)
    assert values["coverage_error"] == pytest.approx((1 + per_row) / 2, abs=0.1)
    Y, S = Y[:20], S[:20]
    for metric in ALL_METRICS.values():
        assert metric(Y, S) == metric(Y.toarray(), S.toarray())


# Rows without labels


def test_rows_without_labels_are_dropped_by_lrap_and_count_as_zero_at_k():
    Y, S = np.array([[0, 0, 0], [1, 0, 0]]), np.array([[3, 2, 1], [3, 2, 1]])
    assert lrap(Y, S) == 1
    assert lrap(Y, S[:, [1, 0, 2]], no_label_rows="one") == 0.75
    assert lrap(Y, S[:, [1, 0, 2]]) == 0.5
    assert precision_at_k(Y, S, 1) == 0.5
    assert ndcg_at_k(Y, S, 1) == 0.5
    assert psp_at_k(Y, S, [0.5, 0.5, 0.5], 1) == 1


@each_metric
def test_a_row_of_weight_zero_might_as_well_not_be_there(metric):
    Y, S, weight = random_case(2)
    weight[-1] = 0
    kept = metric(Y[:-1], S[:-1], sample_weight=weight[:-1])
    assert metric(Y, S, sample_weight=weight) == pytest.approx(kept, abs=1e-12)


# Names


def test_metrics_are_found_by_name():
    Y, S, _ = random_case(4)
    assert get_metric("lrap") is lrap
    assert get_metric("precision_at_3")(Y, S) == precision_at_k(Y, S, 3)
    assert get_metric("ndcg_at_2")(Y, S) == ndcg_at_k(Y, S, 2)
    assert get_metric(min) is min


def test_only_errors_and_losses_are_minimised():
    names = ["lrap", "precision_at_1", "ndcg_at_10", "coverage_error", "label_ranking_loss"]
    assert [greater_is_better(name) for name in names] == [True, True, True, False, False]
    assert not greater_is_better(coverage_error)
    assert not greater_is_better(partial(coverage_error, sample_weight=[1.0]))
    assert greater_is_better(min)


@pytest.mark.parametrize(
    "name", ["auc", "precision_at_0", "precision_at_k", "psp_at_5", "", 5, ["lrap"]]
)
def test_unknown_names_are_answered_with_the_known_ones(name):
    with pytest.raises(ValueError, match=r'"lrap", "coverage_error", .*, "ndcg_at_K".*; got'):
        get_metric(name)


@pytest.mark.parametrize(
    "name", ["lrap", "coverage_error", "label_ranking_loss", "precision_at_2", "ndcg_at_3"]
)
def test_a_metric_is_the_mean_of_its_values_by_row(name):
    rng = np.random.default_rng(0)
    Y, S = rng.random((50, 7)) < 0.2, rng.integers(0, 4, (50, 7)).astype(float)
    assert not Y.any(axis=1).all()
    assert np.nanmean(row_values(name, Y, S)) == pytest.approx(get_metric(name)(Y, S))
    each = [get_metric(name)(Y[[i]], S[[i]]) for i in np.flatnonzero(Y.any(axis=1))]
    assert np.allclose(row_values(name, Y, S)[Y.any(axis=1)], each)


def test_a_metric_that_is_no_mean_over_rows_has_no_values_by_row():
    assert row_values(lambda Y, S: 1.0, [[1, 0]], [[0.5, 0.1]]) is None
