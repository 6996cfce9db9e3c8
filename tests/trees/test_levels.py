"""Oblique trees grown level by level, by NumPy and by the kernels of a GPU."""

import numpy as np
import pytest
import reference
from test_oblique import as_oblique, problem

from sketchforest import _core
from sketchforest._trees.levels.grow import BagOutputs, Room, grow_level_wise
from sketchforest._trees.levels.nodes import Nodes
from sketchforest._trees.levels.numpy_kernels import NumpyKernels

SETTINGS = {"ridge": 2.0, "n_steps": 2, "n_power_steps": 5, "n_refinements": 2, "min_side": 0.2}
N_FEATURES = 13


def params(**given):
    made = _core.ObliqueParams()
    made.min_gain = -np.inf
    for name, value in (SETTINGS | {"min_samples_split": 11, "key": 5} | given).items():
        setattr(made, name, value)
    return made


def bag(seed, n_rows, rows=None, is_weighted=False, **given):
    x, z, rng = problem(seed, n=n_rows, p=N_FEATURES)
    weights = rng.integers(1, 4, n_rows).astype(float) if is_weighted else np.ones(n_rows)
    rows = np.arange(n_rows, dtype=np.int32) if rows is None else rows.astype(np.int32)
    return x, BagOutputs(rows, weights[rows], z[rows], params(**given))


def grow(kernels, x, bags, **given):
    X = np.asarray(as_oblique(x, False).data)
    return grow_level_wise(kernels, kernels.upload(X), N_FEATURES, bags, **given)


def leaves_of(grown, bag):
    parts = np.split(bag.rows[grown.members], grown.member_start[1:-1])
    return {frozenset(rows.tolist()) for rows in parts}


def leaves_of_core(x, bag, **given):
    """Where the core splits each node by itself, with the stream that the node has."""
    X, leaves = as_oblique(x, False), set()

    def descend(at, key):
        alone = params(**given | {"key": key, "max_depth": 1})
        rows, z, weights = bag.rows[at], bag.outputs[at], bag.weights[at]
        nodes, _, _, start, members, *_ = _core.grow_oblique(
            X, z, rows, weights, alone, _core.StopFlag()
        )
        if len(nodes) == 0:
            return leaves.add(frozenset(rows.tolist()))
        for side, of_side in enumerate(np.split(members, start[1:-1])):
            descend(at[np.sort(of_side)], reference.child_keys(key)[side])

    descend(np.arange(len(bag.rows)), bag.params.key)
    return leaves


def assert_same_tree(a, b):
    for ours, theirs in zip(
        (a.nodes, a.gains, a.member_start, a.members, *a.directions),
        (b.nodes, b.gains, b.member_start, b.members, *b.directions),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_trees_are_those_of_the_definition(seed, is_weighted):
    x, one = bag(seed, 150, is_weighted=is_weighted, key=seed)
    [grown] = grow(NumpyKernels(), x, [one])
    expected = reference.level_wise_leaves(x, one.outputs, one.weights, seed, 11, **SETTINGS)
    assert leaves_of(grown, one) == {frozenset(rows.tolist()) for rows in expected}


@pytest.mark.parametrize("n_refinements", [0, 2])
@pytest.mark.parametrize("n_rows", [90, 300])  # of which the latter aim by a sample
def test_nodes_are_split_as_the_core_splits_them(kernels, n_rows, n_refinements):
    given = {"n_refinements": n_refinements, "weights_per_row": 0.1}
    x, one = bag(1, n_rows, is_weighted=True, **given)
    [grown] = grow(kernels, x, [one])
    assert len(grown.gains) > 5
    assert leaves_of(grown, one) == leaves_of_core(x, one, **given)
    # Each row goes where it is kept, when it is added up as a prediction does.
    start, columns, halves = grown.directions
    weights = (halves.astype(np.uint32) << 16).view(np.float32)
    leaf = np.repeat(np.arange(len(grown.member_start) - 1), np.diff(grown.member_start))
    for row, wanted in zip(one.rows[grown.members], leaf, strict=True):
        node = 0
        while node >= 0:
            entries = slice(start[node], start[node + 1])
            value = np.float32(0)
            for column, weight in zip(columns[entries], weights[entries], strict=True):
                value += x[row, column] * weight
            goes_right = not value <= grown.nodes[node, 1:2].view(np.float32)[0]
            node = grown.nodes[node, 2 + goes_right]
        assert -1 - node == wanted


def test_single_features_are_cut_as_the_core_cuts_them(kernels):
    given = {"n_single_features": N_FEATURES, "min_samples_split": 6}  # all of them: none is drawn
    x, one = bag(6, 90, is_weighted=True, **given)
    [grown] = grow(kernels, x, [one])
    n_weights = np.diff(grown.directions[0])
    assert (n_weights == 1).sum() > 5
    assert (n_weights > 1).any()
    assert leaves_of(grown, one) == leaves_of_core(x, one, **given)


def test_where_no_drawn_feature_varies_another_one_is_cut():
    x, one = bag(6, 60, n_single_features=1, min_direction_rows=100)
    x[:, np.arange(N_FEATURES) != 4] = 1
    [grown] = grow(NumpyKernels(), x, [one])
    assert len(grown.nodes) > 5
    assert set(grown.nodes[:, 0]) == {4}


def test_trees_do_not_depend_on_those_beside_them(kernels):
    x, one = bag(2, 300, n_refinements=1)
    _, two = bag(2, 300, rows=np.arange(0, 300, 3), key=9, n_refinements=1)
    together = grow(kernels, x, [two, one, two])
    alone = grow(kernels, x, [one])[0], grow(kernels, x, [two])[0]
    for grown, expected in zip(together, (alone[1], alone[0], alone[1]), strict=True):
        assert_same_tree(grown, expected)


@pytest.mark.parametrize("room", [Room(most_rows=70), Room(most_nodes=2)])
def test_a_level_is_worked_on_in_parts_where_memory_is_short(room):
    x, one = bag(3, 500)
    assert_same_tree(*grow(NumpyKernels(), x, [one], room=room), *grow(NumpyKernels(), x, [one]))


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 3},
        {"min_samples_leaf": 7},
        {"min_weight_leaf": 20.0},
        {"min_gain": 60.0},
        {"min_samples_split": 400},
    ],
)
def test_limits_hold(limits):
    x, one = bag(4, 300, is_weighted=True, **limits)
    [grown] = grow(NumpyKernels(), x, [one])
    assert leaves_of(grown, one) == leaves_of_core(x, one, **limits) or "max_depth" in limits
    leaves = np.split(grown.members, grown.member_start[1:-1])
    assert grown.depth <= limits.get("max_depth", 99)
    assert min(map(len, leaves)) >= limits.get("min_samples_leaf", 1)
    assert min(one.weights[rows].sum() for rows in leaves) >= limits.get("min_weight_leaf", 0)
    assert (grown.gains >= limits.get("min_gain", 0)).all()
    assert len(leaves) == 1 + len(grown.nodes)


