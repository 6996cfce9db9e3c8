"""Trees and forests against what must be equal to them: scikit-learn's trees, other projections,
predictions made by hand, and the theory of the variance."""

import numpy as np
import pytest
import reference
import sklearn_versions
from scipy import sparse, stats
from sklearn import ensemble, tree
from sklearn.base import clone

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest._trees import predict as _predict
from sketchforest._trees.encoding import encode
from sketchforest.datasets import make_multilabel
from sketchforest.projection import Projection

# ---- scikit-learn's tree


def shape_of_sklearn(fitted):
    """As `reference.shape_of`."""
    grown = fitted.tree_
    shape, waiting = [], [0]
    while waiting:
        at = waiting.pop()
        left, right = grown.children_left[at], grown.children_right[at]
        if left < 0:
            shape.append(None)
        else:
            feature, threshold = int(grown.feature[at]), float(grown.threshold[at])
            shape.append((feature, threshold, bool(grown.missing_go_to_left[at])))
            waiting += [right, left]
    return shape


def assert_same_tree(ours, theirs, check_missing=True):
    """Same features in the same places, same thresholds up to the rounding of a float32, same
    sides for missing values."""
    ours, theirs = reference.shape_of(ours.fitted_.forest.tree(0)), shape_of_sklearn(theirs)
    assert len(ours) == len(theirs)
    assert len(ours) > 3
    for our, their in zip(ours, theirs, strict=True):
        if our is None or their is None:
            assert our is their
            continue
        assert our[0] == their[0]
        assert our[1] == pytest.approx(their[1], rel=1e-6, abs=1e-7)
        if check_missing:
            assert our[2] == their[2]


def leaves_as_sets(leaf_of_row):
    """How the leaves part the rows, whatever the leaves are called."""
    return {frozenset(np.flatnonzero(leaf_of_row == leaf)) for leaf in np.unique(leaf_of_row)}


