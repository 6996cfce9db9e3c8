"""Paired tests of methods over random splits and over data sets."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.significance import compare_methods, corrected_t_test, signed_rank_test, verdict


def test_without_overlap_the_corrected_test_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    ours, other = rng.normal(0.5, 0.1, 10), rng.normal(0.45, 0.1, 10)
    expected = stats.ttest_rel(ours, other).pvalue
    assert corrected_t_test(ours - other, 0) == pytest.approx(expected)
    assert corrected_t_test(ours - other, 0.5) > expected


def test_the_corrected_test_rejects_equal_methods_as_often_as_it_says():
    # Differences of overlapping splits: a common part, of the share that the correction assumes.
    rng, ratio, n = np.random.default_rng(1), 0.5, 10
    common = rng.normal(0, np.sqrt(ratio), (4000, 1))
    found = [corrected_t_test(d, ratio) for d in common + rng.normal(0, 1, (4000, n))]
    naive = [corrected_t_test(d, 0) for d in common + rng.normal(0, 1, (4000, n))]
    assert 0.03 < np.mean(np.array(found) < 0.05) < 0.07
    assert np.mean(np.array(naive) < 0.05) > 0.2


def test_equal_scores_and_single_splits_are_not_significant():
    assert corrected_t_test(np.zeros(5), 0.5) == 1
    assert np.isnan(corrected_t_test(np.array([0.1]), 0.5))
    assert np.isnan(signed_rank_test(np.zeros(5)))


def test_methods_are_compared_on_the_splits_that_both_have():
    index = pd.MultiIndex.from_product([list("abcdef"), range(4)], names=["dataset", "split"])
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"ours": 0.5, "other": 0.4}, index=index)
    scores["ours"] += rng.normal(0, 0.01, len(scores))
    scores.loc[("a", slice(1, 3)), "other"] = np.nan
    found = compare_methods(scores, "ours")
    assert found["n_splits"].tolist() == [1, 4, 4, 4, 4, 4]
    assert (found["p"][1:] < 0.05).all()
    assert np.isnan(found["p"][0])
    text = verdict(found, "ours", "other")
    assert "significantly better on 5 of 5 data sets and worse on 0" in text
    assert "Wilcoxon" not in text
