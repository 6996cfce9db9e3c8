"""Scores of large forests, predicted from small ones."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from tuning_data import X, Y

from sketchforest import RandomForestClassifier
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._selection.comparison import Comparison
from sketchforest._selection.learning_curve import LearningCurve, predict_score
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest.metrics import precision_at_k


def curve_of(score, sizes, n_groups=10, n_trees_of_row=12.0):
    """A curve without noise."""
    counts = np.full(n_groups, 5.0)
    points = np.stack([[score(size) * counts, counts] for size in sizes])
    return LearningCurve(
        sizes=np.array(sizes, float),
        points=points,
        blocks=np.full(4, score(sizes[0])),
        whole=np.stack([score(n_trees_of_row) * counts, counts]),
        n_trees_of_row=np.full(50, n_trees_of_row),
    )


@pytest.mark.parametrize("offset", [-0.5, 0.0, 1.7, 6.0])
def test_a_hyperbola_is_followed_exactly(offset):
    def score(t):
        return 0.8 - 0.9 / (t + offset)

    curve = curve_of(score, (3, 6, 12))
    assert curve.offset[0] == pytest.approx(offset)
    estimate = predict_score(curve, 500, (99.0, 1.0), False)
    assert estimate.score == pytest.approx(score(500))
    assert estimate.current == pytest.approx(score(12))


def test_squared_error_is_followed_along_a_straight_line_whatever_the_offset():
    curve = curve_of(lambda t: -0.3 - 2 / t, (2, 4, 8))
    estimate = predict_score(curve, 100, (5.0, 1.0), True)
    assert estimate.score == pytest.approx(-0.3 - 2 / 100)
    assert estimate.se == pytest.approx(0, abs=1e-12)


def candidate_of(kind, metric, n_trees, **params):
    forest = kind(random_state=3, **params)
    problem = prepare(forest, X, Y if is_classifier(forest) else Y.astype(float)).problem
    scorer = OutOfBagScorer(problem, ScoreMetric.of(metric), 0)
    comparison = Comparison(scorer, problem, 100, 1)
    candidate = comparison.add(problem.settings)
    comparison.grow([candidate], n_trees)
    comparison.score(candidate)
    return comparison, candidate


@pytest.mark.parametrize("metric", ["lrap", "squared_error"])
def test_the_score_of_many_trees_is_predicted_within_two_standard_errors(metric):
    comparison, candidate = candidate_of(RandomForestClassifier, metric, 24)
    predicted = comparison.predict_score(candidate, 150)
    comparison.grow([candidate], 400)
    comparison.score(candidate)  # about 150 of 400 trees did not see a row
    measured = comparison.predict_score(candidate, 150)
    assert abs(measured.score - measured.current) < 0.01 * abs(measured.current)
    assert abs(predicted.score - measured.score) < 2 * predicted.se
    assert abs(predicted.score - measured.score) < abs(predicted.current - measured.score)


def test_rows_score_only_trees_that_did_not_see_them():
    forest = RandomForestClassifier(30, oob_score=True, random_state=3).fit(X, Y)
    _, candidate = candidate_of(RandomForestClassifier, "lrap", 30)
    sums, counts = candidate.curve.whole
    assert sums.sum() / counts.sum() == pytest.approx(forest.oob_score_)
    assert np.array_equal(
        np.count_nonzero(candidate.leaves >= 0, axis=1).sum(), candidate.curve.n_trees_of_row.sum()
    )


def test_a_callable_scores_as_the_metric_of_that_name():
    _, by_name = candidate_of(RandomForestClassifier, "precision_at_5", 30)
    _, by_call = candidate_of(RandomForestClassifier, lambda Y, S: precision_at_k(Y, S, 5), 30)
    assert np.allclose(by_name.curve.whole, by_call.curve.whole)
    assert np.allclose(by_name.curve.points, by_call.curve.points)


@pytest.mark.parametrize("leaf", [1, 2])
def test_dense_and_sparse_scores_give_the_same_curve(leaf, monkeypatch):
    given = (RandomForestClassifier, "lrap", 30)
    kept = candidate_of(*given, min_samples_leaf=leaf)[1].curve
    monkeypatch.setattr("sketchforest._selection.out_of_bag.DENSE_LABELS", 0)
    other = candidate_of(*given, min_samples_leaf=leaf)[1].curve
    assert np.array_equal(kept.whole, other.whole)
    assert np.array_equal(kept.points, other.points)
