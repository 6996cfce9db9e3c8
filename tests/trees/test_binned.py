"""Large nodes searched in bins: the tree of a matrix whose values are the numbers of their bins."""

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone

from sketchforest import DecisionTreeRegressor, RandomForestClassifier, RandomForestRegressor
from sketchforest._trees import encoding, parts

N_ROWS, MAX_BINS = 500, 9
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 6)).astype(np.float32)
X[:, 2] = np.exp(4 * X[:, 2])
WITH_MISSING = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
WITH_MISSING[:, 5] = np.nan
FEATURES = {"floats": X, "doubles": X.astype(np.float64), "missing": WITH_MISSING}
NUMBERS = np.column_stack([X[:, 0] + X[:, 1], X[:, 1] - X[:, 2], RNG.normal(size=N_ROWS)])
LABELS = (X @ RNG.normal(size=(6, 20)) > 2).astype(np.uint8)
FORESTS = {
    "numbers": RandomForestRegressor(3, projection=None, max_features=3, random_state=0),
    "wide": RandomForestClassifier(3, n_components=20, max_features=3, random_state=0),
    "narrow": RandomForestClassifier(3, n_components=4, max_features=None, random_state=0),
}


@pytest.fixture(autouse=True)
def bins_of_small_data(monkeypatch):
    """As if features had more than 65,535 distinct values, and nodes very many rows."""
    original = encoding._encode_ranks

    def encode_wide(X, n_jobs, code_type, *args):
        return None if code_type is np.uint16 else original(X, n_jobs, code_type, *args)

    monkeypatch.setattr(encoding, "_encode_ranks", encode_wide)
    monkeypatch.setattr(encoding, "BINNED_ROWS", 20)


def target_of(forest):
    return NUMBERS if isinstance(forest, RandomForestRegressor) else LABELS


def members(forest):
    return [
        {frozenset(rows.tolist()) for rows in np.split(tree.members, tree.member_start[1:-1])}
        for tree in forest.fitted_.forest.trees()
    ]


def binned(values, max_bins=MAX_BINS):
    return encoding.encode(values, max_bins=max_bins)


@pytest.mark.parametrize("stored", FEATURES)
@pytest.mark.parametrize("name", FORESTS)
def test_the_tree_is_that_of_the_numbers_of_the_bins(name, stored):
    forest = clone(FORESTS[name]).set_params(min_samples_split=20)
    coded = binned(FEATURES[stored])
    numbers = coded.bins.T.astype(np.float32)
    numbers[np.isnan(FEATURES[stored])] = np.nan
    in_bins = clone(forest).set_params(max_bins=MAX_BINS).fit(FEATURES[stored], target_of(forest))
    assert members(in_bins) == members(forest.fit(numbers, target_of(forest)))
    assert len(members(in_bins)[0]) > 5


@pytest.mark.parametrize("limits", [{"min_samples_leaf": 7}, {"min_weight_fraction_leaf": 0.03}])
@pytest.mark.parametrize("stored", FEATURES)
def test_limits_hold_in_bins(stored, limits):
    weights = RNG.integers(1, 4, N_ROWS)
    tree = DecisionTreeRegressor(max_bins=MAX_BINS, min_samples_split=20, random_state=0, **limits)
    tree.fit(FEATURES[stored], NUMBERS, weights)
    assert tree.get_n_leaves() > 5
    sizes = np.array([len(rows) for rows in members(tree)[0]])
    of_leaves = [weights[list(rows)].sum() for rows in members(tree)[0]]
    assert sizes.min() >= limits.get("min_samples_leaf", 1)
    assert min(of_leaves) >= limits.get("min_weight_fraction_leaf", 0) * weights.sum()


@pytest.mark.parametrize("stored", FEATURES)
def test_rows_reach_their_leaves(stored):
    forest = clone(FORESTS["wide"]).set_params(max_bins=MAX_BINS)
    leaves = forest.fit(FEATURES[stored], LABELS).apply(FEATURES[stored])
    for index, tree in enumerate(forest.fitted_.forest.trees()):
        reference.assert_rows_reach_their_leaves(tree, leaves[:, index])


@pytest.mark.parametrize("stored", FEATURES)
def test_bins_hold_about_equally_many_rows_and_are_in_order(stored):
    values = FEATURES[stored]
    coded = binned(values)
    assert np.diff(coded.bin_start).max() == MAX_BINS
    for column, bins, n_bins in zip(values.T, coded.bins, np.diff(coded.bin_start), strict=True):
        is_known = ~np.isnan(column)
        assert (bins[~is_known] == n_bins).all()
        order = np.argsort(column[is_known])
        assert (np.diff(bins[is_known][order].astype(int)) >= 0).all()
        if is_known.any():
            assert np.ptp(np.bincount(bins[is_known], minlength=n_bins)) <= 2


def test_a_feature_of_few_values_has_a_bin_for_each():
    few = RNG.integers(0, MAX_BINS, size=(N_ROWS, 1)).astype(np.float32)
    assert np.array_equal(binned(few).bins[0], few[:, 0])


def test_quantiles_of_some_rows_are_enough(monkeypatch):
    monkeypatch.setattr(encoding, "QUANTILE_ROWS", 200)
    coded = binned(X)
    assert (np.diff(coded.bin_start) == MAX_BINS).all()
    sizes = np.array([np.bincount(bins) for bins in coded.bins])
    assert sizes.min() > N_ROWS / MAX_BINS / 3
    clone(FORESTS["wide"]).set_params(max_bins=MAX_BINS).fit(X, LABELS)


def test_threads_and_parts_do_not_matter(monkeypatch):
    monkeypatch.setattr(parts, "WHOLE_TREE_ROWS", 100)
    monkeypatch.setattr(parts, "WHOLE_PART_ROWS", 60)
    monkeypatch.setattr(parts, "LEAST_ROWS", 12)
    monkeypatch.setattr(parts, "SHARED_ROWS", 25)
    forest = clone(FORESTS["wide"]).set_params(n_estimators=1, max_bins=MAX_BINS)
    one, several = (clone(forest).set_params(n_jobs=n).fit(X, LABELS) for n in (1, 5))
    reference.assert_same_forest(one, several)


@pytest.mark.parametrize("kind", ["few rows", "sparse", "no projection"])
def test_other_forests_are_exact(kind, monkeypatch):
    forest, values = clone(FORESTS["wide"]), X
    if kind == "few rows":
        monkeypatch.setattr(encoding, "BINNED_ROWS", N_ROWS + 1)
    if kind == "sparse":
        values = sparse.csr_array(np.where(RNG.random(X.shape) < 0.2, X, 0))
    if kind == "no projection":
        forest.set_params(projection=None, n_components=None)
    exact = clone(forest).fit(values, LABELS)
    reference.assert_same_forest(exact, forest.set_params(max_bins=MAX_BINS).fit(values, LABELS))


def test_codes_outside_their_bins_are_refused():
    fields = binned(X).fields()
    for change in (
        {"bins": (fields["bins"] + 1) % MAX_BINS},
        {"bin_lowest": fields["bin_lowest"] + np.uint32(1)},
        {"bin_start": fields["bin_start"][::-1].copy()},
    ):
        with pytest.raises(ValueError, match="codes do not fit the values"):
            encoding.EncodedX(**fields | change)
