"""The demo: forests beside scikit-learn's, then tags for new texts and the words behind them."""

from __future__ import annotations

import csv
import math
import os
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sklearn.ensemble import RandomForestRegressor

from sketchforest import RandomForestClassifier, SketchForestClassifier, Tagger
from sketchforest._utils.display import BLUE, shortened, tidy
from sketchforest._utils.progress import stage, watched
from sketchforest._utils.units import UNKNOWN, ratio, seconds, size
from sketchforest.datasets import Dataset, make_delicious_like
from sketchforest.metrics import lrap, precision_at_k

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FULL_SIZE, QUICK_SIZE = 16_105, 2_000
SCIKIT_LEARN = "scikit-learn"
TEXTS = "functions.csv"
N_TAGS, N_WORDS, N_TEXTS, TEXT_WIDTH = 2, 3, 5, 45


@dataclass(frozen=True)
class Measurement:
    """Cost and ranking quality of one forest.

    Time and size are scaled to all trees if only `n_grown` were grown; the quality is then unknown.
    `n_components` is None for a forest on the original outputs.
    """

    forest: str
    n_components: int | None
    n_grown: int
    fit_seconds: float
    n_bytes: int
    lrap: float | None = None
    precision: tuple[float, ...] = ()  # at 1, 3 and 5

    @property
    def outputs(self) -> str:
        return "original outputs" if self.n_components is None else f"m = {self.n_components}"


def run_demo(
    n_samples: int = FULL_SIZE,
    n_estimators: int = 100,
    n_jobs: int = 2,
    out: str | os.PathLike[str] = "sketchforest-demo.png",
    seed: int = 0,
    examples: str | os.PathLike[str] = "examples",
    console: Console | None = None,
) -> list[Measurement]:
    """Measure the forests, print a table, draw a picture, and tag the texts in `examples`.

    All of scikit-learn's trees would take minutes and gigabytes. It grows one per job, and its time
    and size are scaled.
    """
    console, path = console or Console(), Path(out)
    if not path.parent.is_dir():  # fail before the work, not after it
        raise FileNotFoundError(f"out must lie in an existing folder; got '{path}'.")
    data = make_delicious_like(n_samples, random_state=seed)
    n_train, n_test = len(data.splits["train"]), len(data.splits["test"])
    n_features, n_labels = data.X.shape[1], data.Y.shape[1]
    console.print(
        f"Generated tags, shaped like Delicious: {n_train:,} training rows, {n_test:,} test rows, "
        f"{n_features:,} features, {n_labels:,} labels."
    )
    forests = _forests(n_labels, n_estimators, n_jobs, seed)
    with watched(), stage("scikit-learn", 1 + len(forests)) as shown:
        measurements = [measure_sklearn(data, n_estimators, n_jobs, seed)]
        for name, forest in forests:
            shown.update(len(measurements), name=name)
            measurements.append(measure_sketchforest(data, name, forest))
    console.print(comparison_table(measurements, n_estimators, n_labels))
    if find_spec("matplotlib") is None:
        message = "To get a picture, install matplotlib: pip install 'sketchforest[plot]'."
        console.print(message, markup=False)
    else:
        from sketchforest._utils.pictures import save_figure

        save_figure(comparison_figure(measurements, n_estimators), path)
        console.print(f"Picture: {path}", markup=False)
    if (Path(examples) / TEXTS).is_file():
        show_tags(Path(examples), n_jobs, console)
    return measurements


def _forests(n_labels: int, n_estimators: int, n_jobs: int, seed: int) -> list[tuple[str, Any]]:
    """The forests of the demo by name, the most accurate first."""
    shared: dict[str, Any] = {"n_jobs": n_jobs, "random_state": seed}
    sketch = SketchForestClassifier(n_estimators, n_components=64, **shared)
    forests: list[tuple[str, Any]] = [("sketch forest", sketch)]
    for m in (None, 25, math.floor(0.5 + math.log(n_labels)), 1):
        projection = None if m is None else "gaussian"
        forest = RandomForestClassifier(
            n_estimators, projection=projection, n_components=m, **shared
        )
        forests.append(("random forest", forest))
    return forests


def measure_sketchforest(data: Dataset, name: str, forest: Any) -> Measurement:
    train, test = data.splits["train"], data.splits["test"]
    start = time.perf_counter()
    forest.fit(data.X[train], data.Y[train])
    fit_seconds = time.perf_counter() - start
    Y, scores = data.Y[test], np.asarray(forest.predict_proba(data.X[test]))
    return Measurement(
        name,
        None if forest.projection is None else forest.n_components,
        forest.n_estimators,
        fit_seconds,
        len(pickle.dumps(forest)),
        lrap(Y, scores),
        tuple(precision_at_k(Y, scores, k) for k in (1, 3, 5)),
    )


