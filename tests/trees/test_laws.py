"""Laws that trees obey whatever the data, tried on data that hypothesis draws, full of ties.

    LAW_EXAMPLES=10000 python -m pytest tests/trees/test_laws.py

More examples than the suite has time for.
"""

import os
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "40"))
law = settings(max_examples=EXAMPLES, deadline=None, derandomize=EXAMPLES < 100)


class Case(NamedTuple):
    X: np.ndarray
    Y: np.ndarray  # labels
    rng: np.random.Generator
    settings: dict[str, object]  # of a tree

    @property
    def stored(self):
        """X as it is, or sparse."""
        return sparse.csr_array(self.X) if self.rng.random() < 0.3 else self.X


@st.composite
def cases(draw):
    n_rows, n_features = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    n_labels, n_values = draw(st.integers(2, 6)), draw(st.sampled_from([2, 3, 8, 1000]))
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-n_values // 2, n_values, (n_rows, n_features)).astype(np.float64)
    Y = (rng.random((n_rows, n_labels)) < share).astype(np.uint8)
    limits = {
        "max_depth": draw(st.sampled_from([None, 1, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 2, 5])),
    }
    return Case(X, Y, rng, {"random_state": 0, **limits})


def grow(case: Case, X: object, Y: np.ndarray, **more: object) -> DecisionTreeClassifier:
    """The best tree: it looks at all features and at the labels as they are."""
    tree = DecisionTreeClassifier(projection=None, max_features=None, **case.settings, **more)
    return tree.fit(X, sparse.csr_array(Y) if case.rng.random() < 0.5 else Y)


def first_gain(tree: DecisionTreeClassifier) -> float:
    """The decrease of impurity at the root."""
    nodes = tree.tree_
    if nodes.node_count == 1:
        return 0.0
    children = [nodes.children_left[0], nodes.children_right[0]]
    shares = nodes.weighted_n_node_samples[children] / nodes.weighted_n_node_samples[0]
    return float(nodes.impurity[0] - shares @ nodes.impurity[children])


@law
@given(cases())
def test_the_order_of_rows_does_not_matter(case):
    order = case.rng.permutation(len(case.X))
    one, other = grow(case, case.stored, case.Y), grow(case, case.X[order], case.Y[order])
    assert np.array_equal(one.fitted_.forest.nodes, other.fitted_.forest.nodes)
    assert np.array_equal(one.predict_proba(case.X), other.predict_proba(case.X))


@law
@given(cases())
def test_the_order_of_labels_does_not_matter(case):
    order = case.rng.permutation(case.Y.shape[1])
    one, other = grow(case, case.stored, case.Y), grow(case, case.X, case.Y[:, order])
    assert np.array_equal(one.fitted_.forest.nodes, other.fitted_.forest.nodes)
    assert np.array_equal(one.predict_proba(case.X)[:, order], other.predict_proba(case.X))


@law
@given(cases())
def test_the_order_of_features_decides_only_between_equals(case):
    """Ties go to the feature that is looked at first, which is drawn: the gain is the same."""
    order = case.rng.permutation(case.X.shape[1])
    one, other = grow(case, case.stored, case.Y), grow(case, case.X[:, order], case.Y)
    assert first_gain(one) == pytest.approx(first_gain(other), rel=1e-12)


@law
@given(cases())
def test_features_that_stand_there_twice_change_nothing(case):
    which = case.rng.integers(0, case.X.shape[1], 3)
    one = grow(case, case.stored, case.Y)
    other = grow(case, np.hstack([case.X, case.X[:, which]]), case.Y)
    assert first_gain(one) == pytest.approx(first_gain(other), rel=1e-12)
    # Of one feature alone, all is the same.
    first, copies = case.X[:, :1], case.X[:, [0, 0, 0]]
    found = [grow(case, X, case.Y).predict_proba(X) for X in (first, copies)]
    assert np.array_equal(*found)


@law
@given(cases(), st.integers(-300, 300), st.sampled_from(["tree", "forest", "extra-trees"]))
def test_outputs_times_a_power_of_two_grow_the_same_trees(case, exponent, kind):
    Y = case.rng.normal(size=case.Y.shape) * case.Y
    make = {
        "tree": lambda: DecisionTreeRegressor(projection=None, **case.settings),
        "forest": lambda: RandomForestRegressor(3, n_components=2, **case.settings),
        "extra-trees": lambda: ExtraTreesRegressor(3, projection=None, **case.settings),
    }[kind]
    one, other = make().fit(case.X, Y), make().fit(case.X, np.ldexp(Y, exponent))
    assert np.array_equal(one.fitted_.forest.nodes, other.fitted_.forest.nodes)
    assert np.array_equal(np.ldexp(one.predict(case.X), exponent), other.predict(case.X))


@law
@given(cases())
def test_all_labels_drawn_as_components_are_the_labels(case):
    n_labels = case.Y.shape[1]
    kinds = ({"projection": None}, {"projection": "subsample", "n_components": n_labels})
    one, other = (
        RandomForestClassifier(3, max_features=None, bootstrap=False, **kind, **case.settings)
        .fit(case.X, case.Y)
        .predict_proba(case.X)
        for kind in kinds
    )
    assert np.array_equal(one, other)


@law
@given(cases(), st.booleans())
def test_a_monotone_change_of_features_keeps_rows_together(case, is_projected):
    """Midway between other values are other thresholds, but the rows of the fit are parted alike.
    Zero stays: ties between thresholds may go the other way where most values are zeros."""
    values, places = np.unique(np.abs(case.X), return_inverse=True)
    sizes = np.cumsum(case.rng.random(len(values)) + 0.01) * (values > 0)
    moved = np.sign(case.X) * sizes[places].reshape(case.X.shape)
    kind = {"n_components": 1} if is_projected else {"projection": None}
    one, other = (
        RandomForestClassifier(3, bootstrap=False, **kind, **case.settings).fit(X, case.Y).apply(X)
        for X in (case.X, moved)
    )
    assert np.array_equal(one, other)
