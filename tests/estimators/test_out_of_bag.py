"""Scores by the trees that did not see a row are those computed by hand."""

from functools import partial

import numpy as np
import pytest
from every_kind import (
    CLASSIFIERS,
    ESTIMATORS,
    FOREST_CLASSIFIERS,
    FOREST_REGRESSORS,
    FORESTS,
    LEAVES,
    N_TRAIN,
    OOB,
    bag,
    fitted,
    predictions,
    targets,
    trees_alone,
)
from scipy import sparse
from sklearn.metrics import accuracy_score, f1_score, r2_score

from sketchforest import (
    RandomForestClassifier,
    load_forest,
)
from sketchforest._estimators.fitting import growing as _growing
from sketchforest.metrics import lrap, precision_at_k, top_k


def predict_out_of_bag(forest, X):
    """By hand: for each row, the mean over the trees whose bag it is not in."""
    total, n_trees = 0, np.zeros((len(X), 1))
    for index, tree in enumerate(forest.estimators_):
        is_out = np.ones((len(X), 1))
        is_out[bag(forest, index)[0]] = 0
        prediction = predictions(tree, X)
        prediction = prediction.toarray() if sparse.issparse(prediction) else prediction
        total = total + is_out * prediction.reshape(len(X), -1)
        n_trees += is_out
    return total / n_trees


@LEAVES
@pytest.mark.parametrize("kind", FOREST_CLASSIFIERS)
def test_out_of_bag_scores_of_labels_are_those_computed_by_hand(kind, leaf_size, X, Y):
    params = OOB | {"min_samples_leaf": leaf_size} | trees_alone(kind)
    forest = fitted(kind, X, Y, oob_score=True, **params)
    expected = predict_out_of_bag(forest, X)
    assert isinstance(forest.oob_decision_function_, np.ndarray)
    assert np.allclose(forest.oob_decision_function_, expected, atol=1e-6)
    assert forest.oob_score_ == pytest.approx(lrap(Y, forest.oob_decision_function_))
    assert 0.2 < forest.oob_score_ < lrap(Y, forest.predict_proba(X))
    lean = fitted(kind, X, sparse.csr_array(Y), oob_score=True, **params)
    assert isinstance(lean.oob_decision_function_, sparse.csr_array)
    assert np.array_equal(lean.oob_decision_function_.toarray(), forest.oob_decision_function_)
    assert lean.oob_score_ == pytest.approx(forest.oob_score_)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_out_of_bag_scores_take_any_metric(layout, X, Y):
    named = fitted(RandomForestClassifier, X, layout(Y), oob_score="precision_at_3", **OOB)
    assert named.oob_score_ == pytest.approx(
        precision_at_k(Y, named.oob_decision_function_, k=3), abs=1e-9
    )
    seen = []

    def metric(Y_true, Y_pred):
        seen.append((Y_true, Y_pred))
        return 0.25

    called = fitted(RandomForestClassifier, X, layout(Y), oob_score=metric, **OOB)
    assert called.oob_score_ == 0.25
    (_, (truth, predicted)) = seen  # once before the trees are grown
    assert type(truth) is type(predicted) is type(layout(Y))
    assert truth.dtype == predicted.dtype == Y.dtype
    assert np.array_equal(truth.toarray() if sparse.issparse(truth) else truth, Y)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", FOREST_CLASSIFIERS)
@pytest.mark.parametrize("threshold", [0.2, "top-3", "f1-per-label", "f1"])
def test_a_callable_is_given_predictions_out_of_bag(kind, layout, threshold, X, Y):
    metric = partial(f1_score, average="micro")
    forest = fitted(kind, X, layout(Y), oob_score=metric, threshold=threshold, **OOB)
    scores = forest.oob_decision_function_
    scores = scores.toarray() if sparse.issparse(scores) else scores
    if threshold == "top-3":
        predicted = np.zeros_like(Y)
        np.put_along_axis(predicted, top_k(scores, 3)[0], 1, axis=1)
        predicted[scores == 0] = 0
    else:
        predicted = scores > getattr(forest, "thresholds_", threshold)
    if isinstance(threshold, str) and "f1" in threshold:  # at least one label a row
        rows = np.flatnonzero(scores.max(axis=1))
        predicted[rows, scores[rows].argmax(axis=1)] = True
    assert 0 < forest.oob_score_ == pytest.approx(metric(Y, predicted))


