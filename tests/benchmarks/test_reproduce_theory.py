"""The terms of the bias/variance decomposition, and distances under projections."""

import numpy as np
import pytest

from benchmarks.experiments import Workspace
from benchmarks.reproduce.theorem import TheoremExperiment
from benchmarks.reproduce.variance import VarianceExperiment
from benchmarks.reproduce.variance_terms import (
    NestedSample,
    jackknife,
    predicted_error,
    predicted_variance,
    variance_terms,
)
from sketchforest.datasets import make_multilabel


def test_the_nested_estimators_are_unbiased_where_the_truth_is_known():
    """Predictions that are sums of independent normal terms, one for each level."""
    rng = np.random.default_rng(0)
    n_sets, n_projections, n_trees, n_points, n_outputs = 8, 3, 2, 5, 4
    sd = {"v_ls": 0.5, "v_proj": 0.8, "v_algo": 1.5}
    truth = rng.normal(size=(n_points, n_outputs))
    runs = []
    for _ in range(400):
        samples = []
        for _ in range(n_sets):
            shape = (n_projections, n_trees, n_points, n_outputs)
            of_set = sd["v_ls"] * rng.normal(size=shape[2:])
            of_projection = sd["v_proj"] * rng.normal(size=(n_projections, 1, *shape[2:]))
            of_tree = sd["v_algo"] * rng.normal(size=shape)
            samples.append(NestedSample.of(truth + 0.3 + of_set + of_projection + of_tree))
        runs.append(variance_terms(samples, n_projections, n_trees, truth))
    expected = {name: n_outputs * value**2 for name, value in sd.items()}
    expected["bias"] = n_outputs * 0.3**2
    for name, value in expected.items():
        found = np.array([terms[name] for terms in runs])
        error = found.std(ddof=1) / np.sqrt(len(found))
        assert abs(found.mean() - value) < 4 * error, name
        assert error < 0.05 * max(value, 1), name


def test_the_jackknife_gives_the_standard_error_of_a_mean():
    values = np.random.default_rng(0).normal(size=30)
    found, errors = jackknife(lambda kept: {"mean": values[kept].mean()}, 30)
    assert found["mean"] == pytest.approx(values.mean())
    assert errors["mean"] == pytest.approx(values.std(ddof=1) / np.sqrt(30))


def test_algorithm_1_keeps_the_variance_of_its_projection():
    terms = {"bias": 1.0, "v_ls": 0.5, "v_proj": 0.2, "v_algo": 0.8}
    assert predicted_variance(terms, 1, 4) == pytest.approx(0.4)
    assert predicted_variance(terms, 2, 4) == pytest.approx(0.25)
    assert predicted_error(terms, 2, 4) == pytest.approx(1.75)


def test_forests_have_the_variance_that_the_formulas_predict():
    experiment = VarianceExperiment(1, sizes=(8,), n_sets=25, n_projections=6, n_trees=4)
    result = experiment.run(Workspace())
    assert len(result.checks) == 4
    for check in result.checks:
        distance = check["measured"] - check["predicted"]
        assert abs(distance) < 4 * check["difference_se"], check
    one, two = result.checks[:2]
    assert one["measured"] > two["measured"] + 4 * two["measured_se"]


def test_no_variance_is_distorted_more_than_the_most_distorted_distance(monkeypatch):
    workspace = Workspace()
    data = make_multilabel(200, 10, 6, labels_per_row=2, features_per_row=4)
    monkeypatch.setattr(workspace, "dataset", lambda name: data)
    for projection, m in (("gaussian", 1), ("subsample", 2), ("hadamard", 4), ("pca", 2)):
        result = TheoremExperiment("emotions", projection, m, n_rows=40, n_draws=3).run(workspace)
        largest = np.array(result.largest_distortion)
        for name in ("largest_node_distortion", "typical_distortion"):
            assert np.all(np.array(getattr(result, name)) <= largest + 1e-6)
        ratios = np.array(result.variance_ratio)
        assert np.all(np.abs(ratios - 1) <= largest + 1e-6)
        assert np.all(ratios > 0)
