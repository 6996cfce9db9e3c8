"""Bad X, Y or weights get one clear sentence and change nothing."""

import numpy as np
import pytest
from bad_input import (
    N_FEATURES,
    N_ROWS,
    X,
    Y,
    nothing_changes,
    one_sentence,
    predictions,
    refuse_to_fit,
    small,
)
from every_kind import CLASSIFIERS, ESTIMATORS, REGRESSORS
from scipy import sparse

ONES = np.ones(N_ROWS)


def replaced(array, value, at=(3, 1)):
    array = array.astype(object if isinstance(value, str | dict) else np.float64)
    array[at] = value
    return array


# ---- X


BAD_X = {
    "inf": (replaced(X, np.inf), r"X must not contain infinity; .*NaN, which means missing"),
    "minus inf": (replaced(X, -np.inf), "X must not contain infinity"),
    "both": (replaced(replaced(X, np.inf), -np.inf, (0, 0)), "X must not contain infinity"),
    "float32 inf": (replaced(X, np.inf).astype(np.float32), "X must not contain infinity"),
    "sparse inf": (sparse.csr_array(replaced(X, np.inf)), "X must not contain infinity"),
    "sparse columns inf": (sparse.csc_array(replaced(X, np.inf)), "X must not contain infinity"),
    "strings": (X.astype(str), "X must hold numbers; got strings. Encode categories"),
    "objects": (replaced(X, "red"), "X must hold numbers; .*'red'. Encode categories"),
    "complex": (X * 1j, "X must hold real numbers; got complex ones"),
    "dates": (np.zeros(X.shape, "M8[D]"), r"X must hold numbers; got dtype datetime64\[D\]"),
    "no rows": (X[:0], r"X must not be empty; found array with 0 sample\(s\) \(shape=\(0, 6\)\)"),
    "no features": (X[:, :0], r"X must not be empty; found array with 0 feature\(s\)"),
    "one dimension": (X[:, 0], r"X must have two dimensions; got one.*reshape\(-1, 1\)"),
    "three dimensions": (X[:, :, None], "X must have at most two dimensions; .*dim 3"),
}


@pytest.mark.parametrize("which", BAD_X)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_features_are_refused_by_fit(kind, which):
    features, message = BAD_X[which]
    refuse_to_fit(kind, message, X=features)


@pytest.mark.parametrize("which", BAD_X)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_features_are_refused_by_every_prediction(kind, which):
    features, message = BAD_X[which]
    estimator = small(kind).fit(X, Y)
    before = predictions(estimator)
    methods = ["predict", "apply", "leaf_weights"]
    if kind in CLASSIFIERS:
        methods += ["predict_proba", "predict_log_proba", "predict_sparse", "predict_topk"]
    for method in methods:
        with nothing_changes(estimator), one_sentence(message):
            getattr(estimator, method)(features)
    assert np.array_equal(predictions(estimator), before)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_things_that_are_no_numbers_are_refused(kind):
    refuse_to_fit(
        kind, "X must hold numbers; .*not 'dict'", X=replaced(X, {"a": 1}), error=TypeError
    )


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_another_number_of_features_is_refused(kind, layout):
    estimator = small(kind).fit(X, Y)
    before = predictions(estimator)
    for n_features in (N_FEATURES - 1, N_FEATURES + 1):
        message = f"X has {n_features} features, but {kind.__name__} is expecting 6 features"
        with nothing_changes(estimator), one_sentence(message):
            estimator.predict(layout(np.ones((4, n_features))))
    assert np.array_equal(predictions(estimator), before)


# ---- Y


