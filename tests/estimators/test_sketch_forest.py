"""The flagship: what is its own. What it shares with other forests is tested with them."""

import json
import warnings

import numpy as np
import pytest
import reference
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    SketchForestClassifier,
    SketchForestRegressor,
    load_forest,
)
from sketchforest._saving.arrays import check_arrays
from sketchforest._saving.container import CorruptModelError
from sketchforest._saving.directions import direction_arrays, read_directions, read_features
from sketchforest._trees.model import Forest
from sketchforest.metrics import lrap

RNG = np.random.default_rng(0)
WORDS = RNG.poisson(0.15, (400, 60)).astype(float)
# Each label is a direction in the space of words: no single word tells it.
LABELS = (WORDS @ RNG.normal(size=(60, 40)) + RNG.normal(size=(400, 40)) > 1.5).astype(np.uint8)
TRAIN, TEST = slice(0, 250), slice(250, 400)


def fitted(n_estimators=20, **params):
    forest = SketchForestClassifier(n_estimators, random_state=0, **params)
    return forest.fit(sparse.csr_array(WORDS[TRAIN]), LABELS[TRAIN])


@pytest.mark.parametrize("share", [0.0, 0.25, 0.7, 1.0])
def test_any_number_of_first_trees_has_the_share_of_oblique_ones(share):
    forest = fitted(20, oblique=share)
    are_oblique = [tree.splitter == "oblique" for tree in forest.estimators_]
    for n in range(1, 21):
        assert abs(sum(are_oblique[:n]) - n * share) < 1
    assert sum(are_oblique) == round(20 * share)


def test_directions_tell_what_single_features_do_not():
    scores = {}
    for kind, params in ((SketchForestClassifier, {"oblique": 1.0}), (ExtraTreesClassifier, {})):
        forest = kind(40, random_state=0, **params).fit(WORDS[TRAIN], LABELS[TRAIN])
        scores[kind] = lrap(LABELS[TEST], forest.predict_proba(WORDS[TEST]))
    assert scores[SketchForestClassifier] > scores[ExtraTreesClassifier] + 0.02


def test_trees_see_all_rows_unless_they_must_be_scored():
    in_bag = fitted(40, threshold=0.5).fitted_.forest.in_bag()
    assert in_bag.nnz == 40 * 250
    scored = fitted(100, oob_score=True)
    sizes = np.diff(scored.fitted_.forest.in_bag().tocsc().indptr)
    assert set(sizes) == {250, 200}
    assert 15 < (sizes < 250).sum() < 45  # three of ten on average
    assert abs(scored.oob_score_ - lrap(LABELS[TEST], scored.predict_proba(WORDS[TEST]))) < 0.1


def test_out_of_bag_predictions_are_of_trees_that_did_not_see_the_row():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that most rows are in every bag is no accident
        forest = fitted(30, oob_score=True, linear=0, label_correlations=False)
    left_out = 0
    for row in range(40):
        trees = [tree for tree in forest.estimators_ if row not in tree.fitted_.forest.members]
        expected = [t.predict_proba(WORDS[[row]])[0] for t in trees] or [np.zeros(LABELS.shape[1])]
        found = forest.oob_decision_function_[row]
        assert found == pytest.approx(np.mean(expected, axis=0), abs=1e-6)
        left_out += bool(trees)
    assert left_out


@pytest.mark.parametrize("more", [{}, {"bootstrap": True}], ids=str)
@pytest.mark.parametrize(
    "names", [["n_components"], ["max_features"], ["n_components", "max_features"]]
)
def test_auto_fits_what_the_values_it_chose_fit(names, more):
    params = {"n_estimators": 80, "random_state": 1, "threshold": 0.5} | more
    auto = SketchForestClassifier(**params, **dict.fromkeys(names, "auto")).fit(WORDS, LABELS)
    chosen = {name: getattr(auto, f"{name}_") for name in names}
    again = SketchForestClassifier(**params, **chosen).fit(WORDS, LABELS)
    assert np.array_equal(auto.predict_proba(WORDS), again.predict_proba(WORDS))
    assert auto.fitted_.settings == again.fitted_.settings


