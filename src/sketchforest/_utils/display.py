"""Formatting of results: aligned text, HTML tables, data frames, plots."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

WIDTH = 80  # of the narrowest terminal
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"  # safe for color-blind readers
_BAR = (
    "display:inline-block;height:.7em;width:{width:.0f}px;background:{color};"
    "vertical-align:baseline"
)
MAX_BAR = 120  # pixels


def shortened(text: str, width: int) -> str:
    """The text on one line, cut to `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: max(width - 1, 0)] + "…"


def listed(names: Iterable[str]) -> str:
    """The names separated by commas; a name that contains one is quoted, as in CSV."""
    return ", ".join(
        '"{}"'.format(name.replace('"', '""')) if "," in name else name for name in map(str, names)
    )


def wrapped(text: str, indent: str = "") -> str:
    """The text wrapped at WIDTH characters."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int] = (), indent: str = "  ") -> str:
    """Aligned columns of text; those in `right` are right-aligned. Lines are cut at WIDTH."""
    if not rows:
        return ""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = (indent + "  ".join(cells)).rstrip()
        lines.append(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…")
    return "\n".join(lines)


def html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", bars: str = ""
) -> str:
    """An HTML table. Cells are text, except that the column `bars` is HTML."""
    is_html = [name == bars and bool(bars) for name in header]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:left">{cell if plain else escape(cell)}</td>'
            for cell, plain in zip(row, is_html, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    above = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in header)
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_bar(value: float, largest: float) -> str:
    """A signed number with a bar beside it."""
    width = MAX_BAR * abs(value) / largest if largest > 0 else 0
    color = BLUE if value >= 0 else ORANGE
    return f'{value:+.4f} <span style="{_BAR.format(width=width, color=color)}"></span>'


def as_frame(columns: Mapping[str, Sequence[Any] | np.ndarray]) -> "DataFrame":
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame needs pandas. Install it with: pip install pandas") from None
    return pandas.DataFrame(dict(columns))


def new_axes(width: float = 7.0, height: float = 4.0, n: int = 1) -> Any:
    """Axes of a new figure, or an array of n axes side by side."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "plot needs matplotlib. Install it with: pip install 'sketchforest[plot]'"
        ) from None
    return pyplot.subplots(1, n, figsize=(width, height), layout="constrained")[1]


def signed_bars(
    axes: "Axes", names: Sequence[str], values: Sequence[float], n_folded: int = 0
) -> None:
    """Horizontal bars from top to bottom; the last `n_folded`, sums of several, are grey."""
    places = range(len(names))
    colors = [BLUE if value >= 0 else ORANGE for value in values]
    colors[len(names) - n_folded :] = [GREY] * n_folded
    axes.barh(places, values, color=colors, height=0.7)
    axes.set_yticks(places, [shortened(name, 40) for name in names])
    axes.invert_yaxis()
    tidy(axes)
    axes.grid(axis="y", visible=False)
    axes.axvline(0, color="#444444", linewidth=0.8)


def tidy(axes: "Axes") -> None:
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
