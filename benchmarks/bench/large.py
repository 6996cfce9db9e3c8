"""One fit on a generated data set with very many rows, features and labels."""

import json
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.bench.process import in_own_process
from benchmarks.machine import this_machine
from benchmarks.store import Row
from sketchforest._utils.units import seconds, size


def run_large(
    n_samples: int = 300_000,
    n_features: int = 100_000,
    n_labels: int = 100_000,
    n_estimators: int = 20,
    n_components: int = 16,
    n_jobs: int = 2,
    console: Console | None = None,
) -> Row:
    """Measure time and peak memory of a fit and of ranking the five best labels of test rows."""
    console = console or Console()
    sizes = {
        "n_samples": n_samples,
        "n_features": n_features,
        "n_labels": n_labels,
        "n_estimators": n_estimators,
        "n_components": n_components,
        "n_jobs": n_jobs,
    }
    console.print(
        f"{n_samples:,} rows, {n_features:,} features (50 per row), {n_labels:,} labels "
        f"(5 per row), {n_estimators} trees on {n_components} projected outputs"
    )
    with console.status("generating, fitting, predicting"):
        answer = in_own_process("measure_large", n_jobs, **sizes)
    console.print(_table(answer))
    return {**sizes, **answer}


def large_json(result: Row) -> str:
    return json.dumps({"machine": asdict(this_machine()), **result}, indent=2)


def _table(answer: dict[str, float]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    shares = (answer["precision_at_1"], answer["precision_at_5"])
    for name, value in (
        ("fit", seconds(answer["fit_seconds"])),
        (f"five best labels of {answer['n_test']:,} rows", seconds(answer["predict_seconds"])),
        ("peak memory, including data and imports", size(answer["peak_bytes"])),
        ("before the fit", size(answer["baseline_bytes"])),
        ("saved model", size(answer["model_bytes"])),
        ("P@1/5 %", "/".join(f"{100 * share:.1f}" for share in shares)),
    ):
        table.add_row(name, value)
    return table
