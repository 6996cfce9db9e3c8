"""Predictions against averages made by hand."""

import numpy as np
import pytest
import reference
from sketched_data import label_data

from sketchforest import RandomForestClassifier
from sketchforest._trees import predict as _predict


def predictions(forest, X):
    averages = forest.predict_proba(X) if hasattr(forest, "predict_proba") else forest.predict(X)
    return averages.reshape(len(averages), -1)


def test_a_prediction_is_the_mean_of_the_original_outputs_over_the_leaves_rows(fitted):
    forest, X, Y, _ = fitted
    expected = reference.predict(forest.fitted_.forest, reference.dense(X), Y)
    np.testing.assert_allclose(predictions(forest, X), expected, atol=1e-6)


def test_leaf_weights_times_the_outputs_is_the_prediction(fitted):
    forest, X, Y, _ = fitted
    weights = forest.leaf_weights(X)
    assert (weights.data > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(reference.dense(weights @ Y), predictions(forest, X), atol=1e-6)


def test_the_table_of_leaf_means_predicts_what_the_rows_do(fitted, monkeypatch):
    forest, X, _, _ = fitted
    results = []
    for big_leaf in (0, 10**9):
        monkeypatch.setattr(_predict, "BIG_LEAF", big_leaf)
        predictor = _predict.ForestPredictor(forest.fitted_.forest, forest.fitted_.labels)
        one_output = forest.fitted_.labels.shape[1] == 1
        is_table = predictor.leaves is not forest.fitted_.forest
        assert is_table == (big_leaf == 0 or one_output)
        results.append(predictor.average(X, None, np.float64))
    np.testing.assert_allclose(results[0], results[1], atol=1e-7)


@pytest.mark.parametrize("min_samples_leaf", [1, 10])
def test_the_best_labels_are_the_first_of_the_probabilities_in_order(min_samples_leaf):
    """Equal probabilities in order of label, zeros included where labels run out."""
    X, Y = label_data(n=150)
    forest = RandomForestClassifier(3, min_samples_leaf=min_samples_leaf, random_state=0)
    proba = forest.fit(X, Y).predict_proba(X)
    order = np.argsort(-proba, axis=1, kind="stable")
    for k in (1, 5, 37, Y.shape[1]):
        labels, scores = forest.predict_topk(X, k)
        np.testing.assert_array_equal(labels, order[:, :k])
        np.testing.assert_array_equal(scores, np.take_along_axis(proba, order[:, :k], axis=1))
        kept = np.zeros_like(proba)
        np.put_along_axis(kept, order[:, :k], scores, axis=1)
        found = forest.predict_sparse(X, k)
        np.testing.assert_array_equal(found.toarray(), kept)
        assert found.has_canonical_format
        assert found.data.all()
    np.testing.assert_array_equal(forest.predict_sparse(X).toarray(), proba)


def test_every_tree_holds_each_of_its_rows_once_with_the_count_that_was_drawn(fitted):
    forest, X, _, sample_weight = fitted
    n = X.shape[0]
    for t, grown in enumerate(forest.fitted_.forest.trees()):
        rows, weights = map(
            np.concatenate,
            zip(*(reference.leaf_rows(grown, leaf) for leaf in range(grown.n_leaves)), strict=True),
        )
        expected = np.ones(n)
        if forest.bootstrap:
            expected = reference.bootstrap_counts(
                forest.fitted_.settings.seed, t, n, n, sample_weight
            )
        elif sample_weight is not None:
            expected *= sample_weight
        found = np.zeros(n)
        np.add.at(found, rows, weights)
        assert len(set(rows)) == len(rows)
        np.testing.assert_allclose(found, expected)
