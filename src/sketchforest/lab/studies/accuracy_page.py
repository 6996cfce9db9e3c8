"""The page of the study of accuracy: tables, what they come to, and a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sketchforest.lab.studies.method_experiment import (
    Table,
    better_and_worse,
    differences,
    markdown_table,
    mean_and_sd,
    values_by_method,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLAGSHIP = "sketch forest"
TUNED = ("tuned forest", "tuned sketch forest")
METHODS = ("random forest", "extra-trees", TUNED[0], FLAGSHIP, TUNED[1], "napkinXC", "omikuji")
_STYLES = (
    ("o", "#888888"),
    ("s", "#56b4e9"),
    ("D", "#0072b2"),
    ("^", "#d55e00"),
    ("*", "#a03000"),
    ("v", "#009e73"),
    ("P", "#cc79a7"),
)
# On the picture: many labels, text, and many rows.
SHOWN = ("delicious", "bibtex", "stackex_cooking")
PUBLISHED = {"FastXML": {"delicious": "69.6 / 64.1 / 59.3", "mediamill": "84.2 / 67.3 / 53.0"}}


def accuracy_page(results: Sequence[Mapping[str, str]]) -> str:
    """Tables of means over splits, and on how many sets the flagship is ahead."""
    all_scores = values_by_method(results, "lrap")
    scores = on_common_splits(all_scores)
    names = sorted({name for name, _ in scores})
    methods = list(dict.fromkeys(method for _, method in scores))
    methods = [method for method in METHODS if method in methods]
    lines = [
        "# Accuracy",
        "",
        f"Forests of 100 trees and label trees of linear models, {_settings(methods)}. Means over "
        "those random splits, of the sizes of the source's or of 2/3 and 1/3, on which all of them "
        f"were measured: {_n_splits(scores, methods)}. Made by `sketchforest bench accuracy`, "
        "which resumes what it has in accuracy-100-trees.csv. The defaults of the sketch forest "
        "were chosen on these very sets, on other splits: on yours they may be less ahead.",
        "",
        "![Accuracy against the time of a fit](accuracy.svg)",
        "",
        "## LRAP (± standard deviation over splits); the best, but for tuned ones, in bold",
        "",
        markdown_table(["data set", *methods], [_row(name, methods, scores) for name in names]),
        *(_verdict(all_scores, other) for other in methods if other not in (FLAGSHIP, *TUNED)),
        *_published(),
    ]
    for column, title, digits in (
        ("p1", "P@1, %", 1),
        ("p3", "P@3, %", 1),
        ("p5", "P@5, %", 1),
        ("ndcg5", "nDCG@5, %", 1),
        ("psp5", "PSP@5, %", 1),
        ("fit_seconds", "Processor seconds to fit", 2),
        ("predict_seconds", "Processor seconds to predict all test rows", 2),
        ("megabytes", "Size of the model, MB", 1),
    ):
        factor = 100 if title.endswith("%") else 1
        values = on_common_splits(values_by_method(results, column))
        rows = [
            [name, *(_mean(values.get((name, m)), factor, digits) for m in methods)]
            for name in names
        ]
        lines += [f"## {title}", "", markdown_table(["data set", *methods], rows)]
    return "\n".join(lines)


def on_common_splits(values: Table) -> Table:
    """Of each set, the first splits, which all methods but tuned ones have."""
    n_common: dict[str, int] = {}
    for (name, method), found in values.items():
        if method not in TUNED:
            n_common[name] = min(len(found), n_common.get(name, len(found)))
    return {key: found[: n_common.get(key[0], len(found))] for key, found in values.items()}


def _row(name: str, methods: Sequence[str], scores: Table) -> list[str]:
    means = {m: mean_and_sd(scores[name, m]) for m in methods if (name, m) in scores}
    # Tuned ones have fewer splits, and are not compared.
    best = max((mean for m, (mean, _) in means.items() if m not in TUNED), default=np.nan)
    cells = []
    for method in methods:
        mean, sd = means.get(method, (np.nan, 0.0))
        text = f"{mean:.4f} ± {sd:.4f}" if method in means else "–"
        if method in means and len(scores[name, method]) == 1:
            text = f"{mean:.4f}"
        cells.append(f"**{text}**" if method not in TUNED and mean == best else text)
    return [name, *cells]


def _verdict(scores: Table, other: str) -> str:
    """Paired over splits: the mean difference against its standard deviation."""
    found = list(differences(scores, FLAGSHIP, other))
    better, worse = better_and_worse(found)
    n_splits = int(np.median([len(values) for values in found] or [0]))
    return (
        f"Against {other}, on {n_splits} splits of most sets, the {FLAGSHIP} "
        "is better by more than one standard deviation of the difference on "
        f"{better} of {len(found)} sets, and worse by more than one on {worse}.\n"
    )


def _mean(values: Sequence[float] | None, factor: float, digits: int) -> str:
    return "–" if values is None else f"{factor * float(np.mean(values)):.{digits}f}"


def _settings(methods: Sequence[str]) -> str:
    if any(method in TUNED for method in methods):
        return "on their default settings, or tuned within the time of ten fits"
    return "all on their default settings"


def _n_splits(scores: Table, methods: Sequence[str]) -> str:
    """Of each method: the number that most of its sets have."""
    usual = {
        method: int(np.median([len(v) for (_, m), v in scores.items() if m == method]))
        for method in methods
    }
    most = max(usual.values(), default=0)
    fewer = [f"{n} of the {method}" for method, n in usual.items() if n < most]
    return f"{most} of each method" + (f", but {', '.join(fewer)}" if fewer else "")


def _published() -> list[str]:
    header = ["P@1 / P@3 / P@5, %", *PUBLISHED["FastXML"]]
    rows = [[method, *figures.values()] for method, figures in PUBLISHED.items()]
    return [
        "Published by others, on the splits of the Extreme Classification Repository, which are "
        "not the random ones of this page:",
        "",
        markdown_table(header, rows),
    ]


def save_front(results: Sequence[Mapping[str, str]], path: Path) -> None:
    """The picture of `draw_front` as SVG."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw_front(results, figure)
    figure.savefig(path, format="svg", metadata={"Date": None})


def draw_front(results: Sequence[Mapping[str, str]], figure: "Figure") -> None:
    """LRAP against the time of a fit, a panel for each of some large sets that are there."""
    from matplotlib.ticker import LogLocator, NullLocator

    scores, times = (values_by_method(results, name) for name in ("lrap", "fit_seconds"))
    names = [name for name in SHOWN if any(name == known for known, _ in scores)]
    names = names or sorted({name for name, _ in scores})[:3]
    figure.set_size_inches(3.6 * len(names) + 1.6, 3.8)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        for method, (marker, colour) in zip(METHODS, _STYLES, strict=True):
            if (name, method) in scores:
                x, y = np.mean(times[name, method]), np.mean(scores[name, method])
                axes.plot(x, y, marker, color=colour, markersize=9, label=method)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_title(name)
        axes.set_xlabel("processor seconds to fit")
        axes.margins(0.15)
        axes.grid(color="#e6e6e6")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("LRAP on test rows")
    known = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        [known[m] for m in METHODS if m in known],
        [m for m in METHODS if m in known],
        loc="outside right center",
        edgecolor="none",
    )