def test_auto_numbers_of_trees_end_where_more_gain_little():
    forest = SketchForestClassifier("auto", random_state=0).fit(WORDS, LABELS)
    n_trees = forest.n_estimators_
    assert 32 <= n_trees < 1024
    again = SketchForestClassifier(n_trees, random_state=0).fit(WORDS, LABELS)
    assert np.array_equal(forest.predict_proba(WORDS), again.predict_proba(WORDS))


def test_auto_numbers_of_trees_need_rows_left_out():
    with pytest.raises(ValueError, match=r"^n_estimators must be an int if bootstrap=False"):
        SketchForestClassifier("auto", threshold=0.5).fit(WORDS, LABELS)


def test_a_handful_of_rows_is_split():
    X, y = np.arange(8.0).reshape(-1, 1), np.repeat([0.0, 1.0], 4)
    forest = SketchForestRegressor(30, random_state=0).fit(X, y)
    assert forest.predict([[0.0], [7.0]]) == pytest.approx([0, 1], abs=0.25)


@pytest.mark.parametrize("to_X", [sparse.csr_array, lambda X: X.toarray()])
def test_rows_find_the_same_leaves_together_and_alone(to_X):
    """Together, they are parted node by node; alone, a row goes down by itself."""
    X = to_X(sparse.csr_array(WORDS))
    forest = SketchForestClassifier(6, oblique=1.0, random_state=3, threshold=0.5)
    forest.fit(X[TRAIN], LABELS[TRAIN])
    alone = np.vstack([forest.apply(X[row : row + 1]) for row in range(X.shape[0])])
    assert np.array_equal(forest.apply(X), alone)
    for tree, leaves in zip(forest.estimators_, forest.apply(X[TRAIN]).T, strict=True):
        assert np.array_equal(np.bincount(leaves)[np.unique(leaves)], _leaf_sizes(tree))


def _leaf_sizes(tree):
    is_leaf = tree.tree_.children_left < 0
    return tree.tree_.n_node_samples[is_leaf]


def test_a_single_tree_may_be_oblique():
    tree = DecisionTreeClassifier("oblique", random_state=0).fit(WORDS[TRAIN], LABELS[TRAIN])
    assert tree.n_components_ == 32
    assert tree.projection_matrix().shape == (40, 32)
    assert np.array_equal(tree.predict(WORDS[TRAIN]).shape, LABELS[TRAIN].shape)
    assert np.count_nonzero(tree.feature_importances_) > 30


def test_importances_add_up_to_one_over_the_features_of_directions():
    importances = fitted().feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert (importances > 0).all()


def test_a_model_file_keeps_directions(tmp_path):
    forest = fitted()
    forest.save(tmp_path / "model.sf")
    loaded = load_forest(tmp_path / "model.sf")
    assert np.array_equal(loaded.predict_proba(WORDS[TEST]), forest.predict_proba(WORDS[TEST]))
    assert np.array_equal(loaded.projection_matrix(3), forest.projection_matrix(3))
    assert json.dumps(loaded.get_params()) == json.dumps(forest.get_params())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("directions.start", lambda a: a[:-1]),
        ("directions.start", lambda a: np.where(np.arange(len(a)) == 3, 10**6, a)),
        ("directions.columns", lambda a: np.where(np.arange(len(a)) == 5, 60, a).astype(np.int32)),
        ("directions.columns", lambda a: np.where(np.arange(len(a)) == 5, -1, a).astype(np.int32)),
        ("directions.weights", lambda a: a[1:]),
        ("directions.weights", lambda a: a.astype(np.float32)),
        ("directions.is_oblique", lambda a: a[1:]),
        ("features.idf", lambda a: a[1:]),
        ("directions.weights", lambda a: np.where(np.arange(len(a)) == 5, 0x7F80, a).astype("u2")),
        ("directions.is_oblique", lambda a: a * 2),
    ],
)
def test_directions_that_point_outside_are_damage(name, change):
    forest = fitted().fitted_.forest
    arrays = direction_arrays(forest.directions, forest.directions.feature_map)
    arrays = {n: a for n, a in arrays.items() if a is not None}

    def made_of(arrays):
        check_arrays(arrays)
        directions = read_directions(arrays, read_features(arrays, 60))
        return Forest(**forest.fields() | {"directions": directions})

    reference.assert_same_arrays(made_of(arrays), forest)
    with pytest.raises((CorruptModelError, ValueError)):
        made_of(arrays | {name: change(arrays[name])})


