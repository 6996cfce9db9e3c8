"""Pictures of the report."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.reproduce.page import Picture
from benchmarks.reproduce.scores import Score
from sketchforest._utils.pictures import picture_bytes

# Colors that are easy to tell apart with any kind of color vision.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7a3fb0")
ORIGINAL = "#222222"
MARKERS = "os^DvPX"
_WIDTH, _HEIGHT = 6.4, 4.2
ROUNDING = 1e-9


def draw(
    name: str, caption: str, paint: Callable[[Axes], None], height: float = _HEIGHT
) -> list[Picture]:
    """Make one picture by painting on its axes."""
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    paint(axes)
    png, svg = (picture_bytes(figure, format) for format in ("png", "svg"))
    return [Picture(name, png, svg, caption)]


def draw_lines(axes: Axes, lines: dict[str, dict[int, Score]], *, log_y: bool = False) -> None:
    """Draw means joined by lines and standard deviations as bars, on a logarithmic x axis."""
    for place, (label, points) in enumerate(lines.items()):
        # A logarithmic axis would stretch down to mere rounding errors.
        x = [at for at in sorted(points) if not log_y or points[at].mean > ROUNDING]
        axes.errorbar(
            x,
            [points[value].mean for value in x],
            [points[value].sd or 0.0 for value in x],
            label=label,
            color=ORIGINAL if label == "original outputs" else COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=4.5,
            linewidth=1.6,
            capsize=2,
        )
    ticks = sorted({x for points in lines.values() for x in points})
    axes.set_xscale("log")
    axes.set_xticks(*_readable(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    if log_y:
        axes.set_yscale("log")
    axes.legend(loc="best", fontsize=8, edgecolor="none")


def _readable(ticks: Sequence[int]) -> tuple[list[int], list[str]]:
    """Choose ticks at least a sixth of a decade apart, so that their labels do not touch."""
    kept: list[int] = []
    for tick in ticks:
        if not kept or tick >= 1.45 * kept[-1]:
            kept.append(tick)
    return kept, [f"{tick:,}" for tick in kept]
