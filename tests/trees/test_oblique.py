"""Oblique nodes against their definition."""

import numpy as np
import pytest
from reference import (
    core_stream,
    direction_between_sides,
    leading_direction,
    oblique_cut,
    oblique_direction,
    strongest_weights,
)
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.model import Directions
from sketchforest._trees.oblique_features import FeatureMap, ObliqueX

SETTINGS = {"ridge": 2.0, "n_steps": 2, "n_power_steps": 5, "n_refinements": 0}


def as_oblique(x, is_sparse):
    if is_sparse:
        rows = sparse.csr_array(x)
        return ObliqueX(
            data=rows.data.astype(np.float32),
            indptr=rows.indptr.astype(np.int64),
            indices=rows.indices.astype(np.int32),
            n_features=x.shape[1],
        )
    padded = np.zeros((len(x), -(-x.shape[1] // 8) * 8), np.float32)
    padded[:, : x.shape[1]] = x
    return ObliqueX(data=padded, n_features=x.shape[1])


def grow(x, z, weights=None, is_sparse=False, **params):
    given = _core.ObliqueParams()
    given.min_gain = -np.inf
    given.weights_per_row = 1e6
    for name, value in (SETTINGS | params).items():
        setattr(given, name, value)
    rows = np.arange(len(x), dtype=np.int32)
    weights = np.ones(len(x)) if weights is None else weights
    z = np.ascontiguousarray(z, np.float32)
    grown = _core.grow_oblique(as_oblique(x, is_sparse), z, rows, weights, given, _core.StopFlag())
    nodes, _, gains, leaf_start, members, _, depth, directions = grown
    return nodes, gains, leaf_start, members, depth, *directions


def start_of(key, n_components):
    """The first numbers of the core's stream: uniform in [-1, 1)."""
    numbers = core_stream(key, n_components)
    return np.array([2 * (n >> 11) * 2.0**-53 - 1 for n in numbers])


def problem(seed, n=60, p=11, is_sparse=False):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).astype(np.float32)
    if is_sparse:
        x *= rng.random(x.shape) < 0.3
    z = (np.maximum(x @ rng.normal(size=(p, 8)), 0) + rng.normal(size=(n, 8))).astype(np.float32)
    return x, z, rng


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_root_is_split_along_the_direction_of_the_definition(seed, is_sparse, is_weighted):
    x, z, rng = problem(seed, is_sparse=is_sparse)
    weights = rng.integers(1, 4, len(x)).astype(float) if is_weighted else np.ones(len(x))
    params = {"n_steps": 1 + seed % 3, "n_power_steps": 2 + seed, "key": seed}
    params["n_refinements"] = seed % 3
    nodes, gains, leaf_start, members, depth, start, columns, halves = grow(
        x, z, weights, is_sparse, max_depth=1, **params
    )
    x, z = x.astype(float), z.astype(float)
    least = np.ceil(0.2 * len(x))
    aim = leading_direction(z, weights, start_of(seed, 8), params["n_power_steps"])
    best = -np.inf
    for _ in range(params["n_refinements"]):  # by cuts of a direction of one step
        w = oblique_direction(x, z, weights, aim, ridge=2.0, n_steps=1)
        gain, threshold = oblique_cut(x @ w, z, weights, least)
        if gain <= best:
            break
        best = gain
        aim = direction_between_sides(x @ w, z, weights, threshold)
    expected = oblique_direction(x, z, weights, aim, ridge=2.0, n_steps=params["n_steps"])
    found = np.zeros(x.shape[1])
    found[columns] = Directions(start, columns, halves, FeatureMap(x.shape[1])).values
    assert found == pytest.approx(expected, rel=0.006, abs=4e-3 * abs(expected).max())
    # The cut is the best one along the direction that is stored.
    gain, threshold = oblique_cut(x @ found, z, weights, least)
    assert gains[0] == pytest.approx(gain, rel=1e-4)
    assert nodes[0, 1:2].view(np.float32)[0] == pytest.approx(threshold, rel=1e-3, abs=1e-4)
    left = set(members[: leaf_start[1]])
    assert left == set(np.flatnonzero(x @ found <= threshold))
    assert depth == 1


def test_a_node_is_cut_at_a_single_feature_that_parts_it_nearly_as_well_as_the_direction():
    n_single = 0
    for seed in range(12):
        x, z, rng = problem(seed)
        z += seed % 3 * np.outer(x[:, 3] > 0, rng.normal(size=8)).astype(np.float32)
        given = {"max_depth": 1, "key": seed}
        along_direction = grow(x, z, **given)[1][0]
        nodes, gains, leaf_start, members, _, _, columns, halves = grow(
            x, z, n_single_features=11, **given
        )
        cuts = [oblique_cut(column, z.astype(float), np.ones(len(x)), 1) for column in x.T]
        best = int(np.argmax([gain for gain, _ in cuts]))
        gain, threshold = cuts[best]
        if gain <= 0.9 * along_direction:
            assert gains[0] == pytest.approx(along_direction, rel=1e-6)
            assert len(columns) > 1
            continue
        n_single += 1
        assert gains[0] == pytest.approx(gain, rel=1e-4)
        assert columns.tolist() == [best] == [nodes[0, 0]]
        assert Directions([0, 1], columns, halves, FeatureMap(11)).values.tolist() == [1.0]
        assert set(members[: leaf_start[1]]) == set(np.flatnonzero(x[:, best] <= threshold))
    assert 2 < n_single < 10


def test_nodes_of_few_rows_are_cut_at_single_features():
    x, z, _ = problem(1, n=200)
    nodes, _, leaf_start, members, _, start, *_ = grow(
        x, z, n_single_features=3, min_direction_rows=50
    )
    n_rows = rows_of_nodes(nodes, np.diff(leaf_start))
    n_weights = np.diff(start)
    assert (n_weights[n_rows < 50] == 1).all()
    assert (n_weights[n_rows >= 50] > 1).any()
    assert np.diff(leaf_start).max() == 1
    assert sorted(members) == list(range(200))


def rows_of_nodes(nodes, leaf_sizes):
    n_rows = np.zeros(len(nodes), int)
    for node in range(len(nodes))[::-1]:  # children are numbered after their parents
        n_rows[node] = sum(leaf_sizes[-1 - c] if c < 0 else n_rows[c] for c in nodes[node, 2:])
    return n_rows


@pytest.mark.parametrize("n_drawn", [1, 2])
def test_features_are_drawn_until_one_can_be_cut(n_drawn):
    x, z, _ = problem(2, n=40, p=9)
    x[:, np.arange(9) != 4] = 1
    nodes, *_ = grow(x, z, n_single_features=n_drawn, min_direction_rows=1000)
    assert len(nodes) == 39
    assert (nodes[:, 0] == 4).all()
    x[:] = 1
    assert len(grow(x, z, n_single_features=n_drawn, min_direction_rows=1000)[0]) == 0


def test_sparse_rows_are_split_along_directions_alone():
    x, z, _ = problem(3, is_sparse=True)
    alone = grow(x, z, is_sparse=True)
    with_singles = grow(x, z, is_sparse=True, n_single_features=11)
    assert all(map(np.array_equal, alone, with_singles))


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_kept", [1, 3, 6, 11, 16, 21])
def test_a_node_keeps_the_weights_that_move_its_rows_most(is_sparse, n_kept):
    x, z, _ = problem(3, n=40, p=30, is_sparse=is_sparse)
    given = {"is_sparse": is_sparse, "max_depth": 1, "key": 9}
    full = grow(x, z, **given)
    w = np.zeros(x.shape[1])
    w[full[6]] = Directions(*full[5:], FeatureMap(30)).values
    pruned = grow(x, z, weights_per_row=(n_kept - 1) / 40, **given)
    expected = strongest_weights(x.astype(float), w, np.ones(40), n_kept)
    assert pruned[6].tolist() == np.flatnonzero(expected).tolist()
    assert Directions(*pruned[5:], FeatureMap(30)).values == pytest.approx(
        expected[expected != 0], rel=1e-6
    )


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    "limits",
    [{}, {"max_leaf_nodes": 7}, {"min_samples_leaf": 4}, {"n_single_features": 5}],
)
@pytest.mark.parametrize("has_equal_rows", [False, True])
def test_training_rows_fall_into_the_leaves_that_hold_them(is_sparse, limits, has_equal_rows):
    x, z, _ = problem(5, n=300, p=20, is_sparse=is_sparse)
    if has_equal_rows:  # of different outputs, which no direction parts
        x = (x[:, np.arange(20) % 5] > 0.6).astype(np.float32)
    nodes, _, leaf_start, members, _, start, columns, halves = grow(
        x, z, is_sparse=is_sparse, min_samples_split=4, **limits
    )
    leaf_of_row = np.empty(len(x), int)
    leaf_of_row[members] = np.repeat(np.arange(len(leaf_start) - 1), np.diff(leaf_start))
    at = np.zeros(len(x), int)
    weights = Directions(start, columns, halves, FeatureMap(20)).values
    while (at >= 0).any():
        for row in np.flatnonzero(at >= 0):
            node = at[row]
            entries = slice(start[node], start[node + 1])
            value = np.float32(0)
            for column, weight in zip(columns[entries], weights[entries], strict=True):
                value += x[row, column] * weight  # in floats, in this order
            goes_right = not value <= nodes[node, 1:2].view(np.float32)[0]
            at[row] = nodes[node, 2 + goes_right]
    assert np.array_equal(-1 - at, leaf_of_row)
    sizes = np.diff(leaf_start)
    assert sizes.min() >= limits.get("min_samples_leaf", 1)
    assert len(sizes) <= limits.get("max_leaf_nodes", len(x))


def test_rows_with_the_same_outputs_are_a_leaf():
    x, z, _ = problem(0)
    nodes, *_ = grow(x, np.repeat(z[:1], len(x), axis=0))
    assert len(nodes) == 0


@pytest.mark.parametrize("seed", range(20))
def test_rows_with_the_same_features_are_a_leaf(seed):
    x, z, _ = problem(seed)
    for is_sparse in (False, True):
        nodes, *_ = grow(np.repeat(x[:1], len(x), axis=0), z, is_sparse=is_sparse)
        assert len(nodes) == 0


@pytest.mark.parametrize("n_rows", [1000, 5000])
def test_a_few_rows_that_are_not_like_the_others_are_parted_from_many(n_rows):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 6)).astype(np.float32)
    z = np.zeros((n_rows, 8), np.float32)
    rare = np.argsort(x[:, 2])[-3:]
    assert not np.isin(rare, np.arange(512) * n_rows // 512).any()  # rows that a sample has
    z[rare, 0] = 1
    nodes, _, leaf_start, members, *_ = grow(x, z, min_samples_split=4, min_side=0.2)
    leaf = np.empty(n_rows, int)
    leaf[members] = np.repeat(np.arange(len(leaf_start) - 1), np.diff(leaf_start))
    assert len(nodes) > 3
    assert np.bincount(leaf)[leaf[rare]].max() < 20


def test_a_large_node_is_split_as_its_rows_are_along_one_direction():
    """By a sample it aims, by all rows it is split: the outputs have one direction alone."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 7))
    z = np.outer(x @ rng.normal(size=7) + rng.normal(size=3000), rng.normal(size=8))
    found = grow(x.astype(np.float32), z, max_depth=1, n_refinements=2)
    w = np.zeros(7)
    w[found[6]] = Directions(*found[5:], FeatureMap(7)).values
    aim = np.linalg.svd(z - z.mean(axis=0), full_matrices=False)[2][0]
    expected = oblique_direction(x, z, np.ones(3000), aim, ridge=2.0, n_steps=2)
    assert abs(w @ expected) == pytest.approx(
        np.linalg.norm(w) * np.linalg.norm(expected), rel=1e-4
    )


@pytest.mark.parametrize("seed", range(5))
def test_very_many_features_of_which_few_occur_grow_the_same_tree(seed):
    """They are numbered anew in each node, in the same order."""
    x, z, _ = problem(seed, n=200, is_sparse=True)
    places = np.sort(np.random.default_rng(seed).choice(20_000, x.shape[1], replace=False))
    wide = np.zeros((len(x), 20_000), np.float32)
    wide[:, places] = x
    nodes, _, leaf_start, members, _, start, columns, weights = grow(x, z, is_sparse=True)
    others = grow(wide, z, is_sparse=True)
    assert len(nodes) > 5
    assert np.array_equal(leaf_start, others[2])
    assert np.array_equal(members, others[3])
    assert np.array_equal(start, others[5])
    assert np.array_equal(places[columns], others[6])
    assert np.array_equal(weights, others[7])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("width", [11, 20_000])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_nodes_in_pieces_are_split_as_whole_ones(is_sparse, width, n_threads):
    """Sums are rounded otherwise, with the same bits on any number of threads."""
    n_rows = 700
    x, z, rng = problem(4, n=n_rows, is_sparse=is_sparse)
    weights = rng.integers(1, 4, n_rows).astype(float)
    wide = np.zeros((n_rows, width), np.float32)
    wide[:, :: width // 11][:, :11] = x
    limits = {"min_samples_split": 20, "n_refinements": 2}
    whole = grow(wide, z, weights, is_sparse, **limits)
    pieces = grow(wide, z, weights, is_sparse, piece_rows=30, n_threads=n_threads, **limits)
    alone = grow(wide, z, weights, is_sparse, piece_rows=30, **limits)
    assert len(whole[0]) > 20
    assert np.array_equal(whole[0][:, 2:], pieces[0][:, 2:])
    assert np.array_equal(whole[3], pieces[3])
    assert pieces[1] == pytest.approx(whole[1], rel=1e-4)
    for ours, theirs in zip(pieces, alone, strict=True):
        assert np.array_equal(ours, theirs)


def test_pieces_do_not_part_equal_rows():
    x, z, _ = problem(6, n=900)
    x = np.round(x[:, :2]) / 4
    whole = grow(x, z, min_samples_split=30)
    pieces = grow(x, z, min_samples_split=30, piece_rows=20, n_threads=2)
    assert np.array_equal(whole[3], pieces[3])
