"""Criteria other than variance: the core against the definitions in reference.py, and what leaves
that predict medians are used for."""

import pickle
from functools import partial

import numpy as np
import pytest
import reference
import sklearn_versions
from scipy import sparse
from sklearn import tree as sklearn_tree

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    load_forest,
)
from sketchforest.explain import explain

KINDS = {
    "entropy": (DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier),
    "poisson": (DecisionTreeRegressor, ExtraTreeRegressor, RandomForestRegressor),
    "absolute_error": (DecisionTreeRegressor, ExtraTreeRegressor, RandomForestRegressor),
}


def random_features(rng, n):
    X = rng.normal(size=(n, 3)).round(int(rng.integers(0, 4))).astype(np.float32)
    match rng.integers(3):
        case 0:
            X[rng.random(X.shape) < 0.2] = np.nan
        case 1:
            X = sparse.csr_array(X * (rng.random(X.shape) < 0.4))
    return X


def random_outputs(rng, n, criterion):
    n_outputs = int(rng.integers(1, 4))
    if criterion == "entropy":
        Y = rng.integers(0, rng.choice([2, 4]), (n, n_outputs))
        Y[0], Y[-1] = 0, 1  # in each column more than one class
        return Y
    Y = rng.poisson(rng.choice([0.3, 3]), (n, n_outputs)) * rng.choice([1.0, 0.37])
    Y[0] = 1
    return Y if criterion == "poisson" else Y - rng.choice([0, 1000])


def random_weights(rng, n):
    return [np.ones(n), rng.integers(1, 4, n).astype(float), rng.exponential(size=n) + 0.01][
        rng.integers(3)
    ]


def nodes_with_rows(structure, X):
    """Each node with the training rows in it, and for an inner one, which of them go left."""
    paths = structure.decision_path(X).tocsc()
    for node in range(structure.node_count):
        rows = paths[:, [node]].nonzero()[0]
        left = structure.children_left[node]
        goes_left = None if left < 0 else np.isin(rows, paths[:, [left]].nonzero()[0])
        yield node, np.sort(rows), goes_left


def median(y, weights):
    """Half-way between the smallest and the largest of the values that are nearest to all."""
    distances = np.array([weights @ np.abs(y - value) for value in y])
    nearest = y[np.isclose(distances, distances.min(), rtol=1e-12, atol=1e-12 * weights.sum())]
    return (nearest.min() + nearest.max()) / 2


@pytest.mark.parametrize("criterion", KINDS)
@pytest.mark.parametrize("seed", range(40))
def test_every_split_value_and_impurity_is_that_of_the_definition(criterion, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    X, Y = random_features(rng, n), random_outputs(rng, n, criterion)
    weights, min_rows = random_weights(rng, n), int(rng.integers(1, 4))
    best, random_cuts, _ = KINDS[criterion]
    kind = best if rng.random() < 0.7 else random_cuts
    tree = kind(
        criterion=criterion, random_state=seed, min_samples_leaf=min_rows, max_features=None
    )
    structure = tree.fit(X, Y if Y.shape[1] > 1 else Y.ravel(), weights).tree_
    dense_X, codes = reference.dense(X), Y.astype(float)
    total, n_outputs = weights.sum(), Y.shape[1]
    doubt = 1e-9 * (total + weights @ np.abs(codes).sum(axis=1))
    for node, rows, left in nodes_with_rows(structure, X):
        Z, w = codes[rows], weights[rows]
        score = reference.node_score(Z, w, criterion)
        assert structure.impurity[node] == pytest.approx(
            -score / (w.sum() * n_outputs), abs=doubt / total
        )
        if criterion == "absolute_error":
            medians = [median(z, w) for z in Z.T]
            np.testing.assert_allclose(structure.value[node, :, 0], medians, rtol=1e-12)
        if left is None:
            continue
        found = reference.split_score(Z, w, left, criterion)
        assert found > -np.inf
        if kind is best:
            best_score = reference.best_split(dense_X[rows], Z, w, min_rows, 0, criterion).score
            assert found == pytest.approx(best_score, abs=doubt)


@pytest.mark.parametrize("criterion", KINDS)
def test_gains_are_decreases_of_impurity(criterion):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 4)), random_outputs(rng, 80, criterion)
    for kind in KINDS[criterion][:2]:
        tree = kind(criterion=criterion, random_state=0).fit(X, Y)
        shares = tree.tree_.compute_feature_importances()
        np.testing.assert_allclose(tree.feature_importances_, shares, atol=1e-6)


