"""A large tree is grown in parts: the same one on any number of threads, and a whole one."""

import threading

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
)
from sketchforest._trees import grow, parts

N_ROWS, N_FEATURES, N_LABELS = 600, 9, 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
Y = (X @ RNG.normal(size=(N_FEATURES, N_LABELS)) > 2).astype(np.uint8)
FEATURES = {
    "dense": X,
    "missing": np.where(RNG.random(X.shape) < 0.1, np.nan, X),
    "sparse": sparse.csr_array(np.where(RNG.random(X.shape) < 0.4, X, 0)),
    "binary": sparse.csr_array((np.hstack([X, X - 0.4, X + 0.3]) > 0.6).astype(np.float32)),
}
FORESTS = {
    "projected": RandomForestClassifier(3, n_components=5, random_state=0),
    "wide projection": RandomForestClassifier(3, n_components=20, random_state=0),
    "one projection": RandomForestClassifier(3, shared_projection=True, random_state=0),
    "labels": RandomForestClassifier(3, projection=None, random_state=0),
    "entropy": RandomForestClassifier(3, criterion="entropy", projection=None, random_state=0),
    "absolute error": RandomForestRegressor(
        3, criterion="absolute_error", projection=None, random_state=0
    ),
    "extra-trees": ExtraTreesRegressor(3, random_state=0),
    "sketch": SketchForestClassifier(3, n_components=5, random_state=0),
}


@pytest.fixture(autouse=True)
def parts_of_small_trees(monkeypatch):
    monkeypatch.setattr(parts, "WHOLE_TREE_ROWS", 100)
    monkeypatch.setattr(parts, "WHOLE_PART_ROWS", 60)
    monkeypatch.setattr(parts, "LEAST_ROWS", 12)
    monkeypatch.setattr(parts, "PIECE_ROWS", 25)
    monkeypatch.setattr(parts, "SHARED_ROWS", 25)


@pytest.fixture
def grown_parts(monkeypatch):
    """The parts that are grown, and by which thread."""
    seen = []
    original = grow._grow_part

    def spy(*args, **threads):
        seen.append((args[-1], threading.get_ident()))
        return original(*args, **threads)

    monkeypatch.setattr(grow, "_grow_part", spy)
    return seen


def depth_of_leaves(tree):
    depths, stack = {}, [(0 if len(tree.nodes) else -1, 0)]
    while stack:
        place, depth = stack.pop()
        if place < 0:
            assert -1 - place not in depths  # one parent
            depths[-1 - place] = depth
        else:
            stack.extend((int(child), depth + 1) for child in tree.nodes[place, 2:])
    return depths


@pytest.mark.parametrize("stored", FEATURES)
@pytest.mark.parametrize("name", FORESTS)
def test_threads_do_not_matter(name, stored, grown_parts):
    one, several = (
        clone(FORESTS[name]).set_params(n_jobs=n_jobs).fit(FEATURES[stored], Y) for n_jobs in (1, 8)
    )
    reference.assert_same_forest(one, several)
    assert len(grown_parts) > 2 * 3 * 2  # parts of parts
    assert any(part.depth > 0 for part, _ in grown_parts)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize(
    "outputs",  # 4 and 8 outputs have a kernel of their own
    [{"n_components": 4}, {"n_components": 5}, {"n_components": 20}, {"projection": None}],
    ids=lambda outputs: str(*outputs.values()),
)
@pytest.mark.parametrize("stored", [*FEATURES, "with a constant"])
@pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 50}, {"max_features": 2}])
def test_threads_that_share_one_node_do_not_matter(stored, limits, outputs, kind):
    one, several = (
        kind(1, n_jobs=n_jobs, random_state=0, **{"max_features": None} | outputs | limits).fit(
            FEATURES.get(stored, np.where(np.arange(N_FEATURES) == 1, 0, X)), Y
        )
        for n_jobs in (1, 5)
    )
    reference.assert_same_forest(one, several)


