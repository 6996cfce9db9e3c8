"""Which projection to take: kinds of them at several m, beside the original outputs."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks.data import TrainTestSplit
from benchmarks.experiments import Workspace
from benchmarks.studies.method_experiment import (
    FitResult,
    MethodExperiment,
    Study,
    find_datasets,
    fit_and_score,
    markdown_table,
    split_counts,
    values_by_method,
)
from sketchforest import RandomForestClassifier
from sketchforest.datasets import load

PROJECTIONS = (
    "gaussian",
    "rademacher",
    "achlioptas",
    "sparse",
    "subsample",
    "hadamard",
    "pca",
)
COMPONENTS = (1, 10, 64)
PLAIN = "original outputs"


def run_projections(
    datasets: Sequence[str],
    out: Path,
    *,
    n_splits: int = 3,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes projections-T-trees.csv and projections.md into ``out``."""
    study = Study(
        "projections", out, n_estimators, partial(projections_page, n_estimators=n_estimators)
    )
    experiments = [
        MethodExperiment(
            name,
            split,
            _method(projection, m) if projection else PLAIN,
            study.table,
            FitResult,
            partial(_measure, projection, m, n_estimators, n_jobs, split),
        )
        for name in find_datasets(datasets, data_home)
        for settings in [_settings(load(name, data_home).Y.shape[1])]
        for split in range(n_splits)
        for projection, m in settings
    ]
    return study.run(experiments, Workspace(data_home, n_jobs), console)


def _settings(n_labels: int) -> list[tuple[str | None, int]]:
    """What projects at all, and the original outputs."""
    projected = [(name, m) for m in COMPONENTS if m < n_labels for name in PROJECTIONS]
    return [(None, n_labels), *projected]


def _method(projection: str, m: int) -> str:
    return f"{projection}-{m}"


def _measure(
    projection: str | None,
    m: int,
    n_estimators: int,
    n_jobs: int,
    seed: int,
    data: TrainTestSplit,
) -> FitResult:
    forest = RandomForestClassifier(
        n_estimators, projection=projection, n_components=m, n_jobs=n_jobs, random_state=seed
    )
    return fit_and_score(forest, data)


def projections_page(results: Sequence[Mapping[str, str]], n_estimators: int) -> str:
    """A row for each set and m; what is surely above or below the gaussian projection is marked."""
    scores = values_by_method(results, "lrap")
    rows = []
    for name in dict.fromkeys(name for name, _ in scores):
        plain = scores.get((name, PLAIN), [])
        for m in COMPONENTS:
            known = {
                p: scores[name, _method(p, m)]
                for p in PROJECTIONS
                if (name, _method(p, m)) in scores
            }
            if known:
                cells = [_cell(known, projection) for projection in PROJECTIONS]
                rows.append([name, str(m), f"{np.mean(plain):.3f}" if plain else "–", *cells])
    return "\n".join(
        [
            "# Which projection",
            "",
            f"Random forests of {n_estimators} trees, each tree on a projection of its own. LRAP "
            f"on test rows, means over {split_counts(map(len, scores.values()))} random splits of "
            "each set, the same for all. **Bold**: above the gaussian projection on every split; "
            "*italics*: below it on every split. Made by `sketchforest bench projections`.",
            "",
            markdown_table(["data set", "m", PLAIN, *PROJECTIONS], rows),
        ]
    )


def _cell(known: Mapping[str, Sequence[float]], projection: str) -> str:
    if projection not in known:
        return "–"
    text = f"{np.mean(known[projection]):.3f}"
    gains = [a - b for a, b in zip(known[projection], known.get("gaussian", []), strict=False)]
    if gains and min(gains) > 0:
        return f"**{text}**"
    return f"*{text}*" if gains and max(gains) < 0 else text
