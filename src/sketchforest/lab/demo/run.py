"""The library in one minute: fit time, size and ranking quality beside scikit-learn's forest."""

import math
import os
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from sketchforest._utils.progress import RunProgress
from sketchforest.datasets import Dataset, make_delicious_like
from sketchforest.lab.demo.measurement import (
    Measurement,
    measure_sketchforest,
    measure_sklearn,
)
from sketchforest.lab.demo.table import comparison_table

FULL_SIZE, QUICK_SIZE = 16_105, 2_000


def run_demo(
    n_samples: int = FULL_SIZE,
    n_estimators: int = 100,
    n_jobs: int = 2,
    out: str | os.PathLike[str] = "sketchforest-demo.png",
    seed: int = 0,
    console: Console | None = None,
) -> list[Measurement]:
    """One measurement for each forest, scikit-learn's first; prints a table, writes a picture.

    The data are generated in the shape of Delicious. All of scikit-learn's trees would take
    minutes and gigabytes, so it grows one for each job, and its time and size are scaled.
    """
    console = console or Console()
    picture = _checked_picture_path(out)
    data = make_delicious_like(n_samples, random_state=seed)
    console.print(_description(data))
    n_labels = data.Y.shape[1]
    components = [None, 25, math.floor(0.5 + math.log(n_labels)), 1]
    with RunProgress(["scikit-learn", *components]) as progress:
        progress.start("scikit-learn, original outputs")
        measurements = [measure_sklearn(data, n_estimators, n_jobs, seed)]
        progress.finish()
        for m in components:
            outputs = "original outputs" if m is None else f"{m} projected outputs"
            progress.start(f"sketchforest, {outputs}")
            measurements.append(measure_sketchforest(data, m, n_estimators, n_jobs, seed))
            progress.finish()
    console.print(comparison_table(measurements, n_labels=n_labels))
    _write_picture(measurements, picture, console)
    return measurements


def _checked_picture_path(out: str | os.PathLike[str]) -> Path:
    """The path, refused now rather than after a minute of work."""
    path = Path(out)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"out must lie in an existing folder; got '{path}'.")
    return path


def _description(data: Dataset) -> str:
    n_train, n_test = len(data.splits["train"]), len(data.splits["test"])
    return (
        f"Tags generated in the shape of Delicious: {n_train:,} training rows, {n_test:,} test "
        f"rows, {data.X.shape[1]:,} features, {data.Y.shape[1]:,} labels."
    )


def _write_picture(measurements: list[Measurement], path: Path, console: Console) -> None:
    if find_spec("matplotlib") is None:
        # No markup: rich would take the name of the extra for a style.
        message = "For the picture, install the extra: pip install 'sketchforest[plot]'."
        console.print(message, markup=False)
        return
    from sketchforest.lab.demo.figure import save_components_figure

    save_components_figure(measurements, path)
    console.print(f"Picture: {path}", markup=False)
