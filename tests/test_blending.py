"""How kinds of trees, the linear part and correlations of labels are blended."""

import numpy as np
import pytest
import reference

from sketchforest import SketchForestClassifier, SketchForestRegressor
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._selection import blending, held_out
from sketchforest._selection.blending import (
    choose_weights,
    corrections,
    tree_weights,
)
from sketchforest._selection.held_out import HeldOut, Part, deal_folds, hold_out
from sketchforest._trees.blended import Blend

RNG = np.random.default_rng(1)
USUAL = np.array([0.8, 0.2])


def scores_of(truth, noise):
    """Scores of two halves of the trees, whose noise is independent."""
    one, other = (truth + noise * RNG.normal(size=truth.shape) for _ in range(2))
    return one.astype(np.float32), other.astype(np.float32)


def held_out_by(truth, *signals, noise=0.0, share=1.0):
    """By kinds of trees, and by a linear model, which comes last."""
    *trees, linear = signals
    parts = [Part(scores_of(signal, noise), share) for signal in trees]
    parts.append(Part((linear.astype(np.float32), linear.astype(np.float32))))
    return HeldOut(truth, tuple(parts), np.ones(len(truth)))


def best_weights(truth, *signals, are_labels=False, **how):
    found = held_out_by(truth, *signals, **how)
    shares = [1 / (len(signals) - 1)] * (len(signals) - 1)
    return choose_weights(found, shares, are_labels=are_labels)


def weights_of_measurements(*variances):
    """Of measurements of uniform numbers: by their precision, beside that of the mean."""
    precisions = 1 / np.array(variances)
    return precisions / (12 + precisions.sum())


def test_weights_minimize_the_squared_error_of_many_rows():
    truth = RNG.random((20_000, 3))
    a, b, c = (truth + RNG.normal(size=truth.shape) * s for s in (0.2, 0.4, 0.4))
    expected = weights_of_measurements(0.04, 0.16)
    assert best_weights(truth, a, b) == pytest.approx(expected, abs=0.01)
    assert best_weights(truth, b, a) == pytest.approx(expected[::-1], abs=0.01)
    expected = weights_of_measurements(0.04, 0.16, 0.16)
    assert best_weights(truth, a, b, c) == pytest.approx(expected, abs=0.01)


def test_noise_of_few_trees_does_not_count_against_them():
    truth = RNG.random((20_000, 3))
    signal, linear = (truth + RNG.normal(size=truth.shape) * s for s in (0.2, 0.4))
    without = best_weights(truth, signal, linear, noise=0.4, share=0.0)
    assert without == pytest.approx(weights_of_measurements(0.04, 0.16), abs=0.02)
    counted = best_weights(truth, signal, linear, noise=0.4, share=1.0)
    assert counted == pytest.approx(weights_of_measurements(0.12, 0.16), abs=0.02)


@pytest.mark.parametrize("are_labels", [False, True])
def test_few_rows_leave_weights_near_the_usual_ones(are_labels):
    distances = []
    for _ in range(50):
        truth = RNG.random((4, 1))
        trees, linear = (truth + RNG.normal(size=truth.shape) for _ in range(2))
        weights = best_weights(truth, trees, linear, are_labels=are_labels)
        distances.append(abs(weights / weights.sum() - USUAL).max())
    deviation = blending.OF_LABELS if are_labels else blending.OF_OTHERS
    assert np.median(distances) < deviation


def test_parts_that_are_the_same_keep_the_usual_weights():
    truth = RNG.random((50, 2)).astype(np.float32)
    weights = best_weights(truth, truth, truth, truth)
    assert weights == pytest.approx([0.4, 0.4, 0.2], abs=1e-6)


def test_weights_are_at_least_0():
    truth = RNG.random((2000, 3))
    weights = best_weights(truth, truth, 1 - truth, RNG.random(truth.shape))
    assert weights[0] == pytest.approx(1, abs=0.05)
    assert weights[1:] == pytest.approx(0, abs=0.01)
    assert weights.min() >= 0


