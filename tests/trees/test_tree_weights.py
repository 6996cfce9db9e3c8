"""Trees whose votes count for more or less than those of others."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    ExtraTreesClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    load_forest,
)
from sketchforest._trees.predict import ForestPredictor, Kept

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
NUMBERS = X[:, :3] @ RNG.normal(size=(3, 3)) + RNG.normal(size=(120, 3))
LABELS = (NUMBERS > 0.5).astype(np.uint8)
WEIGHTS = RNG.integers(1, 33, 12) / 32
ALONE = {"linear": 0, "label_correlations": False}


def models():
    return {
        "one number": RandomForestRegressor(12, random_state=0).fit(X, NUMBERS[:, 0]),
        "numbers": RandomForestRegressor(12, random_state=0).fit(X, NUMBERS),
        "big leaves": RandomForestRegressor(12, min_samples_leaf=20).fit(X, NUMBERS),
        "labels": ExtraTreesClassifier(12, random_state=0).fit(X, LABELS),
        "oblique": SketchForestClassifier(12, random_state=0, **ALONE).fit(X, LABELS),
        "sparse": ExtraTreesClassifier(12, random_state=0).fit(X, sparse.csr_array(LABELS)),
    }


@pytest.fixture(scope="module", params=models())
def weighted(request):
    model = models()[request.param]
    fitted = model.fitted_
    forest = fitted.forest.with_weights(WEIGHTS)
    return model._with(fitted.but(predictor=ForestPredictor.of(forest, fitted.targets)))


def scores_of_trees(model):
    """(n_trees, n_rows, n_outputs) of each tree by itself."""
    trees = model.fitted_.forest.with_weights(None)
    targets = model.fitted_.targets
    predictors = [ForestPredictor.of(trees.only(number), targets) for number in range(12)]
    return np.stack([predictor.average(X, 1, np.float64) for predictor in predictors])


def test_predictions_are_weighted_averages_of_trees(weighted):
    expected = np.average(scores_of_trees(weighted), axis=0, weights=WEIGHTS)
    predictor = weighted.fitted_.forest_predictor
    assert predictor.average(X, 1, np.float64) == pytest.approx(expected, abs=1e-12)
    labels = weighted.fitted_.labels
    Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.float64).toarray()
    assert weighted.leaf_weights(X) @ Y == pytest.approx(expected, abs=1e-12)
    assert weighted.leaf_weights(X).sum(axis=1) == pytest.approx(1)


def test_trees_that_are_left_out_do_not_count(weighted):
    is_out = RNG.random((120, 12)) < 0.5
    is_out[:, 0] = False
    found = weighted.fitted_.forest_predictor.average(X, 1, np.float64, sparse.csr_array(is_out))
    weights = np.where(is_out, 0, WEIGHTS).T[:, :, None]
    expected = (weights * scores_of_trees(weighted)).sum(axis=0) / weights.sum(axis=0)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_best_labels_and_sparse_averages_are_those_of_all_scores(weighted):
    predictor = weighted.fitted_.forest_predictor
    if isinstance(predictor.labels, np.ndarray):
        pytest.skip("numbers have no best")
    scores = predictor.average(X, 1, np.float32)
    assert np.array_equal(predictor.average_sparse(X, 1, Kept(np.float32)).toarray(), scores)
    labels, best = predictor.best(X, 1, 2)
    assert np.array_equal(labels, np.argsort(-scores, axis=1, kind="stable")[:, :2])
    assert np.array_equal(best, np.take_along_axis(scores, labels, axis=1))


def test_contributions_add_up_to_weighted_scores(weighted):
    scores = weighted.fitted_.forest_predictor.average(X[:3], 1, np.float64)
    for row in range(3):
        found = weighted.explain(X[[row]], k=1)
        assert found.scores == pytest.approx(scores[row][found.labels])
        assert found.base + found.contributions.sum(axis=0) == pytest.approx(found.scores)


def test_labels_of_equally_many_rows_have_equal_scores():
    Y = sparse.csr_array(np.repeat(np.eye(2, dtype=np.uint8), 60, axis=0))
    model = ExtraTreesClassifier(12, min_samples_leaf=7, random_state=0).fit(X, Y)
    forest = model.fitted_.forest.with_weights(WEIGHTS)
    pairs = sparse.csr_array(np.hstack([Y.toarray(), Y.toarray()]))
    predictor = ForestPredictor.of(forest, model.relabel(pairs).fitted_.targets)
    scores = predictor.average(X, 1, np.float64)
    assert np.array_equal(scores[:, :2], scores[:, 2:])
    certain = model.relabel(np.ones((120, 2), np.uint8)).fitted_.targets
    assert (ForestPredictor.of(forest, certain).average(X, 1, np.float64) == 1).all()


def test_weights_are_saved_pickled_and_kept_in_the_list_of_trees(weighted, tmp_path):
    expected = weighted.fitted_.forest_predictor.average(X, 1, np.float64)
    weighted.save(tmp_path / "model.sf")
    for again in (load_forest(tmp_path / "model.sf"), pickle.loads(pickle.dumps(weighted))):
        assert np.array_equal(again.fitted_.forest_predictor.average(X, 1, np.float64), expected)
        assert again.fitted_.forest.tree_weights.tolist() == WEIGHTS.tolist()
        del again.estimators_[7:]
        assert again.fitted_.forest.tree_weights.tolist() == WEIGHTS[:7].tolist()


def test_relabelled_trees_vote_alike(weighted):
    labels = weighted.fitted_.labels
    Y = labels if isinstance(labels, np.ndarray) else labels.to_csr(np.uint8).toarray()
    relabelled = weighted.relabel(Y[:, [0, 0]])
    assert relabelled.fitted_.forest.tree_weights is None


@pytest.mark.parametrize("wrong", [WEIGHTS[1:], 0 * WEIGHTS, 2 + WEIGHTS, np.full(12, np.nan)])
def test_weights_that_are_none_are_refused(wrong):
    forest = RandomForestRegressor(12, random_state=0).fit(X, NUMBERS).fitted_.forest
    with pytest.raises(ValueError, match="a weight of a tree is"):
        forest.with_weights(wrong)
