"""The paper's Figures 1 to 4 as sections of the report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import ORIGINAL, draw, draw_lines
from benchmarks.reproduce.figures import Panel, figure_panels
from benchmarks.reproduce.figures_findings import (
    convergence,
    pca_is_behind,
    sparse_is_no_worse,
)
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section
from benchmarks.reproduce.scores import Score
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.store import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {
    "figure1": "Figure 1: one tree and both algorithms against m",
    "figure2": "Figure 2: randomised inputs and outputs, k against m",
    "figure3": "Figure 3: other projections",
    "figure4": "Figure 4: k against m on Delicious",
}
_INTROS = {
    "figure1": "Gaussian projections in single CART trees and in random forests, either one "
    "projection for each tree (algorithm 2) or one for all (algorithm 1). The paper sees single "
    "trees converge around m = 200, algorithm 2 around 25 and algorithm 1 around 75.",
    "figure2": "The paper shows drug-interaction, which is not to be had. There, forests on the "
    "original outputs get worse when many features are tried at each split, and forests on few "
    "projected outputs do not. Here are a set of images and a small one of texts; Figure 4 is the "
    "same on Delicious.",
    "figure3": "Dense projections behave alike in the paper; sparse ones have their best scores at "
    "few components, above the forest on the original outputs; principal components are far less "
    "effective.",
    "figure4": "The paper's appendix: few outputs make the forest robust against large k, without "
    "improving on the forest on the original outputs.",
}


def figure_section(figure: str, settings: ReproduceSettings, lookup: Lookup) -> Section:
    """One figure: pictures, a table of their points, and the claims they bear on."""
    panels = figure_panels(figure, settings)
    return Section(
        name=figure,
        title=_TITLES[figure],
        intro=[_INTROS[figure], _protocol(panels, settings)],
        findings=_findings(figure, panels, lookup),
        pictures=[picture for panel in panels for picture in _pictures(panel, lookup)],
        grids=[_grid(panel, lookup) for panel in panels],
        rows=[row for panel in panels for row in _csv_rows(figure, panel, lookup)],
    )


def _protocol(panels: Sequence[Panel], settings: ReproduceSettings) -> str:
    lines = [line for panel in panels for line in panel.lines]
    n_seeds = max(len(seeds) for line in lines for seeds in line.experiments.values())
    return (
        f"Means and standard deviations of the LRAP over {n_seeds} seeds on one split, that of the "
        f"data set; {settings.n_estimators} trees, fully grown."
    )


def _findings(figure: str, panels: Sequence[Panel], lookup: Lookup) -> list[Finding]:
    claims = {
        "figure1": {"forest": convergence},
        "figure3": {"sparse": sparse_is_no_worse, "pca": pca_is_behind},
    }.get(figure, {})
    return [
        finding
        for panel in panels
        if panel.key in claims
        for finding in claims[panel.key](panel, lookup)
    ]


def _pictures(panel: Panel, lookup: Lookup) -> list[Picture]:
    """LRAP against m or k; forests on the original outputs, which have no m, as a dashed line."""
    lines: dict[str, dict[int, Score]] = {}
    levels: dict[str, Score] = {}
    for line in panel.lines:
        points = line.points(lookup)
        if None in points:
            levels[line.label] = points[None]
        elif points:
            lines[line.label] = {x: point for x, point in points.items() if x is not None}
    return curves_picture(panel, lines, levels) if lines else []


def curves_picture(
    panel: Panel, lines: dict[str, dict[int, Score]], levels: dict[str, Score]
) -> list[Picture]:
    def paint(axes: "Axes") -> None:
        for label, level in levels.items():
            axes.axhline(level.mean, color=ORIGINAL, linestyle="--", linewidth=1.3, label=label)
            spread = level.sd or 0.0
            axes.axhspan(level.mean - spread, level.mean + spread, color=ORIGINAL, alpha=0.1, lw=0)
        draw_lines(axes, lines)
        axes.set_xlabel(panel.x_label)
        axes.set_ylabel("LRAP")
        axes.set_title(f"{panel.dataset}: {panel.title}", loc="left", fontsize=10)

    caption = f"{panel.dataset}, {panel.title}: LRAP against {panel.x_label}."
    return draw(panel.key, caption, paint)


def _grid(panel: Panel, lookup: Lookup) -> Grid:
    """A row for each m or k, and one for the forest without m."""
    columns = {line.label: line.points(lookup) for line in panel.lines}
    xs = sorted({x for line in panel.lines for x in line.experiments if x is not None})
    rows: list[list[Entry | str]] = [
        [f"{panel.x_label[0]} = {x:,}", *(_point(points.get(x)) for points in columns.values())]
        for x in xs
    ]
    if any(None in line.experiments for line in panel.lines):
        rows.append(["no m", *(_point(points.get(None)) for points in columns.values())])
    return Grid(["", *columns], rows, f"{panel.dataset}, {panel.title}")


def _point(score: Score | None) -> str:
    return "" if score is None else score.text(4)


def _csv_rows(figure: str, panel: Panel, lookup: Lookup) -> list[Row]:
    return [
        {
            "figure": figure,
            "panel": panel.key,
            "dataset": panel.dataset,
            "curve": line.label,
            panel.x_label[0]: x,
            "n_seeds": len(line.experiments[x]),
            "lrap": round(score.mean, 5),
            "lrap_sd": None if score.sd is None else round(score.sd, 5),
        }
        for line in panel.lines
        for x, score in line.points(lookup).items()
    ]
