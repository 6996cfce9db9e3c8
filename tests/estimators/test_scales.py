"""Trees do not depend on the unit of Y, nor on that of weights, however large or small."""

import numpy as np
import pytest
from scipy import sparse

from sketchforest import (
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchForestRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.random((150, 4))
Y = np.stack([np.sin(3 * X[:, 0]) + X[:, 1] * j for j in range(9)], axis=1)
Y += 0.1 * RNG.normal(size=Y.shape)
FORESTS = {
    "no projection": lambda **more: RandomForestRegressor(3, projection=None, **more),
    "a projection": lambda **more: RandomForestRegressor(3, n_components=4, **more),
    "a shared one": lambda **more: RandomForestRegressor(
        3, n_components=4, shared_projection=True, **more
    ),
    "its main components": lambda **more: RandomForestRegressor(
        3, projection="pca", n_components=3, **more
    ),
    "extra-trees": lambda **more: ExtraTreesRegressor(3, n_components=4, **more),
    "sketch forest": lambda **more: SketchForestRegressor(4, **more),
    "a tree": lambda **more: DecisionTreeRegressor(**more),
}


def is_same_forest(one, other):
    mine, theirs = one.fitted_.forest, other.fitted_.forest
    arrays = ("nodes", "gains", "member_start", "members", "weights")
    return all(np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in arrays)


@pytest.mark.parametrize("exponent", [-900, -300, -130, -24, 1, 24, 130, 300, 510, 900])
@pytest.mark.parametrize("kind", FORESTS)
def test_outputs_in_another_unit_grow_the_same_trees(kind, exponent):
    plain = FORESTS[kind](random_state=0).fit(X, Y)
    scaled = FORESTS[kind](random_state=0).fit(X, np.ldexp(Y, exponent))
    assert is_same_forest(plain, scaled)
    assert np.array_equal(scaled.predict(X), np.ldexp(plain.predict(X), exponent))


@pytest.mark.parametrize("exponent", [-60, 40, 110])
@pytest.mark.parametrize("kind", FORESTS)
def test_sparse_outputs_in_another_unit_grow_the_same_trees(kind, exponent):
    Y_sparse = sparse.csr_array(np.where(Y > 1, Y, 0).astype(np.float32))
    plain = FORESTS[kind](random_state=0).fit(X, Y_sparse)
    scaled = FORESTS[kind](random_state=0).fit(X, Y_sparse * np.float32(2.0**exponent))
    assert is_same_forest(plain, scaled)


@pytest.mark.parametrize("exponent", [-200, 5, 200])
@pytest.mark.parametrize("kind", FORESTS)
def test_what_a_split_must_gain_is_in_the_unit_of_the_outputs(kind, exponent):
    least = 0.02
    free = FORESTS[kind](random_state=0).fit(X, Y)
    plain = FORESTS[kind](random_state=0, min_impurity_decrease=least).fit(X, Y)
    scaled = FORESTS[kind](random_state=0, min_impurity_decrease=np.ldexp(least, 2 * exponent))
    scaled.fit(X, np.ldexp(Y, exponent))
    assert 0 < len(plain.fitted_.forest.nodes) < len(free.fitted_.forest.nodes)
    assert is_same_forest(plain, scaled)


def test_outputs_far_from_zero_and_of_one_value_are_fine():
    for shift in (2.0**600, 0.0):
        forest = RandomForestRegressor(3, random_state=0).fit(X, np.full((150, 2), shift))
        assert np.array_equal(forest.predict(X), np.full((150, 2), shift))


def test_outputs_whose_sums_are_no_numbers_are_refused():
    with pytest.raises(
        ValueError, match=r"Y must not have values beyond 1e\+300.*Use another unit"
    ):
        RandomForestRegressor(2).fit(X, Y * 1e301)


@pytest.mark.parametrize("factor", [2.0**1015, 2.0**-1000, 2.0**300])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_weights_in_another_unit_give_the_same_forest(factor, bootstrap):
    weights = RNG.integers(1, 5, 150) / 4
    forest = RandomForestRegressor(3, random_state=0, bootstrap=bootstrap)
    expected = forest.fit(X, Y, weights).predict(X)
    found = forest.fit(X, Y, weights * factor).predict(X)
    assert np.isfinite(found).all()
    assert np.allclose(found, expected, rtol=1e-12)


def test_weights_of_classes_and_rows_together_stay_numbers():
    y = (Y[:, 0] > 1).astype(int)
    forest = RandomForestClassifier(
        3, class_weight={0: 1e308, 1: 1e307}, random_state=0, bootstrap=False
    )
    shares = forest.fit(X, y, RNG.random(150) * 1e307).predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(forest.predict(X), y)


@pytest.mark.parametrize("largest", [1e308, -1e308])
def test_relabel_refuses_what_fit_refuses(largest):
    X, Y = (
        np.arange(6.0)[:, None],
        np.array([[1.0, 2], [largest, 0], [3, 1], [0, 0], [1, 1], [2, 2]]),
    )
    fitted = RandomForestRegressor(2, random_state=0).fit(X, np.ones((6, 2)))
    refused = r"^Y must not have values beyond 1e\+300, .*; got 1e\+308\. Use another unit\.$"
    for give in (lambda: RandomForestRegressor(2).fit(X, Y), lambda: fitted.relabel(Y)):
        with pytest.raises(ValueError, match=refused):
            give()
    assert np.isfinite(fitted.relabel(np.clip(Y, -1e300, 1e300)).predict(X)).all()
