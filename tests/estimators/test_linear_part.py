"""The linear part of a sketch forest, and corrections by other labels."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sketchforest import SketchForestClassifier, SketchForestRegressor, load_forest
from sketchforest._saving.container import CorruptModelError
from sketchforest._saving.model_file import read_model, write_model
from sketchforest.metrics import lrap, top_k

RNG = np.random.default_rng(0)
WORDS = sparse.csr_array(RNG.poisson(0.15, (400, 60)).astype(float))
NUMBERS = WORDS @ RNG.normal(size=(60, 8))
LABELS = (NUMBERS + RNG.normal(size=(400, 8)) > 1).astype(np.uint8)
CLASSES = NUMBERS[:, :4].argmax(axis=1)
COLUMNS = np.stack([CLASSES, NUMBERS[:, 4:7].argmax(axis=1)], axis=1)
TRAIN, TEST = slice(0, 300), slice(300, 400)
TARGETS = {"labels": LABELS, "classes": CLASSES, "columns": COLUMNS, "numbers": NUMBERS}
TREES_ALONE = {"linear": 0, "label_correlations": False}


def fitted(kind="labels", X=WORDS, **params):
    if kind == "numbers":
        return SketchForestRegressor(10, random_state=0, **params).fit(X[TRAIN], NUMBERS[TRAIN])
    return SketchForestClassifier(10, random_state=0, **params).fit(X[TRAIN], TARGETS[kind][TRAIN])


def scores_of(forest, X=WORDS[TEST]):
    found = forest.predict_proba(X) if hasattr(forest, "predict_proba") else forest.predict(X)
    return np.hstack(found) if isinstance(found, list) else found


def test_scores_are_those_of_trees_and_of_the_linear_part():
    forest, trees = fitted(linear=0.3), fitted(**TREES_ALONE)
    blend = forest.fitted_.blend
    assert trees.fitted_.blend is None
    linear = np.clip(blend.linear.scores(WORDS[TEST]), 0, 1)
    mixed = 0.7 * scores_of(trees) + 0.3 * linear
    expected = np.clip(mixed + mixed @ blend.corrections.toarray().T, 0, 1)
    assert scores_of(forest) == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(forest.apply(WORDS), trees.apply(WORDS))


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_the_weight_may_be_given(weight):
    forest = fitted(linear=weight, label_correlations=False)
    if weight == 0:
        assert forest.fitted_.blend is None
        return
    blend = forest.fitted_.blend
    assert blend.weight == forest.linear_ == weight
    assert blend.corrections is None


def test_labels_that_are_linear_are_learnt_better():
    scores = [lrap(LABELS[TEST], scores_of(each)) for each in (fitted(), fitted(**TREES_ALONE))]
    assert scores[0] > scores[1] + 0.01
    errors = [
        np.square(scores_of(each) - NUMBERS[TEST]).mean()
        for each in (fitted("numbers"), fitted("numbers", linear=0))
    ]
    assert errors[0] < errors[1] / 2


def test_trees_alone_are_kept_where_nothing_is_linear():
    X = RNG.random((600, 2))
    labels = (((4 * X).astype(int).sum(axis=1) % 2)[:, None] == [0, 1]).astype(np.uint8)
    forest = SketchForestClassifier(10, random_state=0).fit(X, labels)
    assert forest.fitted_.blend.weight < 0.1


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("to_X", [sparse.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])
def test_results_do_not_depend_on_threads_or_on_rows_beside_them(kind, to_X):
    X = to_X(WORDS)
    expected = scores_of(fitted(kind, X), X[TEST])
    for n_jobs in (2, 8):
        assert np.array_equal(scores_of(fitted(kind, X, n_jobs=n_jobs), X[TEST]), expected)
    forest = fitted(kind, X)
    alone = np.vstack([scores_of(forest, X[row : row + 1]) for row in range(300, 400)])
    assert np.array_equal(alone, expected)


@pytest.mark.parametrize("kind", TARGETS)
def test_models_are_pickled_and_saved_with_it(kind, tmp_path):
    for params in ({}, {"oblique": 0}):
        forest = fitted(kind, **params)
        forest.save(tmp_path / "model.sf")
        for again in (pickle.loads(pickle.dumps(forest)), load_forest(tmp_path / "model.sf")):
            assert again.fitted_.blend.weight == forest.fitted_.blend.weight
            assert again.fitted_.blend.of_trees == forest.fitted_.blend.of_trees
            assert np.array_equal(again.leaf_weights(WORDS).data, forest.leaf_weights(WORDS).data)
            assert np.array_equal(scores_of(again), scores_of(forest))


def test_arrays_that_do_not_fit_are_damage(tmp_path):
    path = tmp_path / "model.sf"
    fitted().save(path)
    model = read_model(path)
    changes = {
        "linear_weights": lambda a: a[:, 1:],
        "linear_scale": lambda a: a[1:],
        "linear_intercept": lambda a: np.full_like(a, np.nan),
        "correction_start": lambda a: a[:-1],
        "correction_columns": lambda a: a + 1,
        "correction_factors": lambda a: a.astype(np.float64),
    }
    for name, change in changes.items():
        write_model(path, model._replace(more=model.more | {name: change(model.more[name])}))
        reasons = "corrections do not match|non-finite number in|wrong type or shape of"
        with pytest.raises(ValueError, match=reasons):
            load_forest(path)
        without = {other: array for other, array in model.more.items() if other != name}
        write_model(path, model._replace(more=without))
        with pytest.raises(ValueError, match=f"missing array {name}"):
            load_forest(path)
    write_model(path, model._replace(feature_map=None))
    with pytest.raises((ValueError, CorruptModelError), match="features do not match"):
        load_forest(path)


@pytest.mark.parametrize("kind", TARGETS)
def test_what_features_add_sums_to_the_scores(kind):
    forest = fitted(kind)
    for row in range(300, 305):
        found = forest.explain(WORDS[[row]], k=3)
        scores = scores_of(forest, WORDS[[row]])[0]
        assert found.scores == pytest.approx(scores[found.labels])
        assert found.base + found.contributions.sum(axis=0) == pytest.approx(found.scores)


def test_explanations_of_shrunk_numbers_start_from_the_mean():
    noise = RNG.normal(size=(300, 2)) + 5
    forest = SketchForestRegressor(60, random_state=0).fit(WORDS[TRAIN], noise)
    found = forest.explain(WORDS[[300]], k=2)
    assert found.base == pytest.approx(noise.mean(axis=0), abs=0.1)
    assert found.base + found.contributions.sum(axis=0) == pytest.approx(found.scores)


def test_a_feature_that_only_the_linear_part_knows_has_its_contribution():
    forest = fitted(linear=1.0, label_correlations=False)
    blend = forest.fitted_.blend
    x = WORDS[[300]]
    scores = blend.linear.scores(x)[0]
    inside = np.flatnonzero((scores > 0) & (scores < 1) & (blend.linear.intercept > 0))
    found = forest.explain(x, label=inside[:1].tolist())
    features, added = blend.linear.contributions(x, inside[:1])
    nonzero = np.isin(found.features, features)
    assert found.contributions[nonzero] == pytest.approx(added)
    assert not found.contributions[~nonzero].any()


@pytest.mark.parametrize("kind", ["labels", "classes", "columns"])
def test_scores_are_probabilities(kind):
    scores = scores_of(fitted(kind))
    assert scores.min() >= 0
    assert scores.max() <= 1
    if kind == "classes":
        assert scores.sum(axis=1) == pytest.approx(1)


def test_the_best_labels_are_those_of_the_probabilities():
    forest = fitted()
    scores = scores_of(forest)
    labels, best = forest.predict_topk(WORDS[TEST], k=3)
    expected, values = top_k(scores, 3)
    assert np.array_equal(labels, expected)
    assert np.array_equal(best, values)
    kept = forest.predict_sparse(WORDS[TEST], k=3).toarray()
    assert np.array_equal(np.sort(kept, axis=1)[:, :-4:-1], values)
    of_sparse = clone(forest).fit(WORDS[TRAIN], sparse.csr_array(LABELS[TRAIN]))
    assert np.array_equal(of_sparse.predict_proba(WORDS[TEST]), scores)
    assert np.array_equal(of_sparse.predict_topk(WORDS[TEST], k=3)[0], labels)


def test_thresholds_and_out_of_bag_scores_are_of_rows_that_neither_part_saw():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forest = fitted(oob_score=True)
    trees = fitted(**TREES_ALONE)
    assert forest.thresholds_ != trees.thresholds_
    left_out = forest.oob_decision_function_.any(axis=1)
    in_sample = lrap(LABELS[TRAIN][left_out], scores_of(forest, WORDS[TRAIN][left_out]))
    assert forest.oob_score_ < in_sample - 0.02
    assert abs(forest.oob_score_ - lrap(LABELS[TEST], scores_of(forest))) < 0.1


def test_warm_starts_end_with_the_same_model():
    forest = SketchForestClassifier(4, random_state=0, warm_start=True)
    forest.fit(WORDS[TRAIN], LABELS[TRAIN]).set_params(n_estimators=10)
    forest.fit(WORDS[TRAIN], LABELS[TRAIN])
    assert np.array_equal(scores_of(forest), scores_of(fitted()))


def test_numbers_are_shrunk_to_their_mean_and_labels_are_not():
    noise = RNG.normal(size=(300, 2)) + 5
    forest = SketchForestRegressor(60, random_state=0).fit(WORDS[TRAIN], noise)
    blend = forest.fitted_.blend
    assert blend.of_trees + blend.weight < 0.6
    of_trees = forest.leaf_weights(WORDS[TEST]) @ noise
    expected = blend.of_trees * of_trees + blend.offset
    if blend.linear is not None:
        expected += blend.weight * blend.linear.scores(WORDS[TEST])
    assert forest.predict(WORDS[TEST]) == pytest.approx(expected)
    assert abs(forest.predict(WORDS[TEST]) - noise.mean(axis=0)).max() < 0.5
    labels = SketchForestClassifier(10, random_state=0).fit(WORDS[TRAIN], (noise > 5).astype(int))
    assert labels.fitted_.blend.of_trees + labels.linear_ == pytest.approx(1)
    assert labels.fitted_.blend.offset is None


def test_trees_vote_by_how_they_predict_rows_they_did_not_see():
    X = RNG.normal(size=(500, 30))
    classes = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)  # no single direction tells them apart
    forest = SketchForestClassifier(60, random_state=0).fit(X, classes)
    weights, is_oblique = forest.fitted_.forest.tree_weights, forest.fitted_.forest.directions
    assert weights[is_oblique.is_oblique == 1].max() < 0.5
    assert (weights[is_oblique.is_oblique == 0] == 1).all()
    alone = SketchForestClassifier(60, random_state=0, linear=0).fit(X, classes)
    assert alone.fitted_.forest.tree_weights is None


def test_files_of_earlier_versions_keep_their_meaning(tmp_path):
    path = tmp_path / "model.sf"
    forest = fitted(linear=0.3)
    forest.save(path)
    model = read_model(path)
    del model.about["state"]["_weight_of_trees"]
    write_model(path, model)
    assert np.array_equal(scores_of(load_forest(path)), scores_of(forest))


def test_relabel_leaves_the_trees_alone():
    forest = fitted().relabel(LABELS[TRAIN])
    assert forest.fitted_.blend is None
    assert np.array_equal(scores_of(forest), scores_of(fitted(**TREES_ALONE)))


def test_trees_that_are_removed_leave_the_linear_part():
    forest = fitted()
    del forest.estimators_[5:]
    five = [tree.predict_proba(WORDS[TEST]) for tree in forest.estimators_]
    votes, blend = forest.fitted_.forest.tree_weights, forest.fitted_.blend
    average = np.average(five, axis=0, weights=votes)
    expected = blend.combine(average, blend.linear.scores(WORDS[TEST]))
    assert scores_of(forest) == pytest.approx(expected, abs=1e-6)


def test_rows_without_weight_do_not_count():
    weights = np.ones(300)
    weights[::4] = 0
    forest = SketchForestClassifier(10, random_state=0)
    forest.fit(WORDS[TRAIN], LABELS[TRAIN], weights)
    changed = LABELS[TRAIN].copy()
    changed[::4] = 1
    again = clone(forest).fit(WORDS[TRAIN], changed, weights)
    assert np.array_equal(scores_of(again), scores_of(forest))


def test_a_handful_of_rows_and_many_labels_have_trees_alone(capsys):
    few = SketchForestClassifier(4).fit(WORDS[:10], LABELS[:10])
    assert few.fitted_.blend is None
    wide = sparse.random_array((40, 10**6), density=1e-5, rng=RNG, dtype=np.float32)
    labels = sparse.random_array((40, 100_000), density=1e-4, rng=RNG)
    labels.data[:] = 1
    many = SketchForestClassifier(2, verbose=1).fit(wide.tocsr(), labels.tocsr())
    assert many.fitted_.blend is None
    said = "no linear part: 1,000,000 features and 100,000 outputs have too many weights"
    assert said in capsys.readouterr().err


def test_other_programs_get_trees_alone():
    forest = fitted(oblique=0, threshold=0.5)
    with pytest.raises(ValueError, match=r"^to_sklearn needs a model of trees alone; .*linear=0"):
        forest.to_sklearn()
    fitted(oblique=0, threshold=0.5, **TREES_ALONE).to_sklearn()
