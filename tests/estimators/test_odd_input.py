"""Odd input that makes sense is accepted."""

import numpy as np
import pytest
from bad_input import N_FEATURES, N_LABELS, N_ROWS, X, Y, predictions, small
from every_kind import CLASSIFIERS, ESTIMATORS, REGRESSORS, trees_alone
from scipy import sparse


def same_as(kind, given, clean, sample=X):
    """What is fitted on the given X and Y predicts as what is fitted on the clean ones."""
    ours, theirs = small(kind).fit(*given), small(kind).fit(*clean)
    assert np.array_equal(ours.apply(sample), theirs.apply(sample))
    assert np.array_equal(predictions(ours, sample), predictions(theirs, sample))
    return ours


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_rows_and_columns_without_labels_are_taken(kind, layout):
    empty = Y.copy()
    empty[:10] = 0
    empty[:, :5] = 0
    guess = predictions(small(kind).fit(X, layout(empty)))
    assert guess.shape == (N_ROWS, N_LABELS)
    assert not guess[:, :5].any()
    assert guess[:, 5:].any()
    assert not predictions(small(kind).fit(X, layout(0 * Y))).any()


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_constant_features_are_taken(kind, layout):
    constant = np.hstack([np.full((N_ROWS, 2), 7.0), np.zeros((N_ROWS, 2))])
    estimator = small(kind).fit(layout(constant), Y)
    assert not estimator.apply(layout(constant)).any()  # a single leaf
    assert not estimator.feature_importances_.any()
    mixed = small(kind, max_features=None).fit(layout(np.hstack([constant, X])), Y)
    assert not mixed.feature_importances_[:4].any()
    assert mixed.feature_importances_[4:].sum() == pytest.approx(1)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_row_is_enough(kind, layout):
    estimator = small(kind).fit(layout(X[:1]), layout(Y[:1]))
    assert np.array_equal(predictions(estimator, X), np.repeat(Y[:1], N_ROWS, axis=0))
    assert len(predictions(small(kind).fit(X[:1], [1]), X)) == N_ROWS


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_label_and_one_class_are_enough(kind):
    column = sparse.csr_array(Y[:, :1])
    params = {"threshold": 0.5} if "threshold" in kind().get_params() else {}  # all trees see all
    params |= trees_alone(kind)
    estimator = small(kind, **params).fit(X, column)
    assert predictions(estimator).shape == (N_ROWS, 1)
    assert estimator.n_outputs_ == 1
    if kind in CLASSIFIERS:
        same = small(kind, **trees_alone(kind)).fit(X, Y[:, 0])
        assert np.allclose(predictions(same)[:, 1], predictions(estimator)[:, 0])
        assert small(kind).fit(X, ["only"] * N_ROWS).predict(X).tolist() == ["only"] * N_ROWS


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_feature_is_enough(kind):
    assert predictions(small(kind).fit(X[:, :1], Y), X[:, :1]).shape == (N_ROWS, N_LABELS)


def with_explicit_zeros(matrix):
    filled = sparse.csr_array(np.ones_like(matrix))
    filled.data[:] = matrix.ravel()
    return filled


def with_unsorted_indices(matrix):
    csr = sparse.csr_array(matrix)
    for begin, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        csr.indices[begin:end] = csr.indices[begin:end][::-1].copy()
        csr.data[begin:end] = csr.data[begin:end][::-1].copy()
    csr.has_sorted_indices = False
    csr.has_canonical_format = False
    return csr


def with_duplicates(matrix, share):
    """Every entry twice: `share` of it, and the rest."""
    csr = sparse.csr_array(matrix)
    pairs = np.column_stack([share * csr.data, (1 - share) * csr.data]).ravel()
    return sparse.csr_array((pairs, csr.indices.repeat(2), 2 * csr.indptr), shape=csr.shape)


ODD_X = {
    "explicit zeros": with_explicit_zeros(np.maximum(X, 0)),
    "unsorted indices": with_unsorted_indices(np.maximum(X, 0)),
    "duplicates": with_duplicates(np.maximum(X, 0), 0.25),
    "long indices": sparse.csr_array(np.maximum(X, 0)),
}
ODD_X["long indices"].indices = ODD_X["long indices"].indices.astype(np.int64)
ODD_X["long indices"].indptr = ODD_X["long indices"].indptr.astype(np.int64)


@pytest.mark.parametrize("which", ODD_X)
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_odd_sparse_features_are_taken_and_left_alone(kind, columns, which):
    odd = ODD_X[which]
    odd = sparse.csc_array(odd) if columns else odd.copy()
    arrays = odd.data.copy(), odd.indices.copy(), odd.indptr.copy()
    clean = np.maximum(X, 0)
    estimator = same_as(kind, (odd, Y), (clean, Y), sample=clean)
    assert np.array_equal(predictions(estimator, odd), predictions(estimator, clean))
    for before, after in zip(arrays, (odd.data, odd.indices, odd.indptr), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_odd_sparse_targets_are_taken_and_left_alone(kind, layout):
    twice = with_duplicates(Y, 0.25)
    if kind in CLASSIFIERS:  # a label given twice is a label
        twice.data[:] = 1
    for odd in (with_explicit_zeros(Y), with_unsorted_indices(Y), twice):
        odd = layout(odd)
        arrays = odd.data.copy(), odd.indices.copy(), odd.indptr.copy()
        same_as(kind, (X, odd), (X, sparse.csr_array(Y)))
        for before, after in zip(arrays, (odd.data, odd.indices, odd.indptr), strict=True):
            assert np.array_equal(before, after)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_numbers_as_objects_are_numbers(kind):
    same_as(kind, (X.astype(object), Y), (X, Y))
    if kind in REGRESSORS:
        same_as(kind, (X, Y.astype(object)), (X, Y))


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_huge_and_tiny_values_are_not_infinite(kind):
    far = X.copy()
    far[:, 0] = np.where(X[:, 0] > 0, 1.7e308, -1.7e308)
    far[:, 1] = np.where(X[:, 1] > 0, 5e-324, 0)
    leaves = small(kind, max_features=None).fit(far, Y).apply(far)
    near = np.sign(far) * (np.arange(N_FEATURES) < 2) + far * (np.arange(N_FEATURES) >= 2)
    assert np.array_equal(leaves, small(kind, max_features=None).fit(near, Y).apply(near))
