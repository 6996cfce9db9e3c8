"""Is tuning worth it: `tune` beside usual forests, and the scores that it predicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from sklearn.base import clone

from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.lab.data import TrainTestSplit
from sketchforest.lab.experiments import Workspace, run_experiments
from sketchforest.lab.measure import timed
from sketchforest.lab.store import ResultStore
from sketchforest.lab.studies import predicted_scores
from sketchforest.lab.studies.method_experiment import (
    Forest,
    MethodExperiment,
    Table,
    find_datasets,
    fit_and_score,
    lrap_on_test,
    markdown_table,
    mean_and_sd,
    split_counts,
    values_by_method,
)
from sketchforest.tuning import tune
from sketchforest.tuning.space import PROMISING_COMPONENTS

BASELINES: dict[str, Forest] = {
    "plain RF": RandomForestClassifier(projection=None),
    "plain ET": ExtraTreesClassifier(projection=None),
    "m=1": RandomForestClassifier(n_components=1),
    "m=ln d": RandomForestClassifier(n_components="log"),
    "m=25": RandomForestClassifier(n_components=25),
}
# What each extra-tree may see: a share of the rows at most once, or a bootstrap.
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


def run_tuning(
    datasets: Sequence[str],
    predicted: Sequence[str],
    out: Path,
    *,
    n_splits: int = 3,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes tuning-T-trees.csv, predicted.csv and tuning.md into ``out``.

    ``predicted`` names the sets on which scores are predicted and measured.
    """
    console = console or Console()
    out.mkdir(parents=True, exist_ok=True)
    store, workspace = ResultStore(out), Workspace(data_home, n_jobs)
    table = f"tuning-{n_estimators}-trees"
    experiments = [
        MethodExperiment(name, split, method, table, TunedResult, measure)
        for name in find_datasets(datasets, data_home)
        for split in range(n_splits)
        for method, measure in _measures(n_estimators, n_jobs, split)
    ]
    predictions = predicted_scores.predicted_score_experiments(predicted, n_jobs)
    is_complete = run_experiments(predictions, store, workspace, console)
    is_complete = is_complete and run_experiments(experiments, store, workspace, console)
    page = tuning_page(store, table, n_estimators)
    (out / "tuning.md").write_text(page)
    console.print(page, markup=False, soft_wrap=True)
    return is_complete


def _measures(
    n_estimators: int, n_jobs: int, seed: int
) -> list[tuple[str, Callable[[TrainTestSplit], TunedResult]]]:
    forests = {**BASELINES, USUAL: RandomForestClassifier()}
    options = {"n_estimators": n_estimators, "n_jobs": n_jobs, "random_state": seed}
    return [
        *(
            (name, partial(_measure_forest, clone(forest).set_params(**options)))
            for name, forest in forests.items()
        ),
        (TUNED, partial(_measure_tuned, n_estimators, n_jobs, seed)),
        *(
            (name, partial(_measure_rows, clone(forest).set_params(**options)))
            for name, forest in ROWS.items()
        ),
    ]


def _measure_forest(forest: Forest, data: TrainTestSplit) -> TunedResult:
    result = fit_and_score(forest, data)
    return TunedResult(result.lrap, result.seconds, None)


def _measure_tuned(n_estimators: int, n_jobs: int, seed: int, data: TrainTestSplit) -> TunedResult:
    X, Y = data.X_train, data.Y_train
    search = partial(
        tune,
        X,
        Y,
        estimators=TUNED_KINDS,
        n_estimators=n_estimators,
        random_state=seed,
        n_jobs=n_jobs,
    )
    seconds, result = timed(search)
    return TunedResult(lrap_on_test(result.forest, data), seconds, str(result.winner.setting))


def _measure_rows(forest: ExtraTreesClassifier, data: TrainTestSplit) -> TunedResult:
    """Extra-trees as `tune` expects them to be good."""
    n_features, n_labels = data.X_train.shape[1], data.Y_train.shape[1]
    forest.set_params(
        max_features=min(n_features, 4 * max(1, int(np.sqrt(n_features)))), min_samples_leaf=2
    )
    if n_labels > PROMISING_COMPONENTS:
        forest.set_params(n_components=PROMISING_COMPONENTS)
    else:
        forest.set_params(projection=None)
    return _measure_forest(forest, data)


def tuning_page(store: ResultStore, table: str, n_estimators: int) -> str:
    """The tables and how many sets each claim holds on."""
    rows = store.rows(table)
    scores, seconds = values_by_method(rows, "lrap"), values_by_method(rows, "seconds")
    predictions = predicted_scores.predicted_scores_part(store.rows(predicted_scores.TABLE))
    parts = [_intro(scores, n_estimators), _score_part(scores, seconds)]
    return "\n".join([*parts, _rows_part(scores), predictions])


def _intro(scores: Table, n_estimators: int) -> str:
    return (
        "# The tuned forest beside usual ones\n\n"
        "`tune` among random forests and extra-trees "
        f"(`estimators={list(TUNED_KINDS)}`), without the sketch forests that it also tries by "
        "default: [accuracy](../accuracy.md) has those, tuned and as they are. Forests of "
        f"{n_estimators} trees, means over {split_counts(map(len, scores.values()))} random splits "
        "of each set; sd is the standard deviation over these splits. RF is a random forest, ET "
        "are extra-trees; *plain* ones look for splits on the original outputs, the others are "
        "random forests on m components, of d labels. *Default fits*: the time of the search in "
        "fits of the default random forest. Made by `sketchforest bench tuning`.\n"
    )


def _score_part(scores: Table, seconds: Table) -> str:
    names = [name for name, method in scores if method == TUNED]
    rows, no_worse, better = [], 0, 0
    for name in names:
        known = {m: mean_and_sd(scores[name, m]) for m in BASELINES if (name, m) in scores}
        best = max(known, key=lambda method: known[method][0])
        tuned, _ = mean_and_sd(scores[name, TUNED])
        is_no_worse = tuned >= known[best][0] - known[best][1]
        plain, sd = known["plain RF"]
        is_better = tuned > plain + sd
        n_fits = np.mean(np.divide(seconds[name, TUNED], seconds[name, USUAL]))
        no_worse, better = no_worse + is_no_worse, better + is_better
        usual = [f"{mean:.4f} ± {sd:.4f}" for mean, sd in known.values()]
        marks = ("yes" if is_no_worse else "no", "yes" if is_better else "no")
        rows.append([name, *usual, f"{tuned:.4f}", *marks, f"{n_fits:.1f}"])
    header = ["data set", *BASELINES, "tuned", "≥ best − sd", "> plain RF + sd", "default fits"]
    return (
        "## Test LRAP, mean over splits (± sd)\n\n"
        + markdown_table(header, rows)
        + f"\nNo worse than the best of the five less one sd: {no_worse} of {len(names)} sets; "
        f"above the plain forest by more than one sd: {better}.\n"
    )


def _rows_part(scores: Table) -> str:
    names = [name for name, method in scores if method == "all rows"]
    rows = []
    for name in names:
        known = [mean_and_sd(scores[name, method]) for method in ROWS]
        rows.append([name, *(f"{mean:.4f} ± {sd:.4f}" for mean, sd in known)])
    setting = f"m={PROMISING_COMPONENTS}, leaves of 2, 4 sqrt(p) features"
    return (
        f"## Rows that each extra-tree sees: test LRAP ({setting})\n\n"
        "Drawn for each tree: 38% or 75% of the training rows, each at most once; all of them; or "
        "as many as there are, with replacement (bootstrap).\n\n"
        + markdown_table(["data set", *ROWS], rows)
    )