def numbers():
    """Two real outputs, one nearly linear in the features and one with jumps."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    linear, jump = X @ rng.normal(size=6), np.where(X[:, 0] > 0.5, 3.0, 0.0)
    return X, np.stack([linear, jump + X[:, 1] * X[:, 2]], axis=1) + rng.normal(size=(300, 2)) / 5


def test_a_regressor_does_not_depend_on_the_unit_of_an_output_or_feature():
    X, Y = numbers()
    leaves = SketchForestRegressor(20, random_state=0).fit(X, Y).apply(X)
    factors = 2.0 ** np.arange(0, 60, 10)  # which change no digit
    changed = SketchForestRegressor(20, random_state=0).fit(factors * X, [1.0, 2.0**20] * Y)
    assert np.array_equal(leaves, changed.apply(factors * X))


def test_one_output_of_a_regressor_is_not_rescaled():
    X, Y = numbers()
    found = SketchForestRegressor(5, random_state=0).fit(X, Y[:, 0]).predict(X)
    doubled = SketchForestRegressor(5, random_state=0).fit(X, 2 * Y[:, 0]).predict(X)
    assert np.array_equal(2 * found, doubled)


def test_a_constant_output_of_a_regressor_changes_no_tree():
    X, Y = numbers()
    with_constant = np.column_stack([Y, np.full(len(Y), 0.1)])
    params = {"n_estimators": 10, "random_state": 0, "oblique": 0.0}
    leaves = SketchForestRegressor(**params).fit(X, Y).apply(X)
    assert np.array_equal(leaves, SketchForestRegressor(**params).fit(X, with_constant).apply(X))


def test_oblique_trees_of_a_regressor_follow_slopes_and_jumps():
    X, Y = numbers()
    fitted = {
        share: SketchForestRegressor(40, oblique=share, random_state=0).fit(X[:200], Y[:200])
        for share in (0.0, 1.0)
    }
    linear, jump = (
        {s: np.square(f.predict(X[200:]) - Y[200:])[:, output].mean() for s, f in fitted.items()}
        for output in (0, 1)
    )
    assert linear[1.0] < 0.8 * linear[0.0]
    assert jump[1.0] < 1.1 * jump[0.0]


def test_every_row_is_out_of_bag_for_some_trees_of_a_regressor():
    X, Y = numbers()
    forest = SketchForestRegressor(100, oob_score=True, random_state=0).fit(X, Y)
    assert (np.diff(forest.fitted_.forest.in_bag().indptr) < 100).all()
    assert forest.oob_score_ == pytest.approx(forest.score(X, Y), abs=0.3)
    assert forest.oob_score_ > 0.7


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("features.mean", lambda a: a[1:]),
        ("features.mean", lambda a: a * np.nan),
        ("features.spread", lambda a: 0 * a),
        ("features.spread", lambda a: a.astype(np.float32)),
    ],
)
def test_a_model_file_keeps_how_features_enter_by_value(tmp_path, name, change):
    X, Y = numbers()
    forest = SketchForestRegressor(5, random_state=0).fit(X, Y)
    forest.save(tmp_path / "model.sf")
    assert np.array_equal(load_forest(tmp_path / "model.sf").predict(X), forest.predict(X))
    feature_map = forest.fitted_.forest.directions.feature_map
    arrays = {n: a for n, a in direction_arrays(None, feature_map).items() if a is not None}
    assert read_features(arrays, 6).mean == pytest.approx(X.mean(axis=0))

    def read(changed):
        check_arrays(changed)
        return read_features(changed, 6)

    with pytest.raises(CorruptModelError):
        read(arrays | {name: change(arrays[name])})