def test_rows_that_do_not_differ_are_a_leaf(kernels):
    x, one = bag(0, 40)
    _, same = bag(0, 40, rows=np.zeros(0))
    same = BagOutputs(one.rows, one.weights, np.repeat(one.outputs[:1], 40, axis=0), one.params)
    [of_same_outputs] = grow(kernels, x, [same])
    [of_same_features] = grow(kernels, np.repeat(x[:1], 40, axis=0), [one])
    for grown in (of_same_outputs, of_same_features):
        assert len(grown.nodes) == 0
        assert grown.members.tolist() == list(range(40))
        assert grown.depth == 0


# ---- each kernel


def sizes_of_nodes(rng):
    return np.concatenate([rng.integers(1, 9, 20), [128, 129, 300]]).astype(np.int32)


def test_kernels_compute_what_numpy_does(kernels):
    rng = np.random.default_rng(0)
    plain, up, down = NumpyKernels(), kernels.upload, kernels.download
    size = sizes_of_nodes(rng)
    nodes = Nodes.of_sizes(np, size)
    on_device = Nodes.of_sizes(kernels.xp, up(size))
    n, n_nodes = int(size.sum()), len(size)
    for width in (8, 136, 520):
        m = rng.normal(size=(n + 5, width)).astype(np.float32)
        w = rng.normal(size=(n_nodes, width)).astype(np.float32)
        rows = rng.permutation(n + 5)[:n].astype(np.int32)
        v, u = rng.normal(size=(2, n)).astype(np.float32)

        def both(name, *args):
            ours = getattr(kernels, name)(
                *[up(a) if isinstance(a, np.ndarray) else on_device for a in args]
            )
            theirs = getattr(plain, name)(*args)
            pairs = (
                zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]
            )
            return [(down(a), b) for a, b in pairs]

        compared = [
            *both("centre", m, rows, nodes.node, w),
            *both("dot", m, rows, nodes.node, w),
            *both("row_dots", w, w),
            *both("add_up", m, rows, v, nodes),
            *both("moments", m, rows, abs(u), v, nodes),
            *both("sum_products", u, v, nodes),
        ]
        for ours, theirs in compared:
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
        [(ours, theirs)] = both("dot_in_order", m, rows, nodes.node, w)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("least", [1, 3])
def test_cuts_are_the_best_ones(kernels, least):
    rng = np.random.default_rng(least)
    size = sizes_of_nodes(rng)
    nodes, n = Nodes.of_sizes(np, size), int(size.sum())
    z = rng.normal(size=(n, 16)).astype(np.float32)
    weights = rng.integers(1, 4, n).astype(np.float32)
    codes = rng.integers(0, 40, n).astype(np.uint32)
    order = np.lexsort([codes, nodes.node]).astype(np.int32)
    wanted = np.maximum(np.ceil(0.2 * size), least).astype(np.int32)
    min_weight = np.full(len(size), 4.0)
    given = (z, weights, order, codes[order]), (wanted, least, min_weight)
    score, n_left = NumpyKernels().best_cuts(*given[0], nodes, *given[1])
    up = kernels.upload
    ours = kernels.best_cuts(
        *map(up, given[0]), Nodes.of_sizes(kernels.xp, up(size)), up(wanted), least, up(min_weight)
    )
    assert (n_left == 0).any()
    assert (n_left > 0).sum() > 5
    np.testing.assert_array_equal(kernels.download(ours[1]), n_left)
    np.testing.assert_allclose(kernels.download(ours[0]), score, rtol=1e-6)


def test_the_largest_numbers_are_marked(kernels):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, (30, 72)).astype(np.float32)  # with ties and zeros
    values[:15] *= rng.random((15, 72), np.float32)
    most = rng.integers(1, 80, 30).astype(np.int32)
    marks = kernels.mark_largest(kernels.upload(values.view(np.uint32)), kernels.upload(most))
    for row, n_marked, marked in zip(values, most, kernels.download(marks), strict=True):
        largest = np.argsort(-row, kind="stable")[:n_marked]
        assert np.flatnonzero(marked).tolist() == sorted(largest[row[largest] > 0])
