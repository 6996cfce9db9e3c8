"""Invalid input of the ranking metrics."""

from functools import partial

import numpy as np
import pytest
from ranking_cases import each_metric
from scipy import sparse

from sketchforest.metrics import lrap, ndcg_at_k, precision_at_k, psp_at_k

# Bad input

Y_OK, S_OK = [[1, 0, 0], [0, 1, 1]], [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]


@each_metric
@pytest.mark.parametrize("form", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("Y", "S", "message"),
    [
        (Y_OK, [[0.1, 0.2, 0.3]], r"Y_score must have the shape of Y_true, \(2, 3\); got \(1, 3\)"),
        ([[2, 0, 0], [0, 1, 0]], S_OK, "Y_true must hold only 0 and 1; got 2"),
        ([[0.5, 0, 0], [0, 1, 0]], S_OK, "Y_true must hold only 0 and 1; got 0.5"),
        ([[np.nan, 0, 0], [0, 1, 0]], S_OK, "Y_true must hold only 0 and 1; got nan"),
        (Y_OK, [[np.nan, 0, 0], [1, 2, 3]], "Y_score must be finite; got nan"),
        (Y_OK, [[np.inf, 0, 0], [1, 2, 3]], "Y_score must be finite; got inf"),
        (Y_OK, [[-np.inf, 0, 0], [1, 2, 3]], "Y_score must be finite; got -inf"),
        (Y_OK, [[1j, 0, 0], [1, 2, 3]], "Y_score must hold real numbers; got complex128"),
    ],
)
def test_bad_matrices_are_named_with_the_rule_and_the_value(metric, form, Y, S, message):
    with pytest.raises(ValueError, match=message):
        metric(form(Y), form(S))


@each_metric
@pytest.mark.parametrize(
    ("Y", "S", "message"),
    [
        ([1, 0], np.array(S_OK), r"Y_true must be 2-d, .* got shape \(2,\)"),
        (Y_OK, np.array([0.1, 0.2]), r"Y_score must be 2-d, .* got shape \(2,\)"),
        (np.zeros((0, 3)), np.zeros((0, 3)), r"Y_true must be 2-d, .* got shape \(0, 3\)"),
    ],
)
def test_only_filled_matrices_are_taken(metric, Y, S, message):
    with pytest.raises(ValueError, match=message):
        metric(Y, S)


@each_metric
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"sample_weight must have shape \(2,\); got \(1,\)"),
        ([[1.0], [1.0]], r"sample_weight must have shape \(2,\); got \(2, 1\)"),
        ([1.0, -2.0], "sample_weight must be finite and 0 or more; got -2.0"),
        ([1.0, np.nan], "sample_weight must be finite and 0 or more; got nan"),
        ([1.0, np.inf], "sample_weight must be finite and 0 or more; got inf"),
        ([0.0, 0.0], "sample_weight must have at least one positive weight; got only zeros"),
    ],
)
def test_bad_weights_are_refused(metric, weight, message):
    with pytest.raises(ValueError, match=message):
        metric(Y_OK, np.array(S_OK), sample_weight=weight)


@pytest.mark.parametrize("k", [0, -1, 4, 1.0, "2"])
def test_k_must_be_an_integer_up_to_the_number_of_labels(k):
    for metric in (precision_at_k, ndcg_at_k, partial(psp_at_k, propensities=np.ones(3))):
        with pytest.raises(
            ValueError, match=f"k must be an integer from 1 to n_labels=3; got {k!r}"
        ):
            metric(Y_OK, S_OK, k=k)


def test_lrap_without_any_label_is_refused():
    with pytest.raises(ValueError, match=r"Y_true must have a true label .* no_label_rows='one'"):
        lrap(np.zeros((2, 3)), S_OK)
    with pytest.raises(ValueError, match="Y_true must have a true label"):
        lrap([[0, 0, 0], [1, 0, 0]], S_OK, sample_weight=[1, 0])
    assert lrap(np.zeros((2, 3)), S_OK, no_label_rows="one") == 1
    with pytest.raises(ValueError, match="no_label_rows must be 'drop' or 'one'; got 'zero'"):
        lrap(Y_OK, S_OK, no_label_rows="zero")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either propensities or Y_train; got neither"),
        ({"propensities": [1, 1, 1], "Y_train": Y_OK}, "propensities or Y_train; got both"),
        ({"propensities": [1, 1]}, r"propensities must cover 3 labels; got shape \(2,\)"),
        ({"propensities": [1, 1, 2]}, "above 0 and at most 1; got 2.0"),
        ({"propensities": [0, 1, 1]}, "above 0 and at most 1; got 0.0"),
        ({"propensities": [np.nan, 1, 1]}, "above 0 and at most 1; got nan"),
        ({"Y_train": np.eye(4)}, r"Y_train must cover 3 labels; got shape \(4,\)"),
        ({"Y_train": Y_OK}, "Y_train must have at least 3 rows; got 2"),
        ({"Y_train": 2 * np.eye(3)}, "Y_train must hold only 0 and 1; got 2.0"),
        ({"Y_train": np.eye(3), "B": 0}, "A and B must be positive; got A=0.55 and B=0"),
    ],
)
def test_psp_needs_one_source_of_valid_propensities(arguments, message):
    with pytest.raises(ValueError, match=message):
        psp_at_k(Y_OK, S_OK, k=1, **arguments)


def test_psp_without_any_label_is_refused():
    with pytest.raises(ValueError, match="Y_true must have a true label"):
        psp_at_k(np.zeros((2, 3)), S_OK, np.ones(3), 1)
