"""The picture of the benchmark: a dot for each method, on log scales."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from benchmarks.bench.methods import find_method
from sketchforest._utils.units import ratio, seconds, size

# Colors that are easy to tell apart with any kind of color vision.
_COLORS = {
    "scikit-learn": "#d55e00",
    "sketchforest, projected outputs": "#0072b2",
    "sketchforest, original outputs": "#222222",
    "label trees of linear models": "#009e73",
}
_ROW_HEIGHT = 0.34  # inches
_PANELS = (
    ("Time to fit", "fit_seconds", "fit_ratio", seconds),
    ("Peak memory of the fit", "peak_bytes", "memory_ratio", size),
)


def benchmark_figure(summaries: pd.DataFrame) -> Figure:
    """Draw fit time and peak memory of every method, with a row of panels for each data set."""
    groups = [group for _, group in summaries.groupby("dataset", sort=False)]
    heights = [1.1 + _ROW_HEIGHT * len(group) for group in groups]
    # Keeps the last tick label of one panel apart from the first of the next.
    layout = ConstrainedLayoutEngine(wspace=0.06)
    figure = Figure(figsize=(12, sum(heights) + 0.8), layout=layout)
    rows = figure.subplots(len(groups), 2, squeeze=False, height_ratios=heights)
    for axes, group in zip(rows, groups, strict=True):
        for panel, (title, cost, compared, unit) in zip(axes, _PANELS, strict=True):
            _draw(panel, group, cost, compared, unit)
            name = group["dataset"].iloc[0]
            panel.set_title(f"{name}: {title.lower()} (log scale)", loc="left", fontsize=11)
        axes[1].set_yticklabels([])
    _add_legend(figure, summaries)
    return figure


def family(method: str) -> str:
    """Return the entry of the legend."""
    if method.startswith("sklearn"):
        return "scikit-learn"
    if "-m" in method or "-z" in method:
        return "sketchforest, projected outputs"
    if method.startswith(("rf", "et")):
        return "sketchforest, original outputs"
    return "label trees of linear models"


def _draw(
    axes: Axes, group: pd.DataFrame, cost: str, compared: str, unit: Callable[[float | None], str]
) -> None:
    values = group[cost].tolist()
    for place, row in enumerate(group.itertuples()):
        value, colour = values[place], _COLORS[family(row.method)]
        face = "white" if row.is_scaled else colour
        axes.plot(value, place, "o", color=colour, markerfacecolor=face, markersize=7)
        axes.annotate(
            _label(row, unit(value), getattr(row, compared)),
            (value, place),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.set_xscale("log")
    # Leave room for the labels on the right.
    axes.set_xlim(min(values) / 1.6, max(values) * (max(values) / min(values)) ** 0.3 * 1.6)
    axes.set_ylim(len(group) - 0.5, -0.5)
    axes.set_yticks(range(len(group)), [find_method(name).title for name in group["method"]])
    # No ticks where only labels of points are.
    axes.set_xticks(_ticks(min(values) / 1.6, 1.6 * max(values)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: unit(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _ticks(lowest: float, highest: float) -> list[float]:
    """Choose powers of ten or steps between them: a scale needs two ticks.

    The finest steps have two in any range of the axis, which spans a factor of 1.6² or more.
    """
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        known = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in known if lowest <= tick <= highest]
        if len(ticks) > 1:
            break
    return ticks


def _label(row: Any, value: str, times: float) -> str:
    label = value + "*" * row.is_scaled
    if np.isnan(times) or row.method == row.reference:
        return label
    return f"{label}  ({ratio(times)})"


def _add_legend(figure: Figure, summaries: pd.DataFrame) -> None:
    present = {family(method) for method in summaries["method"]}
    handles = [
        Line2D([], [], color=colour, marker="o", linestyle="", label=name)
        for name, colour in _COLORS.items()
        if name in present
    ]
    if summaries["is_scaled"].any():
        hollow = Line2D([], [], color="#666666", markerfacecolor="white", marker="o", linestyle="")
        hollow.set_label("* scaled from fewer trees")
        handles.append(hollow)
    figure.legend(
        handles=handles,
        title="m: number of projected outputs; each tree has its own projection, or all share one. "
        "In brackets: how many times less than scikit-learn's forest\non the original outputs or, "
        "with a shared projection, on the same projected outputs.",
        title_fontsize="small",
        loc="outside lower center",
        ncols=len(handles),
        edgecolor="none",
        fontsize="small",
        handletextpad=0.2,
    )
