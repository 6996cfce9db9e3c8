"""Tables 1 and 2: forests on the original outputs and on gaussian projections of them."""

import statistics
from dataclasses import dataclass

from sketchforest._estimators.constructors import NComponents
from sketchforest.lab.experiments import Lookup
from sketchforest.lab.reproduce.data import find_set
from sketchforest.lab.reproduce.forest_experiment import ForestExperiment, ForestResult
from sketchforest.lab.reproduce.paper import OUTPUTS, PaperSet, paper_marks, paper_scores
from sketchforest.lab.reproduce.scores import Score, gap, mark, score, verdict
from sketchforest.lab.reproduce.settings import ReproduceSettings

_Results = dict[tuple[str, str], dict[int, ForestResult]]  # (data set, outputs) -> split -> result

_SPLITS = 10
_N_COMPONENTS: dict[str, NComponents] = {"original": None, "1": 1, "log": "log", "all": "all"}


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
    cells: dict[str, TableCell]

    @property
    def is_comparable(self) -> bool:
        return self.paper_set.is_comparable

    @property
    def label(self) -> str:
        """The data set, marked if its problem is not the paper's."""
        return self.paper_set.dataset + ("" if self.is_comparable else " †")


def table_experiments(forest: str, settings: ReproduceSettings) -> list[ForestExperiment]:
    """The runs of one table: data set by data set, and in each split by split."""
    return [
        experiment
        for dataset in settings.chosen()
        for split in range(settings.n_repeats(_SPLITS))
        for experiment in _split_experiments(forest, dataset, split, settings)
    ]


def _split_experiments(
    forest: str, dataset: str, split: int, settings: ReproduceSettings
) -> list[ForestExperiment]:
    return [
        ForestExperiment(
            dataset=dataset,
            forest=forest,
            projection=None if outputs == "original" else "gaussian",
            n_components=_N_COMPONENTS[outputs],
            n_estimators=settings.n_estimators,
            split=split,
            repeat=split,
            seed=settings.seed,
        )
        for outputs in OUTPUTS
        if outputs != "all" or settings.with_all
    ]


def table_rows(forest: str, settings: ReproduceSettings, lookup: Lookup) -> list[TableRow]:
    """What is known so far, a row for each data set."""
    results: _Results = {}
    for experiment in table_experiments(forest, settings):
        result = lookup(experiment)
        if result is not None:
            outputs = str(experiment.n_components or "original")
            results.setdefault((experiment.dataset, outputs), {})[experiment.repeat] = result
    return [
        TableRow(
            paper_set=find_set(dataset),
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
    ours = score([result.lrap for result in mine.values()])
    reference = score([result.lrap for result in original.values()])
    key = forest, dataset, outputs
    return TableCell(
        outputs=outputs,
        n_splits=len(mine),
        ours=ours,
        paper=paper_scores().get(key),
        fit_seconds=statistics.fmean(r.fit_seconds for r in mine.values()) if mine else None,
        verdict="" if ours is None or reference is None else verdict(ours, reference),
        paper_verdict=paper_marks().get(key, ""),
        gain=score([mine[s].lrap - original[s].lrap for s in mine if s in original]),
    )
