"""Scores of 500 trees: predicted from the learning curve of 20, and measured.

The only benchmark that uses private parts of the selection.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.data import TrainTestSplit
from benchmarks.studies.study import MethodExperiment, markdown_table
from sketchforest import RandomForestClassifier
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._selection.comparison import Comparison
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest.projection import resolve_projection

N_GROWN, N_PREDICTED = 20, 500
TABLE = "predicted"


@dataclass(frozen=True)
class Change:
    """Changes of the default setting; `factor` multiplies max_features."""

    factor: int = 1
    min_samples_leaf: int = 1
    n_components: int | None = None


CHANGES = {
    "usual": Change(),
    "4 k": Change(factor=4),
    "leaf 2": Change(min_samples_leaf=2),
    "m=1": Change(n_components=1),
}


@dataclass(frozen=True)
class PredictedScore:
    """Out-of-bag LRAP of few trees, then of many: predicted, standard error, measured."""

    now: float
    lrap: float
    se: float
    measured: float


def predicted_score_experiments(datasets: Sequence[str], n_jobs: int) -> list[MethodExperiment]:
    return [
        MethodExperiment(name, 0, setting, TABLE, PredictedScore, partial(_measure, change, n_jobs))
        for name in datasets
        for setting, change in CHANGES.items()
    ]


def _measure(change: Change, n_jobs: int, data: TrainTestSplit) -> PredictedScore:
    """Predict from 20 trees, then measure with 500 out-of-bag trees per row."""
    forest = RandomForestClassifier(random_state=0)
    given = prepare(forest, data.X_train, data.Y_train).problem
    k = min(given.X.shape[1], change.factor * given.settings.max_features)
    settings = replace(given.settings, max_features=k, min_samples_leaf=change.min_samples_leaf)
    if change.n_components is not None:
        projection = resolve_projection("gaussian")
        settings = replace(settings, n_components=change.n_components, projection=projection)
    scorer = OutOfBagScorer(given, ScoreMetric.of("lrap"), 0)
    comparison = Comparison(scorer, given, N_PREDICTED, n_jobs)
    candidate = comparison.add(settings)
    comparison.grow([candidate], N_GROWN)
    comparison.score(candidate)
    predicted = comparison.predict_score(candidate)
    comparison.grow([candidate], round(N_PREDICTED * np.e))
    comparison.score(candidate)
    measured = comparison.predict_score(candidate).current
    return PredictedScore(predicted.current, predicted.score, predicted.se, measured)


def predicted_scores_part(results: pd.DataFrame) -> str:
    """Make the table, and count good predictions."""
    is_within = (results["lrap"] - results["measured"]).abs() <= 2 * results["se"]
    rows = [
        [
            f"{row.dataset}, {row.method}",
            f"{row.now:.4f}",
            f"{row.lrap:.4f} ± {row.se:.4f}",
            f"{row.measured:.4f}",
            "yes" if is_good else "no",
        ]
        for row, is_good in zip(results.itertuples(), is_within, strict=True)
    ]
    header = ["setting", f"{N_GROWN} trees", f"predicted for {N_PREDICTED}", "measured"]
    return (
        f"## Out-of-bag LRAP of {N_PREDICTED} trees, predicted from {N_GROWN}\n\n"
        "Random forests on one split: *usual* has the defaults, *4 k* tries four times as many "
        "features per split, *leaf 2* has at least two rows per leaf, *m=1* has a single "
        "component; se is the standard error of the prediction.\n\n"
        + markdown_table([*header, "within two se"], rows)
        + f"\nWithin two standard errors: {is_within.sum()} of {len(rows)}.\n"
    )
