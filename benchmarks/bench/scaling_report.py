"""The scaling study as a table and as a picture."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from rich import box
from rich.table import Table

from benchmarks.bench.scaling_axes import COSTS, MEANINGS, Axis
from sketchforest._utils.units import UNKNOWN, seconds, size

_LABELS = {
    "fit_seconds": ("fit", "#0072b2", "o-"),
    "predict_seconds": ("predict", "#009e73", "s-"),
    "added_bytes": ("memory", "#d55e00", "^-"),
}
_UNITS = {"fit_seconds": seconds, "predict_seconds": seconds, "added_bytes": size}
_COLUMNS = 3


def scaling_table(axes: Sequence[Axis], name: str) -> Table:
    """Build a table with a block for each axis: costs of its points, then exponents."""
    table = Table(
        title=f"Scaling ({name} data)",
        caption="memory without data and imports; exponents by least squares on logarithms",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    for header in ("", *(label for label, _, _ in _LABELS.values())):
        table.add_column(header, justify="right", no_wrap=True)
    for axis in axes:
        for place, (value, costs) in enumerate(zip(axis.values, axis.costs, strict=True)):
            title = _title(axis.name) if place == 0 else ""
            figures = (_UNITS[cost](costs[cost]) for cost in COSTS)
            table.add_row(title, f"{value:,}", *figures)
        exponents = (_exponent(axis.exponents[cost]) for cost in COSTS)
        table.add_row("", "exponent", *exponents, style="bold", end_section=True)
    return table


def scaling_figure(axes: Sequence[Axis], name: str) -> Figure:
    """Draw a log-log panel for each axis, with costs relative to the base."""
    n_rows = -(-len(axes) // _COLUMNS)
    figure = Figure(figsize=(11, 0.6 + 3.3 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, _COLUMNS, squeeze=False, sharey=True).ravel()
    for panel, axis in zip(panels, axes, strict=False):
        _draw(panel, axis)
    for panel in panels[len(axes) :]:
        panel.set_visible(False)
    for first in panels[::_COLUMNS]:
        first.set_ylabel("times the base")
    figure.suptitle(f"Costs against each size, relative to the base ({name} data)", fontsize=11)
    return figure


def _draw(panel: Axes, axis: Axis) -> None:
    first = axis.values[0]
    growth = [value / first for value in axis.values]
    slope = -1 if axis.name == "threads" else 1
    guide = "ideal" if slope < 0 else "proportional"
    panel.plot(axis.values, [g**slope for g in growth], ":", color="#999999", label=guide)
    for cost, (label, colour, style) in _LABELS.items():
        base = axis.costs[0][cost]
        if base > 0:
            relative = [costs[cost] / base for costs in axis.costs]
            text = f"{label}: exponent {_exponent(axis.exponents[cost])}"
            panel.plot(axis.values, relative, style, color=colour, label=text, markersize=5)
    panel.set_xscale("log")
    panel.set_yscale("log", base=2)
    panel.set_xticks(axis.values, [f"{value:,}" for value in axis.values])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    panel.set_title(_title(axis.name), loc="left", fontsize=10)
    panel.grid(color="#e6e6e6")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(loc="best", fontsize=8, edgecolor="none")


def _title(axis: str) -> str:
    return MEANINGS[axis] if axis == MEANINGS[axis] else f"{axis}, {MEANINGS[axis]}"


def _exponent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"
