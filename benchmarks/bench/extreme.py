"""Our forests compared with linear label trees, on generated data sets with very many labels."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.bench.process import MeasurementError, in_own_process
from benchmarks.store import Row, write_csv
from sketchforest._utils.units import seconds, size

SHAPES = ("wiki10-31k", "amazon-670k")
FORESTS, OTHERS = ("rf", "et", "sf"), ("napkinxc", "omikuji")
_COLUMNS = ("", "fit", "of processors", "peak memory", "model", "load", "five best", "P@1/3/5 %")


def run_extreme(
    shape: str = SHAPES[0],
    methods: Sequence[str] = (),
    out: Path | None = None,
    *,
    n_train: int | None = None,
    n_test: int | None = None,
    n_estimators: int = 50,
    n_components: int = 32,
    n_jobs: int = 2,
    console: Console | None = None,
) -> list[Row]:
    """Fit, save, load and rank, each method in its own process.

    Without `methods`, runs random forests, extra-trees and the other libraries if installed.
    """
    console = console or Console()
    methods = list(methods) or ["rf", "et", *(name for name in OTHERS if find_spec(name))]
    _check("shape", [shape], SHAPES)
    _check("methods", methods, (*FORESTS, *OTHERS))
    given = {"n_train": n_train, "n_test": n_test}
    sizes = {name: value for name, value in given.items() if value is not None}
    rows: list[Row] = []
    for method in methods:
        try:
            with console.status(f"{shape}: {method}"):
                answer = in_own_process(
                    "measure_extreme",
                    n_jobs,
                    shape=shape,
                    method=method,
                    sizes=sizes,
                    n_estimators=n_estimators,
                    n_components=n_components,
                    n_jobs=n_jobs,
                )
        except MeasurementError as error:
            console.print(f"{method} failed: {error}", markup=False)
            continue
        rows.append({"shape": shape, "method": method, **answer})
        if out is not None:  # the next method may take too long
            out.mkdir(parents=True, exist_ok=True)
            write_csv(rows, out / f"{shape}.csv")
    console.print(_table(rows))
    return rows


def _check(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    unknown = [value for value in given if value not in known]
    if unknown:
        raise ValueError(f"{name} must be among {', '.join(known)}; got {', '.join(unknown)}.")


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name else "left")
    for row in rows:
        answer = {name: float(str(v)) for name, v in row.items() if isinstance(v, int | float)}
        table.add_row(
            str(row["method"]),
            seconds(answer["fit_seconds"]),
            seconds(answer["fit_processor_seconds"]),
            size(answer["fit_peak_bytes"]),
            size(answer["model_bytes"]),
            seconds(answer["load_seconds"]),
            seconds(answer["top_seconds"]),
            "/".join(f"{100 * answer[f'precision_at_{k}']:.1f}" for k in (1, 3, 5)),
        )
    return table