def test_scores_that_are_too_near_the_mean_are_stretched():
    truth = RNG.normal(size=(5000, 2)) + 3
    halfway = (truth + truth.mean(axis=0)) / 2
    weights = best_weights(truth, halfway, RNG.normal(size=truth.shape))
    assert weights == pytest.approx([2, 0], abs=0.05)


def test_weights_of_labels_do_not_depend_on_the_scale_of_scores():
    truth = (RNG.random((5000, 4)) < [0.1, 0.2, 0.3, 0.4]).astype(np.float32)
    signals = [0.3 * truth + 0.1 * RNG.random(truth.shape) for _ in range(3)]
    low, high = (
        best_weights(truth, *(scale * each for each in signals), are_labels=True)
        for scale in (1, 1.2)
    )
    assert low / low.sum() == pytest.approx(high / high.sum(), abs=0.03)


def test_numbers_that_nothing_predicts_are_shrunk_to_their_mean():
    truth, *signals = (RNG.normal(size=(5000, 2)) for _ in range(4))
    assert best_weights(truth, *signals) == pytest.approx(0, abs=0.05)


def test_a_row_counts_as_often_as_its_weight_says():
    truth = RNG.random((500, 2))
    trees, linear = (truth + RNG.normal(size=truth.shape) for _ in range(2))
    found = held_out_by(truth, trees, linear)
    times = RNG.integers(0, 4, 500)
    weighted = HeldOut(found.truth, found.parts, times.astype(float))
    places = np.repeat(np.arange(500), times)
    parts = tuple(Part(tuple(half[places] for half in p.halves), p.noise) for p in found.parts)
    repeated = HeldOut(found.truth[places], parts, np.ones(len(places)))
    one, other = (blending._products(each, is_centred=True) for each in (weighted, repeated))
    for ours, theirs in zip(one, other, strict=True):
        assert ours.sum(axis=0) == pytest.approx(theirs.sum(axis=0))


def test_votes_of_trees_are_those_of_their_kinds_in_whole_parts():
    is_oblique, shares = np.arange(10) < 7, {True: 0.7, False: 0.3}
    assert tree_weights(is_oblique, shares, shares) is None
    votes = tree_weights(is_oblique, shares, {True: 0.35, False: 0.65})
    assert votes[~is_oblique].tolist() == [1, 1, 1]
    assert votes[0] == pytest.approx(0.5 / (0.65 / 0.3), abs=1 / 64)
    assert (votes * 32 == np.round(votes * 32)).all()
    assert tree_weights(is_oblique, shares, {True: 0.0, False: 1.0}).min() == 1 / 32
    assert tree_weights(is_oblique, shares, {True: 0.0, False: 0.0}) is None
    assert tree_weights(is_oblique[:7], {True: 1.0}, {True: 0.4}) is None


X = RNG.normal(size=(200, 6))
NUMBERS = X[:, :2] + 0.3 * RNG.normal(size=(200, 2))
LABELS = (NUMBERS > 0).astype(np.uint8)


def held_out_of(model, Y):
    """By the trees of a model, which is fitted."""
    prepared, fitted = prepare(model, X, Y, None), model.fit(X, Y).fitted_
    folds, blend = deal_folds(prepared.problem, len(model)), Blend.of(prepared.targets)
    trees = fitted.forest.trees()
    return hold_out(prepared.problem, fitted.settings, trees, folds, None, blend, 10**6, 1)


