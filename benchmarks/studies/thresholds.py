"""When a label is predicted: thresholds chosen during the fit and others, on every data set."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone

from benchmarks.data import TrainTestSplit
from benchmarks.measure import timed
from benchmarks.studies.study import Study, markdown_table
from sketchforest import SketchForestClassifier
from sketchforest.metrics import lrap

METHOD = "sketch forest"
# Columns of micro-F1, with their titles.
DECISIONS = {
    "half": "0.5",
    "top3": "top-3",
    "f1_per_label": "f1-per-label",
    "f1": "f1",
    "hindsight": "best in hindsight",
}
CLOSE = 0.02


@dataclass(frozen=True)
class ThresholdResult:
    """Micro-F1 of decisions on the test rows, and the cost of leaving out rows to choose."""

    half: float
    top3: float
    f1_per_label: float
    f1: float
    hindsight: float  # with the threshold that is best on the test rows
    macro_f1: float  # F1 averaged over labels
    macro_f1_per_label: float
    empty_half: float  # share of rows without any label
    lrap: float
    lrap_all_rows: float  # without rows left out
    seconds: float
    seconds_all_rows: float


def run_thresholds(study: Study) -> bool:
    """Measure, and write thresholds-T-trees.csv and thresholds.md."""
    methods = {METHOD: partial(_measure, study.forest_params)}
    return study.run("thresholds", ThresholdResult, lambda *_: methods, thresholds_page)


def _measure(params: dict[str, Any], data: TrainTestSplit) -> ThresholdResult:
    forest = SketchForestClassifier(**params, random_state=0)
    seconds, _ = timed(partial(forest.fit, data.X_train, data.Y_train))
    other = clone(forest).set_params(threshold=0.5)
    seconds_all_rows, _ = timed(partial(other.fit, data.X_train, data.Y_train))
    truth = sparse.csr_array(data.Y_test).astype(bool)
    decisions = {
        name: sparse.csr_array(forest.set_params(threshold=threshold).predict(data.X_test))
        for name, threshold in (
            ("half", 0.5),
            ("top3", "top-3"),
            ("f1_per_label", "f1-per-label"),
            ("f1", "f1"),
        )
    }
    scores = forest.predict_sparse(data.X_test)
    return ThresholdResult(
        **{name: micro_f1(truth, predicted) for name, predicted in decisions.items()},
        hindsight=best_micro_f1(truth, scores),
        macro_f1=macro_f1(truth, decisions["f1"]),
        macro_f1_per_label=macro_f1(truth, decisions["f1_per_label"]),
        empty_half=float((np.diff(decisions["half"].indptr) == 0).mean()),
        lrap=lrap(truth, scores),
        lrap_all_rows=lrap(truth, other.predict_sparse(data.X_test)),
        seconds=seconds,
        seconds_all_rows=seconds_all_rows,
    )


def micro_f1(truth: sparse.csr_array, predicted: sparse.csr_array) -> float:
    n_hits = truth.multiply(predicted.astype(bool)).count_nonzero()
    return 2 * n_hits / max(1, truth.count_nonzero() + predicted.count_nonzero())


def macro_f1(truth: sparse.csr_array, predicted: sparse.csr_array) -> float:
    """Average F1 over the labels that are true or predicted at least once."""
    counts = [
        np.bincount(sparse.csr_array(m).indices, minlength=truth.shape[1])
        for m in (truth.multiply(predicted.astype(bool)), truth, predicted)
    ]
    total = counts[1] + counts[2]
    return float((2 * counts[0][total > 0] / total[total > 0]).mean())


def best_micro_f1(truth: sparse.csr_array, scores: sparse.csr_array) -> float:
    """Find the best micro-F1 of any single threshold."""
    dense_truth, dense = truth.toarray().ravel(), scores.toarray().ravel()
    order = np.argsort(-dense, kind="stable")
    score, n_hits = dense[order], np.cumsum(dense_truth[order])
    last = np.flatnonzero((score > np.append(score[1:], 0)) & (score > 0))  # do not split ties
    if not len(last):
        return 0.0
    return float((2 * n_hits[last] / (last + 1 + dense_truth.sum())).max())


def thresholds_page(results: pd.DataFrame) -> str:
    """Make tables of means over splits, and sum up what the choice costs."""
    groups = results.drop(columns="method").groupby("dataset")
    mean, n = groups.mean(), groups.ngroups
    n_close = (mean["hindsight"] - mean["f1"] <= CLOSE).sum()
    n_micro_above = (mean["f1"] > mean["f1_per_label"]).sum()
    n_macro_below = (mean["macro_f1"] < mean["macro_f1_per_label"]).sum()
    lost = results["lrap_all_rows"] - results["lrap"]
    ratio = results["seconds"] / results["seconds_all_rows"]
    rows = [
        [str(name), *(f"{row[column]:.3f}" for column in DECISIONS), f"{row['empty_half']:.0%}"]
        for name, row in mean.iterrows()
    ]
    more = mean[["macro_f1", "macro_f1_per_label", "lrap", "lrap_all_rows"]]
    return "\n".join(
        [
            "# When a label is predicted",
            "",
            f"The default SketchForestClassifier; means over up to {groups.size().max()} random "
            "splits with the sizes of the source's split, or 2/3 and 1/3. Made by `python -m "
            "benchmarks bench thresholds`.",
            "",
            "`f1`, the default, is one threshold for all labels; `f1-per-label` is one for each. "
            "Both maximize F1 on a fifth of the training rows, at most 1,000, which three of ten "
            "trees leave out. The most probable label of a row is always predicted.",
            "",
            "## F1 of all decisions together (micro-F1); rows without a label at 0.5",
            "",
            markdown_table(["data set", *DECISIONS.values(), "empty at 0.5"], rows),
            f"`f1` is within {CLOSE} of the best threshold in hindsight on {n_close} of {n} data "
            f"sets, and above `f1-per-label` on {n_micro_above}.",
            "",
            "## What it costs, and F1 averaged over labels",
            "",
            "LRAP of the forest, and of the same forest when all trees may use all rows; F1 "
            "averaged over labels.",
            "",
            markdown_table(
                ["data set", "macro-F1, f1", "macro-F1, f1-per-label", "LRAP", "LRAP, all rows"],
                [[str(name), *(f"{v:.4f}" for v in row)] for name, row in more.iterrows()],
            ),
            f"Averaged over labels, `f1-per-label` is above `f1` on {n_macro_below} of {n} data "
            f"sets. LRAP falls by {lost.mean():.4f} on average (standard error "
            f"{lost.std(ddof=0) / len(lost) ** 0.5:.4f}); a fit takes {ratio.median():.2f} of the "
            "time (median).\n",
        ]
    )