def regression_data(seed, n_outputs=1, n=500, p=5):
    """float32 features, which scikit-learn casts to; every partition has a score of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32)
    Y = X @ rng.normal(size=(p, n_outputs)) + rng.normal(size=(n, n_outputs))
    return X, Y.ravel() if n_outputs == 1 else Y


# Nodes stay large: in a small one, two features may part the rows alike, and either may be taken.
LIMITS = [
    {"max_depth": 3},
    {"min_samples_split": 60, "min_samples_leaf": 5},
    {"min_samples_leaf": 12},
    {"min_samples_leaf": 0.03},
    {"min_weight_fraction_leaf": 0.03},
    {"max_leaf_nodes": 12},
    {"max_leaf_nodes": 40, "min_samples_leaf": 9, "max_depth": 5},
    {"min_impurity_decrease": 0.01, "min_samples_leaf": 9},
    {"min_impurity_decrease": 0.01, "max_leaf_nodes": 9, "min_samples_leaf": 9},
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weighted"])
def test_a_regression_tree_is_scikit_learns(limits, n_outputs, weighted):
    X, Y = regression_data(0, n_outputs)
    X_new = regression_data(1, n_outputs)[0]
    weights = np.random.default_rng(2).exponential(size=len(X)) if weighted else None
    ours = DecisionTreeRegressor(projection=None, **limits).fit(X, Y, weights)
    theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, Y, weights)
    assert_same_tree(ours, theirs)
    np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_full_tree_on_one_feature_is_scikit_learns(n_outputs):
    X, Y = regression_data(3, n_outputs, n=400, p=1)
    ours = DecisionTreeRegressor(projection=None).fit(X, Y)
    theirs = tree.DecisionTreeRegressor(random_state=0).fit(X, Y)
    assert_same_tree(ours, theirs)
    assert ours.get_n_leaves() == theirs.get_n_leaves() == 400
    assert ours.get_depth() == theirs.get_depth()


def test_some_rows_of_weight_zero_grow_the_tree_of_the_others():
    X, Y = regression_data(4)
    weights = np.random.default_rng(4).integers(0, 3, len(X)).astype(float)
    kept = weights > 0
    ours = DecisionTreeRegressor(projection=None, min_samples_leaf=9).fit(X, Y, weights)
    alone = DecisionTreeRegressor(projection=None, min_samples_leaf=9)
    alone.fit(X[kept], Y[kept], weights[kept])
    assert reference.shape_of(ours.fitted_.forest.tree(0)) == reference.shape_of(
        alone.fitted_.forest.tree(0)
    )
    np.testing.assert_allclose(ours.predict(X), alone.predict(X))


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
def test_a_regression_tree_on_sparse_features_is_scikit_learns(limits):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((800, 8)) < 0.2, rng.normal(size=(800, 8)), 0).astype(np.float32)
    X[:, 0] = np.abs(X[:, 0])
    X[:, 1] = -np.abs(X[:, 1])
    Y = X @ rng.normal(size=(8, 2)) + 0.5 * rng.normal(size=(800, 2))
    ours = DecisionTreeRegressor(projection=None, **limits).fit(sparse.csr_array(X), Y)
    theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(sparse.csc_matrix(X), Y)
    assert_same_tree(ours, theirs)
    X_new = X[::-1] * np.float32(1.1)
    np.testing.assert_allclose(ours.predict(sparse.csr_array(X_new)), theirs.predict(X_new))
    np.testing.assert_allclose(ours.predict(sparse.csc_array(X_new)), theirs.predict(X_new))


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.skipif(not sklearn_versions.SPLITS_MISSING_VALUES, reason="scikit-learn before 1.8")
def test_a_tree_on_missing_values_is_scikit_learns(limits, n_outputs):
    X, Y = regression_data(5, n_outputs)
    X_new = regression_data(6)[0]
    rng = np.random.default_rng(7)
    X[rng.random(X.shape) < [0, 0.02, 0.1, 0.3, 0.6]] = np.nan
    Y += 2 * np.isnan(X[:, 3]) if n_outputs == 1 else 2 * np.isnan(X[:, [3]])
    X_new[rng.random(X_new.shape) < 0.2] = np.nan
    ours = DecisionTreeRegressor(projection=None, **limits).fit(X, Y)
    theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, Y)
    assert_same_tree(ours, theirs)
    np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new))


def test_a_missing_value_that_training_never_had_goes_where_scikit_learn_sends_it():
    X, Y = regression_data(8)
    X_new = np.full_like(X, np.nan)
    X_new[:, 2] = X[:, 2]
    for limits in LIMITS:
        ours = DecisionTreeRegressor(projection=None, **limits).fit(X, Y)
        theirs = tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, Y)
        np.testing.assert_allclose(ours.predict(X_new), theirs.predict(X_new))


def test_missing_against_all_others_is_a_split():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan]])
    y = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    for fitted in (
        DecisionTreeRegressor(projection=None).fit(X, y),
        DecisionTreeRegressor(projection=None, splitter="random").fit(
            [[7.0]] * 3 + [[np.nan]] * 2, y
        ),
    ):
        assert fitted.get_n_leaves() == 2
        np.testing.assert_array_equal(fitted.predict([[np.nan], [-1e9], [1e9]]), [1, 0, 0])


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
def test_a_tree_of_classes_is_scikit_learns(limits):
    """Random weights make every partition's score its own."""
    X, _ = regression_data(9)
    rng = np.random.default_rng(9)
    y = np.array(["a", "b", "c", "d"])[np.digitize(X[:, 0] + rng.normal(size=len(X)), [-1, 0, 1])]
    weights = rng.exponential(size=len(X)) + 0.1
    ours = DecisionTreeClassifier(projection=None, **limits).fit(X, y, weights)
    theirs = tree.DecisionTreeClassifier(random_state=0, **limits).fit(X, y, weights)
    assert_same_tree(ours, theirs)
    X_new = regression_data(10)[0]
    # float32, as leaf means of labels are stored
    np.testing.assert_allclose(ours.predict_proba(X_new), theirs.predict_proba(X_new), atol=1e-7)
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "+".join(limits))
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense Y", "sparse Y"])
def test_a_tree_of_labels_is_scikit_learns(limits, is_sparse):
    X, Z = regression_data(11, n_outputs=12)
    Y = (Z > 1.5).astype(int)
    Y[:5] = 0
    weights = np.random.default_rng(11).exponential(size=len(X)) + 0.1
    ours = DecisionTreeClassifier(projection=None, **limits)
    ours.fit(X, sparse.csr_array(Y) if is_sparse else Y, weights)
    theirs = tree.DecisionTreeClassifier(random_state=0, **limits).fit(X, Y, weights)
    assert_same_tree(ours, theirs)
    X_new = regression_data(12)[0]
    expected = np.column_stack([p[:, 1] for p in theirs.predict_proba(X_new)])
    np.testing.assert_allclose(ours.predict_proba(X_new), expected, atol=1e-6)


