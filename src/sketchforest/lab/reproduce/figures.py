"""The paper's Figures 1 to 4 as sections of the report."""

from collections.abc import Sequence
from typing import Any

from sketchforest.lab.page import Entry, Finding, Grid, Section
from sketchforest.lab.reproduce.curves import Panel, figure_panels
from sketchforest.lab.reproduce.findings import (
    convergence,
    pca_is_behind,
    sparse_is_no_worse,
)
from sketchforest.lab.reproduce.paper import Score
from sketchforest.lab.reproduce.pictures import panel_pictures
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.tables import Lookup

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
    "projected outputs do not. Delicious is the data set of the paper's appendix; the two others "
    "are small text and image sets.",
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
        pictures=[picture for panel in panels for picture in panel_pictures(panel, lookup)],
        grids=[_grid(panel, lookup) for panel in panels],
        rows=[row for panel in panels for row in _csv_rows(figure, panel, lookup)],
    )


def _protocol(panels: Sequence[Panel], settings: ReproduceSettings) -> str:
    n_seeds = max(len(cells) for p in panels for c in p.curves for cells in c.cells.values())
    stand_ins = [p.dataset for p in panels if settings.is_stand_in(p.dataset)]
    marked = f" {', '.join(dict.fromkeys(stand_ins))}: generated data." if stand_ins else ""
    return (
        f"Means and standard deviations of the LRAP over {n_seeds} seeds on one split, that of the "
        f"data set; {settings.n_estimators} trees, fully grown.{marked}"
    )


def _findings(figure: str, panels: Sequence[Panel], lookup: Lookup) -> list[Finding]:
    judges = {
        "figure1": {"forest": convergence},
        "figure3": {"sparse": sparse_is_no_worse, "pca": pca_is_behind},
    }.get(figure, {})
    return [
        finding
        for panel in panels
        if panel.key in judges
        for finding in judges[panel.key](panel, lookup)
    ]


def _grid(panel: Panel, lookup: Lookup) -> Grid:
    """A row for each m or k, and one for the forest without m."""
    columns = {curve.label: curve.points(lookup) for curve in panel.curves}
    xs = sorted({x for curve in panel.curves for x in curve.cells if x is not None})
    rows: list[list[Entry | str]] = [
        [f"{panel.x_label[0]} = {x:,}", *(_point(points.get(x)) for points in columns.values())]
        for x in xs
    ]
    if any(None in curve.cells for curve in panel.curves):
        rows.append(["no m", *(_point(points.get(None)) for points in columns.values())])
    return Grid(["", *columns], rows, f"{panel.dataset}, {panel.title}")


def _point(score: Score | None) -> str:
    if score is None:
        return ""
    return f"{score.mean:.4f}" + ("" if score.sd is None else f" ± {score.sd:.4f}")


def _csv_rows(figure: str, panel: Panel, lookup: Lookup) -> list[dict[str, Any]]:
    return [
        {
            "figure": figure,
            "panel": panel.key,
            "dataset": panel.dataset,
            "curve": curve.label,
            panel.x_label[0]: x,
            "n_seeds": len(curve.cells[x]),
            "lrap": round(score.mean, 5),
            "lrap_sd": None if score.sd is None else round(score.sd, 5),
        }
        for curve in panel.curves
        for x, score in curve.points(lookup).items()
    ]
