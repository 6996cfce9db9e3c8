"""When a label is predicted: thresholds chosen during the fit beside others, on every data set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy import sparse
from sklearn.base import clone

from benchmarks.data import TrainTestSplit
from benchmarks.experiments import Workspace
from benchmarks.measure import timed
from benchmarks.studies.method_experiment import (
    MethodExperiment,
    Study,
    find_datasets,
    markdown_table,
    mean_and_sd,
    values_by_method,
)
from sketchforest import SketchForestClassifier
from sketchforest.metrics import lrap

METHOD = "sketch forest"
# The columns of micro-F1, and what they are called.
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
    """Micro-F1 of decisions on the test rows; what it costs to leave out rows for the choice."""

    half: float
    top3: float
    f1_per_label: float
    f1: float
    hindsight: float  # of the one threshold that is best on the test rows
    macro_f1: float  # means over labels of F1
    macro_f1_per_label: float
    empty_half: float  # share of rows without any label
    lrap: float
    lrap_all_rows: float  # of trees that see all rows
    seconds: float
    seconds_all_rows: float


def run_thresholds(
    datasets: Sequence[str],
    out: Path,
    *,
    n_splits: int = 3,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes thresholds-T-trees.csv and thresholds.md into ``out``."""
    study = Study("thresholds", out, n_estimators, thresholds_page)
    measure = partial(_measure, n_estimators, n_jobs)
    experiments = [
        MethodExperiment(name, split, METHOD, study.table, ThresholdResult, measure)
        for name in find_datasets(datasets, data_home)
        for split in range(n_splits)
    ]
    return study.run(experiments, Workspace(data_home, n_jobs), console)


def _measure(n_estimators: int, n_jobs: int, data: TrainTestSplit) -> ThresholdResult:
    forest = SketchForestClassifier(n_estimators, n_jobs=n_jobs, random_state=0)
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
    """The mean over labels that are true or predicted somewhere."""
    counts = [
        np.bincount(sparse.csr_array(m).indices, minlength=truth.shape[1])
        for m in (truth.multiply(predicted.astype(bool)), truth, predicted)
    ]
    total = counts[1] + counts[2]
    return float((2 * counts[0][total > 0] / total[total > 0]).mean())


def best_micro_f1(truth: sparse.csr_array, scores: sparse.csr_array) -> float:
    """The largest that one threshold reaches."""
    dense_truth, dense = truth.toarray().ravel(), scores.toarray().ravel()
    order = np.argsort(-dense, kind="stable")
    score, n_hits = dense[order], np.cumsum(dense_truth[order])
    last = np.flatnonzero((score > np.append(score[1:], 0)) & (score > 0))  # no ties are parted
    if not len(last):
        return 0.0
    return float((2 * n_hits[last] / (last + 1 + dense_truth.sum())).max())


def thresholds_page(results: Sequence[Mapping[str, str]]) -> str:
    """Tables of means over splits, and the costs."""
    values = {
        column: {name: found for (name, _), found in values_by_method(results, column).items()}
        for column in ThresholdResult.__dataclass_fields__
    }
    names = sorted(values["f1"])
    mean = {
        column: {n: mean_and_sd(found[n])[0] for n in names} for column, found in values.items()
    }
    n_splits = max((len(found) for found in values["f1"].values()), default=0)
    close = [name for name in names if mean["hindsight"][name] - mean["f1"][name] <= CLOSE]
    n_micro_above = sum(mean["f1"][n] > mean["f1_per_label"][n] for n in names)
    n_macro_below = sum(mean["macro_f1"][n] < mean["macro_f1_per_label"][n] for n in names)
    lost = _column(results, "lrap_all_rows") - _column(results, "lrap")
    ratio = _column(results, "seconds") / _column(results, "seconds_all_rows")
    rows = [
        [n, *(f"{mean[column][n]:.3f}" for column in DECISIONS), f"{mean['empty_half'][n]:.0%}"]
        for n in names
    ]
    more = ["macro_f1", "macro_f1_per_label", "lrap", "lrap_all_rows"]
    return "\n".join(
        [
            "# When a label is predicted",
            "",
            f"The default SketchForestClassifier; means over up to {n_splits} random splits of the "
            "sizes of the source's, or of 2/3 and 1/3. Made by `sketchforest bench thresholds`.",
            "",
            "`f1`, the default, is one threshold for all labels, and `f1-per-label` has one for "
            "each: those that make F1 largest on a fifth of the training rows, at most 1,000, that "
            "three of ten trees do not see. A row has its most probable label in any case.",
            "",
            "## F1 of all decisions together (micro-F1); rows without a label at 0.5",
            "",
            markdown_table(["data set", *DECISIONS.values(), "empty at 0.5"], rows),
            f"`f1` is within {CLOSE} of the best threshold in hindsight on {len(close)} of "
            f"{len(names)} sets, and above `f1-per-label` on {n_micro_above}.",
            "",
            "## What it costs, and F1 as the mean of labels",
            "",
            "LRAP of the forest, of the same without rows left out, and mean F1 of labels.",
            "",
            markdown_table(
                ["data set", "macro-F1, f1", "macro-F1, f1-per-label", "LRAP", "LRAP, all rows"],
                [[n, *(f"{mean[column][n]:.4f}" for column in more)] for n in names],
            ),
            f"By this mean of labels `f1-per-label` is above `f1` on {n_macro_below} of "
            f"{len(names)} sets. LRAP falls by {np.mean(lost):.4f} on average (standard error "
            f"{np.std(lost) / max(1, len(lost)) ** 0.5:.4f}); a fit takes "
            f"{np.median(ratio):.2f} of the time, the median of all.\n",
        ]
    )


def _column(results: Sequence[Mapping[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in results])
