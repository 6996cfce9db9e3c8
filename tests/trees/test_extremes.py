"""Inputs at the edge: tiny, constant, huge, nearly equal, very deep."""

import numpy as np
import pytest
import reference
from scipy import sparse

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
)

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier, SketchForestClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor, SketchForestRegressor]


# ---- little to learn from


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(
    "X",
    [
        np.ones((1, 1)),
        np.zeros((1, 3)),
        np.full((1, 2), np.nan),
        np.ones((6, 2)),
        np.full((6, 2), np.nan),
        sparse.csr_array((6, 4)),
        sparse.csr_array(np.tile([0, 0, 0, 0, 0, 2.0], (6, 1))),
    ],
    ids=[
        "one cell",
        "one row",
        "missing row",
        "equal rows",
        "all missing",
        "empty",
        "sparse equal",
    ],
)
def test_rows_that_cannot_be_told_apart_share_one_leaf(kind, X):
    rng = np.random.default_rng(0)
    Y = (rng.random((X.shape[0], 50)) < 0.2).astype(int)
    for projection in ("gaussian", None):
        forest = kind(4, bootstrap=False, threshold=0.5, projection=projection, random_state=0).fit(
            X, Y
        )
        assert forest.fitted_.forest.nodes.shape == (0, 4)
        assert (forest.apply(X) == 0).all()
        expected = np.tile(Y.mean(axis=0), (X.shape[0], 1))
        np.testing.assert_allclose(forest.predict_proba(X), expected, atol=1e-6)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("make_Y", [np.zeros, sparse.csr_array], ids=["dense Y", "sparse Y"])
@pytest.mark.parametrize("n_labels", [2, 50])
def test_rows_without_labels_are_learnt_as_such(kind, make_Y, n_labels):
    X = np.random.default_rng(0).normal(size=(20, 3))
    forest = kind(3, random_state=0).fit(X, make_Y((20, n_labels)))
    assert len(forest.fitted_.forest.nodes) == 0
    assert forest.predict_sparse(X).nnz == 0
    labels, scores = forest.predict_topk(X, 2)
    np.testing.assert_array_equal(labels, np.tile([0, 1], (20, 1)))
    assert not scores.any()


def test_a_label_that_one_row_has_is_found():
    X = np.arange(30.0)[:, None]
    Y = sparse.csr_array(([1], ([17], [399])), shape=(30, 400))
    for projection in ("gaussian", "rademacher", None):
        tree = DecisionTreeClassifier(projection=projection, random_state=0).fit(X, Y)
        found = tree.predict_proba(X)
        assert np.argwhere(found).tolist() == [[17, 399]]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_single_output_is_enough(kind):
    X = np.arange(20.0)[:, None]
    y = np.arange(20) >= 10
    Y = sparse.csr_array(y[:, None])
    forest = kind(20, max_features=None, random_state=0).fit(X, Y)
    assert forest.predict_proba(X).shape == (20, 1)
    assert ((forest.predict_proba(X)[:, 0] > 0.5) == y).all()
    one_class = kind(2, random_state=0).fit(X, np.full(20, "only"))
    assert (one_class.predict(X) == "only").all()
    assert one_class.predict_proba(X).shape == (20, 1)


def test_more_features_than_there_are_is_all_of_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    for many in (4, 1000, 10**12):
        some = RandomForestRegressor(3, max_features=many, random_state=0).fit(X, y)
        all_of_them = RandomForestRegressor(3, max_features=None, random_state=0).fit(X, y)
        reference.assert_same_forest(some, all_of_them)


@pytest.mark.parametrize(
    ("name", "is_limit"),
    [
        ("max_depth", False),
        ("max_leaf_nodes", False),
        ("min_samples_split", True),
        ("min_samples_leaf", True),
    ],
)
def test_limits_may_be_beyond_all_rows(name, is_limit):
    X, y = np.arange(10.0)[:, None], np.arange(10.0)
    for huge in (2**31, 2**32, 2**32 + 1, 10**15):
        tree = DecisionTreeRegressor(projection=None, **{name: huge}).fit(X, y)
        assert tree.get_n_leaves() == (1 if is_limit else 10)


# ---- numbers at the edge


