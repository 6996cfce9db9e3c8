"""What it costs in accuracy that each part of a forest sees a part of the rows alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

from sketchforest import RandomForestClassifier, SketchForestClassifier
from sketchforest._estimators.predicting.partitioned import combine_partitions
from sketchforest.dask.blocks import deal
from sketchforest.dask.partitioned import share_of_part
from sketchforest.lab.data import TrainTestSplit
from sketchforest.lab.experiments import Workspace
from sketchforest.lab.measure import timed
from sketchforest.lab.studies.method_experiment import (
    FitResult,
    MethodExperiment,
    Study,
    find_datasets,
    markdown_table,
    values_by_method,
)
from sketchforest.metrics import lrap

KINDS = {"random forest": RandomForestClassifier, "sketch forest": SketchForestClassifier}
PARTITIONS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Way:
    """How a forest of partitions may be grown: how many trees for each one of the forest on all
    rows, and on all partitions or on one."""

    name: str
    has_t_each: bool = False
    is_one_alone: bool = False


WAYS = (
    Way("t trees"),
    # About as much work: a tree of an eighth of the rows takes less than an eighth of the time.
    Way("t trees a partition", has_t_each=True),
    Way("t trees, one partition alone", is_one_alone=True),
)


def run_partitions(
    datasets: Sequence[str],
    out: Path,
    *,
    n_splits: int = 1,
    n_estimators: int = 100,
    n_jobs: int = 2,
    data_home: str | None = None,
    console: Console | None = None,
) -> bool:
    """Measures, and writes partitions-T-trees.csv and partitions.md into ``out``."""
    study = Study("partitions", out, n_estimators, partitions_page)
    experiments = [
        MethodExperiment(
            name,
            split,
            _method(kind, n_parts, way),
            study.table,
            FitResult,
            partial(_measure, kind, n_parts, way, n_estimators, n_jobs, split),
        )
        for name in find_datasets(datasets, data_home)
        for split in range(n_splits)
        for kind in KINDS
        for n_parts in PARTITIONS
        for way in (WAYS if n_parts > 1 else WAYS[:1])
    ]
    return study.run(experiments, Workspace(data_home, n_jobs), console)


def _method(kind: str, n_parts: int, way: Way) -> str:
    return f"{kind}, {n_parts} partitions, {way.name}"


def _measure(
    kind: str,
    n_parts: int,
    way: Way,
    n_estimators: int,
    n_jobs: int,
    seed: int,
    data: TrainTestSplit,
) -> FitResult:
    """As `sketchforest.dask.fit_partitioned` does it, one partition after the other."""
    n_trees = n_estimators * (n_parts if way.has_t_each or way.is_one_alone else 1)
    forest = KINDS[kind](n_trees, n_jobs=n_jobs, random_state=seed)
    pieces = deal((data.X_train, data.Y_train), 0, n_parts, seed)
    fits = [
        timed(partial(share_of_part(forest, part, n_parts, seed).fit, X, Y))
        for part, (X, Y) in enumerate(pieces[:1] if way.is_one_alone else pieces)
    ]
    whole = combine_partitions([fitted for _, fitted in fits])
    score = lrap(data.Y_test, whole.predict_proba(data.X_test))
    return FitResult(score, sum(seconds for seconds, _ in fits))


def partitions_page(results: Sequence[Mapping[str, str]]) -> str:
    """LRAP by number of partitions."""
    scores, seconds = values_by_method(results, "lrap"), values_by_method(results, "seconds")
    rows = []
    for name in dict.fromkeys(dataset for dataset, _ in scores):
        for kind in KINDS:
            for way in WAYS:
                keys = [(name, _method(kind, n, way if n > 1 else WAYS[0])) for n in PARTITIONS]
                cells = [
                    f"{np.mean(scores[key]):.4f} ({np.mean(seconds[key]):.0f} s)"
                    if key in scores
                    else "–"
                    for key in keys
                ]
                rows.append([f"{name}, {kind}, {way.name}", *cells])
    header = ["", *(f"{n} partitions" if n > 1 else "all rows" for n in PARTITIONS)]
    return (
        "LRAP on test rows, and the seconds of all fits, one after the other.\n\n"
        + markdown_table(header, rows)
    )
