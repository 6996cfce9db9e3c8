"""A warning points at the user's own line."""

import numpy as np
import pytest

import sketchforest
from sketchforest.tuning import tune

X = np.random.default_rng(0).normal(size=(60, 4))
Y = (X[:, :3] > 0).astype(int)
FORESTS = [
    sketchforest.RandomForestClassifier,
    sketchforest.RandomForestRegressor,
    sketchforest.ExtraTreesClassifier,
    sketchforest.ExtraTreesRegressor,
]
TREES = [sketchforest.DecisionTreeClassifier, sketchforest.DecisionTreeRegressor]


def points_here(caught):
    assert len(caught) == 1
    return caught[0].filename == __file__


@pytest.mark.parametrize("kind", FORESTS + TREES)
def test_of_a_column_given_to_fit_and_to_relabel(kind):
    with pytest.warns(Warning, match="column-vector") as caught:
        model = kind().fit(X, Y[:, :1])
    assert points_here(caught)
    with pytest.warns(Warning, match="column-vector") as caught:
        model.relabel(Y[:, 1:2])
    assert points_here(caught)


@pytest.mark.parametrize("kind", FORESTS[:2])
def test_of_rows_that_no_tree_leaves_out(kind):
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores") as caught:
        kind(2, oob_score=True, random_state=0).fit(X, Y)
    assert points_here(caught)


@pytest.mark.parametrize("kind", FORESTS)
def test_of_a_warm_start_without_new_trees(kind):
    model = kind(2, warm_start=True).fit(X, Y)
    with pytest.warns(UserWarning, match="does not fit new trees") as caught:
        model.fit(X, Y)
    assert points_here(caught)


@pytest.mark.parametrize(("name", "instead"), [("report_of", "make_report"), ("is_markdown", "")])
def test_of_a_name_that_was_removed_from_the_report(name, instead):
    with pytest.warns(FutureWarning, match=rf"{name} will be removed .* use {instead}") as caught:
        assert callable(getattr(sketchforest.report, name))
    assert points_here(caught)
    with pytest.raises(AttributeError, match=r"has no attribute 'absent'"):
        _ = sketchforest.report.absent


def test_of_a_budget_that_is_too_small():
    with pytest.warns(UserWarning, match="The budget ended at") as caught:
        tune(X, Y, budget="20 trees", random_state=0)
    assert points_here(caught)