def test_trees_that_leave_rows_out_score_them():
    model = SketchForestRegressor(80, linear=0, random_state=0)
    found = held_out_of(model, NUMBERS)
    mean, deviation = NUMBERS.mean(axis=0), NUMBERS.std(axis=0)
    trees = model.estimators_
    is_kind = np.array([tree.splitter == "oblique" for tree in trees])
    in_bag = model.fitted_.forest.in_bag().toarray()
    halves = [np.flatnonzero(is_kind == kind)[half::2] for kind in (True, False) for half in (0, 1)]
    is_scored = np.all([(~in_bag[:, half]).any(axis=1) for half in halves], axis=0)
    predictions = np.stack([tree.predict(X) for tree in trees], axis=1)
    assert found.truth == pytest.approx(((NUMBERS - mean) / deviation)[is_scored], abs=1e-5)
    scores = [half for part in found.parts for half in part.halves]
    for half, ours in zip(halves, scores, strict=True):
        seen = np.ma.array(predictions[:, half], mask=np.repeat(in_bag[:, half, None], 2, axis=2))
        expected = (seen.mean(axis=1).data - mean) / deviation
        assert ours == pytest.approx(expected[is_scored], abs=1e-5)
    assert [part.noise for part in found.parts] == pytest.approx([0.2, 0.2])


def test_trees_that_see_all_rows_are_grown_again_without_those_they_score():
    model = SketchForestClassifier(10, linear=0, threshold=0.5, random_state=0)
    of_row = deal_folds(prepare(model, X, LABELS, None).problem, 10).of_row
    found = held_out_of(model, LABELS)
    changed = np.where((of_row == 0)[:, None], 1 - LABELS, LABELS)
    again = held_out_of(model, changed)
    first = np.count_nonzero(of_row == 0)  # folds come one after the other
    assert (found.truth.toarray()[:first] == 1 - again.truth.toarray()[:first]).all()
    for ours, theirs in zip(found.parts, again.parts, strict=True):
        for one, other in zip(ours.halves, theirs.halves, strict=True):
            assert np.array_equal(one[:first], other[:first])
            assert not np.array_equal(one[first:], other[first:])


def test_rows_are_sampled_where_scores_are_many(monkeypatch):
    monkeypatch.setattr(held_out, "MOST_SCORES", 60)
    assert held_out_of(SketchForestClassifier(10, random_state=0), LABELS).truth.shape == (30, 2)
    assert len(held_out_of(SketchForestRegressor(80, random_state=0), NUMBERS).truth) <= 30


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_corrections_are_the_reference(noise):
    truth = (RNG.random((300, 9)) < 0.3).astype(np.float32)
    one, other = scores_of(0.5 * truth + 0.1, 0.1)
    found = HeldOut(truth, (), np.ones(300))
    expected = reference.corrections(one, other, truth, noise, blending.PENALTY)
    factors = corrections(found, Part((one, other), noise)).toarray()
    assert factors == pytest.approx(expected, abs=1e-4)


def test_corrections_find_a_label_that_follows_from_another():
    truth = np.repeat(RNG.random((4000, 1)) < 0.3, 2, axis=1).astype(np.float32)
    clear, vague = truth[:, 0], 0.5 * truth[:, 1] + 0.2
    signal = np.stack([clear, vague], axis=1)
    found = held_out_by(truth, signal, truth, noise=0.05, share=0.1)
    factors = corrections(found, found.mixed([1, 0])).toarray()
    assert factors[1, 0] > 0.1
    assert abs(factors[0, 1]) < 0.1


def test_scores_that_are_too_low_as_a_whole_are_not_corrected():
    truth = (RNG.random((5000, 4)) < 0.3).astype(np.float32)
    part = Part((truth / 2, truth / 2), noise=1.0)
    found = corrections(HeldOut(truth, (part,), np.ones(5000)), part)
    assert abs(found.toarray()).max() < 0.01


def test_a_label_is_corrected_by_few_others(monkeypatch):
    monkeypatch.setattr(blending, "MOST_CORRECTIONS", 5)
    truth = (RNG.random((300, 20)) < 0.3).astype(np.float32)
    one, other = scores_of(0.5 * truth + 0.1, 0.1)
    found = corrections(HeldOut(truth, (), np.ones(300)), Part((one, other), noise=0.1))
    assert np.diff(found.indptr).tolist() == [5] * 20
