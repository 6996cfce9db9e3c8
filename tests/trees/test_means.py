"""Means are sums divided once: what all rows of a leaf have is its mean, and ties are ties."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest._trees.predict import ForestPredictor, find_leaves

SIZES = np.arange(1, 200)
GROUP = np.repeat(np.arange(len(SIZES)), SIZES)  # leaves of every size
LEAVES = GROUP.reshape(-1, 1).astype(float)
INTEGERS = np.random.default_rng(0).integers(-(10**6), 10**6, len(SIZES))[GROUP]


@pytest.fixture(params=[True, False], ids=["table", "rows"], autouse=True)
def storage(request, monkeypatch):
    """Of the leaves: a table of their means, where it is worth it, or their rows."""
    if not request.param:
        rows = property(lambda predictor: (predictor.forest, predictor.labels))
        monkeypatch.setattr(ForestPredictor, "_leaves_and_values", rows)
    return "table" if request.param else "rows"


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_mean_of_equal_integers_is_the_integer(n_outputs):
    Y = INTEGERS if n_outputs == 1 else INTEGERS[:, np.newaxis] + np.arange(n_outputs)
    tree = DecisionTreeRegressor(projection=None).fit(LEAVES, Y)
    assert np.array_equal(tree.predict(LEAVES), Y)


def test_the_mean_of_equal_sparse_integers_is_the_integer():
    Y = sparse.csr_array(INTEGERS[:, np.newaxis] % 100 * [1, 0, 2])
    tree = DecisionTreeRegressor(projection=None).fit(LEAVES, Y)
    assert np.array_equal(tree.predict(LEAVES).toarray(), Y.toarray())
    forest = ExtraTreesRegressor(5, max_features=1.0).fit(LEAVES, Y)
    small = np.isin(GROUP, np.flatnonzero(SIZES <= 16))
    assert np.array_equal(forest.predict(LEAVES[small]).toarray(), Y.toarray()[small])


def test_a_forest_of_trees_that_agree_predicts_what_they_do():
    forest = RandomForestRegressor(7, max_features=1.0, random_state=0).fit(LEAVES, INTEGERS)
    seen = SIZES > 50  # by every tree
    rows = np.flatnonzero(np.isin(GROUP, np.flatnonzero(seen)))
    assert np.array_equal(forest.predict(LEAVES[rows]), INTEGERS[rows])


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_label_that_all_rows_have_is_certain(kind):
    Y = np.ones((len(GROUP), 3), int)
    Y[:, 1] = GROUP % 2
    forest = kind(11, random_state=0, min_samples_leaf=3).fit(LEAVES, Y)
    assert (forest.predict_proba(LEAVES)[:, [0, 2]] == 1).all()
    assert (forest.predict_sparse(LEAVES).toarray()[:, [0, 2]] == 1).all()


@pytest.mark.parametrize("size", [2, 6, 10, 14, 22, 49, 98])
def test_of_tied_classes_the_first_is_predicted(size):
    rng = np.random.default_rng(size)
    X = np.repeat(np.arange(30.0), 3 * size).reshape(-1, 1)
    y = np.concatenate([rng.permutation(np.repeat([0, 1, 2], size)) for _ in range(30)])
    tree = DecisionTreeClassifier().fit(X, y)
    assert (tree.predict(X) == 0).all()
    assert np.array_equal(tree.predict_topk(X, 3)[0], np.tile([0, 1, 2], (len(X), 1)))


def members_of(forest, leaves):
    """For each tree, the training rows in the leaf and how often each counts."""
    for number, leaf in enumerate(leaves):
        tree = forest.fitted_.forest.tree(number)
        members = slice(*tree.member_start[leaf : leaf + 2].tolist())
        counts = np.ones(len(tree.members), int) if tree.weights is None else tree.weights
        yield tree.members[members], counts[members].tolist()


def mean_in_fractions(forest, leaves, y):
    """Over trees, of the mean over the leaf of each: the share of each class."""
    shares = [Fraction(0)] * (max(y) + 1)
    for rows, counts in members_of(forest, leaves):
        for row, count in zip(rows, counts, strict=True):
            shares[y[row]] += Fraction(count, sum(counts) * len(leaves))
    return shares


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("n_trees", [1, 3, 6, 10])
def test_classes_are_tied_where_their_fractions_are(kind, n_trees, storage):
    """Exactly so for leaves of up to 30 rows, whose shares are whole numbers of units; the means in
    a table are rounded."""
    rng = np.random.default_rng(n_trees)
    X, y = rng.integers(0, 8, (250, 2)).astype(float), rng.integers(0, 2, 250)
    X_new, n_tied = np.unique(X, axis=0), 0
    for seed in range(6):
        forest = kind(n_trees, random_state=seed, max_features=1).fit(X, y)
        predicted = forest.predict(X_new)
        for leaves, found in zip(find_leaves(forest.fitted_.forest, X_new), predicted, strict=True):
            shares = mean_in_fractions(forest, leaves, y)
            heaviest = max(sum(counts) for _, counts in members_of(forest, leaves))
            is_exact = storage == "rows" and heaviest <= 30
            n_tied += shares[0] == shares[1] and is_exact
            assert found == np.argmax(shares) if is_exact else shares[found] == max(shares)
    assert n_tied or storage == "table"