@pytest.mark.parametrize("criterion", KINDS)
def test_the_same_forest_from_dense_and_sparse_rows_and_any_number_of_threads(criterion):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (120, 5)).astype(float)
    Y = random_outputs(rng, 120, criterion)
    make = partial(KINDS[criterion][2], 8, criterion=criterion, random_state=0)
    alone = make(n_jobs=1).fit(X, Y)
    reference.assert_same_forest(alone, make(n_jobs=4).fit(X, Y))
    other = make(n_jobs=1).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(alone.predict(X), other.predict(X))


def test_labels_have_an_entropy_each_however_they_are_stored():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(60, 3)), (rng.random((60, 6)) < 0.2).astype(int)
    dense = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, Y)
    stored = DecisionTreeClassifier(criterion="log_loss", random_state=0).fit(
        X, sparse.csr_array(Y)
    )
    reference.assert_same_forest(dense, stored)
    share = Y.mean(axis=0)
    entropy = -(share * np.log2(share) + (1 - share) * np.log2(1 - share)).mean()
    assert dense.tree_.impurity[0] == pytest.approx(entropy)


@pytest.mark.parametrize("criterion", ["poisson", "absolute_error"])
def test_sparse_numbers_grow_the_trees_of_dense_ones(criterion):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(50, 3)), rng.poisson(1.0, (50, 2)).astype(float)
    dense = DecisionTreeRegressor(criterion=criterion, random_state=0).fit(X, Y)
    stored = DecisionTreeRegressor(criterion=criterion, random_state=0).fit(X, sparse.csr_array(Y))
    reference.assert_same_forest(dense, stored)
    np.testing.assert_allclose(stored.predict(X).toarray(), dense.predict(X))


def test_of_splits_that_gain_nothing_by_absolute_error_the_most_even_one_is_made():
    x = np.arange(9.0)[:, None]  # mostly zeros on both sides, wherever they are cut
    y = np.array([0, 0, 1, 0, 0, 0, 1, 0, 0.0])
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(x, y)
    assert tree.tree_.n_node_samples.tolist() in ([9, 4, 5], [9, 5, 4])


@pytest.mark.parametrize("criterion", KINDS)
def test_the_path_of_pruning_is_that_of_scikit_learn(criterion):
    if criterion == "absolute_error" and not sklearn_versions.SPLITS_BY_ABSOLUTE_ERROR:
        pytest.skip("this scikit-learn does not find the best splits by absolute error")
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 1)).astype(np.float32)  # one feature, and few ties of splits
    signal = X[:, 0] + 0.5 * rng.normal(size=120)
    y = np.digitize(signal, [-1, 0.5]) if criterion == "entropy" else np.exp(signal)
    kind = KINDS[criterion][0]
    params = {"criterion": criterion, "random_state": 0, "min_samples_leaf": 5}
    ours = kind(**params).cost_complexity_pruning_path(X, y)
    theirs = getattr(sklearn_tree, kind.__name__)(**params).cost_complexity_pruning_path(X, y)
    assert len(ours.ccp_alphas) > 4
    np.testing.assert_allclose(ours.ccp_alphas, theirs.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(ours.impurities, theirs.impurities, atol=1e-12)


# ---- leaves that predict medians


def median_forest(**params):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 4)).astype(np.float32)
    Y = np.stack([np.exp(X[:, 0] + rng.normal(size=90)), rng.normal(size=90)], axis=1)
    forest = RandomForestRegressor(
        7, criterion="absolute_error", min_samples_leaf=4, random_state=0, **params
    )
    return forest.fit(X, Y), X, Y


def mean_of_medians(forest, X, Y, trees_of_row=None):
    """By the definition, from the rows in the leaves."""
    predictions = np.empty((len(X), Y.shape[1]))
    for row, x in enumerate(X):
        trees = forest.fitted_.forest.trees()
        used = range(len(trees)) if trees_of_row is None else trees_of_row[row]
        found = []
        for tree in (trees[number] for number in used):
            rows, weights = reference.leaf_rows(tree, reference.leaf_of(tree, x))
            found.append([median(y, weights) for y in Y[rows].T])
        predictions[row] = np.mean(found, axis=0)
    return predictions


