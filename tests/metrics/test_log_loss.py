"""log_loss: mean binary cross-entropy of the labels, on dense and sparse probabilities."""

import numpy as np
import pytest
import reference_metrics as reference
from scipy import sparse
from sklearn import metrics as sklearn_metrics

from sketchforest import SketchForestClassifier
from sketchforest.datasets import make_multilabel
from sketchforest.evaluation import evaluate
from sketchforest.metrics import get_metric, greater_is_better, log_loss, row_values


def random_case(seed):
    """Truth with an empty and a full row; probabilities of which half are 0 and some 1."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(3, 12, size=2)
    Y = (rng.random(shape) < rng.random()).astype(int)
    Y[0], Y[1] = 0, 1
    S = np.round(rng.random(shape), 1) * (rng.random(shape) < 0.5)
    S[2, 0] = 1
    return Y, S, rng.random(shape[0])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("eps", [1e-3, 0.1])
def test_log_loss_follows_its_definition_for_dense_and_sparse_probabilities(seed, eps):
    Y, S, weight = random_case(seed)
    for w in (None, weight):
        expected = pytest.approx(reference.log_loss(Y, S, eps, w), rel=1e-12)
        for truth, scores in ((Y, S), (sparse.csr_array(Y), sparse.csc_array(S))):
            assert log_loss(truth, scores, eps=eps, sample_weight=w) == expected


def test_log_loss_of_one_label_equals_scikit_learn():
    rng = np.random.default_rng(0)
    y, p = rng.random(50) < 0.4, rng.uniform(0.01, 0.99, 50)
    expected = sklearn_metrics.log_loss(y, p)
    assert log_loss(y[:, None], p[:, None]) == pytest.approx(expected, rel=1e-12)


def test_log_loss_is_found_by_name_minimised_and_a_mean_over_rows():
    Y, S, _ = random_case(3)
    assert get_metric("log_loss") is log_loss
    assert not greater_is_better("log_loss")
    assert row_values("log_loss", Y, S).mean() == pytest.approx(log_loss(Y, S), rel=1e-12)


def test_log_loss_of_a_hundred_thousand_labels_takes_the_non_zeros_only():
    n = 100_000
    S = sparse.csr_array(([0.5, 0.25], ([0, 2], [7, n - 1])), shape=(3, n))
    Y = sparse.csr_array(([1, 1], ([0, 1], [7, 8])), shape=(3, n))
    losses = -np.log([0.5, 1e-3, 0.75]).sum() - np.log1p(-1e-3) * (3 * n - 3)
    assert log_loss(Y, S) == pytest.approx(losses / (3 * n), rel=1e-12)


@pytest.mark.parametrize("score", [-0.5, 1.5])
def test_scores_that_are_no_probabilities_are_refused(score):
    for scores in (np.array([[score, 0.1]]), sparse.csr_array([[score, 0.1]])):
        with pytest.raises(ValueError, match=f"probabilities for log_loss; got {score}. Use"):
            log_loss([[1, 0]], scores)


@pytest.mark.parametrize("eps", [0, 0.5])
def test_an_eps_that_does_not_smooth_is_refused(eps):
    with pytest.raises(ValueError, match=f"eps must be between 0 and 0.5; got {eps}"):
        log_loss([[1, 0]], [[0.5, 0.5]], eps=eps)


def test_evaluate_and_out_of_bag_scores_report_log_loss():
    data = make_multilabel(150, 10, 20, labels_per_row=3, features_per_row=5)
    X, Y = data.X[:100], data.Y[:100]
    forest = SketchForestClassifier(10, oob_score="log_loss", random_state=0).fit(X, Y)
    found = evaluate(forest, data.X[100:], data.Y[100:])
    expected = log_loss(data.Y[100:], forest.predict_proba(data.X[100:]))
    assert found.scores["log_loss"] == pytest.approx(expected, rel=1e-6)
    assert 0 < forest.oob_score_ < 2 * expected
