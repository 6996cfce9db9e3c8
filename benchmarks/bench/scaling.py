"""Time and memory against n, p, m, d, t and threads, each doubled from a base."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import pandas as pd
from rich.console import Console

from benchmarks.bench.process import in_own_process
from benchmarks.bench.scaling_axes import COSTS, MEANINGS, Axis, Point, exponent
from benchmarks.bench.scaling_report import scaling_figure, scaling_table
from benchmarks.data import load_split
from benchmarks.experiments import with_progress
from benchmarks.machine import this_machine, usable_cores
from benchmarks.store import append_row, write_csv
from sketchforest._utils.pictures import save_figure

_ONLY_GENERATED = ("p", "d")  # real data do not let us change these


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
    """The axes, and whether all planned runs finished."""

    axes: list[Axis]
    is_complete: bool = True

    def as_json(self) -> str:
        axes = [asdict(axis) for axis in self.axes]
        result = {"machine": asdict(this_machine()), "is_complete": self.is_complete, "axes": axes}
        return json.dumps(result, indent=2)


def run_scaling(
    settings: ScalingSettings, out: str | os.PathLike[str], console: Console | None = None
) -> ScalingResult:
    """Run, print a table, and write CSV files and a picture to `out`."""
    console = console or Console()
    grid = _grid(settings)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scaling-runs.csv"
    path.unlink(missing_ok=True)
    measured: dict[Point, list[dict[str, float]]] = {}
    is_complete = True
    try:
        _run_all(settings, grid, measured, path)
    except KeyboardInterrupt:
        is_complete = False
        console.print("Interrupted; finished runs are kept.")
    axes = _summarise(grid, measured)
    _report(axes, settings, folder, console)
    return ScalingResult(axes, is_complete)


def _grid(settings: ScalingSettings) -> dict[str, list[Point]]:
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


def _run_all(
    settings: ScalingSettings,
    grid: Mapping[str, list[Point]],
    measured: dict[Point, list[dict[str, float]]],
    path: Path,
) -> None:
    """Measure every point once per repeat, each in its own process; adds to `measured`."""
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
        measured.setdefault(point, []).append(answer)
        append_row({"repeat": repeat, **asdict(point), **answer}, path)


def _summarise(
    grid: Mapping[str, list[Point]], measured: Mapping[Point, list[dict[str, float]]]
) -> list[Axis]:
    axes = []
    for name, line in grid.items():
        known = [point for point in line if point in measured]
        values = [getattr(point, name) for point in known]
        costs = [pd.DataFrame(measured[point]).median().to_dict() for point in known]
        exponents = {cost: exponent(values, [row[cost] for row in costs]) for cost in COSTS}
        if known:
            axes.append(Axis(name, values, costs, exponents))
    return axes


def _report(
    axes: Sequence[Axis], settings: ScalingSettings, folder: Path, console: Console
) -> None:
    rows = [
        {"axis": axis.name, "value": value, **costs}
        for axis in axes
        for value, costs in zip(axis.values, axis.costs, strict=True)
    ]
    write_csv(rows, folder / "scaling.csv")
    exponents = [{"axis": axis.name, **axis.exponents} for axis in axes]
    write_csv(exponents, folder / "scaling-exponents.csv")
    console.print(scaling_table(axes, settings.dataset or "generated"))
    written = "scaling-runs.csv, scaling.csv, scaling-exponents.csv"
    if axes:
        save_figure(scaling_figure(axes, settings.dataset or "generated"), folder / "scaling.png")
        written += ", scaling.png"
    console.print(f"Written to {folder}: {written}", markup=False)
