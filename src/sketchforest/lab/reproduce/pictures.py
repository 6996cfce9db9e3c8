"""Pictures of the reproduced tables and figures, as PNG; empty without matplotlib."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from sketchforest.lab.page import Picture
from sketchforest.lab.reproduce.curves import Panel
from sketchforest.lab.reproduce.paper import OUTPUT_TITLES, Score
from sketchforest.lab.reproduce.tables import Lookup, TableRow

# Told apart by readers who see few colours, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#7a3fb0")
ORIGINAL = "#222222"
_MARKERS = "os^DvPX"
_WIDTH, _HEIGHT = 6.4, 4.2


def draw(
    name: str, caption: str, paint: Callable[[Any], None], height: float = _HEIGHT
) -> list[Picture]:
    """One picture, painted on its axes; none if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return []
    # A bare Figure needs no display and leaves the caller's pyplot alone.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    paint(axes)
    file = BytesIO()
    # No version in the file: the same figures are the same bytes.
    figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
    return [Picture(name, file.getvalue(), caption)]


def draw_lines(axes: Any, lines: dict[str, dict[int, Score]], *, log_y: bool = False) -> None:
    """Means joined by lines, standard deviations as bars, on a logarithmic x."""
    from matplotlib.ticker import NullLocator

    for place, (label, points) in enumerate(lines.items()):
        x = sorted(points)
        is_original = label == "original outputs"
        axes.errorbar(
            x,
            [points[value].mean for value in x],
            [points[value].sd or 0.0 for value in x],
            label=label,
            color=ORIGINAL if is_original else COLOURS[place % len(COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
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
    """Ticks that are at least a sixth of a decade apart, so that their labels do not touch."""
    kept: list[int] = []
    for tick in ticks:
        if not kept or tick >= 1.45 * kept[-1]:
            kept.append(tick)
    return kept, [f"{tick:,}" for tick in kept]


def panel_pictures(panel: Panel, lookup: Lookup) -> list[Picture]:
    """LRAP against m or k; forests on the original outputs, which have no m, as a dashed line."""
    lines: dict[str, dict[int, Score]] = {}
    levels: dict[str, Score] = {}
    for curve in panel.curves:
        points = curve.points(lookup)
        if None in points:
            levels[curve.label] = points[None]
        elif points:
            lines[curve.label] = {x: point for x, point in points.items() if x is not None}
    if not lines:
        return []

    def paint(axes: Any) -> None:
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


def gap_pictures(name: str, title: str, rows: Sequence[TableRow]) -> list[Picture]:
    """Ours minus the paper's mean in units of the larger standard deviation, by data set."""
    known = [row for row in rows if any(cell.gap is not None for cell in row.cells.values())]
    if not known:
        return []

    def paint(axes: Any) -> None:
        axes.axvspan(-2, 2, color="#0072b2", alpha=0.07, lw=0)
        axes.axvspan(-1, 1, color="#0072b2", alpha=0.1, lw=0)
        axes.axvline(0, color=ORIGINAL, linewidth=1)
        for place, outputs in enumerate(rows[0].cells):
            points = [
                (signed, height)
                for height, row in enumerate(known)
                if (signed := _signed_gap(row, outputs)) is not None
            ]
            axes.scatter(
                [x for x, _ in points],
                [y + 0.18 * (place - 1.5) for _, y in points],
                label=OUTPUT_TITLES[outputs],
                color=ORIGINAL if outputs == "original" else COLOURS[place - 1],
                marker=_MARKERS[place],
                s=26,
            )
        axes.set_yticks(range(len(known)), [row.label for row in known])
        axes.invert_yaxis()
        axes.set_xlabel("ours minus the paper's, in standard deviations († another problem)")
        axes.set_title(title, loc="left", fontsize=10)
        axes.legend(loc="best", fontsize=8, edgecolor="none")

    caption = f"{title}: distance from the paper's means. Bands: one and two standard deviations."
    return draw(name, caption, paint, height=1.6 + 0.34 * len(known))


def _signed_gap(row: TableRow, outputs: str) -> float | None:
    cell = row.cells[outputs]
    if cell.ours is None or cell.paper is None or cell.gap is None:
        return None
    return cell.gap if cell.ours.mean >= cell.paper.mean else -cell.gap
