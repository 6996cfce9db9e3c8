"""The rules of thumb of docs/guide/costs.md, beside measurements."""

from pathlib import Path

import pytest
from every_kind import trees_alone

from benchmarks.studies.costs import (
    KINDS,
    SETS,
    TOLERANCE,
    Problem,
    predicted_model_bytes,
    predicted_seconds,
    table,
)
from sketchforest.datasets import load

MEASURED = list(table(Path(__file__).parents[2] / "docs" / "study" / "costs.csv"))


def test_five_sets_and_each_kind_of_forest_were_measured():
    assert {(r["dataset"], r["method"]) for r in MEASURED} == {(s, k) for s in SETS for k in KINDS}


@pytest.mark.parametrize("cost", ["seconds", "model_bytes", "fit_bytes"])
def test_rules_are_near_what_was_measured(cost):
    for row in MEASURED:
        measured, predicted = row[cost]
        assert abs(predicted / measured - 1) <= TOLERANCE, (row, cost)


def test_time_grows_with_rows_times_their_logarithm_and_with_trees():
    assert predicted_seconds(1.0, 1024, 100, 10) == pytest.approx(10 * 2 * 10 / 9)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_today_have_the_size_that_the_rule_says(kind, tmp_path):
    try:
        data = load("bibtex")
    except OSError:
        pytest.skip("needs the data set bibtex")
    X, Y = data.X[:4000], data.Y[:4000]
    forest = KINDS[kind](10, random_state=0)
    forest.set_params(**trees_alone(type(forest))).fit(X, Y).save(tmp_path / "model.sf")
    problem = Problem(*X.shape, int(X.nnz), int(Y.nnz), False, 64)
    size = (tmp_path / "model.sf").stat().st_size
    assert abs(predicted_model_bytes(kind, problem, 10) / size - 1) <= TOLERANCE