def test_a_tree_of_labels_too_sparse_to_write_out_is_scikit_learns():
    X, Z = regression_data(13, n_outputs=60)
    Y = (Z > 4).astype(int)
    Y = Y[:, (Y.any(axis=0) & ~Y.all(axis=0))]
    weights = np.random.default_rng(13).exponential(size=len(X)) + 0.1
    for limits in LIMITS:
        limits = {"min_samples_leaf": 9, **limits}
        if "min_impurity_decrease" in limits:
            limits["min_impurity_decrease"] = 0.0005
        ours = DecisionTreeClassifier(projection=None, **limits).fit(X, Y, weights)
        theirs = tree.DecisionTreeClassifier(random_state=0, **limits).fit(X, Y, weights)
        assert_same_tree(ours, theirs)


def test_full_trees_part_the_training_rows_as_scikit_learns_do():
    """Where two features part a small node's rows alike, either may be taken."""
    X, Y = regression_data(14, n_outputs=2)
    weights = np.random.default_rng(14).exponential(size=len(X)) + 0.1
    ours = DecisionTreeRegressor(projection=None, min_samples_split=8).fit(X, Y, weights)
    theirs = tree.DecisionTreeRegressor(random_state=0, min_samples_split=8).fit(X, Y, weights)
    assert leaves_as_sets(ours.apply(X)) == leaves_as_sets(theirs.apply(X))


# ---- projections that change nothing, and those that change everything


class Fixed(Projection):
    """A matrix that is given, but treated as if drawn for each tree."""

    def __init__(self, P):
        self.P = P

    def draw(self, n_labels, n_components, rng):
        return self.P


class Identity(Projection):
    def draw(self, n_labels, n_components, rng):
        return np.eye(n_labels, n_components, dtype=np.float32)


