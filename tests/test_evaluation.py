"""Evaluations: scores that say what they mean, a line for each label, what they look like."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchBoostingClassifier,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._estimators.predicting.decisions import threshold_curve
from sketchforest.evaluation import LABEL_COLUMNS, evaluate, meaning
from sketchforest.metrics.labels import average_precisions, calibration, calibration_errors

RNG = np.random.default_rng(0)
X = RNG.random((120, 6))
LABELS = (X @ RNG.random((6, 9)) + 0.5 * RNG.random((120, 9)) > 2.2).astype(int)
TRAIN, TEST = slice(80), slice(80, None)


@pytest.fixture(scope="module")
def found():
    forest = RandomForestClassifier(20, random_state=0).fit(X[TRAIN], LABELS[TRAIN])
    return evaluate(forest, X[TEST], LABELS[TEST])


def random_case(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 30), rng.integers(1, 6)
    levels = rng.choice([3, 1000])  # few: many ties
    scores = (rng.integers(0, levels + 1, shape) / levels).astype(np.float32)
    scores[rng.random(shape) < 0.4] = 0
    return rng.random(shape) < rng.random(), scores


@pytest.mark.parametrize("seed", range(60))
def test_average_precision_is_that_of_scikit_learn(seed):
    truth, scores = random_case(seed)
    ours = average_precisions(sparse.csr_array(truth), sparse.csr_array(scores))
    for label in range(truth.shape[1]):
        if truth[:, label].any():
            expected = average_precision_score(truth[:, label], scores[:, label])
            assert ours[label] == pytest.approx(expected)
        else:
            assert np.isnan(ours[label])


@pytest.mark.parametrize("at_least_one", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_a_threshold_decides_for_the_labels_above_it_and_the_best_of_a_row(seed, at_least_one):
    truth, scores = random_case(seed)
    thresholds = np.append(np.unique(scores)[::2], [0, 0.37]).astype(np.float32)
    sparse_pair = sparse.csr_array(truth), sparse.csr_array(scores)
    found = threshold_curve(*sparse_pair, thresholds, at_least_one)
    assert [each.threshold for each in found] == np.unique(thresholds).tolist()
    for each in found:
        decided = scores > np.float32(each.threshold)
        if at_least_one:
            best = scores.argmax(axis=1)
            rows = np.arange(len(scores))
            decided[rows, best] |= scores[rows, best] > 0
        assert (each.n_predicted, each.n_hits) == (decided.sum(), (decided & truth).sum())
        assert each.n_true == truth.sum()
        expected = f1_score(truth.ravel(), decided.ravel(), zero_division=0)
        assert each.f1 == pytest.approx(expected)


@pytest.mark.parametrize("threshold", [0.3, "f1"])
def test_the_curve_of_thresholds_meets_the_decisions_of_the_model(threshold):
    forest = RandomForestClassifier(20, random_state=0, oob_score=True, threshold=threshold)
    forest.fit(X[TRAIN], LABELS[TRAIN])
    found = evaluate(forest, X[TEST], LABELS[TEST])
    own = [e for e in found.thresholds if e.threshold == float(forest.thresholds_)]
    assert [e.f1 for e in own] == pytest.approx([found.scores["micro_f1"]])


def test_classes_may_stand_in_a_column():
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABELS[:, 0])
    assert evaluate(forest, X, LABELS[:, [0]]).scores == evaluate(forest, X, LABELS[:, 0]).scores


def test_no_threshold_is_drawn_for_classes():
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABELS[:, 0])
    assert list(evaluate(forest, X, LABELS[:, 0]).thresholds) == []


@pytest.mark.parametrize("seed", range(60))
def test_calibration_compares_scores_with_shares_in_ten_bins(seed):
    truth, scores = random_case(seed)
    sparse_pair = sparse.csr_array(truth), sparse.csr_array(scores)
    ours = calibration_errors(*sparse_pair)
    bins = np.minimum((scores * 10).astype(int), 9)
    for label in range(truth.shape[1]):
        expected = 0.0
        for b in range(10):
            rows = bins[:, label] == b
            if rows.any():
                gap = abs(scores[rows, label].mean() - truth[rows, label].mean())
                expected += rows.mean() * gap
        assert ours[label] == pytest.approx(expected, abs=1e-6)
    pooled = []
    for b in range(10):
        pairs = (bins == b) & (scores > 0)
        if pairs.any():
            pooled.append((scores[pairs].mean(), truth[pairs].mean(), pairs.sum()))
    assert np.allclose(calibration(*sparse_pair), np.reshape(pooled, (-1, 3)))


def test_every_score_says_what_it_means_and_which_way_is_good(found):
    for name in found.scores:
        title, says, better = meaning(name)
        assert title
        assert says
        assert "{" not in title + says
        assert better in ("higher", "lower") or name == "rows"


def test_classes_are_evaluated_as_one_label_a_row():
    y = np.array(list("abc"))[LABELS.sum(axis=1) % 3]
    forest = RandomForestClassifier(20, random_state=0).fit(X[TRAIN], y[TRAIN])
    found = evaluate(forest, X[TEST], y[TEST])
    accuracy = np.mean(forest.predict(X[TEST]) == y[TEST])
    assert found.scores["micro_f1"] == pytest.approx(accuracy)
    with pytest.raises(ValueError, match="classes that the model knows; got"):
        evaluate(forest, X[TEST], np.full(40, "z"))


def test_an_evaluation_shows_itself(found):
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert f"{found.scores['lrap']:.4f}" in text
    assert "…" not in text  # nothing is cut
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert found.to_frame()["value"].tolist() == list(found.scores.values())
    assert tuple(found.labels.to_frame().columns) == LABEL_COLUMNS
    assert found.labels.rows()[0][1] == LABELS[TEST].sum(axis=0).max()
    assert len(found.plot()) == 3


def test_real_outputs_have_their_score_alone():
    forest = RandomForestRegressor(5, random_state=0).fit(X, X[:, :2])
    whole = partial(evaluate, include_training_rows=True)
    found = whole(forest, X, X[:, :2])
    assert found.scores["r2"] == pytest.approx(forest.score(X, X[:, :2]))
    off = forest.predict(X) - X[:, :2]
    assert found.scores["mean_absolute_error"] == pytest.approx(np.abs(off).mean())
    assert found.scores["root_mean_squared_error"] == pytest.approx(np.sqrt((off**2).mean()))
    is_sparse = RandomForestRegressor(10, random_state=0).fit(X, sparse.csr_array(X[:, :2]))
    again = whole(is_sparse, X, sparse.csr_array(X[:, :2])).scores
    assert again == pytest.approx(whole(is_sparse, X, X[:, :2]).scores)
    assert "R²" in repr(found)
    with pytest.raises(ValueError, match="plot is for classifiers"):
        found.plot()


def test_a_data_frame_of_labels_is_read_by_its_names():
    rng = np.random.default_rng(5)
    X = rng.random((300, 3))
    Y = pd.DataFrame((X > 0.6).astype(int), columns=list("abc"))
    for kind in (RandomForestClassifier, RandomForestRegressor):
        forest = kind(10, random_state=0).fit(X, Y)
        expected = evaluate(forest, X, Y).scores
        assert evaluate(forest, X, Y[["c", "a", "b"]]).scores == expected
        assert evaluate(forest, X, Y.set_axis(list("xyz"), axis=1)).scores == expected
        for other, said in ((Y[["a", "b"]], "got no c"), (Y.assign(d=0), "got the unknown d")):
            with pytest.raises(ValueError, match=f"Y must have the 3 columns .* {said}"):
                evaluate(forest, X, other)


def test_only_fitted_forests_are_evaluated():
    X, y = np.random.default_rng(0).random((40, 2)), np.arange(40) % 2
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(X, y)
    with pytest.raises(TypeError, match=r"got Pipeline\. Use its last step, pipeline\[-1\]"):
        evaluate(pipeline, X, y)
    with pytest.raises(NotFittedError):
        evaluate(RandomForestClassifier(), X, y)
    found = evaluate(pipeline[-1], pipeline[:-1].transform(X), y, include_training_rows=True)
    assert found.scores["rows"] == 40


# ---- rows that the model was trained on


@pytest.fixture(scope="module")
def trained():
    return RandomForestClassifier(30, random_state=0).fit(X[TRAIN], LABELS[TRAIN])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array, np.float32])
def test_training_rows_are_left_out(trained, found, container):
    order = np.random.default_rng(1).permutation(len(X))
    mixed = evaluate(trained, container(X[order]), LABELS[order])
    new = order[order >= 80]
    expected = evaluate(trained, X[new], LABELS[new])
    assert (mixed.basis, mixed.n_trained_on) == ("held-out rows", 80)
    assert mixed.scores == expected.scores
    assert [each.n_hits for each in mixed.thresholds] == [e.n_hits for e in expected.thresholds]
    assert (expected.basis, expected.n_trained_on) == ("new rows", 0)


def test_rows_of_the_training_alone_are_scored_out_of_bag():
    forest = RandomForestClassifier(30, random_state=0, oob_score=True, threshold=0.3)
    forest.fit(X[TRAIN], LABELS[TRAIN])
    order = np.random.default_rng(1).permutation(80)
    found = evaluate(forest, X[order], LABELS[order])
    assert found.basis == "out-of-bag"
    assert found.scores["lrap"] == pytest.approx(forest.oob_score_)
    decided = np.asarray(forest.oob_decision_function_)[order] > np.float32(0.3)
    f1 = f1_score(LABELS[order], decided, average="micro")
    assert found.scores["micro_f1"] == pytest.approx(f1)
    assert "out-of-bag" in repr(found)
    assert "the trees that did not see them" in found._repr_html_()


def test_classes_and_numbers_are_scored_out_of_bag():
    y = np.array(list("abc"))[LABELS.sum(axis=1) % 3]
    forest = RandomForestClassifier(30, random_state=0, oob_score=True).fit(X, y)
    assert evaluate(forest, X, y).scores["precision_at_1"] == pytest.approx(forest.oob_score_)
    assert evaluate(forest, X, y).scores["micro_f1"] == pytest.approx(forest.oob_score_)
    numbers = RandomForestRegressor(30, random_state=0, oob_score=True).fit(X, X[:, :2] ** 2)
    assert evaluate(numbers, X, X[:, :2] ** 2).scores["r2"] == pytest.approx(numbers.oob_score_)


def test_a_sketch_forest_is_scored_on_the_rows_that_some_trees_left_out():
    forest = SketchForestClassifier(20, random_state=0).fit(X, LABELS)
    found = evaluate(forest, X, LABELS)
    assert (found.basis, found.n_trained_on) == ("out-of-bag", 120)
    assert found.scores["rows"] == forest.fitted_.settings.out_of_bag_rows
    flattering = evaluate(forest, X, LABELS, include_training_rows=True)
    assert (flattering.basis, flattering.scores["rows"]) == ("training rows included", 120)
    assert found.scores["lrap"] < 0.9 < flattering.scores["lrap"]


def test_trees_that_saw_all_rows_are_not_scored_on_them():
    forest = ExtraTreesClassifier(5, random_state=0).fit(X, LABELS)
    with pytest.raises(ValueError, match="include_training_rows must be True for rows"):
        evaluate(forest, X, LABELS)
    tree = DecisionTreeClassifier(random_state=0).fit(X, LABELS)
    with pytest.raises(ValueError, match="include_training_rows must be True for rows"):
        evaluate(tree, X, LABELS)


def test_a_boosting_model_knows_its_training_rows(tmp_path):
    SketchBoostingClassifier(max_iter=3, random_state=0).fit(X[TRAIN], LABELS[TRAIN]).save(
        tmp_path / "model.sf"
    )
    model = load_forest(tmp_path / "model.sf")
    assert evaluate(model, X, LABELS).n_trained_on == 80
    with pytest.raises(ValueError, match="no out-of-bag predictions"):
        evaluate(model, X[TRAIN], LABELS[TRAIN])


def test_new_rows_among_few_possible_ones_are_not_taken_for_training_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 3)), rng.integers(0, 2, 400)  # 8 different rows
    forest = RandomForestClassifier(5, random_state=0).fit(X[:200], y[:200])
    found = evaluate(forest, X[200:], y[200:])
    assert (found.basis, found.scores["rows"]) == ("new rows", 200)


def test_saved_pickled_and_relabelled_models_know_their_training_rows(trained, tmp_path):
    trained.save(tmp_path / "model.sf")
    copies = [load_forest(tmp_path / "model.sf"), pickle.loads(pickle.dumps(trained))]
    for model in (*copies, trained.relabel(LABELS[TRAIN])):
        assert evaluate(model, X, LABELS).n_trained_on == 80
