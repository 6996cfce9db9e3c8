"""The native search for splits against an enumeration of every split."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from best_splits import check_every_node, check_root, grow, padded, some_weights, sparse_rows
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import encode

WIDTHS = [1, 2, 4, 5, 8, 9, 16, 25, 32, 33, 100]


# ---- features of every kind


def few_values(rng, n=40, p=4):
    return rng.integers(-2, 3, (n, p)).astype(float)


def many_values(rng, n=40, p=4):
    return rng.normal(size=(n, p))


def with_missing(rng, n=40, p=4):
    X = np.where(rng.random((n, p)) < 0.5, few_values(rng, n, p), many_values(rng, n, p))
    X[rng.random((n, p)) < [0.05, 0.2, 0.5, 0.9]] = np.nan
    return X


def only_missing_varies(rng, n=40, p=4):
    return np.where(rng.random((n, p)) < 0.3, np.nan, [1.0, -1.0, 2.0, 3.0])


def entries(rng, n=60, p=6, density=0.15):
    return rng.random((n, p)) < density


def sparse_signed(rng):
    return np.where(entries(rng), rng.integers(-3, 4, (60, 6)), 0).astype(float)


def sparse_real(rng):
    return np.where(entries(rng), rng.normal(size=(60, 6)), 0)


def sparse_missing(rng):
    X = sparse_signed(rng)
    X[entries(rng, density=0.05)] = np.nan
    return X


def sparse_binary(rng):
    return entries(rng).astype(float)


def sparse_binary_missing(rng):
    """Ones, and further down missing values: what a feature begins with is not all it has."""
    values = np.where(np.arange(60) < 30, 1.0, rng.choice([1.0, np.nan], 60))
    return np.where(entries(rng), values[:, None], 0)


def sparse_one_value_each(rng):
    """One value besides zero in each feature: positive, negative or missing."""
    return np.where(entries(rng), [1.0, -1.0, np.nan, 0.25, -7.0, 0.0], 0)


def sparse_all_nonzero_column(rng):
    X = np.where(entries(rng, density=0.05), rng.normal(size=(60, 6)), 0)
    X[:, 2] = rng.integers(1, 5, 60) * rng.choice([-1, 1], 60)
    return X


DENSE_KINDS = [few_values, many_values, with_missing, only_missing_varies]
SPARSE_KINDS = [
    sparse_signed,
    sparse_real,
    sparse_missing,
    sparse_binary,
    sparse_binary_missing,
    sparse_one_value_each,
    sparse_all_nonzero_column,
]


def features(kind, rng, seed):
    """X of a kind, as an array or a sparse matrix, in single or double precision by turns."""
    X = kind(rng)
    assert (encode(X).row_start is not None) == (kind in SPARSE_KINDS)
    if seed % 2:
        X = X.astype(np.float32)
    if kind in SPARSE_KINDS and seed % 3:
        return [sparse.csr_array, sparse.csc_array][seed % 3 - 1](X)
    return X


@pytest.mark.parametrize("kind", DENSE_KINDS + SPARSE_KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_split_is_the_best_of_all_on_dense_outputs(kind, dtype):
    n_split = 0
    for seed, width in enumerate(WIDTHS):
        rng = np.random.default_rng([seed, width])
        X = features(kind, rng, seed)
        n = X.shape[0]
        Z = rng.normal(size=(n, width)).astype(dtype)
        weights = some_weights(rng, n, seed)
        tree = grow(X, padded(Z), weights, max_depth=1)
        n_split += check_root(tree, X, Z, weights)
    assert n_split == len(WIDTHS)


@pytest.mark.parametrize("kind", DENSE_KINDS + SPARSE_KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("has_values", [False, True])
def test_the_split_is_the_best_of_all_on_sparse_outputs(kind, has_values):
    n_split = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = features(kind, rng, seed)
        n = X.shape[0]
        Z = (rng.random((n, 30)) < 0.1).astype(np.float32)
        if has_values:
            Z *= rng.normal(size=Z.shape).astype(np.float32)
        outputs = sparse_rows(Z)
        assert (outputs.data is not None) == has_values
        weights = some_weights(rng, n, seed)
        tree = grow(X, outputs, weights, max_depth=1)
        n_split += check_root(tree, X, Z, weights)
    assert n_split == 12


@pytest.mark.parametrize("kind", [few_values, with_missing, sparse_signed, sparse_missing])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense outputs", "sparse outputs"])
def test_children_keep_the_least_rows_and_weight(kind, is_sparse):
    n_split = n_bound = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X = features(kind, rng, seed)
        n = X.shape[0]
        Z = (rng.random((n, 20)) < 0.2).astype(np.float32)
        weights = some_weights(rng, n, seed)
        min_rows = int(rng.integers(1, n // 2 + 1))
        # Never a sum of weights, which would be met or not by the luck of the last digit.
        min_weight = float(weights.sum() * rng.uniform(0, 0.5)) if seed % 4 else 0.0
        outputs = sparse_rows(Z) if is_sparse else padded(Z)
        tree = grow(
            X,
            outputs,
            weights,
            max_depth=1,
            min_samples_leaf=min_rows,
            min_weight_leaf=min_weight,
        )
        is_split = check_root(tree, X, Z, weights, min_rows=min_rows, min_weight=min_weight)
        n_split += is_split
        free = grow(X, outputs, weights, max_depth=1)
        n_bound += not (is_split and tree.gains[0] == free.gains[0])
    assert n_split > 3
    assert n_bound > 3


@pytest.mark.parametrize("n_rows", [4, 12, 16, 40, 400])
@pytest.mark.parametrize("outputs", [*WIDTHS, "sparse", "sparse values", "doubles"])
def test_the_first_of_equal_cuts_wins(n_rows, outputs):
    """Outputs that are the same from both ends: the best cut and its mirror image are equal."""
    quarter = n_rows // 4
    width = 8 if outputs == "doubles" else 60 if isinstance(outputs, str) else outputs
    # In turn, so that a quarter has many labels, and each row few.
    labels = np.arange(width)[None] // 12 % 4 == np.arange(quarter)[:, None] % 4
    end = labels.astype(np.float32) if width > 12 else np.ones((quarter, width), np.float32)
    Z = np.concatenate([end, np.zeros((n_rows - 2 * quarter, width), np.float32), end[::-1]])
    if outputs == "sparse values":
        Z *= 2
    if isinstance(outputs, str) and "sparse" in outputs:
        given = sparse_rows(Z)
    else:
        given = padded(Z.astype(np.float64 if outputs == "doubles" else np.float32))
    tree = grow(np.arange(n_rows, dtype=np.float32)[:, None], given, max_depth=1)
    left = np.cumsum(Z.astype(int), axis=0)
    scores = [
        Fraction(int((of_left**2).sum()), n)
        + Fraction(int(((left[-1] - of_left) ** 2).sum()), rest)
        for of_left, n, rest in zip(left, range(1, n_rows), range(n_rows - 1, 0, -1), strict=False)
    ]
    assert scores.count(max(scores)) == 2
    assert tree.nodes[0, 1:2].view(np.float32)[0] == scores.index(max(scores)) + 0.5


def test_sums_that_pass_through_zero_are_sums():
    """Outputs of either sign, whose sums vanish and come back."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for X in (few_values(rng), sparse_signed(rng)):
            Z = rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], (len(X), 40)).astype(np.float32)
            weights = some_weights(rng, len(X), seed)
            check_root(grow(X, sparse_rows(Z), weights, max_depth=1), X, Z, weights)