def label_data(seed=0, n=200, p=40, d=60):
    data = make_multilabel(n, p, d, labels_per_row=4, features_per_row=p / 6, random_state=seed)
    return data.X, data.Y


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("shared", [False, True])
def test_identity_projection_grows_the_same_trees_as_no_projection(kind, shared):
    X, Y = label_data()
    plain = kind(10, projection=None, random_state=1).fit(X, Y)
    same = kind(10, projection=Identity(), n_components="all", shared_projection=shared)
    same.set_params(random_state=1).fit(X, Y)
    reference.assert_same_forest(plain, same)
    np.testing.assert_array_equal(plain.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_a_full_orthogonal_projection_leaves_every_split_unchanged(kind):
    X, Y = regression_data(15, n_outputs=6)
    rotation = stats.ortho_group.rvs(6, random_state=0).astype(np.float32)
    settings = {"min_samples_leaf": 12, "random_state": 2, "max_features": 3}
    plain = kind(10, projection=None, **settings).fit(X, Y)
    turned = kind(10, projection=Fixed(rotation), n_components="all", **settings).fit(X, Y)
    np.testing.assert_array_equal(plain.fitted_.forest.nodes, turned.fitted_.forest.nodes)
    np.testing.assert_array_equal(plain.fitted_.forest.members, turned.fitted_.forest.members)
    np.testing.assert_allclose(
        plain.fitted_.forest.gains, turned.fitted_.forest.gains, rtol=1e-4, atol=1e-6
    )


def test_each_tree_of_algorithm_2_has_a_matrix_of_its_own():
    X, Y = label_data()
    for projection in ("gaussian", "rademacher", "achlioptas", "hadamard", "subsample"):
        forest = RandomForestClassifier(4, projection=projection, n_components=7, random_state=0)
        forest.fit(X, Y)
        matrices = [reference.dense(forest.projection_matrix(t)) for t in range(4)]
        for i in range(4):
            for j in range(i):
                assert (matrices[i] != matrices[j]).any(), projection


def test_all_trees_of_algorithm_1_have_one_matrix():
    X, Y = label_data()
    forest = RandomForestClassifier(4, n_components=7, shared_projection=True, random_state=0)
    forest.fit(X, Y)
    for t in range(1, 4):
        np.testing.assert_array_equal(forest.projection_matrix(t), forest.projection_matrix(0))


@pytest.mark.parametrize("projection", ["gaussian", "rademacher", "achlioptas", "hadamard"])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_trees_of_algorithm_2_are_grown_on_their_own_matrices(projection, kind):
    X, Y = label_data()
    settings = {"n_components": 7, "random_state": 3}
    forest = kind(3, projection=projection, **settings).fit(X, Y)
    for t in range(3):
        P = reference.dense(forest.projection_matrix(t))
        again = kind(3, projection=Fixed(P), **settings).fit(X, Y)
        assert_same_tree_arrays(forest.fitted_.forest.tree(t), again.fitted_.forest.tree(t))
        other = (t + 1) % 3
        assert not np.array_equal(
            forest.fitted_.forest.tree(other).members, again.fitted_.forest.tree(other).members
        )


def test_the_trees_of_algorithm_1_are_grown_on_the_one_matrix():
    X, Y = label_data()
    settings = {"n_components": 7, "random_state": 3, "shared_projection": True}
    forest = RandomForestClassifier(3, **settings).fit(X, Y)
    again = RandomForestClassifier(3, projection=Fixed(forest.projection_matrix(2)), **settings)
    reference.assert_same_forest(forest, again.fit(X, Y))


def assert_same_tree_arrays(ours, theirs):
    for name in ("nodes", "gains", "member_start", "members", "weights"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


def test_every_split_of_a_projected_tree_is_the_best_on_its_projection():
    """The whole way by hand: bootstrap, projection, search."""
    X, Y = label_data(n=120, p=8)
    X = reference.dense(X)
    forest = RandomForestClassifier(2, n_components=5, max_features=None, random_state=4)
    forest.fit(X, Y)
    for t in range(2):
        counts = reference.bootstrap_counts(forest.fitted_.settings.seed, t, len(X), len(X))
        Z = reference.project(Y, forest.projection_matrix(t))
        grown = forest.fitted_.forest.tree(t)
        waiting = [(0, np.flatnonzero(counts))]
        while waiting:
            at, rows = waiting.pop()
            if at < 0:
                continue
            node = reference.inner_node(grown, at)
            left = np.array([node.goes_left(x) for x in X[rows]])
            np.testing.assert_array_equal(rows[left], reference.rows_below(grown, node.left))
            weights = counts[rows].astype(float)
            best = reference.best_split(X[rows], Z[rows], weights).score
            assert reference.split_score(Z[rows], weights, left) == pytest.approx(best, rel=1e-5)
            waiting += [(node.left, rows[left]), (node.right, rows[~left])]


# ---- predictions, by hand


BIG_LEAVES = {"min_samples_leaf": 10, "random_state": 0}  # averaged through a table of leaf means
FORESTS = {
    "labels": RandomForestClassifier(5, n_components=6, random_state=0),
    "labels, weighted": RandomForestClassifier(5, projection=None, random_state=0),
    "labels, extra-trees": ExtraTreesClassifier(5, n_components=6, random_state=0),
    "labels, weighted, big leaves": RandomForestClassifier(5, n_components=6, **BIG_LEAVES),
    "outputs": RandomForestRegressor(5, n_components=2, random_state=0),
    "outputs, weighted, big leaves": ExtraTreesRegressor(5, **BIG_LEAVES),
    "one output": RandomForestRegressor(5, random_state=0),
}


@pytest.fixture(params=FORESTS, scope="module")
def fitted(request):
    """A fitted forest, its X, Y (two-dimensional) and sample weights."""
    forest, name = clone(FORESTS[request.param]), request.param
    X, Y = label_data(n=150)
    if "output" in name:
        X, Y = regression_data(16, n_outputs=1 if name == "one output" else 3, n=150)
    weights = np.random.default_rng(0).exponential(size=150) if "weighted" in name else None
    return forest.fit(X, Y, weights), X, Y.reshape(150, -1), weights


def predictions(forest, X):
    averages = forest.predict_proba(X) if hasattr(forest, "predict_proba") else forest.predict(X)
    return averages.reshape(len(averages), -1)


def test_a_prediction_is_the_mean_of_the_original_outputs_over_the_leaves_rows(fitted):
    forest, X, Y, _ = fitted
    expected = reference.predict(forest.fitted_.forest, reference.dense(X), Y)
    np.testing.assert_allclose(predictions(forest, X), expected, atol=1e-6)


def test_leaf_weights_times_the_outputs_is_the_prediction(fitted):
    forest, X, Y, _ = fitted
    weights = forest.leaf_weights(X)
    assert (weights.data > 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(reference.dense(weights @ Y), predictions(forest, X), atol=1e-6)


def test_the_table_of_leaf_means_predicts_what_the_rows_do(fitted, monkeypatch):
    forest, X, _, _ = fitted
    results = []
    for big_leaf in (0, 10**9):
        monkeypatch.setattr(_predict, "BIG_LEAF", big_leaf)
        predictor = _predict.ForestPredictor(forest.fitted_.forest, forest.fitted_.labels)
        one_output = forest.fitted_.labels.shape[1] == 1
        is_table = predictor.leaves is not forest.fitted_.forest
        assert is_table == (big_leaf == 0 or one_output)
        results.append(predictor.average(X, None, np.float64))
    np.testing.assert_allclose(results[0], results[1], atol=1e-7)


@pytest.mark.parametrize("min_samples_leaf", [1, 10])
def test_the_best_labels_are_the_first_of_the_probabilities_in_order(min_samples_leaf):
    """Equal probabilities in order of label, zeros included where labels run out."""
    X, Y = label_data(n=150)
    forest = RandomForestClassifier(3, min_samples_leaf=min_samples_leaf, random_state=0)
    proba = forest.fit(X, Y).predict_proba(X)
    order = np.argsort(-proba, axis=1, kind="stable")
    for k in (1, 5, 37, Y.shape[1]):
        labels, scores = forest.predict_topk(X, k)
        np.testing.assert_array_equal(labels, order[:, :k])
        np.testing.assert_array_equal(scores, np.take_along_axis(proba, order[:, :k], axis=1))
        kept = np.zeros_like(proba)
        np.put_along_axis(kept, order[:, :k], scores, axis=1)
        found = forest.predict_sparse(X, k)
        np.testing.assert_array_equal(found.toarray(), kept)
        assert found.has_canonical_format
        assert found.data.all()
    np.testing.assert_array_equal(forest.predict_sparse(X).toarray(), proba)


def test_every_tree_holds_each_of_its_rows_once_with_the_count_that_was_drawn(fitted):
    forest, X, _, sample_weight = fitted
    n = X.shape[0]
    for t, grown in enumerate(forest.fitted_.forest.trees()):
        rows, weights = map(
            np.concatenate,
            zip(*(reference.leaf_rows(grown, leaf) for leaf in range(grown.n_leaves)), strict=True),
        )
        expected = np.ones(n)
        if forest.bootstrap:
            expected = reference.bootstrap_counts(
                forest.fitted_.settings.seed, t, n, n, sample_weight
            )
        elif sample_weight is not None:
            expected *= sample_weight
        found = np.zeros(n)
        np.add.at(found, rows, weights)
        assert len(set(rows)) == len(rows)
        np.testing.assert_allclose(found, expected)


# ---- the theory of the variance


def test_projections_of_their_own_shrink_the_whole_variance_and_a_shared_one_keeps_its_part():
    """Algorithm 2 of t trees has the variance (V_algo + V_proj) / t, algorithm 1 has
    V_algo / t + V_proj, on a fixed learning sample."""
    X, Y = label_data(seed=1, n=60, p=10, d=40)
    X_new, _ = label_data(seed=2, n=60, p=10, d=40)

    def variance(n_trees, shared, n_forests, first_seed):
        forests = (
            ExtraTreesClassifier(
                n_trees,
                n_components=1,
                max_features=8,
                shared_projection=shared,
                random_state=first_seed + i,
            )
            for i in range(n_forests)
        )
        each = np.array([forest.fit(X, Y).predict_proba(X_new) for forest in forests])
        return each.var(axis=0, ddof=1, dtype=float).sum()

    total = variance(1, False, 600, 0)  # V_algo + V_proj
    of_many = variance(100, True, 150, 1000)  # V_algo / 100 + V_proj
    V_proj = (of_many - total / 100) / 0.99
    V_algo = total - V_proj
    assert V_proj > 0.3 * total
    assert V_algo > 0.1 * total
    t = 5
    own, shared = variance(t, False, 300, 2000), variance(t, True, 300, 3000)
    assert own == pytest.approx((V_algo + V_proj) / t, rel=0.12)
    assert shared == pytest.approx(V_algo / t + V_proj, rel=0.12)


# ---- what is drawn


def test_constant_features_count_as_drawn_and_the_search_goes_on_until_one_varies():
    """Two of eight features are drawn, and five of the eight are constant. How often each of the
    others is at the root follows: drawn alone, together with a better one, or, where both drawn
    are constant, as the next that varies."""
    rng = np.random.default_rng(0)
    n = 50
    X = np.zeros((n, 8))
    X[:, 1], X[:, 4], X[:, 6] = rng.normal(size=(3, n))
    y = 3 * X[:, 1] + 2 * X[:, 4] + X[:, 6] + 0.1 * rng.normal(size=n)
    strongest = [1, 4, 6]
    pairs = 8 * 7 / 2
    expected = {}
    for rank, feature in enumerate(strongest):
        with_constant, with_weaker = 5, 2 - rank
        neither = 5 * 4 / 2 / 3
        expected[feature] = (with_constant + with_weaker + neither) / pairs
    assert sum(expected.values()) == pytest.approx(1)

    n_trees = 3000
    thinned = np.where(rng.random(X.shape) < 0.4, X, 0)
    assert encode(X).row_start is None
    assert encode(thinned).row_start is not None
    for features in (X, thinned):
        forest = RandomForestRegressor(
            n_trees, bootstrap=False, max_features=2, max_depth=1, projection=None, random_state=0
        ).fit(features, y)
        roots = forest.fitted_.forest.nodes[:, 0].view(np.uint32) & 0x7FFFFFFF
        varying = sorted(strongest, key=lambda feature: -root_score(features, y, feature))
        observed = [np.count_nonzero(roots == feature) for feature in varying]
        assert sum(observed) == n_trees
        model = [n_trees * expected[feature] for feature in strongest]
        assert stats.chisquare(observed, model).pvalue > 1e-3


def root_score(X, y, feature):
    return reference.best_split(X[:, [feature]], y[:, None], np.ones(len(y))).score


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_trees_on_a_bag_of_words_have_as_many_nodes_as_scikit_learns(kind):
    """The one place where a mistake in what counts as drawn shows."""
    X, Y = label_data(n=400, p=300, d=25)
    ours = kind(60, projection=None, max_features="sqrt", random_state=0).fit(X, Y)
    theirs = getattr(ensemble, kind.__name__)(60, max_features="sqrt", random_state=0, n_jobs=2)
    theirs.fit(X.astype(np.float32), Y.toarray())
    our_nodes = np.mean([2 * t.n_leaves - 1 for t in ours.fitted_.forest.trees()])
    their_nodes = np.mean([t.tree_.node_count for t in theirs.estimators_])
    assert our_nodes == pytest.approx(their_nodes, rel=0.02)
    our_depth = np.mean(ours.fitted_.forest.depths)
    their_depth = np.mean([t.tree_.max_depth for t in theirs.estimators_])
    assert our_depth == pytest.approx(their_depth, rel=0.1)


def test_random_cuts_are_uniform_between_the_smallest_and_the_largest_value():
    rng = np.random.default_rng(0)
    dense_x = rng.exponential(size=100) ** 2 - 1  # skewed: uniform over values, not over ranks
    sparse_x = np.where(rng.random(100) < 0.2, dense_x, 0)
    with_gaps = np.where(rng.random(100) < 0.1, np.nan, dense_x)
    for x in (dense_x, dense_x.astype(np.float32), sparse_x, with_gaps):
        forest = ExtraTreesRegressor(2000, max_depth=2, projection=None, random_state=0)
        forest.fit(x[:, None], rng.normal(size=100))
        positions = {"root": [], "below": []}
        for grown in forest.fitted_.forest.trees():
            waiting = [(0, "root", x[~np.isnan(x)])]
            while waiting:
                at, place, values = waiting.pop()
                if at < 0:
                    continue
                node = reference.inner_node(grown, at)
                if values.min() == values.max():  # missing values alone differ
                    assert node.threshold == np.inf
                    continue
                spread = values.max() - values.min()
                positions[place].append((node.threshold - values.min()) / spread)
                left = values <= node.threshold
                waiting += [
                    (node.left, "below", values[left]),
                    (node.right, "below", values[~left]),
                ]
        for place in positions.values():
            assert len(place) >= 2000
            assert stats.kstest(place, "uniform").pvalue > 1e-3


def test_random_cuts_part_rows_as_often_as_scikit_learns():
    """The distribution of the root's left share, over many trees."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=60)
    settings = {"max_depth": 1, "max_features": 2, "random_state": 0}
    ours = ExtraTreesRegressor(1500, projection=None, **settings).fit(X, y)
    theirs = ensemble.ExtraTreesRegressor(1500, **settings).fit(X, y)
    our_nodes = [reference.inner_node(t, 0) for t in ours.fitted_.forest.trees()]
    for feature in range(3):
        our = [node.threshold for node in our_nodes if node.feature == feature]
        their = [t.tree_.threshold[0] for t in theirs.estimators_ if t.tree_.feature[0] == feature]
        assert stats.ks_2samp(our, their).pvalue > 1e-3
        assert len(our) == pytest.approx(len(their), abs=4 * np.sqrt(1500 / 2))
