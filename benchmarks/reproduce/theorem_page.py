"""Theorem 1 and the Johnson-Lindenstrauss lemma as a section of the report."""

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import draw, draw_lines
from benchmarks.reproduce.figures import NAMES
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section
from benchmarks.reproduce.scores import Score
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.theorem import (
    TheoremExperiment,
    TheoremResult,
    jl_epsilon,
    theorem_experiments,
)
from benchmarks.store import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIN_DRAWS = 5
# Of independent normal errors, few are beyond three standard errors.
_TOLERATED_SHARE = 0.1

_Known = Sequence[tuple[TheoremExperiment, TheoremResult]]


def theorem_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Distortion of distances and variances by every projection."""
    experiments = theorem_experiments(settings)
    known = [(one, result) for one in experiments if (result := lookup(one)) is not None]
    return Section(
        name="theorem",
        title="Theorem 1 and the Johnson-Lindenstrauss lemma",
        intro=_intro(experiments[0]),
        findings=[_theorem_holds(known), *_is_unbiased(known)],
        pictures=[
            *_distortion_picture(known, "largest_distortion", "largest distortion of a distance"),
            *_distortion_picture(known, "largest_node_distortion", "largest distortion in a node"),
        ],
        grids=_grids(known),
        rows=[_csv_row(one, result) for one, result in known],
    )


def _intro(first: TheoremExperiment) -> list[str]:
    return [
        f"Up to {first.n_rows} different label vectors of {first.dataset}, {first.n_draws} draws "
        "of each projection. If no squared distance of two vectors changes by a factor outside "
        "1 ± ε, then neither does the variance of any subset: the sum of variances is half the "
        "mean squared distance. A node is a subset of 20 rows.",
        "Dashed: √(8 ln n / m), the ε of the lemma as the paper states it. PCA is not scaled to "
        "preserve distances and can only shrink them. Where all labels are kept, nothing changes, "
        "and nothing is drawn.",
    ]


def _theorem_holds(known: _Known) -> Finding:
    pairs = [
        (max(abs(ratio - 1), node), distance)
        for _, result in known
        for ratio, node, distance in zip(
            result.variance_ratio,
            result.largest_node_distortion,
            result.largest_distortion,
            strict=True,
        )
    ]
    # The second tolerance is for projections that distort nothing: all labels, subsampled.
    held = sum(variance <= distance * (1 + 1e-5) + 1e-12 for variance, distance in pairs)
    text = (
        f"Theorem 1: in {held} of {len(pairs)} draws no variance is distorted more than the most "
        "distorted distance."
    )
    return Finding(text, held == len(pairs) if pairs else None)


def _is_unbiased(known: _Known) -> list[Finding]:
    distances = []
    for experiment, result in known:
        ratios = result.variance_ratio
        if experiment.projection != "pca" and len(ratios) >= _MIN_DRAWS:
            error = statistics.stdev(ratios) / len(ratios) ** 0.5
            distances.append(abs(statistics.fmean(ratios) - 1) / error if error else 0.0)
    if not distances:
        return []
    close = sum(distance <= 3 for distance in distances)
    text = (
        f"Random projections preserve the variance on average: {close} of {len(distances)} mean "
        "ratios are within three standard errors of 1."
    )
    return [Finding(text, close >= (1 - _TOLERATED_SHARE) * len(distances))]


def _grids(known: _Known) -> list[Grid]:
    """A row for each m, a column for each projection."""
    captions = {
        "variance_ratio": "Variance after over variance before, and its standard deviation",
        "largest_distortion": "Largest distortion of a distance, and its standard deviation",
    }
    projections = list(dict.fromkeys(one.projection for one, _ in known))
    counts = sorted({one.n_components for one, _ in known})
    found = {(one.projection, one.n_components): result for one, result in known}
    headers = ["", *(NAMES[projection] for projection in projections)]
    return [
        Grid(
            headers,
            [
                [f"m = {m}", *(_over_draws(found.get((name, m)), figure) for name in projections)]
                for m in counts
            ],
            caption,
        )
        for figure, caption in captions.items()
    ]


def _over_draws(result: TheoremResult | None, figure: str) -> Entry | str:
    if result is None:
        return ""
    values = getattr(result, figure)
    deviation = f"± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return Entry(f"{statistics.fmean(values):.2f}", deviation)


def _distortion_picture(known: _Known, name: str, title: str) -> list[Picture]:
    lines: dict[str, dict[int, Score]] = {}
    for experiment, result in known:
        mean = Score(statistics.fmean(getattr(result, name)), None)
        lines.setdefault(NAMES[experiment.projection], {})[experiment.n_components] = mean
    if not lines:
        return []

    def paint(axes: "Axes") -> None:
        counts = sorted({m for points in lines.values() for m in points})
        bound = [jl_epsilon(known[0][0].n_rows, m) for m in counts]
        axes.plot(counts, bound, "--", color="#777777", label="√(8 ln n / m)")
        draw_lines(axes, lines, log_y=True)
        axes.set_xlabel("m, projected outputs")
        axes.set_ylabel("relative change, |after / before - 1|")
        axes.set_title(title, loc="left", fontsize=10)

    return draw(name.replace("_", "-"), f"{title.capitalize()}, mean over draws.", paint)


def _csv_row(experiment: TheoremExperiment, result: TheoremResult) -> Row:
    ratios, mean = result.variance_ratio, statistics.fmean
    return {
        "dataset": experiment.dataset,
        "projection": experiment.projection,
        "m": experiment.n_components,
        "n_draws": experiment.n_draws,
        "variance_ratio": round(mean(ratios), 5),
        "variance_ratio_sd": round(statistics.pstdev(ratios), 5),
        "largest_distortion": round(mean(result.largest_distortion), 5),
        "typical_distortion": round(mean(result.typical_distortion), 5),
        "largest_node_distortion": round(mean(result.largest_node_distortion), 5),
        "jl_epsilon": round(jl_epsilon(experiment.n_rows, experiment.n_components), 5),
    }
