"""The picture of the first page: accuracy, time and memory beside scikit-learn's random forest."""

import math
from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sketchforest._utils.units import seconds, size

# The bars, from top to bottom: the method in the results, its name and its colour.
_BARS = (
    ("sklearn-rf", "scikit-learn\nrandom forest", "#999999"),
    ("rf-m25", "sketchforest\nrandom forest", "#0072b2"),
    ("sketch", "sketchforest\nsketch forest", "#d55e00"),
)


def draw_front(measured: pd.DataFrame, figure: Figure) -> None:
    """Draw bars of accuracy, from zero, and of fit time and peak memory, on log scales."""
    figure.set_size_inches(9.6, 2.7)
    rows = measured.set_index("method").loc[[method for method, *_ in _BARS]]
    panels = figure.subplots(1, 3, sharey=True)
    _bars(panels[0], rows["lrap"], "LRAP on test rows\n(more is better)", "{:.3f}".format)
    _bars(panels[1], rows["fit_seconds"], "time to fit\n(log scale)", seconds, 0.1)
    _bars(panels[2], rows["peak_bytes"], "peak memory\n(log scale)", size, 1e8)
    panels[0].set_yticks(range(len(_BARS)), [name for _, name, _ in _BARS])
    panels[0].invert_yaxis()


def _bars(
    axes: Axes,
    values: pd.Series,
    title: str,
    shown: Callable[[float], str],
    log_from: float | None = None,
) -> None:
    start = log_from or 0.0
    for at, (value, (_, _, colour)) in enumerate(zip(values, _BARS, strict=True)):
        if math.isnan(value):
            axes.text(start, at, " not measured", va="center", color="#777777")
            continue
        axes.barh(at, value - start, left=start, height=0.6, color=colour)
        axes.text(value, at, f" {shown(value)}", va="center")
    if log_from is not None:
        axes.set_xscale("log")
        axes.set_xlim(log_from, values.max() * 12)  # with room for the last number
    else:
        axes.set_xlim(0, values.max() * 1.35)
    axes.set_title(title, loc="left", fontsize="medium")
    axes.set_xticks([])
    axes.minorticks_off()
    axes.tick_params(left=False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
