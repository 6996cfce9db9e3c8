"""How trees, the linear part and correlations of labels are blended."""

import numpy as np
import pytest
import reference

from sketchforest._selection import blending
from sketchforest._selection.blending import OutOfFold, choose_weight, corrections

RNG = np.random.default_rng(1)


def scores_of(truth, noise, n_trees=100):
    """Scores of two halves of the trees, whose noise is independent."""
    one, other = (truth + noise * RNG.normal(size=truth.shape) for _ in range(2))
    return one.astype(np.float32), other.astype(np.float32)


def out_of_fold(truth, signal, linear, noise=0.0, share=1.0):
    halves = scores_of(signal, noise)
    weights = np.ones(len(truth))
    return OutOfFold(truth, halves, linear.astype(np.float32), weights, share)


def test_the_weight_minimizes_the_squared_error_of_many_rows():
    truth = RNG.random((20_000, 3))
    trees, linear = (truth + RNG.normal(size=truth.shape) * s for s in (0.2, 0.4))
    # The best weight is that of two measurements with these variances.
    assert choose_weight(out_of_fold(truth, trees, linear)) == pytest.approx(0.2, abs=0.02)
    assert choose_weight(out_of_fold(truth, linear, trees)) == pytest.approx(0.8, abs=0.02)


def test_noise_of_few_trees_does_not_count_against_them():
    truth = RNG.random((20_000, 3))
    signal, linear = (truth + RNG.normal(size=truth.shape) * s for s in (0.2, 0.4))
    without = choose_weight(out_of_fold(truth, signal, linear, noise=0.4, share=0.0))
    assert without == pytest.approx(0.2, abs=0.03)
    counted = choose_weight(out_of_fold(truth, signal, linear, noise=0.4, share=1.0))
    assert counted == pytest.approx(0.12 / 0.28, abs=0.03)


def test_few_rows_leave_the_weight_near_the_usual_one():
    truth = RNG.random((4, 1))
    trees, linear = (truth + RNG.normal(size=truth.shape) for _ in range(2))
    weight = choose_weight(out_of_fold(truth, trees, linear))
    assert abs(weight - blending.USUAL_WEIGHT) < 0.1


def test_a_linear_part_that_is_all_trees_keeps_the_usual_weight():
    truth = RNG.random((50, 2)).astype(np.float32)
    found = OutOfFold(truth, (truth, truth), truth, np.ones(50), 1.0)
    assert choose_weight(found) == blending.USUAL_WEIGHT


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_corrections_are_the_reference(noise):
    truth = (RNG.random((300, 9)) < 0.3).astype(np.float32)
    one, other = scores_of(0.5 * truth + 0.1, 0.1)
    found = OutOfFold(truth, (one, other), one, np.ones(300), noise)
    expected = reference.corrections(one, other, truth, noise, blending.PENALTY)
    assert corrections(found).toarray() == pytest.approx(expected, abs=1e-4)


def test_corrections_find_a_label_that_follows_from_another():
    truth = np.repeat(RNG.random((4000, 1)) < 0.3, 2, axis=1).astype(np.float32)
    clear, vague = truth[:, 0], 0.5 * truth[:, 1] + 0.2
    signal = np.stack([clear, vague], axis=1)
    factors = corrections(out_of_fold(truth, signal, truth, noise=0.05, share=0.1)).toarray()
    assert factors[1, 0] > 0.1
    assert abs(factors[0, 1]) < 0.1


def test_scores_that_are_too_low_as_a_whole_are_not_corrected():
    truth = (RNG.random((5000, 4)) < 0.3).astype(np.float32)
    found = OutOfFold(truth, (truth / 2, truth / 2), truth, np.ones(5000), 1.0)
    assert abs(corrections(found).toarray()).max() < 0.01


def test_a_label_is_corrected_by_few_others(monkeypatch):
    monkeypatch.setattr(blending, "MOST_CORRECTIONS", 5)
    truth = (RNG.random((300, 20)) < 0.3).astype(np.float32)
    one, other = scores_of(0.5 * truth + 0.1, 0.1)
    found = corrections(OutOfFold(truth, (one, other), one, np.ones(300), 0.1))
    assert np.diff(found.indptr).tolist() == [5] * 20
