"""What trees draw at random: projections, features and thresholds."""

import numpy as np
import pytest
import reference
from scipy import stats
from sketched_data import label_data
from sklearn import ensemble

from sketchforest import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestRegressor
from sketchforest._trees.encoding import encode

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