def measure_sklearn(data: Dataset, n_estimators: int, n_jobs: int, seed: int) -> Measurement:
    # With fewer trees than jobs, idle cores would count against scikit-learn.
    n_grown = min(n_estimators, effective_n_jobs(n_jobs))
    forest = RandomForestRegressor(n_grown, max_features="sqrt", n_jobs=n_jobs, random_state=seed)
    # It does not take sparse outputs, and is no faster on sparse features.
    X, Y = (matrix[data.splits["train"]].toarray() for matrix in (data.X, data.Y))
    start = time.perf_counter()
    forest.fit(X, Y)
    fit_seconds = (time.perf_counter() - start) * n_estimators / n_grown
    n_bytes = n_estimators * len(pickle.dumps(forest.estimators_[0]))
    return Measurement(SCIKIT_LEARN, None, n_grown, fit_seconds, n_bytes)


def comparison_table(
    measurements: Sequence[Measurement], n_estimators: int, n_labels: int
) -> Table:
    """Build a table with one line per forest; ratios compare with the first one."""
    first = measurements[0]
    note = f"* {first.n_grown} of {n_estimators} trees grown; time and size are scaled"
    table = Table(
        title=f"{n_estimators} trees",
        caption=note if first.n_grown < n_estimators else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,  # these three keep the table within 80 columns
        pad_edge=False,
        collapse_padding=True,
    )
    for header in ("forest", "outputs"):
        table.add_column(header, no_wrap=True)
    for header in ("fit", "faster", "LRAP", "P@1/3/5 %", "size", "smaller"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in measurements:
        table.add_row(
            row.forest + " *" * (row.n_grown < n_estimators),
            f"{n_labels} labels" if row.n_components is None else f"m = {row.n_components}",
            seconds(row.fit_seconds),
            ratio(first.fit_seconds / row.fit_seconds),
            UNKNOWN if row.lrap is None else f"{row.lrap:.3f}",
            "/".join(f"{100 * share:.0f}" for share in row.precision) or UNKNOWN,
            size(row.n_bytes),
            ratio(first.n_bytes / row.n_bytes),
            end_section=row is first,
        )
    return table


def comparison_figure(measurements: Sequence[Measurement], n_estimators: int) -> Figure:
    """Plot the LRAP and the fit time of each forest."""
    from matplotlib.figure import Figure  # needs no display, unlike pyplot

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    n_all = max(row.n_grown for row in measurements)
    names = [
        f"{row.forest}, {row.outputs}" + " (scaled)" * (row.n_grown < n_all) for row in measurements
    ]
    lrap, fit_seconds = figure.subplots(1, 2, sharey=True)
    for axes, field, label, form in (
        (lrap, "lrap", "LRAP on test rows, 1 is best", "{:.3f}"),
        (fit_seconds, "fit_seconds", f"seconds to fit {n_estimators} trees (log scale)", "{:.3g}"),
    ):
        values = [getattr(row, field) for row in measurements]
        bars = axes.barh(names, [value or 0.0 for value in values], color=BLUE)
        axes.bar_label(bars, ["" if v is None else form.format(v) for v in values], padding=3)
        axes.set_xlabel(label)
        axes.margins(x=0.15)
        tidy(axes)
    fit_seconds.set_xscale("log")
    lrap.invert_yaxis()
    return figure


def show_tags(examples: Path, n_jobs: int, console: Console) -> None:
    """Train on tagged descriptions, and tag others: with the words that decided, and the truth."""
    with open(examples / TEXTS, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    is_new = np.arange(len(rows)) % (len(rows) // N_TEXTS) == 0
    known, new = ([row for row, of in zip(rows, is_new == b, strict=True) if of] for b in (0, 1))
    forest = SketchForestClassifier(n_jobs=n_jobs, random_state=0)
    tagger = Tagger(forest, tag_separator=";", stop_words="english")
    tagger.fit([row["description"] for row in known], [row["tags"] for row in known])
    console.print(
        f"\nTags of functions, suggested after training on {len(known):,} other descriptions "
        f"({examples / TEXTS}):",
        markup=False,
    )
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in ("description", "suggested", "because of", "actual tags"):
        table.add_column(header)
    for row in new[:N_TEXTS]:
        found = tagger.explain(row["description"], k=N_TAGS)
        tags = zip(found.label_names, found.scores, strict=True)
        words = [line.feature for line in found.lines() if line.value is not None and line.adds > 0]
        table.add_row(
            escape(shortened(row["description"], TEXT_WIDTH)),
            "\n".join(f"{tag} {score:.2f}" for tag, score in tags),
            ", ".join(words[:N_WORDS]),
            escape(row["tags"].replace(";", ", ")),
        )
    console.print(table)
    console.print(
        "\nTry it yourself:\n"
        f"  sketchforest train {examples / 'questions.csv'} --text-column question "
        "--tags-column tags -o model.sf\n"
        f"  sketchforest predict model.sf {examples / 'new_questions.csv'} --top 2\n"
        "  sketchforest serve model.sf",
        markup=False,
        soft_wrap=True,
    )
