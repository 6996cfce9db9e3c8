"""Section 4.6 of the paper as a section of the report."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import COLOURS, draw
from benchmarks.reproduce.page import Entry, Grid, Picture, Section
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.timing import (
    PAPER_PROJECTION_SECONDS,
    PAPER_SECONDS,
    TimingExperiment,
    TimingResult,
    timing_experiments,
)
from benchmarks.store import Row
from sketchforest._utils.units import UNKNOWN, ratio, seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PaperTimes = Mapping[int | None, float]  # seconds by m, None being the original outputs


@dataclass(frozen=True)
class _Timing:
    """Medians for all trees; seconds of the processor, of the clock, and of one projection."""

    n_components: int | None
    package: str
    n_grown: int
    n_estimators: int
    cpu: float
    wall: float
    projection: float | None


def timing_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Learning times beside the paper's."""
    experiments = timing_experiments(settings)
    first = experiments[0]
    timings = _timings(experiments, lookup)
    paper = PAPER_SECONDS if _is_of_the_paper(first) else {}
    return Section(
        name="timing",
        title="Section 4.6: learning times",
        intro=_intro(first),
        pictures=_picture(timings, first.dataset, paper),
        grids=[_grid(timings, paper)],
        rows=[_csv_row(timing, paper) for timing in timings],
    )


def _is_of_the_paper(experiment: TimingExperiment) -> bool:
    return experiment.dataset == "delicious"


def _intro(first: TimingExperiment) -> list[str]:
    others = [] if _is_of_the_paper(first) else ["The paper's times are of Delicious: not shown."]
    return [
        f"Reading {first.dataset} and growing {first.n_estimators} trees, in seconds of processor "
        "time, user and system together, as the paper measures it (Mac Pro 4.1, Xeon at 2.26 GHz, "
        f"2014, scikit-learn 0.14-dev). Wall-clock times are with {first.n_jobs} "
        f"thread{'s' * (first.n_jobs != 1)}.",
        "scikit-learn grows fewer trees and its fit times are scaled (*). With m outputs it is "
        "given one projection of the labels (algorithm 1), and its leaves could not predict "
        "labels: only the search for splits is compared.",
        *others,
    ]


def _timings(experiments: Sequence[TimingExperiment], lookup: Lookup) -> list[_Timing]:
    groups: dict[tuple[int | None, str], list[tuple[TimingExperiment, TimingResult]]] = {}
    for experiment in experiments:
        result = lookup(experiment)
        if result is not None:
            group = groups.setdefault((experiment.n_components, experiment.package), [])
            group.append((experiment, result))
    return [_timing(group[0][0], [result for _, result in group]) for group in groups.values()]


def _timing(experiment: TimingExperiment, results: Sequence[TimingResult]) -> _Timing:
    factor = experiment.n_estimators / experiment.n_grown
    projections = [r.projection_seconds for r in results if r.projection_seconds is not None]
    return _Timing(
        n_components=experiment.n_components,
        package=experiment.package,
        n_grown=experiment.n_grown,
        n_estimators=experiment.n_estimators,
        cpu=statistics.median(r.load_cpu_seconds + factor * r.fit_cpu_seconds for r in results),
        wall=statistics.median(r.load_seconds + factor * r.fit_seconds for r in results),
        projection=statistics.median(projections) if projections else None,
    )


def _grid(timings: Sequence[_Timing], paper: PaperTimes) -> Grid:
    headers = ["outputs", "paper", "scikit-learn", "sketchforest", "faster", "one projection"]
    rows: list[list[Entry | str]] = []
    for m in PAPER_SECONDS:
        ours, theirs = _find(timings, m, "sketchforest"), _find(timings, m, "scikit-learn")
        rows.append(
            [
                _outputs(m),
                seconds(paper.get(m)),
                _entry(theirs),
                _entry(ours),
                _faster(paper.get(m), theirs, ours),
                ""
                if m is None
                else _projection(ours, PAPER_PROJECTION_SECONDS[m] if paper else None),
            ]
        )
    caption = (
        "Processor time, and below it the wall clock; faster than scikit-learn, than the paper"
    )
    return Grid(headers, rows, caption)


def _faster(paper: float | None, theirs: _Timing | None, ours: _Timing | None) -> Entry:
    if ours is None:
        return Entry(UNKNOWN)
    than_sklearn = ratio(theirs.cpu / ours.cpu if theirs else None)
    return Entry(than_sklearn, f"paper {ratio(paper / ours.cpu)}" if paper else "")


def _find(timings: Sequence[_Timing], m: int | None, package: str) -> _Timing | None:
    return next((t for t in timings if t.n_components == m and t.package == package), None)


def _outputs(m: int | None) -> str:
    return "original" if m is None else f"m = {m}"


def _projection(ours: _Timing | None, paper: float | None) -> Entry:
    """Drawing P and multiplying Y by it, once."""
    beside = f"paper {seconds(paper)}" if paper else ""
    return Entry(seconds(ours.projection if ours else None), beside)


def _entry(timing: _Timing | None) -> Entry:
    if timing is None:
        return Entry(UNKNOWN)
    mark = "*" if timing.n_grown < timing.n_estimators else ""
    return Entry(seconds(timing.cpu) + mark, f"{seconds(timing.wall)} wall")


def _picture(timings: Sequence[_Timing], dataset: str, paper: PaperTimes) -> list[Picture]:
    if not timings:
        return []

    def paint(axes: "Axes") -> None:
        places = list(PAPER_SECONDS)
        series = {
            "the paper, 2014": paper,
            "scikit-learn": {t.n_components: t.cpu for t in timings if t.package != "sketchforest"},
            "sketchforest": {t.n_components: t.cpu for t in timings if t.package == "sketchforest"},
        }
        for number, (label, values) in enumerate(series.items()):
            heights = [y + 0.26 * (number - 1) for y, m in enumerate(places) if m in values]
            widths = [values[m] for m in places if m in values]
            bars = axes.barh(
                heights, widths, height=0.24, color=COLOURS[number], label=label if widths else "_"
            )
            axes.bar_label(bars, [seconds(width) for width in widths], padding=3, fontsize=8)
        axes.set_yticks(range(len(places)), [_outputs(m) for m in places])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.margins(x=0.15)
        axes.set_xlabel("seconds of processor time (log scale)")
        axes.legend(loc="lower right", fontsize=8, edgecolor="none")

    return draw("times", f"Learning time on {dataset}, user and system time together.", paint)


def _csv_row(timing: _Timing, paper: PaperTimes) -> Row:
    return {
        "n_components": timing.n_components,
        "package": timing.package,
        "n_grown": timing.n_grown,
        "n_estimators": timing.n_estimators,
        "cpu_seconds": round(timing.cpu, 4),
        "wall_seconds": round(timing.wall, 4),
        "projection_seconds": timing.projection and round(timing.projection, 5),
        "paper_cpu_seconds": paper.get(timing.n_components),
    }
