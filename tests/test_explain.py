"""Explanations add up to the prediction, by features and by training rows."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
)
from sketchforest.explain import explain

RNG = np.random.default_rng(0)
X = RNG.random((200, 7))
X[RNG.random(X.shape) < 0.1] = np.nan
LABELS = (RNG.random((200, 30)) < 0.15).astype(int)
KINDS = {
    "forest": lambda: RandomForestClassifier(12, random_state=0).fit(X, LABELS),
    "weighted": lambda: RandomForestClassifier(12, random_state=0).fit(X, LABELS, RNG.random(200)),
    "big leaves": lambda: ExtraTreesClassifier(9, min_samples_leaf=9).fit(X, LABELS),
    "doubles": lambda: RandomForestClassifier(5).fit(1 + X * 1e-12, LABELS),
    "classes": lambda: RandomForestClassifier(7).fit(X, np.array(list("abc"))[LABELS.sum(1) % 3]),
    "sketch": lambda: SketchForestClassifier(12, random_state=0).fit(X, LABELS),
    "oblique tree": lambda: DecisionTreeClassifier("oblique", random_state=0).fit(X, LABELS),
    "tree": lambda: DecisionTreeClassifier().fit(X, LABELS),
    "stump": lambda: DecisionTreeClassifier(min_samples_leaf=150).fit(X, LABELS),
}


def mean_below(tree, node, Y):
    """The weighted mean of the training rows below a node, or below leaf -1 - node."""
    if node < 0:
        leaf = -1 - node
        members = slice(tree.member_start[leaf], tree.member_start[leaf + 1])
        rows = tree.members[members]
        weights = np.ones(len(rows)) if tree.weights is None else tree.weights[members]
        return np.append((weights[:, None] * Y[rows]).sum(axis=0), weights.sum())
    return mean_below(tree, tree.nodes[node, 2], Y) + mean_below(tree, tree.nodes[node, 3], Y)


@pytest.mark.parametrize("kind", KINDS)
def test_features_and_rows_both_add_up_to_the_probabilities(kind):
    model = KINDS[kind]()
    rows = 1 + X * 1e-12 if kind == "doubles" else X
    for i in range(0, 200, 20):
        x = rows[[i]]
        found = explain(model, x, k=3)
        expected = model.predict_proba(x).ravel()[found.labels]
        assert np.allclose(found.scores, expected, atol=1e-6)
        assert np.allclose(found.base + found.contributions.sum(axis=0), expected, atol=1e-6)
        assert np.allclose(found.weights @ found.has_label, expected, atol=1e-6)
        assert np.all(np.diff(found.weights) <= 0)
        assert np.all(np.diff(found.scores) <= 1e-7)


def test_a_step_is_the_difference_of_the_means_before_and_after_it():
    model = RandomForestClassifier(6, max_depth=3, random_state=1).fit(X, LABELS)
    x = X[[5]]
    found = explain(model, x, k=4)
    expected = np.zeros((7, 4))
    Y = LABELS[:, found.labels]
    for index in range(6):
        tree, node = model._forest.tree(index), 0
        while node >= 0:
            feature = int(tree.nodes[node, 0]) & 0x7FFFFFFF
            value, threshold = x[0, feature], tree.nodes[node, 1:2].view(np.float32)[0]
            is_left = tree.nodes[node, 0] < 0 if np.isnan(value) else value <= threshold
            child = tree.nodes[node, 2 if is_left else 3]
            before, after = mean_below(tree, node, Y), mean_below(tree, child, Y)
            expected[feature] += (after[:-1] / after[-1] - before[:-1] / before[-1]) / 6
            node = child
    assert np.allclose(found.contributions, expected[found.features])


def test_sparse_rows_are_explained_as_dense_ones():
    full = np.nan_to_num(X)
    model = RandomForestClassifier(5, random_state=0).fit(full, LABELS)
    dense, thin = (explain(model, x) for x in (full[[3]], sparse.csr_array(full[[3]])))
    assert all(np.array_equal(a, b) for a, b in zip(dense, thin, strict=True))


def test_only_one_row_of_a_classifier_is_explained():
    model = KINDS["tree"]()
    with pytest.raises(ValueError, match="x must be one row; got 2"):
        explain(model, X[:2])
    with pytest.raises(ValueError, match="must be a classifier"):
        explain(RandomForestRegressor(2).fit(X, LABELS), X[:1])
