"""Is tuning worth it: `tune` beside usual forests and other searches, and what it foretells."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import sketchforest
from sketchforest._estimators.base import n_features_drawn
from sketchforest._selection.auto import PROBE_SHARE
from sketchforest._selection.comparison import Race
from sketchforest._selection.out_of_bag import Criterion, Judge
from sketchforest.lab.data import Problem
from sketchforest.lab.studies.cells import (
    Cell,
    CellFile,
    chosen_datasets,
    fit_and_score,
    lrap_on_test,
    markdown,
    mean_and_sd,
    run_cells,
)
from sketchforest.lab.studies.search import optuna_search, random_search
from sketchforest.projection import resolve_projection
from sketchforest.tuning import tune
from sketchforest.tuning.space import PROMISING_COMPONENTS

BASELINES: dict[str, tuple[str, dict[str, Any]]] = {
    "plain RF": ("RandomForestClassifier", {"projection": None}),
    "plain ET": ("ExtraTreesClassifier", {"projection": None}),
    "m=1": ("RandomForestClassifier", {"n_components": 1}),
    "m=ln d": ("RandomForestClassifier", {"n_components": "log"}),
    "m=25": ("RandomForestClassifier", {"n_components": 25}),
}
# What extra-trees may see: each row at most once, or a bootstrap.
ROWS: dict[str, dict[str, Any]] = {
    "38% of the rows": {"max_samples": PROBE_SHARE / 2},
    "75% of the rows": {"max_samples": PROBE_SHARE},
    "all rows": {},
    "bootstrap": {"bootstrap": True},
}
USUAL, TUNED, RANDOM, OPTUNA = "default", "tuned", "random search", "optuna"
# The settings whose score is foretold: changes to the usual one.
FORETOLD: dict[str, dict[str, Any]] = {
    "usual": {},
    "4 k": {"factor": 4},
    "leaf 2": {"min_samples_leaf": 2},
    "m=1": {"n_components": 1},
}
FORETOLD_FROM, FORETOLD_AT = 20, 500


def run_tuning(
    datasets: Sequence[str],
    searched: Sequence[str],
    foretold: Sequence[str],
    out: Path,
    *,
    n_splits: int = 3,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes tuning-T-trees.csv, foretold.csv and tuning.md into ``out``.

    ``searched`` names the sets on which random search, and Optuna where it is installed, run too;
    ``foretold`` those on which scores are foretold and measured.
    """
    console = console or Console()
    out.mkdir(parents=True, exist_ok=True)
    options = (n_estimators, n_jobs)
    names = chosen_datasets(datasets, data_home)
    searches: dict[str, Callable[..., Any]] = {RANDOM: random_search}
    if find_spec("optuna") is not None:
        searches[OPTUNA] = optuna_search
    cells = [
        Cell(name, split, method, measure)
        for name in dict.fromkeys([*names, *searched])
        for split in range(n_splits)
        for method, measure in _measures(options, split, searches if name in searched else {})
    ]
    file = CellFile(out / f"tuning-{n_estimators}-trees.csv")
    law = CellFile(out / "foretold.csv")
    law_cells = [
        Cell(name, 0, setting, partial(_foretell, change, n_jobs))
        for name in foretold
        for setting, change in FORETOLD.items()
    ]
    is_complete = run_cells(law_cells, law, data_home, console)
    is_complete = is_complete and run_cells(cells, file, data_home, console)
    page = tuning_page(file, law)
    (out / "tuning.md").write_text(page)
    console.print(page, markup=False, soft_wrap=True)
    return is_complete


def _measures(
    options: tuple[int, int], seed: int, searches: dict[str, Callable[..., Any]]
) -> list[tuple[str, Callable[[Problem], dict[str, Any]]]]:
    usual = [
        (name, partial(_measure_forest, kind, params, options, seed))
        for name, (kind, params) in {
            **BASELINES,
            USUAL: ("RandomForestClassifier", {}),
        }.items()
    ]
    rows = [(name, partial(_measure_rows, params, options, seed)) for name, params in ROWS.items()]
    others = [(name, partial(_measure_search, s, options, seed)) for name, s in searches.items()]
    return [*usual, (TUNED, partial(_measure_tuned, options, seed)), *rows, *others]