def test_a_limit_that_is_just_met_allows_the_split():
    X = np.arange(4.0)[:, None]
    Z = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert len(grow(X, Z, min_samples_leaf=2, min_weight_leaf=2.0).nodes) == 1
    assert len(grow(X, Z, min_samples_leaf=3).nodes) == 0
    assert len(grow(X, Z, min_weight_leaf=2.1).nodes) == 0
    assert len(grow(X, Z, min_gain=1.0).nodes) == 1  # |S|^2 / w: 1 before, 2 after
    assert len(grow(X, Z, min_gain=1.0 + 1e-9).nodes) == 0
    assert len(grow(X, Z, min_samples_split=4).nodes) == 1
    assert len(grow(X, Z, min_samples_split=5).nodes) == 0


def test_rows_of_the_limit_are_distinct_rows_whatever_they_weigh():
    X = np.arange(4.0)[:, None]
    Z = np.array([[9.0], [0.0], [0.0], [0.0]])
    weights = np.array([50.0, 1.0, 1.0, 1.0])
    tree = grow(X, Z, weights, max_depth=1, min_samples_leaf=2)
    assert reference.inner_node(tree, 0).threshold == 1.5


@pytest.mark.parametrize("kind", [few_values, with_missing, sparse_signed, sparse_missing])
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense outputs", "sparse outputs"])
def test_a_random_cut_parts_the_rows_as_its_threshold_says(kind, is_sparse):
    """With one feature to draw there is one cut; missing values go to the better side."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = kind(rng)[:, :1].astype([np.float64, np.float32][seed % 2])  # ranks, values
        Z = rng.normal(size=(len(X), 3)).astype(np.float32)
        weights = some_weights(rng, len(X), seed)
        tree = grow(
            X,
            sparse_rows(Z) if is_sparse else padded(Z),
            weights,
            max_depth=1,
            random_cuts=True,
            key=seed,
        )
        node = reference.inner_node(tree, 0)
        x = X[:, 0]
        left = np.isin(np.arange(len(x)), reference.rows_below(tree, node.left))
        np.testing.assert_array_equal([node.goes_left(row) for row in X], left)
        known = x[~np.isnan(x)]
        assert known.min() <= node.threshold < known.max()
        sides = [
            reference.split_score(Z, weights, np.where(np.isnan(x), side, x <= node.threshold))
            for side in (False, True)
        ]
        score = reference.split_score(Z, weights, left)
        assert score == pytest.approx(max(sides), rel=1e-9)
        gain = score - reference.node_score(Z, weights)
        assert tree.gains[0] == pytest.approx(gain, rel=1e-5, abs=1e-9)


# ---- the projection of sparse labels


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("has_values", [False, True])
def test_projected_rows_are_the_product_with_the_matrix(width, has_values):
    rng = np.random.default_rng(width)
    Y = (rng.random((50, 200)) < 0.05).astype(np.float32)
    Y[7] = 0
    if has_values:
        Y *= rng.normal(size=Y.shape).astype(np.float32)
    P = rng.normal(size=(200, width)).astype(np.float32)
    rows = np.sort(rng.choice(50, 30, replace=False)).astype(np.int32)
    Z = _core.project(sparse_rows(Y), rows, padded(P))
    expected = reference.project(Y, P)[rows]
    np.testing.assert_allclose(Z[:, :width], expected, atol=1e-5)
    assert not Z[:, width:].any()


# ---- weights of very different size


def test_light_rows_are_split_as_well_as_heavy_ones():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, Z = rng.normal(size=(120, 2)), rng.normal(size=(120, 3))
        weights = 10.0 ** rng.uniform(0, 14, 120)
        check_every_node(grow(X, padded(Z), weights), X, Z, weights)
