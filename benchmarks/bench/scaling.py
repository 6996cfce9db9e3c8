"""Time and memory against n, p, m, d, t and threads, each doubled from a base."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.bench.process import in_own_process
from benchmarks.data import load_split
from benchmarks.experiments import with_progress
from benchmarks.machine import this_machine, usable_cores
from benchmarks.store import append_row
from sketchforest._utils.pictures import save_figure
from sketchforest._utils.units import UNKNOWN, seconds, size

MEANINGS = {
    "n": "n, training rows",
    "p": "p, features",
    "m": "m, projected outputs",
    "d": "d, labels",
    "t": "t, trees",
    "threads": "threads",
}
_ONLY_GENERATED = ("p", "d")  # real data do not let us change these
# Label, unit, colour and style of each cost.
_COSTS = {
    "fit_seconds": ("fit", seconds, "#0072b2", "o-"),
    "predict_seconds": ("predict", seconds, "#009e73", "s-"),
    "added_bytes": ("memory", size, "#d55e00", "^-"),
}
COSTS = tuple(_COSTS)
_COLUMNS = 3


@dataclass(frozen=True)
class Point:
    """The size of one problem and of its forest; the fields are the axes of the study."""

    n: int = 4000
    p: int = 1000
    m: int = 8
    d: int = 500
    t: int = 16
    threads: int = 1


@dataclass(frozen=True)
class ScalingSettings:
    """What to run, on a data set or on generated data (None).

    On a data set, n doubles up to all of its rows.
    """

    base: Point = field(default_factory=Point)
    axes: tuple[str, ...] = tuple(MEANINGS)
    doublings: int = 4
    repeats: int = 3
    dataset: str | None = None
    data_home: str | None = None


@dataclass(frozen=True)
class ScalingResult:
    """Medians and exponents, and whether all planned runs finished.

    `costs` has columns axis, value and the costs; `exponents` has a row for each axis.
    """

    costs: pd.DataFrame
    exponents: pd.DataFrame
    is_complete: bool = True

    def as_json(self) -> str:
        parts = {"costs": self.costs, "exponents": self.exponents.reset_index()}
        tables = {name: json.loads(part.to_json(orient="records")) for name, part in parts.items()}
        about = {"machine": asdict(this_machine()), "is_complete": self.is_complete}
        return json.dumps(about | tables, indent=2)


def parse_base(text: str, base: Point | None = None) -> Point:
    """Change some sizes of the base, such as "n=8000,t=32"."""
    base = base or Point()
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.partition("=")
        if name not in MEANINGS or not number.isdecimal() or int(number) < 1:
            names = ", ".join(MEANINGS)
            raise ValueError(f"base must be like n=4000,t=16, of {names}; got {part!r}.")
        base = replace(base, **{name: int(number)})
    return base


def run_scaling(
    settings: ScalingSettings, out: str | os.PathLike[str], console: Console | None = None
) -> ScalingResult:
    """Run, print a table, and write CSV files and a picture to `out`."""
    console = console or Console()
    grid = point_grid(settings)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scaling-runs.csv"
    path.unlink(missing_ok=True)
    is_complete = True
    try:
        _run_all(settings, grid, path)
    except KeyboardInterrupt:
        is_complete = False
        console.print("Interrupted; finished runs are kept.")
    costs = _summarize(grid, path)
    result = ScalingResult(costs, fit_exponents(costs), is_complete)
    if path.exists():
        _report(result, settings.dataset or "generated", folder, console)
    return result


def point_grid(settings: ScalingSettings) -> dict[str, list[Point]]:
    """Return the points of each axis."""
    base, axes = settings.base, settings.axes
    unknown = [name for name in axes if name not in MEANINGS]
    if unknown:
        raise ValueError(f"axes must be among {', '.join(MEANINGS)}; got {', '.join(unknown)}.")
    if settings.dataset is not None:
        data = load_split(settings.dataset, settings.data_home)
        n_rows, p = data.X_train.shape
        n = max(2, n_rows // 2**settings.doublings)
        base = replace(base, n=n, p=p, d=data.Y_train.shape[1])
        axes = tuple(name for name in axes if name not in _ONLY_GENERATED)
    return {name: _doubled(base, name, settings.doublings) for name in axes}


def _doubled(base: Point, axis: str, doublings: int) -> list[Point]:
    values = [getattr(base, axis) * 2**step for step in range(doublings + 1)]
    if axis == "threads":
        values = [value for value in values if value <= usable_cores()] or values[:1]
    return [replace(base, **{axis: value}) for value in values]


def _run_all(settings: ScalingSettings, grid: dict[str, list[Point]], path: Path) -> None:
    """Measure every point once per repeat, each in its own process."""
    points = list(dict.fromkeys(point for line in grid.values() for point in line))
    steps = [(repeat, point) for repeat in range(settings.repeats) for point in points]
    for repeat, point in with_progress(steps, lambda step: (step[1],)):
        answer = in_own_process(
            "measure_point",
            point.threads,
            point=asdict(point),
            seed=repeat,
            dataset=settings.dataset,
            data_home=settings.data_home,
        )
        append_row({"repeat": repeat, **asdict(point), **answer}, path)


def _summarize(grid: dict[str, list[Point]], path: Path) -> pd.DataFrame:
    """Compute medians for the points of each axis."""
    names = [field.name for field in fields(Point)]
    runs = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=[*names, *COSTS])
    medians = runs.groupby(names)[list(COSTS)].median()
    rows = [
        {"axis": axis, "value": getattr(point, axis), **medians.loc[key]}
        for axis, line in grid.items()
        for point in line
        if (key := tuple(asdict(point).values())) in medians.index
    ]
    return pd.DataFrame(rows, columns=["axis", "value", *COSTS])


def fit_exponents(costs: pd.DataFrame) -> pd.DataFrame:
    """Fit the exponent of each cost along each axis."""
    return pd.DataFrame(
        {
            axis: {cost: exponent(line["value"], line[cost]) for cost in COSTS}
            for axis, line in costs.groupby("axis", sort=False)
        },
        index=list(COSTS),
        dtype=float,
    ).T.rename_axis("axis")


def exponent(values: Sequence[float], costs: Sequence[float]) -> float:
    """Fit log(cost) = a + b log(value) by least squares and return b; NaN below two points."""
    points = [(x, y) for x, y in zip(values, costs, strict=True) if y > 0]
    if len({x for x, _ in points}) < 2:
        return np.nan
    x, y = np.log(np.array(points, float)).T
    return float(np.polyfit(x, y, 1)[0])


def _report(result: ScalingResult, name: str, folder: Path, console: Console) -> None:
    result.costs.to_csv(folder / "scaling.csv", index=False)
    result.exponents.to_csv(folder / "scaling-exponents.csv")
    console.print(scaling_table(result, name))
    save_figure(scaling_figure(result, name), folder / "scaling.png")
    written = "scaling-runs.csv, scaling.csv, scaling-exponents.csv, scaling.png"
    console.print(f"Written to {folder}: {written}", markup=False)


def scaling_table(result: ScalingResult, name: str) -> Table:
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
    for header in ("", *(label for label, *_ in _COSTS.values())):
        table.add_column(header, justify="right", no_wrap=True)
    for axis, line in result.costs.groupby("axis", sort=False):
        title = MEANINGS[axis]
        for row in line.itertuples():
            cells = (unit(getattr(row, cost)) for cost, (_, unit, *_) in _COSTS.items())
            table.add_row(title, f"{row.value:,}", *cells)
            title = ""
        exponents = map(_exponent, result.exponents.loc[axis])
        table.add_row("", "exponent", *exponents, style="bold", end_section=True)
    return table


def scaling_figure(result: ScalingResult, name: str) -> Figure:
    """Draw a log-log panel for each axis, with costs relative to the base."""
    axes = list(result.costs.groupby("axis", sort=False))
    n_rows = -(-len(axes) // _COLUMNS)
    figure = Figure(figsize=(11, 0.6 + 3.3 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, _COLUMNS, squeeze=False, sharey=True).ravel()
    for panel, (axis, line) in zip(panels, axes, strict=False):
        _draw(panel, axis, line, result.exponents.loc[axis])
    for panel in panels[len(axes) :]:
        panel.set_visible(False)
    for first in panels[::_COLUMNS]:
        first.set_ylabel("times the base")
    figure.suptitle(f"Costs against each size, relative to the base ({name} data)", fontsize=11)
    return figure


def _draw(panel: Axes, axis: str, line: pd.DataFrame, exponents: pd.Series) -> None:
    values = line["value"].to_numpy()
    slope, guide = (-1.0, "ideal") if axis == "threads" else (1.0, "proportional")
    panel.plot(values, (values / values[0]) ** slope, ":", color="#999999", label=guide)
    for cost, (label, _, colour, style) in _COSTS.items():
        base = line[cost].iloc[0]
        if base > 0:
            text = f"{label}: exponent {_exponent(exponents[cost])}"
            panel.plot(values, line[cost] / base, style, color=colour, label=text, markersize=5)
    panel.set_xscale("log")
    panel.set_yscale("log", base=2)
    panel.set_xticks(values, [f"{value:,}" for value in values])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))
    panel.set_title(MEANINGS[axis], loc="left", fontsize=10)
    panel.grid(color="#e6e6e6")
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(loc="best", fontsize=8, edgecolor="none")


def _exponent(value: float) -> str:
    return UNKNOWN if np.isnan(value) else f"{value:.2f}"