@pytest.mark.parametrize("stored", FEATURES)
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_features_searched_side_by_side_are_searched_one_after_the_other(kind, stored, monkeypatch):
    forest = kind(1, projection=None, random_state=0)
    together = clone(forest).fit(FEATURES[stored], Y)
    monkeypatch.setattr(parts, "SHARED_ROWS", N_ROWS + 1)
    reference.assert_same_forest(together, forest.fit(FEATURES[stored], Y))


@pytest.mark.parametrize("stored", FEATURES)
@pytest.mark.parametrize("name", FORESTS)
def test_a_tree_of_parts_is_a_tree(name, stored):
    forest = clone(FORESTS[name]).fit(FEATURES[stored], Y)
    leaves = forest.apply(FEATURES[stored])
    for index in range(3):
        tree = forest.fitted_.forest.tree(index)
        depths = depth_of_leaves(tree)
        assert sorted(depths) == list(range(tree.n_leaves))
        assert max(depths.values()) == tree.depth
        assert len(np.unique(tree.members)) == len(tree.members)
        reference.assert_rows_reach_their_leaves(tree, leaves[:, index])


@pytest.mark.parametrize("stored", FEATURES)
def test_parts_are_what_the_whole_tree_would_be(stored, monkeypatch):
    # All features are searched, and no node is so small that features tie: nothing is drawn.
    tree = DecisionTreeClassifier(projection=None, min_samples_split=50, random_state=0)
    in_parts = clone(tree).fit(FEATURES[stored], Y)
    monkeypatch.setattr(parts, "WHOLE_TREE_ROWS", N_ROWS)
    whole = clone(tree).fit(FEATURES[stored], Y)
    assert whole.get_n_leaves() > 10
    assert leaves_of(in_parts) == leaves_of(whole)
    assert in_parts.get_depth() == whole.get_depth()
    np.testing.assert_allclose(
        in_parts.feature_importances_, whole.feature_importances_, rtol=1e-5, atol=1e-7
    )
    np.testing.assert_array_equal(
        reference.dense(in_parts.predict_proba(FEATURES[stored])),
        reference.dense(whole.predict_proba(FEATURES[stored])),
    )


def leaves_of(estimator):
    tree = estimator.fitted_.forest.tree(0)
    return {frozenset(rows.tolist()) for rows in np.split(tree.members, tree.member_start[1:-1])}


@pytest.mark.parametrize("name", ["projected", "sketch"])
def test_limits_hold_across_parts(name):
    limits = {"max_depth": 6, "min_samples_leaf": 5, "min_weight_fraction_leaf": 0.01}
    tree = clone(FORESTS[name]).set_params(**limits).fit(X, Y).fitted_.forest.tree(0)
    assert tree.depth <= 6
    assert np.diff(tree.member_start).min() >= 5
    weights = np.add.reduceat(tree.member_weights, tree.member_start[:-1].astype(np.int64))
    assert weights.min() >= 0.01 * weights.sum()


def test_a_tree_of_limited_leaves_is_grown_as_a_whole(grown_parts):
    tree = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(X, Y)
    assert tree.get_n_leaves() == 40
    assert len(grown_parts) == 1


def test_few_trees_have_several_threads_each(grown_parts, monkeypatch):
    monkeypatch.setattr("sketchforest._trees.memory.free_memory", lambda: None)
    original, meeting = grow._grow_part, threading.Barrier(2, timeout=20)

    def in_pairs(*args, **threads):
        if args[-1].depth > 0 and not meeting.broken and len(grown_parts) <= 3:
            meeting.wait()  # until another thread is at work on this tree
        return original(*args, **threads)

    monkeypatch.setattr(grow, "_grow_part", in_pairs)
    RandomForestClassifier(1, n_jobs=2, random_state=0).fit(X, Y)
    assert len({thread for _, thread in grown_parts}) == 2


def test_an_error_in_a_part_ends_the_fit(monkeypatch):
    original = grow._grow_part

    def fails(*args, **threads):
        if args[-1].depth > 3:
            raise MemoryError("no more")
        return original(*args, **threads)

    monkeypatch.setattr(grow, "_grow_part", fails)
    with pytest.raises(MemoryError):
        RandomForestClassifier(2, n_jobs=8, random_state=0).fit(X, Y)
