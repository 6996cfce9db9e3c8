"""Codes of X against ranks computed by NumPy."""

import signal

import numpy as np
import pytest
from scipy import sparse

from sketchforest import _core
from sketchforest._trees import encoding
from sketchforest._trees.encoding import encode

TYPES = ["f4", "f8", "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
ORDERS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


def numbers(dtype, n_rows=100, n_features=70):
    rng = np.random.default_rng(0)
    X = rng.integers(0 if dtype in ("?", "u1", "u2", "u4", "u8") else -9, 9, (n_rows, n_features))
    X = X.astype(dtype)
    if dtype[0] == "f":
        X *= X.dtype.type(0.37)
        X[rng.random(X.shape) < 0.1] = np.nan
        X[0], X[1] = 0.0, -0.0
    return X


def ranks(X):
    """(n_features, n_rows) rank of each value, and the distinct values of each feature."""
    values = [np.unique(column[~np.isnan(column)]) for column in X.T]
    codes = [
        np.where(np.isnan(column), len(known), np.searchsorted(known, column))
        for column, known in zip(X.T, values, strict=True)
    ]
    return np.array(codes), values


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", TYPES)
def test_dense_codes_are_ranks_whatever_its_type_and_order(dtype, order):
    X = numbers(dtype)
    coded = encode(ORDERS[order](X))
    codes, values = ranks(X.astype(np.float64))
    assert np.array_equal(coded.codes, codes)
    assert np.array_equal(coded.row_codes, codes.T)
    assert np.array_equal(coded.values, np.concatenate(values))
    assert np.array_equal(np.diff(coded.value_start), [len(known) for known in values])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", ["f4", "?", "i1", "u1", "i2", "u2"])
def test_codes_by_value_sort_as_the_values_do(dtype, order):
    X = numbers(dtype)
    coded = encode(ORDERS[order](X), random_cuts=True)
    assert coded.by_value
    assert np.array_equal(coded.row_codes, coded.codes.T)
    assert np.array_equal(coded.row_codes == 2**32 - 1, np.isnan(X))
    as_floats = X.astype(np.float64)
    as_floats[np.isnan(as_floats)] = np.inf
    assert np.array_equal(ranks(coded.row_codes.astype(float))[0], ranks(as_floats)[0])


def test_more_features_than_a_node_can_number_are_refused(monkeypatch):
    assert encoding.MOST_FEATURES == 2**31 - 1  # their numbers are int32
    monkeypatch.setattr(encoding, "MOST_FEATURES", 70)
    X = numbers("f4")
    for matrix in (X, sparse.csr_array(X), sparse.csc_array(X)):
        encode(matrix)
    for wider in (np.pad(X, [(0, 0), (0, 1)]), sparse.csr_array((1, 71))):
        with pytest.raises(ValueError, match="X must have at most 70 features; got 71"):
            encode(wider)


def test_signals_are_heard_while_sparse_values_are_coded():
    """Without that, the handler would run once, after all is coded."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random(6_000_000), rng.integers(0, 300, 6_000_000), [0, 6_000_000]))
    calls = []

    def count(*args):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.encode_csr(
                X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), X.shape[1]
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