ONE_ULP_APART = 1 + np.arange(40) * 2.0**-52
EDGES = {
    "one ulp apart": ONE_ULP_APART,
    "one ulp apart and far": np.append(ONE_ULP_APART, [1e300, -1e300, 0]),
    "halves of a float32 ulp": 1 + np.arange(40) * 2.0**-24,
    "float32 ulps": 1 + np.arange(40) * 2.0**-23,
    "huge": np.linspace(-1, 1, 41) * np.finfo(float).max,
    "largest": np.array([-np.finfo(float).max, np.finfo(float).max, 0, 1]),
    "beyond float32": np.array([3.4e38, 3.5e38, -3.4e38, -3.5e38, 1e39, -1e39, 0]),
    "denormal": np.arange(-20, 21) * 5e-324,
    "denormal float32": (np.arange(-20, 21) * 1.4e-45).astype(np.float32),
    "all magnitudes": np.outer([1, -1], 10.0 ** np.arange(-300, 301, 12)).ravel(),
    "large integers": np.array([2**53 - 1, 2**53, 2**53 + 2, 2**62, 2**63 - 1024]),
    "unsigned integers": np.array([0, 1, 2**63, 2**64 - 2048, 2**63 + 2048], np.uint64),
    "negative integers": np.array([-(2**63), -(2**62), -1, 0, 1], np.int64),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:X has integers beyond")
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("n_zeros", [0, 500], ids=["dense", "sparse"])
def test_values_that_differ_are_told_apart(edge, n_zeros):
    """Thresholds separate what they were made from, however near, far or large."""
    x = EDGES[edge]
    x = np.concatenate([x[x != 0], np.zeros(n_zeros + 1, x.dtype)])
    x = np.random.default_rng(0).permutation(x)
    X, y = x[:, None], np.unique(x, return_inverse=True)[1].astype(float)
    for fitted in (
        DecisionTreeRegressor(projection=None).fit(X, y),
        DecisionTreeRegressor(projection=None, max_leaf_nodes=10**6).fit(X, y),
        *(
            DecisionTreeRegressor(projection=None, splitter="random", random_state=seed).fit(X, y)
            for seed in range(20)
        ),
    ):
        assert fitted.get_n_leaves() == len(np.unique(x))
        for X_again in (X, sparse.csr_array(X)):
            np.testing.assert_allclose(fitted.predict(X_again), y, rtol=1e-12)


OUT_OF_FLOATS = [
    (0.0, 1e60),
    (-1e60, 0.0),
    (0.0, 1e-60),
    (-1e-60, 0.0),
    (-1e-60, 1e-50),
    (1.0, 1e300),
    (-1e300, 1e-300),
    (0.0, 1e-320),
    (0.0, 1e-40),
    (1e39, 1e60),
]


@pytest.mark.parametrize(("low", "high"), OUT_OF_FLOATS)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_cuts_that_no_float_is_near_are_kept_as_doubles(splitter, is_sparse, low, high):
    """They were the largest float, or zero: values in between then went to the other side."""
    x = np.append(np.repeat([low, high], 5), np.zeros(200 * is_sparse))
    X, y = x[:, None], (x == high).astype(float)
    last_left = x[x < high].max()
    cuts = set()
    for seed in range(5):
        tree = DecisionTreeRegressor(
            projection=None, splitter=splitter, max_depth=1, random_state=seed
        ).fit(sparse.csr_array(X) if is_sparse else X, y)
        cut = tree.tree_.threshold[0]
        assert splitter == "random" or cut == last_left / 2 + high / 2
        near = [np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf)]
        probes = np.concatenate([near, x.min() + np.linspace(0, 1, 9) * (high - x.min())])[:, None]
        leftmost = tree.apply([[-np.finfo(float).max]])
        np.testing.assert_array_equal(tree.apply(probes) == leftmost, probes[:, 0] <= cut)
        np.testing.assert_array_equal(tree.apply(sparse.csr_array(probes)), tree.apply(probes))
        cuts.add(cut)
    assert splitter == "best" or len(cuts) == 5


def test_cuts_of_ordinary_values_are_floats():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(-3, 3, 200), rng.normal(size=200) ** 9])
    forest = RandomForestRegressor(5, random_state=0).fit(X, rng.normal(size=200))
    assert forest.fitted_.forest.thresholds is None


def test_trees_with_wide_and_narrow_thresholds_go_together():
    """One tree needs doubles, another does not; both are stored in the same arrays."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), 1 + rng.integers(0, 40, 60) * 2.0**-52])
    y = rng.normal(size=60)
    forest = RandomForestRegressor(8, max_depth=2, max_features=1, random_state=0).fit(X, y)
    alone = [tree.fitted_.forest for tree in forest.estimators_]
    narrow = [
        np.array_equal(tree.thresholds, tree.nodes[:, 1].copy().view(np.float32).astype(float))
        for tree in alone
    ]
    assert forest.fitted_.forest.thresholds is not None
    assert any(narrow)
    assert not all(narrow)
    expected = np.mean([reference.predict(tree, X, y[:, None]) for tree in alone], axis=0)
    np.testing.assert_allclose(forest.predict(X), expected.ravel())


def test_a_float32_row_finds_the_leaf_of_its_double():
    """Trained on one width, asked in the other."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    y = rng.normal(size=200)
    narrow = DecisionTreeRegressor(projection=None).fit(X, y)
    wide = DecisionTreeRegressor(projection=None).fit(X.astype(float), y)
    for tree in (narrow, wide):
        np.testing.assert_array_equal(tree.predict(X), y)
        np.testing.assert_array_equal(tree.predict(X.astype(float)), y)


