"""Decisions: probabilities above a threshold that is given, or chosen out-of-bag; or the k best."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import ExtraTreesClassifier, RandomForestClassifier, load_forest
from sketchforest._estimators.thresholds import best_thresholds

RNG = np.random.default_rng(0)
X = RNG.random((150, 5))
LABELS = (X @ RNG.random((5, 12)) + 0.5 * RNG.random((150, 12)) > 1.7).astype(int)


def f1(truth, predicted) -> float:
    """From its definition, over all cells of two indicator matrices."""
    total = truth.sum() + predicted.sum()
    return 2 * (truth & predicted).sum() / total if total else 0.0


def fewest_at_best_f1(truth, scores):
    """Every threshold is tried, from the highest on: the first prediction of the largest F1."""
    tried = [scores > t for t in sorted({*scores.ravel().tolist(), 0.0}, reverse=True)]
    values = [f1(truth, predicted) for predicted in tried]
    return tried[int(np.argmax(values))], max(values)


def random_case(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12), rng.integers(1, 6)
    levels = rng.choice([2, 5, 1000])  # few: many ties
    scores = (rng.integers(0, levels + 1, shape) / levels).astype(np.float32)
    scores[rng.random(shape) < 0.3] = 0
    return rng.random(shape) < rng.random(), scores


@pytest.mark.parametrize("seed", range(200))
def test_the_threshold_of_each_label_is_the_best_of_all(seed):
    truth, scores = random_case(seed)
    chosen = best_thresholds(sparse.csr_array(truth), sparse.csr_array(scores), "oob-f1")
    assert chosen.shape == (truth.shape[1],)
    assert chosen.dtype == np.float32
    for label, threshold in enumerate(chosen):
        predicted, best = fewest_at_best_f1(truth[:, label], scores[:, label])
        if best == 0:
            assert threshold == 0.5
        else:
            assert np.array_equal(scores[:, label] > threshold, predicted)


@pytest.mark.parametrize("seed", range(200))
def test_one_threshold_is_the_best_for_all_labels_together(seed):
    truth, scores = random_case(seed)
    chosen = best_thresholds(sparse.csr_array(truth), sparse.csr_array(scores), "oob-f1-global")
    predicted, best = fewest_at_best_f1(truth, scores)
    assert np.ndim(chosen) == 0
    if best == 0:
        assert chosen == 0.5
    else:
        assert np.array_equal(scores > chosen, predicted)


def test_neighbouring_floats_are_told_apart():
    low = np.float32(0.3)
    high = np.nextafter(low, np.float32(1))
    truth, scores = np.array([[1], [0]]), np.array([[high], [low]])
    chosen = best_thresholds(sparse.csr_array(truth), sparse.csr_array(scores), "oob-f1")
    assert (scores > chosen).tolist() == [[True], [False]]


@pytest.mark.parametrize("threshold", ["oob-f1", "oob-f1-global"])
@pytest.mark.parametrize("as_labels", [np.asarray, sparse.csr_array])
def test_a_forest_chooses_by_its_out_of_bag_scores(threshold, as_labels):
    params = {"n_estimators": 30, "random_state": 0}
    forest = RandomForestClassifier(threshold=threshold, **params).fit(X, as_labels(LABELS))
    scored = RandomForestClassifier(oob_score=True, **params).fit(X, sparse.csr_array(LABELS))
    expected = best_thresholds(sparse.csr_array(LABELS), scored.oob_decision_function_, threshold)
    assert np.array_equal(forest.thresholds_, expected)
    assert not hasattr(forest, "oob_score_")
    predicted = forest.predict(X)
    predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
    assert np.array_equal(predicted, forest.predict_proba(X) > forest.thresholds_)


def test_rows_of_weight_zero_do_not_choose():
    weight = np.ones(len(X))
    weight[:50] = 0
    kept = weight > 0
    forest = RandomForestClassifier(30, threshold="oob-f1", oob_score=True, random_state=0).fit(
        X, LABELS, weight
    )
    expected = best_thresholds(
        sparse.csr_array(LABELS[kept]),
        sparse.csr_array(forest.oob_decision_function_[kept]),
        "oob-f1",
    )
    assert np.array_equal(forest.thresholds_, expected)


@pytest.mark.parametrize("as_labels", [np.asarray, sparse.csr_array])
def test_top_k_predicts_the_k_best_that_are_above_zero(as_labels):
    forest = RandomForestClassifier(20, threshold="top-3", random_state=0)
    predicted = forest.fit(X, as_labels(LABELS)).predict(X)
    assert sparse.issparse(predicted) == (as_labels is not np.asarray)
    predicted = predicted.toarray() if sparse.issparse(predicted) else predicted
    labels, scores = forest.predict_topk(X, 3)
    expected = np.zeros_like(LABELS)
    np.put_along_axis(expected, labels, (scores > 0).astype(int), axis=1)
    assert np.array_equal(predicted, expected)
    everything = forest.set_params(threshold="top-99").predict(X)
    everything = everything.toarray() if sparse.issparse(everything) else everything
    assert np.array_equal(everything, forest.predict_proba(X) > 0)


def test_a_number_may_be_changed_after_fit():
    forest = RandomForestClassifier(10, threshold=0.8, random_state=0).fit(X, LABELS)
    for threshold in (0.8, 0.1, 0, 1):
        predicted = forest.set_params(threshold=threshold).predict(X)
        assert np.array_equal(predicted, forest.predict_proba(X) > np.float32(threshold))


@pytest.mark.parametrize("threshold", ["oob-f1", "oob-f1-global", "top-2", 0.25])
def test_decisions_are_saved_with_the_model(threshold, tmp_path):
    forest = RandomForestClassifier(20, threshold=threshold, random_state=0).fit(X, LABELS)
    forest.save(tmp_path / "model.sf")
    twin = load_forest(tmp_path / "model.sf")
    assert np.array_equal(twin.predict(X), forest.predict(X))
    assert np.array_equal(getattr(twin, "thresholds_", None), getattr(forest, "thresholds_", None))


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "oob", "top-0", "top-", None, True, [0.5]])
def test_other_thresholds_are_refused(threshold):
    message = r"threshold must be a number in \[0, 1\], 'oob-f1'"
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(2, threshold=threshold).fit(X, LABELS)
    forest = RandomForestClassifier(2).fit(X, LABELS).set_params(threshold=threshold)
    with pytest.raises(ValueError, match=message):
        forest.predict(X)


def test_out_of_bag_thresholds_need_a_bootstrap():
    with pytest.raises(ValueError, match=r"where bootstrap=False; got 'oob-f1'\. Use bootstrap"):
        ExtraTreesClassifier(2, threshold="oob-f1").fit(X, LABELS)


def test_thresholds_are_for_many_labels():
    with pytest.raises(ValueError, match=r"threshold must be 0\.5 for classes"):
        RandomForestClassifier(2, threshold="top-2").fit(X, LABELS[:, 0])


def test_other_labels_need_another_choice():
    forest = RandomForestClassifier(20, threshold="oob-f1", random_state=0).fit(X, LABELS)
    other = forest.relabel(LABELS[:, :3])
    with pytest.raises(ValueError, match="Fit again, or use set_params"):
        other.predict(X)
    assert other.set_params(threshold=0.5).predict(X).shape == (150, 3)
    assert forest.estimators_[0].predict(X).shape == LABELS.shape