def _measure_forest(
    kind: str, params: dict[str, Any], options: tuple[int, int], seed: int, problem: Problem
) -> dict[str, Any]:
    n_estimators, n_jobs = options
    make = getattr(sketchforest, kind)
    forest = make(n_estimators, n_jobs=n_jobs, random_state=seed, **params)
    return {**fit_and_score(forest, problem), "setting": ""}


def _measure_tuned(options: tuple[int, int], seed: int, problem: Problem) -> dict[str, Any]:
    n_estimators, n_jobs = options
    started = time.perf_counter()
    result = tune(
        problem.X_train,
        problem.Y_train,
        n_estimators=n_estimators,
        random_state=seed,
        n_jobs=n_jobs,
    )
    seconds = time.perf_counter() - started
    score = lrap_on_test(result.forest, problem)
    return {"lrap": score, "seconds": seconds, "setting": str(result.winner.setting)}


def _measure_rows(
    rows: dict[str, Any], options: tuple[int, int], seed: int, problem: Problem
) -> dict[str, Any]:
    """Extra-trees as `tune` expects them to be good."""
    n_features = problem.X_train.shape[1]
    k = min(n_features, 4 * n_features_drawn("sqrt", n_features))
    projects = problem.Y_train.shape[1] > PROMISING_COMPONENTS
    outputs = {"n_components": PROMISING_COMPONENTS} if projects else {"projection": None}
    params = {"max_features": k, "min_samples_leaf": 2, **outputs, **rows}
    return _measure_forest("ExtraTreesClassifier", params, options, seed, problem)


def _measure_search(
    search: Callable[..., Any], options: tuple[int, int], seed: int, problem: Problem
) -> dict[str, Any]:
    started = time.perf_counter()
    forest = search(problem, *options, seed)
    seconds = time.perf_counter() - started
    return {"lrap": lrap_on_test(forest, problem), "seconds": seconds, "setting": ""}


def _foretell(change: dict[str, Any], n_jobs: int, problem: Problem) -> dict[str, float]:
    """The score of 500 trees foretold from 20, and measured: by rows out of 500 bags each."""
    given = sketchforest.RandomForestClassifier(random_state=0)._take_problem(
        problem.X_train, problem.Y_train
    )
    change = dict(change)
    k = min(given.X.shape[1], change.pop("factor", 1) * given.settings.max_features)
    if "n_components" in change:
        change["projection"] = resolve_projection("gaussian")
    settings = replace(given.settings, max_features=k, **change)
    race = Race(Judge(given, Criterion.of("lrap"), 0), given, FORETOLD_AT, False, n_jobs)
    runner = race.enter(settings)
    race.grow([runner], [FORETOLD_FROM])
    race.look(runner)
    estimate = race.estimate(runner)
    race.grow([runner], [round(FORETOLD_AT * np.e)])
    race.look(runner)
    measured = race.estimate(runner).now
    return {"now": estimate.now, "lrap": estimate.score, "se": estimate.se, "measured": measured}


def tuning_page(file: CellFile, law: CellFile) -> str:
    """The tables and how many sets each claim holds on."""
    return "\n".join([_score_part(file), _search_part(file), _rows_part(file), _law_part(law)])