def test_a_forest_by_absolute_error_predicts_means_of_medians():
    forest, X, Y = median_forest()
    np.testing.assert_allclose(forest.predict(X), mean_of_medians(forest, X, Y), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_medians_of_rows_that_trees_did_not_see():
    forest, X, Y = median_forest(oob_score=True, bootstrap=True)
    left_out = [
        [i for i, tree in enumerate(forest.fitted_.forest.trees()) if row not in tree.members]
        for row in range(len(X))
    ]
    is_scored = np.array([bool(trees) for trees in left_out])
    expected = mean_of_medians(forest, X[is_scored], Y, [trees for trees in left_out if trees])
    np.testing.assert_allclose(forest.oob_prediction_[is_scored], expected, rtol=1e-12)


def test_medians_are_kept_by_files_pickles_relabelling_and_single_trees(tmp_path):
    forest, X, Y = median_forest()
    expected = forest.predict(X)
    forest.save(tmp_path / "medians.sf")
    for kept in (load_forest(tmp_path / "medians.sf"), pickle.loads(pickle.dumps(forest))):
        np.testing.assert_array_equal(kept.predict(X), expected)
        np.testing.assert_array_equal(kept.relabel(Y[:, ::-1]).predict(X), expected[:, ::-1])
    of_trees = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(of_trees, expected, rtol=1e-12)
    del forest.estimators_[3:]
    assert np.allclose(forest.predict(X), mean_of_medians(forest, X, Y))


@pytest.mark.parametrize("criterion", KINDS)
@pytest.mark.parametrize("ccp_alpha", [0, 0.02])
def test_scikit_learns_twin_has_the_same_values_and_predictions(criterion, ccp_alpha):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(60, 3)).astype(np.float32), random_outputs(rng, 60, criterion)
    forest = KINDS[criterion][2](5, criterion=criterion, ccp_alpha=ccp_alpha, random_state=0)
    twin = forest.fit(X, Y).to_sklearn()
    assert twin.criterion == criterion
    np.testing.assert_allclose(twin.predict(X), forest.predict(X), rtol=1e-12)


def test_contributions_add_up_to_medians():
    forest, X, _ = median_forest()
    found = explain(forest, X[:1], k=2)
    scores = found.base + found.contributions.sum(axis=0)
    np.testing.assert_allclose(scores, found.scores)
    np.testing.assert_allclose(scores, forest.predict(X[:1])[0])


def test_equal_weights_that_are_no_binary_fractions_have_their_median_in_the_middle():
    y = np.arange(10.0)
    tree = DecisionTreeRegressor(criterion="absolute_error", min_samples_split=20)
    assert tree.fit(np.zeros((10, 1)), y, np.full(10, 0.1)).predict([[0.0]]) == [4.5]


def test_a_warm_start_adds_trees_by_the_same_criterion_alone():
    forest, X, Y = median_forest(warm_start=True)
    whole = RandomForestRegressor(
        9, criterion="absolute_error", min_samples_leaf=4, random_state=0
    ).fit(X, Y)
    reference.assert_same_forest(forest.set_params(n_estimators=9).fit(X, Y), whole)
    with pytest.raises(ValueError, match=r"criterion must be that of the first fit"):
        forest.set_params(n_estimators=12, criterion="squared_error").fit(X, Y)


# ---- what is refused


def many_outputs(criterion):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 3))
    return X, (rng.random((40, 70)) < 0.5).astype(int) + (criterion != "entropy")


@pytest.mark.parametrize("criterion", KINDS)
def test_a_projection_that_was_asked_for_is_refused_and_the_default_is_left_out(criterion):
    X, Y = many_outputs(criterion)
    kind = KINDS[criterion][0]
    for params in ({"n_components": 8}, {"projection": "rademacher"}, {"n_components": 0.5}):
        with pytest.raises(ValueError, match=r"^projection must be None for criterion="):
            kind(criterion=criterion, **params).fit(X, Y)
    by_default = kind(criterion=criterion, random_state=0).fit(X, Y)
    assert by_default.n_components_ is None
    plain = kind(criterion=criterion, projection=None, random_state=0).fit(X, Y)
    reference.assert_same_forest(by_default, plain)
    kind(criterion=criterion, projection="rademacher").fit(X, Y[:, :2])  # too few to be projected


@pytest.mark.parametrize("criterion", KINDS)
def test_oblique_trees_are_grown_by_variance_alone(criterion):
    X, Y = many_outputs(criterion)
    with pytest.raises(ValueError, match=r"^splitter must be 'best' or 'random' for criterion="):
        KINDS[criterion][0](splitter="oblique", criterion=criterion).fit(X, Y)


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, ExtraTreesRegressor])
def test_poisson_is_for_counts_of_which_one_is_above_zero(kind):
    X = [[0.0], [1.0]]
    for stored in (np.array, sparse.csr_array):
        with pytest.raises(ValueError, match=r"y are negative .* Poisson regression.*; got -1"):
            kind(criterion="poisson").fit(X, stored([[1.0, 2.0], [-1.0, 1.0]]))
        with pytest.raises(ValueError, match=r"^Sum of y is not strictly positive"):
            kind(criterion="poisson").fit(X, stored([[0.0, 0.0], [0.0, 0.0]]))


def test_no_side_of_a_split_by_poisson_has_a_mean_of_zero():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 2, 3.0])
    tree = DecisionTreeRegressor(criterion="poisson").fit(X, y)
    assert (tree.predict(X) > 0).all()
