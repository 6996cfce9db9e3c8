"""Tables 1 and 2: forests on the original outputs and on gaussian projections of them."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sketchforest.lab.reproduce.cells import ForestCell
from sketchforest.lab.reproduce.paper import (
    OUTPUTS,
    PaperSet,
    Score,
    paper_marks,
    paper_scores,
)
from sketchforest.lab.reproduce.problems import find_set
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.store import Cell, Result

Lookup = Callable[[Cell], Result | None]
_Results = dict[tuple[str, str], dict[int, Result]]  # (data set, outputs) -> split -> result

_SPLITS = 10
_N_COMPONENTS: dict[str, int | str | None] = {"original": None, "1": 1, "log": "log", "all": "all"}
_ROUNDING = 1e-9  # 0.004 > 0.004 must not be decided by the last bit


@dataclass(frozen=True)
class TableCell:
    """One score of ours beside the paper's; None where there is none.

    ``gap`` is their distance in units of the larger standard deviation. ``verdict`` compares with
    our forest on the original outputs, and ``gain`` is the difference to it, split by split;
    ``paper_verdict`` is the paper's own mark.
    """

    outputs: str
    n_splits: int
    ours: Score | None
    paper: Score | None
    fit_seconds: float | None
    verdict: str = ""
    paper_verdict: str = ""
    gain: Score | None = None

    @property
    def gap(self) -> float | None:
        return None if self.ours is None or self.paper is None else gap(self.ours, self.paper)

    @property
    def mark(self) -> str:
        return "" if self.ours is None or self.paper is None else mark(self.ours, self.paper)


@dataclass(frozen=True)
class TableRow:
    """The scores of one data set, by outputs."""

    paper_set: PaperSet
    is_stand_in: bool
    cells: dict[str, TableCell]

    @property
    def is_comparable(self) -> bool:
        return self.paper_set.is_comparable and not self.is_stand_in

    @property
    def label(self) -> str:
        """The data set, marked if its problem is not the paper's."""
        return self.paper_set.dataset + ("" if self.is_comparable else " †")


def table_cells(forest: str, settings: ReproduceSettings) -> list[ForestCell]:
    """The runs of one table: data set by data set, and in each split by split."""
    return [
        cell
        for dataset in settings.chosen()
        for split in range(settings.n_repeats(_SPLITS))
        for cell in _split_cells(forest, dataset, split, settings)
    ]


def _split_cells(
    forest: str, dataset: str, split: int, settings: ReproduceSettings
) -> list[ForestCell]:
    return [
        ForestCell(
            dataset=dataset,
            forest=forest,
            projection=None if outputs == "original" else "gaussian",
            n_components=_N_COMPONENTS[outputs],
            n_estimators=settings.n_estimators,
            split=split,
            repeat=split,
            seed=settings.seed,
            synthetic=settings.is_stand_in(dataset),
        )
        for outputs in OUTPUTS
        if outputs != "all" or settings.with_all
    ]


def table_rows(forest: str, settings: ReproduceSettings, lookup: Lookup) -> list[TableRow]:
    """What is known so far, a row for each data set."""
    results: _Results = {}
    for cell in table_cells(forest, settings):
        result = lookup(cell)
        if result is not None:
            outputs = str(cell.n_components or "original")
            results.setdefault((cell.dataset, outputs), {})[cell.repeat] = result
    return [
        TableRow(
            paper_set=find_set(dataset),
            is_stand_in=settings.is_stand_in(dataset),
            cells={
                outputs: _cell(forest, dataset, outputs, results)
                for outputs in OUTPUTS
                if outputs != "all" or settings.with_all
            },
        )
        for dataset in settings.chosen()
    ]


def _cell(forest: str, dataset: str, outputs: str, results: _Results) -> TableCell:
    mine = results.get((dataset, outputs), {})
    original = results.get((dataset, "original"), {})
    ours = score([result["lrap"] for result in mine.values()])
    reference = score([result["lrap"] for result in original.values()])
    key = forest, dataset, outputs
    return TableCell(
        outputs=outputs,
        n_splits=len(mine),
        ours=ours,
        paper=paper_scores().get(key),
        fit_seconds=statistics.fmean(r["fit_seconds"] for r in mine.values()) if mine else None,
        verdict="" if ours is None or reference is None else verdict(ours, reference),
        paper_verdict=paper_marks().get(key, ""),
        gain=score([mine[s]["lrap"] - original[s]["lrap"] for s in mine if s in original]),
    )


def score(values: Sequence[float]) -> Score | None:
    """Mean and standard deviation (with n - 1) of the values."""
    if not values:
        return None
    return Score(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def gap(one: Score, other: Score) -> float | None:
    """Distance of the means in units of the larger standard deviation."""
    larger = max(one.sd or 0.0, other.sd or 0.0)
    return abs(one.mean - other.mean) / larger if larger else None


def mark(ours: Score, paper: Score) -> str:
    """ "*" if the means differ by more than one of the larger standard deviations, "**" by two."""
    distance = gap(ours, paper)
    if distance is None:
        return ""
    return "**" if distance > 2 + _ROUNDING else "*" if distance > 1 + _ROUNDING else ""


def verdict(score: Score, reference: Score) -> str:
    """The paper's own test: "worse" or "better" than the forest on the original outputs by more
    than one (the larger) standard deviation."""
    distance = gap(score, reference)
    if distance is None or distance <= 1 + _ROUNDING:
        return ""
    return "worse" if score.mean < reference.mean else "better"
