"""The picture of the demo; matplotlib, an optional extra, is imported when it is drawn."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sketchforest.lab.demo.measurement import Measurement
from sketchforest.lab.pictures import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by readers who see few colours, too.
_COLOURS = {"projected": "#0072b2", "sketchforest": "#222222", "scikit-learn": "#d55e00"}


def save_components_figure(
    measurements: Sequence[Measurement], path: str | os.PathLike[str]
) -> None:
    save_figure(components_figure(measurements), path)


def components_figure(measurements: Sequence[Measurement]) -> "Figure":
    """LRAP and fit time against the number of projected outputs, beside the original ones."""
    # A bare Figure needs no display and leaves the caller's pyplot alone.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    quality, time = figure.subplots(1, 2)
    quality.set_title("Ranking quality on test rows (LRAP)", loc="left")
    time.set_title(f"Time to fit {measurements[0].n_estimators} trees (log scale)", loc="left")
    time.set_yscale("log")
    quality.set_ylabel("LRAP, 1 is best")
    time.set_ylabel("seconds")
    _draw(quality, measurements, "lrap", "{:.3f}")
    _draw(time, measurements, "fit_seconds", "{:.3g} s")
    # From 0, so that a difference looks as large as it is.
    quality.set_ylim(0, 1.15 * quality.dataLim.ymax)
    quality.legend(loc="lower right", edgecolor="none")
    time.legend(loc="best", edgecolor="none", fontsize="small")
    return figure


def _draw(axes: "Axes", measurements: Sequence[Measurement], field: str, label: str) -> None:
    from matplotlib.ticker import NullLocator, StrMethodFormatter

    known = [row for row in measurements if getattr(row, field) is not None]
    points = {row.n_components: getattr(row, field) for row in known if row.n_components}
    m, values = zip(*sorted(points.items()), strict=True)
    levels = {row: getattr(row, field) for row in known if row.n_components is None}
    for row, value in levels.items():
        _draw_level(axes, row, value, label)
    axes.plot(m, values, "o-", color=_COLOURS["projected"], label="sketchforest, m outputs")
    for x, value in points.items():
        # Away from the lowest line, which is the nearest.
        _annotate(axes, x, value, label, above=value > min(levels.values()))
    axes.set_xscale("log")
    axes.set_xticks(m, m)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_xlabel("m, number of outputs after a gaussian projection")
    axes.margins(x=0.12, y=0.15)
    axes.grid(axis="y", color="#e6e6e6")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_level(axes: "Axes", row: Measurement, value: float, label: str) -> None:
    scaled = (
        f" (scaled from {row.n_grown} of {row.n_estimators})"
        if row.n_grown != row.n_estimators
        else ""
    )
    axes.axhline(
        value,
        color=_COLOURS[row.package],
        linestyle="--",
        label=f"{row.package}, original outputs{scaled}: {label.format(value)}",
    )


def _annotate(axes: "Axes", x: int, value: float, label: str, *, above: bool) -> None:
    axes.annotate(
        label.format(value),
        (x, value),
        xytext=(0, 8 if above else -8),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        color=_COLOURS["projected"],
    )
