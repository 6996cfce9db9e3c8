"""The accuracy of forests whose trees are grown on partitions of the rows."""

from dataclasses import dataclass
from functools import partial

import pandas as pd

from benchmarks.data import TrainTestSplit
from benchmarks.measure import timed
from benchmarks.studies.study import FitResult, Measure, Study, lrap_on_test, markdown_table
from sketchforest import RandomForestClassifier, SketchForestClassifier
from sketchforest._estimators.predicting.partitioned import combine_partitions
from sketchforest.dask.blocks import deal
from sketchforest.dask.partitioned import share_of_part

KINDS = {"random forest": RandomForestClassifier, "sketch forest": SketchForestClassifier}
PARTITIONS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Way:
    """A way to grow a forest on partitions: how many trees, and on all partitions or on one."""

    name: str
    has_t_each: bool = False
    is_one_alone: bool = False


WAYS = (
    Way("t trees"),
    # About as much work: a tree on an eighth of the rows takes less than an eighth of the time.
    Way("t trees a partition", has_t_each=True),
    Way("t trees, one partition alone", is_one_alone=True),
)


def run_partitions(study: Study) -> bool:
    """Measure, and write partitions-T-trees.csv and partitions.md."""

    def methods(dataset: str, split: int) -> dict[str, Measure]:
        return {
            _method(kind, n_parts, way): partial(
                _measure, kind, n_parts, way, study.n_estimators, study.n_jobs, split
            )
            for kind in KINDS
            for n_parts in PARTITIONS
            for way in (WAYS if n_parts > 1 else WAYS[:1])
        }

    return study.run("partitions", FitResult, methods, partitions_page)


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
    """Do what `sketchforest.dask.fit_partitioned` does, one partition after the other."""
    n_trees = n_estimators * (n_parts if way.has_t_each or way.is_one_alone else 1)
    forest = KINDS[kind](n_trees, n_jobs=n_jobs, random_state=seed)
    pieces = deal((data.X_train, data.Y_train), 0, n_parts, seed)
    fits = [
        timed(partial(share_of_part(forest, part, n_parts, seed).fit, X, Y))
        for part, (X, Y) in enumerate(pieces[:1] if way.is_one_alone else pieces)
    ]
    whole = combine_partitions([fitted for _, fitted in fits])
    return FitResult(lrap_on_test(whole, data), sum(seconds for seconds, _ in fits))


def partitions_page(results: pd.DataFrame) -> str:
    """Make a table of LRAP by number of partitions."""
    means = results.groupby(["dataset", "method"])[["lrap", "seconds"]].mean()
    cells = means.apply(lambda row: f"{row['lrap']:.4f} ({row['seconds']:.0f} s)", axis="columns")
    rows = []
    for name in results["dataset"].unique():
        for kind in KINDS:
            for way in WAYS:
                keys = [(name, _method(kind, n, way if n > 1 else WAYS[0])) for n in PARTITIONS]
                found = [cells.get(key, "–") for key in keys]
                rows.append([f"{name}, {kind}, {way.name}", *found])
    header = ["", *(f"{n} partitions" if n > 1 else "all rows" for n in PARTITIONS)]
    intro = "LRAP on test rows, and the seconds of all fits, one after the other.\n\n"
    return intro + markdown_table(header, rows)
