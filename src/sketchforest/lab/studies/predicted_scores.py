"""Scores of 500 trees predicted from the learning curve of 20, and measured.

The only part of the lab that uses the inner parts of the selection.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sketchforest import RandomForestClassifier
from sketchforest._estimators.fitting.preparation import prepare
from sketchforest._selection.comparison import Comparison
from sketchforest._selection.out_of_bag import OutOfBagScorer, ScoreMetric
from sketchforest.lab.data import TrainTestSplit
from sketchforest.lab.studies.method_experiment import MethodExperiment, markdown_table
from sketchforest.projection import resolve_projection

N_GROWN, N_PREDICTED = 20, 500
TABLE = "predicted"


@dataclass(frozen=True)
class Change:
    """What a setting changes of the usual one: k times ``factor``, leaves, components."""

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
    """Out-of-bag LRAP: of the trees grown, predicted for many with its standard error, measured."""

    now: float
    lrap: float
    se: float
    measured: float


def predicted_score_experiments(
    datasets: Sequence[str], n_jobs: int
) -> list[MethodExperiment[PredictedScore]]:
    return [
        MethodExperiment(name, 0, setting, TABLE, PredictedScore, partial(_measure, change, n_jobs))
        for name in datasets
        for setting, change in CHANGES.items()
    ]


def _measure(change: Change, n_jobs: int, data: TrainTestSplit) -> PredictedScore:
    """Predicted from 20 trees, then measured: by rows out of 500 bags each."""
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


def predicted_scores_part(results: Iterable[Mapping[str, str]]) -> str:
    """The table, and how many predictions are good."""
    rows, n_within = [], 0
    for row in results:
        predicted, se, measured = (float(row[name]) for name in ("lrap", "se", "measured"))
        is_within = abs(predicted - measured) <= 2 * se
        n_within += is_within
        now = f"{float(row['now']):.4f}"
        scores = [now, f"{predicted:.4f} ± {se:.4f}", f"{measured:.4f}"]
        rows.append([f"{row['dataset']}, {row['method']}", *scores, "yes" if is_within else "no"])
    header = [
        "setting",
        f"{N_GROWN} trees",
        f"predicted for {N_PREDICTED}",
        "measured",
        "within two se",
    ]
    return (
        f"## Out-of-bag LRAP of {N_PREDICTED} trees, predicted from {N_GROWN}\n\n"
        "Random forests, on one split: *usual* has the defaults, *4 k* draws four times as many "
        "features for a split, *leaf 2* has leaves of at least two rows, *m=1* a single "
        "component; se is the standard error of the prediction.\n\n"
        + markdown_table(header, rows)
        + f"\nWithin two standard errors: {n_within} of {len(rows)}.\n"
    )