BAD_Y = {
    "nan": (replaced(Y, np.nan), "Y must not contain missing or infinite values; .*Leave out rows"),
    "inf": (replaced(Y, np.inf), "Y must not contain missing or infinite values"),
    "sparse nan": (sparse.csr_array(replaced(Y, np.nan)), "Y must not contain missing or infinite"),
    "1-d nan": (replaced(ONES, np.nan, 3), "Y must not contain missing or infinite values"),
    "too few": (Y[:-1], "X and Y must have the same number of rows; got 40 and 39"),
    "too many": (np.vstack([Y, Y]), "X and Y must have the same number of rows; got 40 and 80"),
    "sparse, too few": (sparse.csr_array(Y[:-1]), "the same number of rows; got 40 and 39"),
    "1-d, too few": (ONES[1:], "the same number of rows; got 40 and 39"),
    "no rows": (Y[:0], r"Y must not be empty; found array with 0 sample\(s\)"),
    "no columns": (Y[:, :0], r"Y must have at least one column; got shape \(40, 0\)"),
    "sparse, no columns": (sparse.csr_array(Y[:, :0]), "Y must have at least one column"),
    "none": (None, "requires y to be passed, but the target y is None"),
    "three dimensions": (Y[:, :, None], "Y must have at most two dimensions; .*dim 3"),
    "complex": (Y * 1j, "Y must hold real numbers; got complex ones"),
    "sparse complex": (sparse.csr_array(Y * 1j), "Y must hold real numbers; got complex ones"),
    "lists": ([[1, 2], [3]] * 20, "Y must have rows of equal length; .*MultiLabelBinarizer"),
    "1-d sparse": (sparse.coo_array(ONES), "Y must be 2-d if it is sparse"),
}
NO_INDICATOR = (
    "Sparse Y must be an indicator matrix of zeros and ones; got the value {}. Use toarray"
)
BAD_LABELS = {
    "counts": (sparse.csr_array(2 * Y), NO_INDICATOR.format("2.0")),
    "negative": (sparse.csr_array(replaced(Y, -1).astype(int)), NO_INDICATOR.format("-1")),
    "halves": (sparse.csr_array(Y / 2), NO_INDICATOR.format("0.5")),
    "columns of halves": (Y / 2, "Unknown label type: continuous"),
    "columns of objects": (Y.astype(object), "Unknown label type: unknown"),
    "real numbers": (X[:, 0], "Unknown label type: continuous"),
    "types that do not mix": (np.array(["a", 1] * 20, object), "Y must hold classes of one type"),
    "unknown classes": (np.array(["a", None] * 20), "Y must not contain missing"),
    "missing classes": (np.array(["a", np.nan] * 20, object), "Y must not contain missing"),
}
BAD_OUTPUTS = {
    "strings": (np.array(["red"] * N_ROWS), "Y must hold numbers; got dtype .*Use a classifier"),
    "objects": (replaced(Y, "red"), "Y must hold numbers; got dtype object. Use a classifier"),
    "beyond single precision": (
        sparse.csr_array(Y * 1e300),
        "Y must not contain missing or infinite",
    ),
}


@pytest.mark.parametrize("which", BAD_Y)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_targets_are_refused(kind, which):
    targets, message = BAD_Y[which]
    refuse_to_fit(kind, message, y=targets)


@pytest.mark.parametrize("which", BAD_LABELS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_what_is_no_indicator_matrix_and_no_class_is_refused(kind, which):
    targets, message = BAD_LABELS[which]
    refuse_to_fit(kind, message, y=targets)


@pytest.mark.parametrize("which", BAD_OUTPUTS)
@pytest.mark.parametrize("kind", REGRESSORS)
def test_outputs_that_are_no_numbers_are_refused(kind, which):
    targets, message = BAD_OUTPUTS[which]
    refuse_to_fit(kind, message, y=targets)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_scalar_is_no_target(kind):
    refuse_to_fit(kind, "Y must have one or two dimensions; got a scalar", y=3, error=TypeError)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_relabel_refuses_what_fit_refuses(kind):
    estimator = small(kind).fit(X, Y)
    before = predictions(estimator)
    bad = BAD_Y | (BAD_LABELS if kind in CLASSIFIERS else BAD_OUTPUTS)
    for which, (targets, message) in bad.items():
        if "too" in which:
            n_rows = targets.shape[0]
            message = f"Y_new must have one row for each of the 40 training rows; got {n_rows}"
        with nothing_changes(estimator), one_sentence(message):
            estimator.relabel(targets)
    assert np.array_equal(predictions(estimator), before)


# ---- weights


BAD_WEIGHTS = {
    "negative": (replaced(ONES, -0.5, 3), "sample_weight must not be negative; got -0.5"),
    "all zero": (0 * ONES, "sample_weight must not be all zero; .*Use None for equal weights"),
    "nan": (replaced(ONES, np.nan, 3), "sample_weight must be finite; got NaN or inf"),
    "inf": (replaced(ONES, np.inf, 3), "sample_weight must be finite; got NaN or inf"),
    "too few": (ONES[1:], r"one number for each of the 40 rows; got shape \(39,\)"),
    "a matrix": (ONES[:, None], r"one number for each of the 40 rows; got shape \(40, 1\)"),
    "a number": (-1.0, "sample_weight must not be negative; got -1.0"),
    "strings": (["heavy"] * N_ROWS, "sample_weight must hold numbers; .*'heavy'"),
}


@pytest.mark.parametrize("which", BAD_WEIGHTS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_bad_weights_are_refused(kind, which):
    weights, message = BAD_WEIGHTS[which]
    refuse_to_fit(kind, message, sample_weight=weights)
