"""Whether tuning pays: `tune` compared with default forests, and the scores that it predicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks.data import TrainTestSplit
from benchmarks.measure import timed
from benchmarks.store import ResultStore
from benchmarks.studies import predicted_scores
from benchmarks.studies.study import (
    Measure,
    Study,
    by_method,
    fit_and_score,
    lrap_on_test,
    markdown_table,
    sd,
    split_counts,
)
from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.tuning import tune
from sketchforest.tuning.space import PROMISING_COMPONENTS

BASELINES = {
    "plain RF": RandomForestClassifier(projection=None),
    "plain ET": ExtraTreesClassifier(projection=None),
    "m=1": RandomForestClassifier(n_components=1),
    "m=ln d": RandomForestClassifier(n_components="log"),
    "m=25": RandomForestClassifier(n_components=25),
}
# The rows of each extra-tree: a share without replacement, or a bootstrap sample.
ROWS = {
    "38% of the rows": ExtraTreesClassifier(max_samples=0.375),
    "75% of the rows": ExtraTreesClassifier(max_samples=0.75),
    "all rows": ExtraTreesClassifier(),
    "bootstrap": ExtraTreesClassifier(bootstrap=True),
}
USUAL, TUNED = "default", "tuned"
# Sketch forests are tuned in the study of accuracy.
TUNED_KINDS = ("random_forest", "extra_trees")


@dataclass(frozen=True)
class TunedResult:
    """LRAP on the test rows, seconds of the fit or of the search, and what the search chose."""

    lrap: float
    seconds: float
    setting: str | None


def run_tuning(study: Study, predicted: Sequence[str]) -> bool:
    """Measure, and write tuning-T-trees.csv, predicted.csv and tuning.md.

    `predicted` names the data sets on which scores are predicted and then measured.
    """

    def methods(dataset: str, split: int) -> dict[str, Measure]:
        params = study.forest_params | {"random_state": split}
        forests = {**BASELINES, USUAL: RandomForestClassifier()}
        return {
            **{name: partial(_measure_forest, _set(f, params)) for name, f in forests.items()},
            TUNED: partial(_measure_tuned, params),
            **{name: partial(_measure_rows, _set(f, params)) for name, f in ROWS.items()},
        }

    def page(results: pd.DataFrame) -> str:
        predictions = ResultStore(study.out).frame(predicted_scores.TABLE)
        return tuning_page(results, predictions, study.n_estimators)

    first = predicted_scores.predicted_score_experiments(predicted, study.n_jobs)
    return study.run("tuning", TunedResult, methods, page, first)


def _set(forest: Any, params: dict[str, Any]) -> Any:
    return clone(forest).set_params(**params)


def _measure_forest(forest: Any, data: TrainTestSplit) -> TunedResult:
    result = fit_and_score(forest, data)
    return TunedResult(result.lrap, result.seconds, None)


def _measure_tuned(params: dict[str, Any], data: TrainTestSplit) -> TunedResult:
    search = partial(tune, data.X_train, data.Y_train, estimators=TUNED_KINDS, **params)
    seconds, result = timed(search)
    return TunedResult(lrap_on_test(result.forest, data), seconds, str(result.winner.setting))


def _measure_rows(forest: ExtraTreesClassifier, data: TrainTestSplit) -> TunedResult:
    """Extra-trees with a setting that `tune` tries first."""
    n_features, n_labels = data.X_train.shape[1], data.Y_train.shape[1]
    forest.set_params(
        max_features=min(n_features, 4 * max(1, int(np.sqrt(n_features)))), min_samples_leaf=2
    )
    if n_labels > PROMISING_COMPONENTS:
        forest.set_params(n_components=PROMISING_COMPONENTS)
    else:
        forest.set_params(projection=None)
    return _measure_forest(forest, data)


def tuning_page(results: pd.DataFrame, predictions: pd.DataFrame, n_estimators: int) -> str:
    """Make the tables, and count the data sets that support each claim."""
    parts = [_intro(results, n_estimators), _score_part(results), _rows_part(results)]
    return "\n".join([*parts, predicted_scores.predicted_scores_part(predictions)])


def _intro(results: pd.DataFrame, n_estimators: int) -> str:
    n_splits = split_counts(results.groupby(["dataset", "method"]).size())
    return (
        "# Tuned and usual forests\n\n"
        f"`tune` among random forests and extra-trees (`estimators={list(TUNED_KINDS)}`). By "
        "default it also tries sketch forests: see [accuracy](../accuracy.md). Forests of "
        f"{n_estimators} trees, means over {n_splits} random splits of each data set; sd is the "
        "standard deviation over these splits. RF is a random forest, ET are extra-trees; *plain* "
        "forests search for splits on the original outputs, the others are random forests on m "
        "components, where d is the number of labels. *Default fits*: how many fits of the default "
        "random forest the search takes. Made by `python -m benchmarks bench tuning`.\n"
    )


def _score_part(results: pd.DataFrame) -> str:
    names = results.loc[results["method"] == TUNED, "dataset"].unique()
    scores, seconds = by_method(results, "lrap"), by_method(results, "seconds")
    mean, spread = (values.loc[names] for values in (scores.groupby("dataset").mean(), sd(scores)))
    tuned, fixed = mean[TUNED], mean[[*BASELINES]]
    best = fixed.idxmax(axis="columns")
    limit = pd.Series({name: fixed.loc[name, m] - spread.loc[name, m] for name, m in best.items()})
    is_no_worse = tuned >= limit
    is_better = tuned > mean["plain RF"] + spread["plain RF"]
    n_fits = (seconds[TUNED] / seconds[USUAL]).groupby("dataset").mean()
    rows = [
        [
            name,
            *(f"{mean.loc[name, m]:.4f} ± {spread.loc[name, m]:.4f}" for m in BASELINES),
            f"{tuned[name]:.4f}",
            *("yes" if holds[name] else "no" for holds in (is_no_worse, is_better)),
            f"{n_fits[name]:.1f}",
        ]
        for name in names
    ]
    header = ["data set", *BASELINES, "tuned", "≥ best − sd", "> plain RF + sd", "default fits"]
    return (
        "## Test LRAP, mean over splits (± sd)\n\n"
        + markdown_table(header, rows)
        + "\nThe tuned forest is at most one sd below the best of the five on "
        f"{is_no_worse.sum()} of {len(names)} sets, and more than one sd above the plain random "
        f"forest on {is_better.sum()}.\n"
    )


def _rows_part(results: pd.DataFrame) -> str:
    names = results.loc[results["method"] == "all rows", "dataset"].unique()
    scores = by_method(results, "lrap")
    mean, spread = scores.groupby("dataset").mean(), sd(scores)
    rows = [
        [name, *(f"{mean.loc[name, m]:.4f} ± {spread.loc[name, m]:.4f}" for m in ROWS)]
        for name in names
    ]
    setting = f"m={PROMISING_COMPONENTS}, leaves of 2, 4 sqrt(p) features"
    return (
        f"## Training rows of each extra-tree: test LRAP ({setting})\n\n"
        "Each tree gets 38% or 75% of the training rows, without replacement; all of them; or a "
        "bootstrap sample.\n\n" + markdown_table(["data set", *ROWS], rows)
    )
