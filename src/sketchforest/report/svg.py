"""SVG plots. Colors come from the stylesheet of the page, so that they suit light and dark."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from sketchforest._pages import render

WIDTH, HEIGHT = 400, 270
LEFT, RIGHT, TOP, BOTTOM = 44, 390, 30, 226  # plot area, below the legend
CHARACTER = 8.5  # approximate width


@dataclass(frozen=True)
class Axis:
    title: str
    low: float
    high: float
    is_log: bool = False
    is_whole: bool = False  # integer ticks only

    def share(self, value: float) -> float:
        """Return the position along the axis, from 0 to 1."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low)

    def ticks(self) -> list[float]:
        """Return round numbers."""
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            ratio = self.high / self.low
            digits = (1,) if ratio > 150 else (1, 2, 5) if ratio > 10 else range(1, 10)
            found = [digit * 10.0**power for power in powers for digit in digits]
            return [tick for tick in found if self.low <= tick <= self.high]
        rough = (self.high - self.low) / 4
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= 0.8 * rough)
        step = max(1.0, step) if self.is_whole else step
        first = math.ceil(self.low / step - 1e-9)
        n_ticks = math.floor(self.high / step + 1e-9) - first + 1
        return [round((first + at) * step, 12) for at in range(n_ticks)]


@dataclass
class Plot:
    """Lines and dots between two axes. `description` is the text for screen readers.

    Styles are classes of the stylesheet: "first", "other", "third" or "axis"."""

    x: Axis
    y: Axis
    description: str
    lines: list[tuple[str, str]] = field(default_factory=list)  # styles and points
    paths: list[tuple[float, str]] = field(default_factory=list)  # dots: widths and paths
    verticals: list[tuple[float, str]] = field(default_factory=list)
    legend: list[tuple[float, str, str]] = field(default_factory=list)  # x, style, name

    def line(self, points: Sequence[tuple[float, float]], style: str, name: str = "") -> None:
        self.lines.append((style, " ".join(f"{x},{y}" for x, y in self._pixels(points))))
        if name:
            x, _, previous = self.legend[-1] if self.legend else (LEFT, "", "")
            start = x + 41 + CHARACTER * len(previous) if previous else x
            self.legend.append((start, style, name))

    def dots(self, points: Iterable[tuple[float, float]], radius: float = 3.5) -> None:
        """Add dots as one path, each pixel once, so that thousands stay cheap."""
        pixels = dict.fromkeys(self._pixels(points))
        self.paths.append((2 * radius, "".join(f"M{x} {y}h0" for x, y in pixels)))

    def vertical(self, at: float, label: str) -> None:
        ((x, _),) = self._pixels([(at, self.y.low)])
        self.verticals.append((x, label))

    def __html__(self) -> Markup:
        ticks = {
            "x_ticks": [(self._pixels([(t, self.y.low)])[0][0], t) for t in self.x.ticks()],
            "y_ticks": [(self._pixels([(self.x.low, t)])[0][1], t) for t in self.y.ticks()],
        }
        area = {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
        size = {"width": WIDTH, "height": HEIGHT}
        return Markup(
            render("plot.html", Path(__file__).parent, plot=self, **ticks, **area, **size)
        )

    def _pixels(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        return [
            (
                round(LEFT + (RIGHT - LEFT) * self.x.share(x), 1),
                round(BOTTOM - (BOTTOM - TOP) * self.y.share(y), 1),
            )
            for x, y in points
        ]
