"""X in bins: few values exactly, many by quantiles, sparse as dense."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest._boosting.binning import MAX_BINS, bin_features
from sketchforest._trees.encoding import is_worth_sparse


def bins_of(binned, n_rows):
    """(n_rows, n_features) bins, of dense or sparse X."""
    X = binned.X
    if X.columns is not None:
        return X.columns.T.astype(int)
    found = np.tile(X.zero_place.astype(int), (n_rows, 1))
    for row in range(n_rows):
        for place in X.places[X.row_start[row] : X.row_start[row + 1]]:
            found[row, np.searchsorted(binned.bin_start, place, side="right") - 1] = place
    return found - binned.bin_start[:-1]


def random_features(rng, n, kind):
    X = rng.normal(size=(n, 4)).round(2).astype(np.float32)
    X[:, 1] = rng.integers(0, 3, size=n)
    X *= rng.random(X.shape) < 0.15
    X[rng.random(X.shape) < 0.03] = np.nan
    X[:, 3] = 0
    return X if kind == "dense" else sparse.csr_array(X)


@pytest.mark.parametrize("n", [1, 5, 200, 3000])
def test_sparse_and_dense_features_have_the_same_bins(n):
    X = random_features(np.random.default_rng(n), n, "sparse")
    thin = bin_features(X, 1)
    assert n < 200 or thin.X.row_start is not None
    assert is_worth_sparse(X) == (thin.X.row_start is not None)
    # A constant shift of zeros makes X dense and changes no order.
    dense = bin_features(X.toarray() + np.float32(0.5), 1)
    assert dense.X.columns is not None
    np.testing.assert_array_equal(thin.bin_start, dense.bin_start)
    np.testing.assert_array_equal(bins_of(thin, n), bins_of(dense, n))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_thresholds_send_each_value_to_the_side_of_its_bin(kind):
    X = random_features(np.random.default_rng(0), 2000, kind)
    binned = bin_features(X, 1)
    codes = bins_of(binned, 2000)
    values = X if kind == "dense" else X.toarray()
    for feature in range(4):
        n_known = binned.bin_start[feature + 1] - binned.bin_start[feature] - 1
        is_missing = np.isnan(values[:, feature])
        np.testing.assert_array_equal(codes[:, feature] == n_known, is_missing)
        cuts = np.arange(n_known)
        narrow, wide = binned.thresholds(np.full(n_known, feature), cuts)
        known, code = values[~is_missing, feature], codes[~is_missing, feature]
        for cut in cuts:
            np.testing.assert_array_equal(known <= wide[cut], code <= cut)
        if binned.separates(np.full(n_known, feature), cuts, narrow):
            for cut in cuts:
                np.testing.assert_array_equal(known <= narrow[cut], code <= cut)


def test_up_to_255_values_have_a_bin_each():
    X = np.arange(255.0)[:, None].repeat(2, axis=0)
    np.testing.assert_array_equal(bins_of(bin_features(X, 1), 510)[:, 0], X[:, 0])


def test_more_values_share_bins_of_about_equally_many_rows():
    X = np.random.default_rng(0).exponential(size=(20_000, 1))
    counts = np.bincount(bins_of(bin_features(X, 1), 20_000)[:, 0])
    assert len(counts) == MAX_BINS
    assert counts.max() < 1.1 * counts.mean()


def test_doubles_that_floats_do_not_separate_need_wide_thresholds():
    X = 1 + np.arange(10)[:, None] * 1e-12
    binned = bin_features(X, 1)
    narrow, wide = binned.thresholds(np.zeros(9, int), np.arange(9))
    assert not binned.separates(np.zeros(9, int), np.arange(9), narrow)
    for cut in range(9):
        np.testing.assert_array_equal(X[:, 0] <= wide[cut], np.arange(10) <= cut)
