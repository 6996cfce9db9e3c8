"""The paper's Figures 1 to 4 as sections of the report."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import ORIGINAL, draw, draw_lines
from benchmarks.reproduce.figures import NAMES, SPARSE, Panel, figure_panels, figure_rows, n_seeds
from benchmarks.reproduce.page import Finding, Grid, Picture, Section, text_grid
from benchmarks.reproduce.scores import Score, gap, score_of, verdict
from benchmarks.reproduce.settings import ReproduceSettings

Points = dict[Any, Score]  # by m or k; without a projection, m is None

_CONVERGED_BY = 25  # components, by the paper, for algorithm 2 on Delicious
_TITLES = {
    "figure1": "Figure 1: one tree and both algorithms against m",
    "figure2": "Figure 2: randomised inputs and outputs, k against m",
    "figure3": "Figure 3: other projections",
    "figure4": "Figure 4: k against m on Delicious",
}
_INTROS = {
    "figure1": "Gaussian projections in single CART trees and in random forests, with one "
    "projection per tree (algorithm 2) or one for all trees (algorithm 1). In the paper, single "
    "trees converge around m = 200, algorithm 2 around 25 and algorithm 1 around 75.",
    "figure2": "The paper shows drug-interaction, which is not available. There, forests on the "
    "original outputs get worse when many features are tried at each split, and forests on few "
    "projected outputs do not. Shown here are a set of images and a small set of texts; Figure 4 "
    "is the same on Delicious.",
    "figure3": "In the paper, dense projections behave alike; sparse ones are best with few "
    "components, above the forest on the original outputs; principal components are far less "
    "effective.",
    "figure4": "The paper's appendix: few outputs make the forest robust against large k, without "
    "improving on the forest on the original outputs.",
}


def figure_section(figure: str, settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Make one figure: pictures, tables of their points, and the claims they support."""
    rows = figure_rows(figure, settings, lookup)
    panels = [(panel, points_of(rows, panel)) for panel in figure_panels(figure, settings)]
    return Section(
        name=figure,
        title=_TITLES[figure],
        intro=[
            _INTROS[figure],
            f"Means and standard deviations of the LRAP over {n_seeds(figure, settings)} seeds on "
            f"the data set's own split; {settings.n_estimators} fully grown trees.",
        ],
        findings=[finding for one in panels for finding in _findings(figure, *one)],
        pictures=[picture for one in panels for picture in _pictures(*one)],
        grids=[_grid(*one) for one in panels],
        rows=rows.round(5),
    )


def points_of(rows: pd.DataFrame, panel: Panel) -> dict[str, Points]:
    """Collect the scores of a panel by curve, then by m or k."""
    points: dict[str, dict[Any, Any]] = {label: {} for label in panel.curves}
    is_shown = (rows["panel"] == panel.key) & (rows["dataset"] == panel.dataset)
    for row in rows[is_shown].itertuples():
        x = getattr(row, panel.x_label[0])
        points[row.curve][None if pd.isna(x) else int(x)] = score_of(row, "lrap")
    return points


# ---- the paper's claims


def _findings(figure: str, panel: Panel, points: dict[str, Points]) -> list[Finding]:
    if (figure, panel.key) == ("figure1", "forest"):
        return _convergence(panel, points)
    if (figure, panel.key) == ("figure3", "sparse"):
        return _sparse_is_no_worse(points)
    return _pca_is_behind(points) if (figure, panel.key) == ("figure3", "pca") else []


def _convergence(panel: Panel, points: dict[str, Points]) -> list[Finding]:
    """Algorithm 2 reaches the forest on the original outputs by m = 25, algorithm 1 later."""
    own, shared, original = points.values()
    level = original.get(None)
    if level is None or not own or not shared:
        return [Finding("Algorithm 2 converges by m = 25, algorithm 1 later.", None)]
    first_own, first_shared = converged_at(own, level), converged_at(shared, level)
    text = (
        f"Algorithm 2 converges {_at(first_own)} on {panel.dataset}, algorithm 1 "
        f"{_at(first_shared)} (the paper: about 25 and 75)."
    )
    is_soon = first_own is not None and first_own <= _CONVERGED_BY
    is_later = first_shared is None or (first_own is not None and first_shared > first_own)
    behind = [m for m in own if m in shared and shared[m].mean < own[m].mean]
    never_ahead = f"Algorithm 1 is below algorithm 2 at {len(behind)} of {len(own)} values of m."
    return [Finding(text, is_soon and is_later), Finding(never_ahead, len(behind) > len(own) / 2)]


def converged_at(points: Points, level: Score) -> int | None:
    """Find the least m from which on no mean is more than one (the larger) sd below the level."""
    first = None
    for m in sorted(points, reverse=True):
        if verdict(points[m], level) == "worse":
            break
        first = m
    return first


def _at(m: int | None) -> str:
    return "nowhere in the range" if m is None else f"at m = {m}"


def _pca_is_behind(points: dict[str, Points]) -> list[Finding]:
    """Principal components are far less effective than random ones."""
    gaussian, pca = points[NAMES["gaussian"]], points[NAMES["pca"]]
    tried = [m for m in gaussian if m in pca and m <= _CONVERGED_BY]
    if not tried:
        return [Finding("PCA is far behind random projections.", None)]
    lags = [gaussian[m].mean - pca[m].mean for m in tried]
    gaps = [gap(pca[m], gaussian[m]) or 0.0 for m in tried]
    n_far = sum(lag > 0 and gap > 2 for lag, gap in zip(lags, gaps, strict=True))
    text = (
        f"PCA is behind gaussian projections by more than two standard deviations at {n_far} of "
        f"the {len(tried)} values of m up to {tried[-1]} (by {min(lags):.4f} to {max(lags):.4f})."
    )
    return [Finding(text, n_far == len(tried))]


def _sparse_is_no_worse(points: dict[str, Points]) -> list[Finding]:
    """At its best m, a sparse projection is not more than one sd below a gaussian one."""
    findings, gaussian = [], points[NAMES["gaussian"]]
    for name in SPARSE:
        sparse = points[NAMES[name]]
        if not sparse or not gaussian:
            continue
        best, rival = (max(curve, key=lambda m: curve[m].mean) for curve in (sparse, gaussian))
        text = (
            f"{NAMES[name]} is no worse than gaussian: at best {sparse[best].mean:.4f} "
            f"(m = {best}) against {gaussian[rival].mean:.4f} (m = {rival})."
        )
        findings.append(Finding(text, verdict(sparse[best], gaussian[rival]) != "worse"))
    return findings


# ---- pictures and tables


def _pictures(panel: Panel, points: dict[str, Points]) -> list[Picture]:
    """Draw LRAP against m or k; forests on the original outputs are a dashed line."""
    levels = {label: curve[None] for label, curve in points.items() if None in curve}
    lines = {label: curve for label, curve in points.items() if curve and label not in levels}
    if not lines:
        return []

    def paint(axes: Axes) -> None:
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


def _grid(panel: Panel, points: dict[str, Points]) -> Grid:
    """Make a row for each m or k, and one for the forest without m."""
    tried: set[Any] = {x for curve in panel.curves.values() for x in curve}
    names = {x: f"{panel.x_label[0]} = {x:,}" for x in sorted(tried - {None})}
    names |= {None: "no m"} if None in tried else {}
    rows = [
        [name, *(curve[x].text(4) if x in curve else "" for curve in points.values())]
        for x, name in names.items()
    ]
    return text_grid(["", *points], rows, f"{panel.dataset}, {panel.title}")