def _score_part(file: CellFile) -> str:
    scores, seconds = file.table("lrap"), file.table("seconds")
    names = [name for name, method in scores if method == TUNED]
    rows, no_worse, better, fits = [], 0, 0, []
    for name in names:
        known = {m: mean_and_sd(scores[name, m]) for m in BASELINES if (name, m) in scores}
        best = max(known, key=lambda method: known[method][0])
        tuned, _ = mean_and_sd(scores[name, TUNED])
        is_no_worse = tuned >= known[best][0] - known[best][1]
        plain, sd = known["plain RF"]
        is_better = tuned > plain + sd
        fits.append(np.mean(np.divide(seconds[name, TUNED], seconds[name, USUAL])))
        no_worse, better = no_worse + is_no_worse, better + is_better
        cells = [f"{mean:.4f} ± {sd:.4f}" for mean, sd in known.values()]
        marks = ("yes" if is_no_worse else "no", "yes" if is_better else "no")
        rows.append([name, *cells, f"{tuned:.4f}", *marks, f"{fits[-1]:.1f}"])
    header = ["data set", *BASELINES, "tuned", "≥ best − sd", "> plain RF + sd", "default fits"]
    return (
        "## Test LRAP, mean over splits (± sd)\n\n"
        + markdown(header, rows)
        + f"\nNo worse than the best of the five less one sd: {no_worse} of {len(names)} sets; "
        f"above the plain forest by more than one sd: {better}.\n"
    )


def _search_part(file: CellFile) -> str:
    scores, seconds = file.table("lrap"), file.table("seconds")
    rows = []
    reached: dict[str, list[tuple[bool, bool, bool]]] = {RANDOM: [], OPTUNA: []}
    for name, method in scores:
        if method not in (RANDOM, OPTUNA) or (name, TUNED) not in scores:
            continue
        theirs, sd = mean_and_sd(scores[name, method])
        ours = float(np.mean(scores[name, TUNED]))
        their_seconds, our_seconds = (float(np.mean(seconds[name, m])) for m in (method, TUNED))
        cells = [f"{theirs:.4f} ± {sd:.4f}", f"{ours:.4f}", f"{their_seconds:.1f} s"]
        ratio = their_seconds / our_seconds
        rows.append([name, method, *cells, f"{our_seconds:.2f} s", f"{ratio:.0f}"])
        reached[method].append((ours >= theirs - sd, ours >= theirs, ratio >= 10))
    header = ["data set", "search of 60 settings", "LRAP", "tuned", "time", "tuned", "times faster"]
    page = "## Beside 60 settings by five-fold cross-validation\n\n" + markdown(header, rows)
    for method, marks in reached.items():
        if not marks:
            continue
        within, above, faster = np.sum(marks, axis=0)
        page += (
            f"\nOf {len(marks)} sets with {method}, tuned is no more than one sd below it on "
            f"{within}, at least as good on {above}, ten times faster or more on {faster}.\n"
        )
    return page


def _rows_part(file: CellFile) -> str:
    scores = file.table("lrap")
    names = [name for name, method in scores if method == "all rows"]
    rows = []
    for name in names:
        known = [mean_and_sd(scores[name, method]) for method in ROWS]
        rows.append([name, *(f"{mean:.4f} ± {sd:.4f}" for mean, sd in known)])
    setting = f"m={PROMISING_COMPONENTS}, leaves of 2, 4 sqrt(p) features"
    title = f"## Rows that each extra-tree sees: test LRAP ({setting})\n\n"
    return title + markdown(["data set", *ROWS], rows)


def _law_part(law: CellFile) -> str:
    rows, n_within = [], 0
    for row in law.rows:
        foretold, se, measured = (float(row[name]) for name in ("lrap", "se", "measured"))
        is_within = abs(foretold - measured) <= 2 * se
        n_within += is_within
        now = f"{float(row['now']):.4f}"
        cells = [now, f"{foretold:.4f} ± {se:.4f}", f"{measured:.4f}"]
        rows.append([f"{row['dataset']}, {row['method']}", *cells, "yes" if is_within else "no"])
    header = ["setting", "20 trees", "foretold for 500", "measured", "within two se"]
    return (
        "## Out-of-bag LRAP of 500 trees, foretold from 20\n\n"
        + markdown(header, rows)
        + f"\nWithin two standard errors: {n_within} of {len(rows)}.\n"
    )
