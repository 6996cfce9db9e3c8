"""The linear part: ridge regression beside trees, and what is made of its scores."""

import numpy as np
import pytest
import reference
from scipy import sparse

from sketchforest._trees import linear
from sketchforest._trees.blended import as_probabilities, best_of
from sketchforest._trees.linear import Folds, LinearModel, Ridge, is_feasible
from sketchforest._trees.model import SparseRows
from sketchforest._trees.oblique_features import FeatureMap

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.2, (120, 30)).astype(float)
LABELS = (RNG.random((120, 7)) < 0.3).astype(np.uint8)
ROWS = np.arange(120)


def ridge_of(X, labels=LABELS, rows=ROWS, weights=None, n_jobs=1):
    feature_map = FeatureMap.learn(X)
    if not np.issubdtype(labels.dtype, np.floating):
        labels = SparseRows.from_csr(sparse.csr_array(labels))
    folds = Folds.deal(rows, labels.shape[0], 3, seed=0)
    return Ridge(
        feature_map, feature_map.transform(X), labels, folds, weights, seed=0, n_jobs=n_jobs
    )


def features_of(X):
    return linear.as_rows(FeatureMap.learn(X).transform(X)).toarray().astype(float)


@pytest.mark.parametrize("to_X", [sparse.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_ridge_regression_is_the_reference(to_X, is_weighted):
    X, weights = to_X(COUNTS), RNG.integers(1, 4, 120).astype(float) if is_weighted else None
    model = ridge_of(X, weights=weights).fit()
    Z = features_of(X)
    expected, intercept = reference.ridge(Z, LABELS, np.ones(120) if weights is None else weights)
    assert model.weights == pytest.approx(expected, abs=1e-4)
    assert model.scores(X) == pytest.approx(Z @ expected + intercept, abs=1e-4)


@pytest.mark.parametrize("to_X", [sparse.csr_array, np.asarray], ids=["sparse", "dense"])
def test_threads_change_no_bit(to_X, monkeypatch):
    monkeypatch.setattr(linear, "BLOCK_ROWS", 7)  # many blocks
    one, several = (ridge_of(to_X(COUNTS), n_jobs=n) for n in (1, 8))
    assert np.array_equal(one.fit().weights, several.fit().weights)
    assert np.array_equal(one.left_out(ROWS), several.left_out(ROWS))


@pytest.mark.parametrize("to_X", [sparse.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("rows", [ROWS, ROWS[20:]], ids=["all", "some"])
def test_folds_are_left_out_as_if_they_had_not_been_there(to_X, rows):
    X = to_X(COUNTS)
    ridge, Z = ridge_of(X, rows=rows), features_of(X)
    assert np.bincount(ridge._folds.of_row[rows]).tolist() in ([40, 40, 40], [34, 33, 33])
    assert (np.delete(ridge._folds.of_row, rows) == -1).all()
    found = ridge.left_out(ROWS)  # also of rows that are not used
    for number in range(-1, 3):
        fold = ridge._folds.of_row == number
        seen = np.setdiff1d(rows, ROWS[fold])
        expected, intercept = reference.ridge(Z[seen], LABELS[seen], np.ones(len(seen)))
        assert found[fold] == pytest.approx(Z[fold] @ expected + intercept, abs=1e-4)


def test_directions_stand_for_many_features(monkeypatch):
    topics, rows = RNG.integers(0, 9, (200, 2)), np.arange(200)
    words = np.repeat(np.eye(9), 10, axis=0).T  # each topic has ten of its own
    X = sparse.csr_array(words[topics].sum(axis=1) * (RNG.random((200, 90)) < 0.8))
    labels = (RNG.random((9, 40)) < 0.3).astype(np.uint8)[topics[:, 0]]
    exact = ridge_of(X, labels, rows).fit()
    monkeypatch.setattr(linear, "MOST_FEATURES", 50)
    monkeypatch.setattr(linear, "MOST_DIRECTIONS", 20)
    few = ridge_of(X, labels, rows).fit()
    assert few.basis.shape == (90, 20)
    assert few.basis.T @ few.basis == pytest.approx(np.eye(20), abs=1e-4)
    correlation = np.corrcoef(few.scores(X).ravel(), exact.scores(X).ravel())[0, 1]
    assert correlation > 0.95
    # The weights of features themselves are kept where they are fewer.
    folded = ridge_of(X, labels[:, :3], rows).fit()
    assert folded.basis is None
    assert folded.weights.shape == (90, 3)


@pytest.mark.parametrize("has_basis", [False, True])
def test_contributions_add_up_to_the_score_of_a_row(has_basis):
    X = sparse.csr_array(COUNTS)
    model = ridge_of(X).fit()
    if has_basis:
        basis = RNG.normal(size=(30, 5)).astype(np.float32)
        model = LinearModel(
            model.feature_map, model.weights[:5], model.scale, model.intercept, basis
        )
    outputs = np.array([4, 1])
    for row in range(5):
        x = X[[row]]
        features, added = model.contributions(x, outputs)
        assert set(features) == set(x.indices)
        expected = model.scores(x)[0, outputs]
        assert model.intercept[outputs] + added.sum(axis=0) == pytest.approx(expected, abs=1e-4)


def test_a_row_has_the_same_scores_together_and_alone():
    for X in (sparse.csr_array(COUNTS), COUNTS):
        model = ridge_of(X).fit()
        alone = np.vstack([model.scores(X[[row]]) for row in range(120)])
        assert np.array_equal(model.scores(X), alone)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_outputs_in_any_unit_have_the_same_model(unit):
    outputs = RNG.normal(size=(120, 3))
    expected = ridge_of(COUNTS, outputs).fit().scores(COUNTS)
    assert ridge_of(COUNTS, unit * outputs).fit().scores(COUNTS) / unit == pytest.approx(expected)


def test_constant_features_predict_the_mean():
    X = np.ones((120, 3))
    expected = np.tile(LABELS.mean(axis=0), (120, 1))
    assert ridge_of(X).fit().scores(X) == pytest.approx(expected)


def test_many_weights_are_too_many():
    assert is_feasible(10_000, 5_000, 1_000)
    assert not is_feasible(10**6, 10**6, 10**5)


def test_probabilities_are_clipped_and_those_of_classes_sum_to_one():
    found = np.array([[-0.1, 0.5, 1.2], [-1.0, -2.0, -3.0]])
    assert as_probabilities(found, None).tolist() == [[0, 0.5, 1], [0, 0, 0]]
    of_classes = as_probabilities(np.array([[0.2, 0.6, -0.1, 1.5]]), (2, 2))
    assert of_classes[0] == pytest.approx([0.25, 0.75, 0, 1])


@pytest.mark.parametrize("k", [1, 3, 20, 40])
def test_the_best_of_equal_scores_are_the_first(k):
    scores = RNG.integers(0, 6, (50, 40)) / 8
    labels, best = best_of(scores, k)
    expected = np.lexsort((np.tile(np.arange(40), (50, 1)), -scores))[:, :k]
    assert np.array_equal(labels, expected)
    assert np.array_equal(best, np.take_along_axis(scores, expected, axis=1))
