"""R2 of sparse outputs is scikit-learn's of the same outputs written out."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import r2_score

from sketchforest.metrics._r2 import r2


@pytest.fixture(name="matrices")
def outputs_and_predictions():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 12)) * (rng.random((40, 12)) < 0.3)
    P = Y + 0.3 * rng.normal(size=Y.shape) * (rng.random(Y.shape) < 0.5)
    Y[:, 0] = P[:, 0] = 0  # constant, and right
    Y[:, 1] = 2  # constant, and wrong
    Y[:, 2] = P[:, 2] = 5
    return Y, P


@pytest.mark.parametrize("weighted", [False, True])
def test_r2_of_sparse_outputs_is_scikit_learns(matrices, weighted):
    Y, P = matrices
    weights = np.random.default_rng(1).random(len(Y)) if weighted else None
    expected = r2_score(Y, P, sample_weight=weights)
    assert expected != r2_score(Y, P, sample_weight=np.arange(len(Y)))
    for truth, guess in [
        (Y, P),
        (sparse.csr_array(Y), sparse.csr_array(P)),
        (sparse.csc_matrix(Y), P),
        (Y, sparse.coo_array(P)),
    ]:
        assert r2(truth, guess, weights) == pytest.approx(expected)


def test_stored_zeros_and_duplicates_change_nothing(matrices):
    Y, P = matrices
    rows, columns = np.indices(Y.shape).reshape(2, -1)
    twice = (np.r_[Y.ravel(), Y.ravel()] / 2, (np.r_[rows, rows], np.r_[columns, columns]))
    assert r2(sparse.coo_array(twice), sparse.csr_array(P)) == pytest.approx(r2_score(Y, P))
    pairs = sparse.csr_array((np.ones(2), [0, 0], [0, 2]), shape=(1, 1))
    assert not pairs.has_canonical_format
    stack = sparse.vstack([pairs, sparse.csr_array([[0.0]])], format="csr")
    assert r2(stack, sparse.csr_array([[1.0], [0.0]])) == pytest.approx(r2_score([2, 0], [1, 0]))


def test_outputs_of_another_shape_are_refused(matrices):
    Y, P = matrices
    with pytest.raises(ValueError, match=r"shape of Y_pred, \(40, 12\); got \(40, 5\)"):
        r2(sparse.csr_array(Y[:, :5]), P)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_outputs_that_are_no_numbers_are_refused(matrices, value):
    Y, P = matrices
    wrong = Y.copy()
    wrong[3, 2] = value
    for truth, guess, name in (
        (sparse.csr_array(wrong), sparse.csr_array(P), "Y_true"),
        (wrong, sparse.csr_array(P), "Y_true"),
        (sparse.csc_array(Y), sparse.coo_array(wrong), "Y_pred"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must be finite; got {value}"):
            r2(truth, guess)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        r2(wrong, P)
