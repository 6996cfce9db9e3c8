"""Decisions: probabilities above a threshold that is given, or chosen out-of-bag; or the k best."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._estimators.predicting.decisions import MIN_TRUE_ROWS, best_thresholds

RNG = np.random.default_rng(0)
X = RNG.random((150, 5))
LABELS = (X @ RNG.random((5, 12)) + 0.5 * RNG.random((150, 12)) > 1.7).astype(int)
LABELS[~LABELS.any(axis=1), 0] = 1  # a row without labels may be predicted to have none


def f1(truth, predicted) -> float:
    """From its definition, over all cells of two indicator matrices."""
    total = truth.sum() + predicted.sum()
    return 2 * (truth & predicted).sum() / total if total else 0.0


def best_of_rows(scores):
    """The first of the best labels of each row that has a score."""
    best = np.zeros(scores.shape, bool)
    for row, own in enumerate(scores):
        if own.max() > 0:
            best[row, own.tolist().index(own.max())] = True
    return best


def fewest_at_best_f1(truth, scores, always):
    """Every threshold is tried, from the highest on: the first prediction of the largest F1, where
    some are predicted always."""
    tried = [always | (scores > t) for t in sorted({*scores.ravel().tolist(), 0.0}, reverse=True)]
    values = [f1(truth, predicted) for predicted in tried]
    return tried[int(np.argmax(values))], max(values)


def random_case(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12), rng.integers(1, 6)
    levels = rng.choice([2, 5, 1000])  # few: many ties
    scores = (rng.integers(0, levels + 1, shape) / levels).astype(np.float32)
    scores[rng.random(shape) < 0.3] = 0
    return rng.random(shape) < rng.random(), scores


def chosen_for(truth, scores):
    return best_thresholds(sparse.csr_array(truth), sparse.csr_array(scores))


def needs_labels(truth, scores):
    """Whether rows that the best threshold leaves without a label have rather their best one."""
    predicted, best = fewest_at_best_f1(truth, scores, np.zeros(scores.shape, bool))
    if best == 0:
        predicted = scores > 0.5
    is_left = ~predicted.any(axis=1)
    n_right = (truth & best_of_rows(scores))[is_left].any(axis=1).sum()
    return n_right >= (~truth.any(axis=1))[is_left].sum()


@pytest.mark.parametrize("seed", range(200))
def test_thresholds_are_the_best_of_all(seed):
    truth, scores = random_case(seed)
    for_all, for_each, at_least_one = chosen_for(truth, scores)
    assert at_least_one == needs_labels(truth, scores)
    always = best_of_rows(scores) & at_least_one
    predicted, best = fewest_at_best_f1(truth, scores, always)
    assert np.array_equal(always | (scores > for_all), predicted) or (best == 0 and for_all == 0.5)
    assert for_each.shape == (truth.shape[1],)
    assert for_each.dtype == np.float32
    for label, threshold in enumerate(for_each):
        fixed, own = always[:, label], scores[:, label]
        predicted, best = fewest_at_best_f1(truth[:, label], own, fixed)
        if best == 0 or truth[:, label].sum() < MIN_TRUE_ROWS:
            assert threshold == for_all
        else:
            assert np.array_equal(fixed | (own > threshold), predicted)


def test_neighbouring_floats_are_told_apart():
    low = np.float32(0.3)
    high = np.nextafter(low, np.float32(1))
    truth = np.array([[0, 1]] * 3 + [[0, 0]])
    scores = np.array([[0.9, high]] * 3 + [[0.9, low]], np.float32)
    chosen = chosen_for(truth, scores)
    for threshold in (chosen.for_all, chosen.for_each[1]):
        assert (scores[:, 1] > threshold).tolist() == [True, True, True, False]


def as_array(labels):
    return labels.toarray() if sparse.issparse(labels) else labels


@pytest.mark.parametrize("threshold", ["f1", "f1-per-label"])
@pytest.mark.parametrize("as_labels", [np.asarray, sparse.csr_array])
def test_a_forest_chooses_by_its_out_of_bag_scores(threshold, as_labels):
    params = {"n_estimators": 30, "random_state": 0}
    forest = RandomForestClassifier(threshold=threshold, **params).fit(X, as_labels(LABELS))
    scored = RandomForestClassifier(oob_score=True, **params).fit(X, sparse.csr_array(LABELS))
    for_all, for_each, at_least_one = best_thresholds(
        sparse.csr_array(LABELS), scored.oob_decision_function_
    )
    assert at_least_one
    expected = for_all if threshold == "f1" else for_each
    assert np.array_equal(forest.thresholds_, expected)
    assert not hasattr(forest, "oob_score_")
    scores = forest.predict_proba(X)
    expected = (scores > expected) | best_of_rows(scores)
    assert np.array_equal(as_array(forest.predict(X)), expected)
    assert np.array_equal(as_array(scored.set_params(threshold=threshold).predict(X)), expected)


def test_the_flagship_chooses_by_rows_that_some_trees_leave_out():
    forest = SketchForestClassifier(40, linear=0, label_correlations=False, random_state=0)
    forest.fit(X, LABELS)
    in_bag = forest.fitted_.forest.in_bag().toarray()
    left_out = np.flatnonzero(~in_bag.all(axis=1))
    trees = np.flatnonzero(~in_bag.all(axis=0))
    assert len(left_out) == 30
    assert not in_bag[np.ix_(left_out, trees)].any()  # the same rows in all of these trees
    assert 4 <= len(trees) <= 22
    scores = np.mean([forest.estimators_[t].predict_proba(X[left_out]) for t in trees], axis=0)
    expected = chosen_for(LABELS[left_out], scores.astype(np.float32)).for_all
    assert forest.thresholds_ == pytest.approx(expected, abs=1e-6)
    assert forest.predict(X).sum(axis=1).min() >= 1
    other = SketchForestClassifier(40, random_state=0, threshold=0.5).fit(X, LABELS)
    assert other.fitted_.forest.in_bag().toarray().all()


def test_a_row_may_have_no_label_where_training_rows_that_look_like_it_have_none(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.random((600, 3))
    labels = (x > 0.65).astype(int)
    assert 0.2 < (labels.sum(axis=1) == 0).mean() < 0.35
    forest = SketchForestClassifier(40, random_state=0).fit(x, labels)
    forest.save(tmp_path / "model.sf")
    new = rng.random((400, 3))
    truth = new > 0.65
    for model in (forest, load_forest(tmp_path / "model.sf")):
        predicted = model.predict(new) > 0
        assert not predicted[~truth.any(axis=1)].any(axis=1).mean() > 0.2
        alone = new_threshold(model, float(model.thresholds_)).predict(new)
        assert np.array_equal(predicted, alone > 0)
        assert "at least one" not in str(model.describe())
    every = SketchForestClassifier(40, random_state=0).fit(x, np.c_[labels, np.ones(600, int)])
    assert every.predict(new).any(axis=1).all()


def new_threshold(model, threshold):
    from copy import copy

    return copy(model).set_params(threshold=threshold)


def test_other_labels_of_the_same_rows_keep_the_threshold():
    forest = SketchForestClassifier(30, linear=0, label_correlations=False, random_state=0)
    chosen = forest.fit(X, LABELS).thresholds_
    assert chosen != 0.5
    again = forest.relabel(LABELS)
    assert again.thresholds_ == chosen
    assert np.array_equal(again.predict(X), forest.predict(X))
    fewer = forest.relabel(LABELS[:, :7])
    assert fewer.thresholds_ == chosen
    per_label = fewer.set_params(threshold="f1-per-label").thresholds_
    assert np.array_equal(per_label, np.full(7, chosen))


def test_a_few_rows_or_classes_need_no_choice():
    few = SketchForestClassifier(5, random_state=0).fit(X[:4], LABELS[:4])
    assert few.thresholds_ == 0.5
    assert few.predict(X).sum(axis=1).min() >= 1
    classes = SketchForestClassifier(5, random_state=0).fit(X, LABELS[:, 0])
    assert classes.fitted_.forest.in_bag().toarray().all()
    assert not hasattr(classes, "thresholds_")


@pytest.mark.parametrize("as_labels", [np.asarray, sparse.csr_array])
def test_an_array_has_a_threshold_for_each_label(as_labels, tmp_path):
    thresholds = RNG.random(12)
    forest = RandomForestClassifier(10, threshold=thresholds, random_state=0)
    forest.fit(X, as_labels(LABELS)).save(tmp_path / "model.sf")
    for model in (forest, load_forest(tmp_path / "model.sf")):
        expected = model.predict_proba(X) > thresholds.astype(np.float32)
        assert np.array_equal(as_array(model.predict(X)), expected)
    with pytest.raises(ValueError, match="one number for each of the 12 labels; got 3"):
        forest.set_params(threshold=[0.1, 0.2, 0.3]).predict(X)
    with pytest.raises(ValueError, match="one number for each of the 12 labels; got 3"):
        RandomForestClassifier(2, threshold=[0.1, 0.2, 0.3]).fit(X, LABELS)


def test_former_names_mean_the_same_and_warn_in_fit():
    for former, name in (("oob-f1-global", "f1"), ("oob-f1", "f1-per-label")):
        forest = RandomForestClassifier(20, threshold=former, random_state=0)
        with pytest.warns(FutureWarning, match=f"threshold='{former}' was renamed to '{name}'"):
            found = forest.fit(X, LABELS).predict(X)
        assert np.array_equal(forest.set_params(threshold=name).predict(X), found)


def test_rows_of_weight_zero_do_not_choose():
    weight = np.ones(len(X))
    weight[:50] = 0
    kept = weight > 0
    forest = RandomForestClassifier(
        30, threshold="f1-per-label", oob_score=True, random_state=0
    ).fit(X, LABELS, weight)
    expected = chosen_for(LABELS[kept], forest.oob_decision_function_[kept])
    assert np.array_equal(forest.thresholds_, expected.for_each)


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


@pytest.mark.parametrize("threshold", ["f1", "f1-per-label", "top-2", 0.25])
def test_decisions_are_saved_with_the_model(threshold, tmp_path):
    forest = RandomForestClassifier(20, threshold=threshold, random_state=0).fit(X, LABELS)
    forest.save(tmp_path / "model.sf")
    twin = load_forest(tmp_path / "model.sf")
    assert np.array_equal(twin.predict(X), forest.predict(X))
    assert np.array_equal(getattr(twin, "thresholds_", None), getattr(forest, "thresholds_", None))


@pytest.mark.parametrize(
    "threshold", [-0.1, 1.1, "oob", "top-0", "top-", None, True, [1.5], [[0.5]], ["a"]]
)
def test_other_thresholds_are_refused(threshold):
    message = r"threshold must be a number in \[0, 1\], one for each label, 'f1'"
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(2, threshold=threshold).fit(X, LABELS)
    forest = RandomForestClassifier(2).fit(X, LABELS).set_params(threshold=threshold)
    with pytest.raises(ValueError, match=message):
        forest.predict(X)


def test_out_of_bag_thresholds_need_a_bootstrap():
    with pytest.raises(ValueError, match=r"if bootstrap=False; got 'f1'\. Use bootstrap"):
        ExtraTreesClassifier(2, threshold="f1").fit(X, LABELS)


def test_thresholds_are_for_many_labels():
    with pytest.raises(ValueError, match="threshold must keep its default for multi-class Y"):
        RandomForestClassifier(2, threshold="top-2").fit(X, LABELS[:, 0])


def test_trees_that_were_not_scored_have_no_choice():
    forest = RandomForestClassifier(20, random_state=0).fit(X, LABELS).set_params(threshold="f1")
    with pytest.raises(
        ValueError, match=r"without out-of-bag scores; got 'f1'\. Fit with that threshold, or with"
    ):
        forest.predict(X)
    assert not hasattr(forest, "thresholds_")


def test_labels_of_rows_that_had_classes_are_predicted_above_one_half():
    forest = RandomForestClassifier(20, threshold="f1", random_state=0).fit(X, LABELS[:, 0])
    other = forest.relabel(LABELS[:, :3])
    scores = other.predict_proba(X)
    assert np.array_equal(other.predict(X), (scores > 0.5) | best_of_rows(scores))