@pytest.mark.parametrize("power", [-110, -70, 70, 110])
def test_the_unit_of_the_outputs_does_not_matter(power):
    """Powers of two, which change no digit."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 4)), rng.normal(size=(100, 40))
    for projection in (None, "rademacher"):
        plain, scaled = (
            RandomForestRegressor(3, projection=projection, random_state=0).fit(X, y)
            for y in (Y, np.ldexp(Y, power))
        )
        np.testing.assert_array_equal(np.ldexp(scaled.predict(X), -power), plain.predict(X))
        np.testing.assert_allclose(
            scaled.feature_importances_, plain.feature_importances_, rtol=1e-6
        )


@pytest.mark.parametrize("power", [-1000, -400, 400, 900])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_unit_of_the_weights_does_not_matter(power, is_sparse):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 4)), (rng.random((100, 60)) < 0.05).astype(int)
    weights = rng.exponential(size=100)
    for settings in ({}, {"min_weight_fraction_leaf": 0.05}, {"min_impurity_decrease": 1e-3}):
        plain, scaled = (
            RandomForestClassifier(
                3, projection=None if is_sparse else "gaussian", random_state=0, **settings
            ).fit(X, Y, w)
            for w in (weights, np.ldexp(weights, power))
        )
        assert len(plain.fitted_.forest.nodes) > 3
        np.testing.assert_array_equal(plain.fitted_.forest.nodes, scaled.fitted_.forest.nodes)
        np.testing.assert_array_equal(plain.predict_proba(X), scaled.predict_proba(X))


def test_balanced_classes_of_very_many_labels_still_grow_trees():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 4)), (rng.random((200, 1000)) < 0.005).astype(int)
    forest = RandomForestClassifier(3, class_weight="balanced", random_state=0).fit(X, Y)
    assert (np.diff(forest.fitted_.forest.node_start) > 50).all()


def test_a_large_offset_of_the_outputs_does_not_matter():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 4)), rng.normal(size=(200, 40)).round(3)
    for projection in (None, "gaussian"):
        for offset in (1e6, -1e9):
            plain, shifted = (
                RandomForestRegressor(
                    3, projection=projection, min_samples_leaf=10, random_state=0
                ).fit(X, y)
                for y in (Y, Y + offset)
            )
            np.testing.assert_allclose(shifted.predict(X) - offset, plain.predict(X), atol=1e-5)


# ---- long chains, many rows


def test_a_chain_of_ten_thousand_nodes_is_grown_and_read():
    """Each feature is one row's own, so each split takes one row off."""
    n = 10_000
    X = Y = sparse.eye_array(n, format="csr")
    for projection in ("gaussian", None):
        tree = DecisionTreeClassifier(
            projection=projection, n_components=1, max_features=1, random_state=0
        ).fit(X, Y)
        assert tree.get_depth() == n - 1
        labels, scores = tree.predict_topk(X, 1)
        np.testing.assert_array_equal(labels.ravel(), np.arange(n))
        assert (scores == 1).all()


def test_a_chain_on_dense_features_is_grown_and_read():
    n = 1500
    X, y = 1 + np.eye(n, dtype=np.float32), np.arange(n, dtype=float)
    for settings in ({}, {"max_leaf_nodes": n}):
        tree = DecisionTreeRegressor(projection=None, max_features=1, random_state=0, **settings)
        tree.fit(X, y)
        assert tree.get_depth() == n - 1
        np.testing.assert_array_equal(tree.predict(X), y)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_more_rows_than_sixteen_bits_count_are_all_kept_apart(is_sparse):
    n = 70_000
    rng = np.random.default_rng(0)
    x = rng.permutation(n).astype(float)
    if is_sparse:
        x[rng.random(n) < 0.8] = 0
    X = x[:, None]
    for make in (DecisionTreeRegressor, lambda **k: ExtraTreesRegressor(1, **k)):
        tree = make(projection=None, random_state=0).fit(X, x)
        np.testing.assert_allclose(tree.predict(X), x, rtol=1e-12)
        members = np.sort(tree.fitted_.forest.members)
        np.testing.assert_array_equal(members, np.arange(n))
