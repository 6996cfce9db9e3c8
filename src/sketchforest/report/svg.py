"""Small pictures as SVG. Colours come from the stylesheet of the page, so that they are right in
light and in dark."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

WIDTH, HEIGHT = 400, 270
LEFT, RIGHT, TOP, BOTTOM = 44, 390, 30, 226  # of the field; lines are named above it
CHARACTER = 8.5  # width of one, about


@dataclass(frozen=True)
class Axis:
    title: str
    low: float
    high: float
    is_log: bool = False
    is_whole: bool = False  # counts: no tick between them

    def share(self, value: float) -> float:
        """How far along the axis: 0 to 1."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low)

    def ticks(self) -> list[float]:
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            ratio = self.high / self.low
            inner = (1,) if ratio > 150 else (1, 2, 5) if ratio > 10 else range(1, 10)
            found = [digit * 10.0**power for power in powers for digit in inner]
            return [tick for tick in found if self.low <= tick <= self.high]
        rough = (self.high - self.low) / 4
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= 0.8 * rough)
        step = max(1.0, step) if self.is_whole else step
        first = math.ceil(self.low / step - 1e-9)
        n_ticks = math.floor(self.high / step + 1e-9) - first + 1
        return [round((first + at) * step, 12) for at in range(n_ticks)]


@dataclass
class Picture:
    """Lines and dots between two axes; `says` is for readers who do not see it."""

    x: Axis
    y: Axis
    says: str
    _marks: list[Markup] = field(default_factory=list)
    _names: list[tuple[str, str]] = field(default_factory=list)

    def line(self, points: Sequence[tuple[float, float]], style: str, name: str = "") -> None:
        """Style is "first", "other", "third" or "grid", as the stylesheet has them."""
        path = " ".join(f"{x},{y}" for x, y in self._places(points))
        self._marks.append(Markup('<polyline class="{}" points="{}"/>').format(style, path))
        if name:
            self._names.append((name, style))

    def dots(self, points: Iterable[tuple[float, float]], radius: float = 3.5) -> None:
        """As one path, so that thousands are no burden; one that hides another is drawn once."""
        places = dict.fromkeys(self._places(points))
        path = "".join(f"M{x} {y}h0" for x, y in places)
        mark = '<path class="dots" stroke-width="{}" d="{}"/>'
        self._marks.append(Markup(mark).format(2 * radius, path))

    def vertical(self, at: float, says: str) -> None:
        ((x, _),) = self._places([(at, self.y.low)])
        is_left = x < (LEFT + RIGHT) / 2
        mark = (
            '<line class="here" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'
            '<text class="over" x="{at}" y="{beside}" text-anchor="{anchor}">{says}</text>'
        )
        self._marks.append(
            Markup(mark).format(
                x=x,
                top=TOP,
                bottom=BOTTOM,
                at=x + (5 if is_left else -5),
                beside=TOP + 12,
                anchor="start" if is_left else "end",
                says=says,
            )
        )

    def __html__(self) -> Markup:
        parts = [
            Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
                WIDTH, HEIGHT, self.says
            ),
            *self._axes(),
            *self._legend(),
            *self._marks,
            Markup("</svg>"),
        ]
        return Markup("").join(parts)

    def _places(self, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """In the picture, to a tenth of its units."""
        return [
            (
                round(LEFT + (RIGHT - LEFT) * self.x.share(x), 1),
                round(BOTTOM - (BOTTOM - TOP) * self.y.share(y), 1),
            )
            for x, y in points
        ]

    def _axes(self) -> Iterable[Markup]:
        for tick in self.y.ticks():
            ((_, y),) = self._places([(self.x.low, tick)])
            yield Markup('<line class="grid" x1="{}" x2="{}" y1="{y}" y2="{y}"/>').format(
                LEFT, RIGHT, y=y
            )
            yield _text(LEFT - 6, y + 4, "end", _number(tick))
        for tick in self.x.ticks():
            ((x, _),) = self._places([(tick, self.y.low)])
            yield Markup('<line class="axis" x1="{x}" x2="{x}" y1="{}" y2="{}"/>').format(
                BOTTOM, BOTTOM + 4, x=x
            )
            yield _text(x, BOTTOM + 18, "middle", _number(tick))
        yield Markup('<path class="axis" d="M{} {}H{}"/>').format(LEFT, BOTTOM, RIGHT)
        yield _text((LEFT + RIGHT) / 2, HEIGHT - 6, "middle", self.x.title)
        if not self._names:  # else the lines are named there
            yield _text(4, 14, "start", self.y.title)

    def _legend(self) -> Iterable[Markup]:
        x = float(LEFT)
        for name, style in self._names:
            yield Markup('<line class="{}" x1="{}" x2="{}" y1="10" y2="10"/>').format(
                style, x, x + 22
            )
            yield _text(x + 27, 14, "start", name)
            x += 27 + CHARACTER * len(name) + 14


def _text(x: float, y: float, anchor: str, text: str) -> Markup:
    mark = '<text x="{}" y="{}" text-anchor="{}">{}</text>'
    return Markup(mark).format(x, y, anchor, escape(text))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
