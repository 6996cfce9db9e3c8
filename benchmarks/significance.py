"""Significance of differences between two methods that were scored on the same random splits."""

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.data import TRAIN_SHARE
from sketchforest.datasets import catalogue

LEVEL = 0.05
MIN_SETS = 6  # with fewer, Wilcoxon's test cannot reach the level


def corrected_t_test(differences: np.ndarray, test_to_train: float) -> float:
    """p value, two-sided, that the mean difference over random splits is zero; NaN for one split.

    Training sets of random splits overlap, so that differences vary less than on new data. Nadeau
    and Bengio (2003) add the ratio of test to training rows to 1 / n_splits.
    """
    n = len(differences)
    if n < 2:
        return float("nan")
    mean, variance = np.mean(differences), np.var(differences, ddof=1)
    if variance == 0:
        return 1.0 if mean == 0 else 0.0
    t = mean / np.sqrt((1 / n + test_to_train) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))


def signed_rank_test(differences: np.ndarray) -> float:
    """p value of Wilcoxon's signed-rank test over data sets; NaN without a difference."""
    if not np.any(differences):
        return float("nan")
    return float(stats.wilcoxon(differences).pvalue)


def compare_methods(scores: pd.DataFrame, ours: str) -> pd.DataFrame:
    """Compare a method with each other one on each data set.

    `scores` has rows (dataset, split) and a column per method. The result has the number of splits
    that both have, mean and std of the difference, and the p value of `corrected_t_test`.
    """
    rows = []
    for other in scores.columns.drop(ours):
        differences = (scores[ours] - scores[other]).dropna()
        for name, values in differences.groupby("dataset"):
            p = corrected_t_test(values.to_numpy(), _test_to_train(str(name)))
            rows.append((name, other, len(values), values.mean(), values.std(), p))
    return pd.DataFrame(rows, columns=["dataset", "other", "n_splits", "mean", "std", "p"])


def _test_to_train(name: str) -> float:
    info = catalogue().get(name)
    if info is None or not info.n_train or not info.n_test:
        return 1 / TRAIN_SHARE - 1
    return info.n_test / info.n_train


def verdict(compared: pd.DataFrame, ours: str, other: str) -> str:
    """Say on how many data sets a difference is significant, and whether it is over all of them."""
    found = compared[(compared["other"] == other) & compared["p"].notna()]
    if not len(found):
        return ""
    is_significant = found["p"] < LEVEL
    better = (is_significant & (found["mean"] > 0)).sum()
    worse = (is_significant & (found["mean"] < 0)).sum()
    text = (
        f"Against {other}, the {ours} is significantly better on {better} of {len(found)} data "
        f"sets and worse on {worse} (p < {LEVEL}, corrected resampled t-test over splits)."
    )
    p = signed_rank_test(found["mean"].to_numpy())
    if len(found) < MIN_SETS or np.isnan(p):
        return text
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f"{text} Over data sets, {shown} (Wilcoxon's signed-rank test)."
