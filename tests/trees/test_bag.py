"""The rows that a tree draws."""

import numpy as np
import pytest
from scipy import stats

from sketchforest import RandomForestClassifier, _core


@pytest.mark.parametrize(("n_rows", "n_draws"), [(1, 1), (1, 9), (7, 3), (50, 50), (1000, 5000)])
def test_rows_are_drawn_as_often_as_they_count(n_rows, n_draws):
    rows, counts = _core.draw_rows(5, n_rows, n_draws)
    assert counts.sum() == n_draws
    assert counts.min() > 0
    assert np.array_equal(rows, np.unique(rows))
    assert 0 <= rows.min() <= rows.max() < n_rows


def test_every_row_is_as_likely_as_another():
    drawn = np.zeros(40)
    for key in range(500):
        rows, counts = _core.draw_rows(key, 40, 40)
        drawn[rows] += counts
    assert stats.chisquare(drawn).pvalue > 1e-3
    # In one bag, a row is there with the probability 1 - (1 - 1/n)^n.
    sizes = [len(_core.draw_rows(key, 1000, 1000)[0]) for key in range(200)]
    assert np.mean(sizes) == pytest.approx(1000 * (1 - (1 - 1e-3) ** 1000), abs=3)


def test_a_stream_is_its_key():
    first, again, other = (_core.draw_rows(key, 300, 300) for key in (1, 1, 2))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


def test_trees_have_the_rows_that_they_drew():
    X = np.arange(60.0).reshape(-1, 1)
    forest = RandomForestClassifier(3, random_state=0).fit(X, np.arange(60) % 3)
    for samples, tree in zip(
        forest.estimators_samples_, forest.fitted_.forest.trees(), strict=True
    ):
        rows, counts = np.unique(samples, return_counts=True)
        order = np.argsort(tree.members)
        assert np.array_equal(rows, tree.members[order])
        assert np.array_equal(counts, tree.weights[order])