def test_our_ranking_metrics_are_given_scores(X, Y):
    by_name = fitted(RandomForestClassifier, X, Y, oob_score="lrap", **OOB)
    assert fitted(RandomForestClassifier, X, Y, oob_score=lrap, **OOB).oob_score_ == pytest.approx(
        by_name.oob_score_
    )
    forest = fitted(RandomForestClassifier, X, Y, oob_score=partial(precision_at_k, k=3), **OOB)
    assert forest.oob_score_ == pytest.approx(
        precision_at_k(Y, forest.oob_decision_function_, k=3), abs=1e-9
    )


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("metric", [f1_score, lambda one: 1.0, lambda a, b: "good", np.linalg.inv])
def test_a_wrong_callable_fails_before_a_tree_is_grown(kind, metric, X, Y, outputs, monkeypatch):
    y = targets(kind, Y, outputs)
    monkeypatch.setattr(_growing, "grow_trees", None)
    with pytest.raises(ValueError, match=r"oob_score must be a callable f\(Y_true, Y_pred\)"):
        fitted(kind, X, y, oob_score=metric, **OOB)


CONTAINERS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_predictions_have_the_container_of_sparse_outputs(kind, container, X, Y, tmp_path):
    y = container(Y if kind in CLASSIFIERS else Y * 2.5)
    expected = sparse.csr_matrix if sparse.isspmatrix(y) else sparse.csr_array
    estimator = fitted(kind, X, y)
    estimator.save(tmp_path / "model.sf")
    for model in (estimator, load_forest(tmp_path / "model.sf")):
        assert type(model.predict(X)) is expected
    if kind in FORESTS:
        scored = fitted(kind, X, y, oob_score=True, **OOB)
        kinds = [type(v) for v in scored.fitted_.out_of_bag.values()]
        assert expected in kinds


def test_out_of_bag_scores_of_classes(X, names):
    forest = fitted(RandomForestClassifier, X, names, oob_score=True, **OOB)
    expected = predict_out_of_bag(forest, X)
    assert np.allclose(forest.oob_decision_function_, expected)
    guess = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == accuracy_score(names, guess)
    assert 0.5 < forest.oob_score_ < 1
    wrong = fitted(RandomForestClassifier, X, names, oob_score=lambda a, b: (a != b).mean(), **OOB)
    assert wrong.oob_score_ == pytest.approx(1 - forest.oob_score_)
    ranked = fitted(RandomForestClassifier, X, names, oob_score="precision_at_1", **OOB)
    assert ranked.oob_score_ == pytest.approx(forest.oob_score_)


@pytest.mark.parametrize("kind", FOREST_REGRESSORS)
def test_out_of_bag_scores_of_real_outputs(kind, X, Y, outputs):
    params = OOB | trees_alone(kind)
    forest = fitted(kind, X, outputs, oob_score=True, **params)
    assert np.allclose(forest.oob_prediction_, predict_out_of_bag(forest, X))
    assert forest.oob_score_ == pytest.approx(r2_score(outputs, forest.oob_prediction_))
    assert fitted(kind, X, outputs, oob_score="r2", **params).oob_score_ == forest.oob_score_
    one = fitted(kind, X, outputs[:, 0], oob_score=lambda a, b: len(a.shape + b.shape), **OOB)
    assert one.oob_prediction_.shape == (N_TRAIN,)
    assert one.oob_score_ == 2
    lean = fitted(kind, X, sparse.csr_array(Y * 2.5), oob_score=True, **params)
    assert isinstance(lean.oob_prediction_, sparse.csr_array)
    assert np.allclose(lean.oob_prediction_.toarray(), predict_out_of_bag(lean, X))
    assert lean.oob_score_ == pytest.approx(r2_score(Y * 2.5, lean.oob_prediction_.toarray()))


def test_rows_in_every_bag_are_left_out_of_the_score_with_a_warning(X, Y):
    with pytest.warns(UserWarning, match=r"OOB scores: \d+ of 150 rows.*more trees") as w:
        forest = RandomForestClassifier(2, random_state=0, oob_score=True).fit(X, Y)
    assert w[0].filename == __file__
    in_both = np.intersect1d(bag(forest, 0)[0], bag(forest, 1)[0])
    assert not forest.oob_decision_function_[in_both].any()
    others = np.setdiff1d(np.arange(N_TRAIN), in_both)
    assert forest.oob_score_ == pytest.approx(
        lrap(Y[others], forest.oob_decision_function_[others])
    )
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        assert np.isnan(fitted(RandomForestClassifier, X[:1], Y[:1], oob_score=True).oob_score_)
