"""The library in one minute: fit time, size and ranking quality beside scikit-learn's forest."""

import math
import os
from importlib.util import find_spec
from pathlib import Path

from joblib import effective_n_jobs
from rich.console import Console

from sketchforest.datasets import Dataset, make_delicious_like
from sketchforest.lab.demo.table import comparison_table
from sketchforest.lab.measure import Measurement, pickled_size, ranking_quality, timed_fit
from sketchforest.lab.progress import RunProgress

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
    with RunProgress(["scikit-learn", *components], console) as progress:
        progress.start("scikit-learn, original outputs")
        measurements = [_measure_sklearn(data, n_estimators, n_jobs, seed)]
        progress.finish()
        for m in components:
            outputs = "original outputs" if m is None else f"{m} projected outputs"
            progress.start(f"sketchforest, {outputs}")
            measurements.append(_measure_sketchforest(data, m, n_estimators, n_jobs, seed))
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


def _measure_sketchforest(
    data: Dataset, n_components: int | None, n_estimators: int, n_jobs: int, seed: int
) -> Measurement:
    from sketchforest import RandomForestClassifier

    train, test = data.splits["train"], data.splits["test"]
    projected = n_components is not None
    forest = RandomForestClassifier(
        n_estimators=n_estimators,
        max_features="sqrt",
        n_jobs=n_jobs,
        random_state=seed,
        projection="gaussian" if projected else None,
        **({"n_components": n_components} if projected else {}),
    )
    fit_seconds = timed_fit(forest, data.X[train], data.Y[train])
    lrap, precision = ranking_quality(data.Y[test], forest.predict_proba(data.X[test]))
    return Measurement(
        package="sketchforest",
        n_components=n_components,
        n_estimators=n_estimators,
        n_grown=n_estimators,
        fit_seconds=fit_seconds,
        n_bytes=pickled_size(forest),
        lrap=lrap,
        precision=precision,
    )


def _measure_sklearn(data: Dataset, n_estimators: int, n_jobs: int, seed: int) -> Measurement:
    from sklearn.ensemble import RandomForestRegressor

    # Fewer trees than jobs would leave cores idle, and scaling would blame the forest for it.
    n_grown = min(n_estimators, effective_n_jobs(n_jobs))
    train, test = data.splits["train"], data.splits["test"]
    forest = RandomForestRegressor(
        n_estimators=n_grown, max_features="sqrt", n_jobs=n_jobs, random_state=seed
    )
    # Dense: it refuses sparse outputs, and grows no faster on sparse features.
    fit_seconds = timed_fit(forest, data.X[train].toarray(), data.Y[train].toarray())
    lrap, precision = ranking_quality(data.Y[test], forest.predict(data.X[test].toarray()))
    return Measurement(
        package="scikit-learn",
        n_components=None,
        n_estimators=n_grown,
        n_grown=n_grown,
        fit_seconds=fit_seconds,
        n_bytes=pickled_size(forest),
        lrap=lrap,
        precision=precision,
    ).scaled_to(n_estimators)


def _write_picture(measurements: list[Measurement], path: Path, console: Console) -> None:
    if find_spec("matplotlib") is None:
        # No markup: rich would take the name of the extra for a style.
        message = "For the picture, install the extra: pip install 'sketchforest[plot]'."
        console.print(message, markup=False)
        return
    from sketchforest.lab.demo.figure import save_components_figure

    save_components_figure(measurements, path)
    console.print(f"Picture: {path}", markup=False)
