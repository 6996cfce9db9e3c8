"""The picture of the benchmark: a dot for each method, on log scales."""

import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchmarks.bench.methods import method_title
from benchmarks.bench.results import Summary
from sketchforest._pictures import save_figure
from sketchforest._units import ratio, seconds, size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by readers who see few colours, too.
_COLOURS = {
    "scikit-learn": "#d55e00",
    "sketchforest, projected outputs": "#0072b2",
    "sketchforest, outputs as they are": "#222222",
    "label trees of linear models": "#009e73",
}
_ROW_HEIGHT = 0.34  # inches
_PANELS = (
    ("Time to fit", "fit_seconds", "fit_ratio", seconds),
    ("Peak memory of the fit", "peak_bytes", "memory_ratio", size),
)


def save_benchmark_figure(summaries: Sequence[Summary], path: str | os.PathLike[str]) -> None:
    save_figure(benchmark_figure(summaries), path)


def benchmark_figure(summaries: Sequence[Summary]) -> "Figure":
    """Fit time and peak memory of every method; a row of panels for each data set."""
    # A bare Figure needs no display and leaves the caller's pyplot alone.
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    groups: dict[str, list[Summary]] = {}
    for summary in summaries:
        groups.setdefault(summary.dataset, []).append(summary)
    heights = [1.1 + _ROW_HEIGHT * len(group) for group in groups.values()]
    # So that the last figure below one panel and the first below the next stay apart.
    layout = ConstrainedLayoutEngine(wspace=0.06)
    figure = Figure(figsize=(12, sum(heights) + 0.8), layout=layout)
    rows = figure.subplots(len(groups), 2, squeeze=False, height_ratios=heights)
    for axes, (dataset, group) in zip(rows, groups.items(), strict=True):
        for panel, (title, cost, compared, unit) in zip(axes, _PANELS, strict=True):
            _draw(panel, group, cost, compared, unit)
            panel.set_title(f"{dataset}: {title.lower()} (log scale)", loc="left", fontsize=11)
        axes[1].set_yticklabels([])
    _add_legend(figure, summaries)
    return figure


def family(method: str) -> str:
    """Whose method it is, as the legend says it."""
    if method.startswith("sklearn"):
        return "scikit-learn"
    if "-m" in method or "-z" in method:
        return "sketchforest, projected outputs"
    if method.startswith(("rf", "et")):
        return "sketchforest, outputs as they are"
    return "label trees of linear models"


def _draw(
    axes: "Axes",
    group: Sequence[Summary],
    cost: str,
    compared: str,
    unit: Callable[[float | None], str],
) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    values = [getattr(summary.costs, cost) for summary in group]
    for place, (summary, value) in enumerate(zip(group, values, strict=True)):
        colour = _COLOURS[family(summary.method)]
        face = "white" if summary.costs.is_scaled else colour
        axes.plot(value, place, "o", color=colour, markerfacecolor=face, markersize=7)
        axes.annotate(
            _label(summary, unit(value), compared),
            (value, place),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.set_xscale("log")
    # To the right, room for the labels.
    axes.set_xlim(min(values) / 1.6, max(values) * (max(values) / min(values)) ** 0.3 * 1.6)
    axes.set_ylim(len(group) - 0.5, -0.5)
    axes.set_yticks(range(len(group)), [method_title(summary.method) for summary in group])
    # None where only the labels of the points are.
    axes.set_xticks(_ticks(min(values) / 1.6, 1.6 * max(values)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: unit(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _ticks(lowest: float, highest: float) -> list[float]:
    """Powers of ten, or steps between them: one tick alone says nothing of a scale. The finest
    have two in any range of the axis, which is one of a factor of 1.6² at least."""
    powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        known = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in known if lowest <= tick <= highest]
        if len(ticks) > 1:
            break
    return ticks


def _label(summary: Summary, figure: str, compared: str) -> str:
    value = summary.ratios[compared]
    scaled = "*" if summary.costs.is_scaled else ""
    if value is None or summary.method == summary.reference:
        return figure + scaled
    return f"{figure}{scaled}  ({ratio(value)})"


def _add_legend(figure: "Figure", summaries: Sequence[Summary]) -> None:
    from matplotlib.lines import Line2D

    present = {family(summary.method) for summary in summaries}
    handles = [
        Line2D([], [], color=colour, marker="o", linestyle="", label=name)
        for name, colour in _COLOURS.items()
        if name in present
    ]
    if any(summary.costs.is_scaled for summary in summaries):
        hollow = Line2D([], [], color="#666666", markerfacecolor="white", marker="o", linestyle="")
        hollow.set_label("* scaled from fewer trees")
        handles.append(hollow)
    figure.legend(
        handles=handles,
        title="m: outputs after a projection, which each tree has for itself or all share. "
        "In brackets: how many times less than scikit-learn's forest\non the original outputs, or, "
        "where all trees share a projection, on the same projected ones.",
        title_fontsize="small",
        loc="outside lower center",
        ncols=len(handles),
        edgecolor="none",
        fontsize="small",
        handletextpad=0.2,
    )
