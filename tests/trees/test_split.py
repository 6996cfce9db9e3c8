"""The native search for splits against an enumeration of every split."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from scipy import sparse

from sketchforest import _core
from sketchforest._trees.encoding import encode
from sketchforest._trees.model import SparseRows, Tree
from sketchforest._trees.outputs import padded_width

WIDTHS = [1, 2, 4, 5, 8, 9, 16, 25, 32, 33, 100]


def padded(Z):
    out = np.zeros((len(Z), padded_width(Z.shape[1])), Z.dtype)
    out[:, : Z.shape[1]] = Z
    return out


def sparse_rows(Z):
    """Z as sparse rows, whose values are left out where all are 1."""
    return SparseRows.from_csr(sparse.csr_array(Z))


def grow(X, outputs, weights=None, rows=None, **limits):
    """The native core on its own: best cuts, all features, nothing drawn at random."""
    params = _core.GrowParams()
    params.max_features = X.shape[1]
    params.min_gain = -np.inf
    for name, value in limits.items():
        setattr(params, name, value)
    rows = np.arange(X.shape[0], dtype=np.int32) if rows is None else rows.astype(np.int32)
    weights = np.ones(len(rows)) if weights is None else weights
    codes = encode(X, params.random_cuts)
    grown = _core.grow(codes, outputs, rows, weights, params, _core.StopFlag())
    nodes, thresholds, gains, member_start, positions, _, depth, _ = grown
    return Tree(
        nodes=nodes,
        thresholds=thresholds if thresholds.size else None,
        gains=gains,
        member_start=member_start,
        members=rows[positions],
        weights=weights[positions],
        depth=depth,
    )


def check_inner_node(tree, index, rows, X, Z, weights, min_rows=1, min_weight=0.0):
    """The node's split is a best one, and its threshold, its gain and its rows agree with it.

    X, Z and weights are those of all training rows, `rows` those of the node.
    """
    node = reference.inner_node(tree, index)
    left_rows = reference.rows_below(tree, node.left)
    left = np.isin(rows, left_rows)
    X, Z, weights = X[rows], Z[rows], weights[rows]

    goes_left = np.array([node.goes_left(x) for x in X])
    np.testing.assert_array_equal(goes_left, left)
    x = X[:, node.feature]
    below, above = x[left & ~np.isnan(x)], x[~left & ~np.isnan(x)]
    if below.size and above.size:
        middle = below.max() / 2 + above.min() / 2
        assert node.threshold == pytest.approx(middle, rel=1e-6, abs=1e-30)
    else:
        assert node.threshold == np.inf  # only missing values go right
        assert not node.missing_left
    if not np.isnan(x).any():  # nothing to learn from: a missing value follows the majority
        assert node.missing_left == (left.sum() > (~left).sum())

    assert min(left.sum(), (~left).sum()) >= min_rows
    best = reference.best_split(X, Z, weights, min_rows, min_weight).score
    scale = (weights[:, None] * Z**2).sum()
    assert reference.split_score(Z, weights, left) == pytest.approx(best, abs=1e-11 * scale)
    gain = best - reference.node_score(Z, weights)
    assert tree.gains[index] == pytest.approx(gain, rel=1e-6, abs=1e-11 * scale)


def check_root(tree, X, Z, weights, rows=None, min_rows=1, min_weight=0.0):
    X, Z = reference.dense(X).astype(float), reference.dense(Z).astype(float)
    rows = np.arange(len(X)) if rows is None else rows
    if len(tree.nodes) == 0:
        is_pure = (Z[rows] == Z[rows[0]]).all()
        found = reference.best_split(X[rows], Z[rows], weights[rows], min_rows, min_weight)
        assert is_pure or found is None
        return False
    assert tree.depth == 1
    check_inner_node(tree, 0, rows, X, Z, weights, min_rows, min_weight)
    return True


def check_every_node(tree, X, Z, weights, min_rows=1, min_weight=0.0):
    """From the root down, with the rows."""
    X, Z = reference.dense(X).astype(float), reference.dense(Z).astype(float)
    waiting = [(0, np.arange(len(X)))]
    n_seen = 0
    while waiting:
        at, rows = waiting.pop()
        if at < 0:
            is_pure = (Z[rows] == Z[rows[0]]).all()
            found = reference.best_split(X[rows], Z[rows], weights[rows], min_rows, min_weight)
            assert is_pure or found is None
            continue
        check_inner_node(tree, at, rows, X, Z, weights, min_rows, min_weight)
        n_seen += 1
        node = reference.inner_node(tree, at)
        left = np.isin(rows, reference.rows_below(tree, node.left))
        waiting += [(node.left, rows[left]), (node.right, rows[~left])]
    assert n_seen == len(tree.nodes)


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


def some_weights(rng, n, seed):
    """By turns: equal ones, bootstrap counts, real ones."""
    return [np.ones(n), rng.integers(1, 5, n).astype(float), rng.exponential(size=n) + 1e-3][
        seed % 3
    ]


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
        assert (outputs.values is not None) == has_values
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


# ---- codes of every width


def test_codes_take_as_many_bytes_as_the_values_and_one_for_missing_need():
    for n_values, n_bytes in [
        (254, 1), (255, 2), (256, 2), (65534, 2), (65535, 4), (65536, 4), (70000, 4),
    ]:  # fmt: skip
        for n_missing in (0, 2):
            x = np.append(np.arange(1.0, n_values + 1), np.full(n_missing, np.nan))[:, None]
            assert encode(x).codes.itemsize == n_bytes
            column = sparse.vstack([x, sparse.csr_array((4 * n_values, 1))], format="csr")
            coded = encode(column)  # zero is a value more
            assert coded.row_start is not None
            assert coded.codes.itemsize == {254: 2, 65534: 4}.get(n_values, n_bytes)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_values", [253, 254, 255, 256, 65533, 65534, 65535, 65536])
def test_the_last_value_and_missing_ones_have_codes_of_their_own(n_values, is_sparse):
    values = np.arange(1.0, n_values + 1)
    x = np.append(values, [np.nan, np.nan])
    # The bag: the two largest values, the smallest ones and the missing ones.
    rows = np.array([0, 1, n_values - 2, n_values - 1, n_values, n_values + 1])
    if is_sparse:
        x = np.append(x, np.zeros(4 * n_values))
        rows = np.append(rows, [n_values + 2, n_values + 3])
    X = x[:, None]
    assert (encode(X).row_start is not None) == is_sparse
    for alone in range(len(rows)):
        Z = np.zeros((len(x), 1))
        Z[rows[alone]] = 1.0
        tree = grow(X, Z[rows], rows=rows, max_depth=1)
        check_root(tree, X, Z, np.ones(len(x)), rows=rows)


@pytest.mark.parametrize("n_values", [300, 80_000])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_rows", [20, 64, 65])
def test_the_split_is_the_best_of_all_where_codes_are_wide(n_values, is_sparse, n_rows):
    n_bytes = 2 if n_values < 2**16 else 4
    for seed in range(4):
        rng = np.random.default_rng(seed)
        # Floats are coded by value where they are many.
        X = rng.normal(size=(n_values, 2)).astype(np.float32 if seed < 2 else np.float64)
        X[rng.random(X.shape) < 0.1 * (seed % 2)] = np.nan
        if is_sparse:
            X = np.vstack([X, np.zeros((4 * n_values, 2))])
        # Enough distinct values for wide codes, few enough rows in the bag to enumerate.
        rows = np.sort(rng.choice(n_values, n_rows, replace=False))
        if is_sparse:
            rows = np.append(rows, n_values + np.arange(10))
        coded = encode(X)
        assert (coded.row_start is not None) == is_sparse
        assert coded.codes.itemsize == n_bytes
        assert coded.by_value == (seed < 2 and n_bytes == 4 and not is_sparse)
        Z = rng.normal(size=(X.shape[0], 3)).astype(np.float32)
        weights = rng.exponential(size=X.shape[0]) + 0.1
        tree = grow(X, padded(Z[rows]), weights[rows], rows=rows, max_depth=1)
        assert check_root(tree, X, Z, weights, rows=rows)


def test_the_split_of_very_many_rows_is_the_best_of_all():
    """One feature, so that the running sums of the sorted outputs enumerate every cut."""
    rng = np.random.default_rng(0)
    n = 100_000
    for X in (rng.normal(size=(n, 1)), rng.integers(0, 1000, (n, 1)).astype(np.float32)):
        Z = (X + 5 * rng.normal(size=(n, 1)) > 0.3).astype(float)
        x, z = X.ravel(), Z.ravel()
        order = np.argsort(x, kind="stable")
        size = np.arange(1, n + 1)
        S_left = z[order].cumsum()
        S_right = S_left[-1] - S_left
        with np.errstate(invalid="ignore"):
            scores = S_left**2 / size + S_right**2 / (n - size)
        is_cut = np.append(np.diff(x[order]) > 0, False)
        best = scores[is_cut].max()
        tree = grow(X, Z, max_depth=1)
        node = reference.inner_node(tree, 0)
        left = x <= node.threshold
        assert reference.split_score(Z, np.ones(n), left) == pytest.approx(best, rel=1e-12)
        np.testing.assert_array_equal(reference.rows_below(tree, node.left), np.flatnonzero(left))


# ---- whole trees


def deep_dense(rng):
    X = np.where(rng.random((300, 4)) < 0.3, 0, rng.integers(-9, 10, (300, 4))).astype(float)
    X[:, 3] = rng.normal(size=300)
    return X


def deep_missing(rng):
    X = deep_dense(rng)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def deep_sparse(rng):
    return np.where(rng.random((300, 12)) < 0.2, rng.integers(-2, 3, (300, 12)), 0).astype(float)


def deep_sparse_missing(rng):
    X = deep_sparse(rng)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X


def deep_binary(rng):
    return (rng.random((300, 16)) < 0.2).astype(float)


@pytest.mark.parametrize(
    "kind", [deep_dense, deep_missing, deep_sparse, deep_sparse_missing, deep_binary]
)
@pytest.mark.parametrize("outputs", ["one", "dense", "wide", "indicators", "sparse"])
def test_every_split_of_a_whole_tree_is_the_best_of_all(kind, outputs):
    rng = np.random.default_rng(0)
    X = kind(rng)
    n = len(X)
    labels = (rng.random((n, 40)) < 0.05).astype(np.float32)
    Z = {
        "one": lambda: rng.normal(size=(n, 1)),
        "dense": lambda: rng.normal(size=(n, 6)).astype(np.float32),
        "wide": lambda: rng.normal(size=(n, 40)).astype(np.float32),
        "indicators": lambda: labels,
        "sparse": lambda: labels * rng.normal(size=(n, 40)).astype(np.float32),
    }[outputs]()
    weights = some_weights(rng, n, seed=len(outputs))
    is_sparse = outputs in ("indicators", "sparse")
    tree = grow(X, sparse_rows(Z) if is_sparse else padded(Z), weights)
    assert tree.depth > 5
    check_every_node(tree, X, Z, weights)


@pytest.mark.parametrize("kind", [deep_missing, deep_sparse_missing])
@pytest.mark.parametrize("n_labels", [3, 16, 17, 48, 49, 112, 113])
@pytest.mark.parametrize("heaviest", [pytest.param(3, marks=pytest.mark.slow), 255, 256])
def test_rows_of_whole_weights_are_counted_as_others_are_added(kind, n_labels, heaviest):
    """Sums of small whole weights are kept in few bits: at the edges of what these hold, too."""
    rng = np.random.default_rng(n_labels)
    X = kind(rng)
    labels = (rng.random((len(X), n_labels)) < 0.06).astype(np.float32)
    labels[:, :2] = rng.random((len(X), 2)) < 0.9
    weights = np.full(len(X), float(heaviest))
    weights[::3] = rng.integers(1, heaviest, len(weights[::3]), endpoint=True)
    tree = grow(X, sparse_rows(labels), weights)
    check_every_node(tree, X, labels, weights)
    # Halves are no whole numbers, and lose no bit.
    halves = grow(X, sparse_rows(labels), weights / 2)
    np.testing.assert_array_equal(tree.nodes, halves.nodes)
    np.testing.assert_array_equal(tree.gains, 2 * halves.gains)


@pytest.mark.parametrize("kind", [deep_dense, deep_sparse_missing])
def test_every_split_is_the_best_of_all_where_the_best_leaf_is_split_first(kind):
    rng = np.random.default_rng(1)
    X = kind(rng)
    Z = rng.normal(size=(len(X), 5))
    weights = rng.exponential(size=len(X)) + 0.1
    tree = grow(X, padded(Z), weights, max_leaf_nodes=len(X))
    check_every_node(tree, X, Z, weights)


@pytest.mark.parametrize("kind", [deep_missing, deep_sparse_missing])
def test_every_split_is_the_best_of_all_under_limits(kind):
    rng = np.random.default_rng(2)
    X = kind(rng)
    Z = rng.normal(size=(len(X), 5))
    weights = rng.exponential(size=len(X)) + 0.1
    min_weight = 0.02 * weights.sum()
    tree = grow(X, padded(Z), weights, min_samples_leaf=4, min_weight_leaf=min_weight)
    assert len(tree.nodes) > 10
    check_every_node(tree, X, Z, weights, min_rows=4, min_weight=min_weight)


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
