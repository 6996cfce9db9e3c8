"""The page of the study of accuracy: tables, what they come to, and a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.studies.method_experiment import (
    Table,
    better_and_worse,
    differences,
    markdown_table,
    mean_and_sd,
    split_counts,
    values_by_method,
)
from sketchforest._pictures import picture_bytes
from sketchforest.datasets import catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLAGSHIP = "sketch forest"
# Each tuned method, beside what it is when it is not tuned.
DEFAULTS = {
    "tuned forest": ("random forest", "extra-trees"),
    "tuned sketch forest": (FLAGSHIP,),
}
TUNED = tuple(DEFAULTS)
METHODS = ("random forest", "extra-trees", TUNED[0], FLAGSHIP, TUNED[1], "napkinXC", "omikuji")
_STYLES = {
    "random forest": ("o", "#888888"),
    "extra-trees": ("s", "#56b4e9"),
    FLAGSHIP: ("^", "#d55e00"),
    "napkinXC": ("v", "#009e73"),
    "omikuji": ("P", "#cc79a7"),
}
# On the picture: many labels, text, and many rows.
SHOWN = ("delicious", "bibtex", "stackex_cooking")
PUBLISHED = {"delicious": "69.6 / 64.1 / 59.3", "mediamill": "84.2 / 67.3 / 53.0"}
_COLUMNS = (
    ("p1", "P@1, %", 1),
    ("p3", "P@3, %", 1),
    ("p5", "P@5, %", 1),
    ("ndcg5", "nDCG@5, %", 1),
    ("psp5", "PSP@5, %", 1),
    ("fit_seconds", "Processor seconds to fit", 2),
    ("predict_seconds", "Processor seconds to predict all test rows", 2),
    ("megabytes", "Size of the model, MB", 1),
)


def accuracy_page(results: Sequence[Mapping[str, str]], n_estimators: int) -> str:
    """Tables of means over splits, and on how many sets the flagship is ahead."""
    all_scores = values_by_method(results, "lrap")
    scores = defaults_on_common_splits(all_scores)
    names, methods = _names(scores), _methods(scores)
    lines = [
        "# Accuracy",
        "",
        f"Forests of {n_estimators} trees and label trees of linear models, on their default "
        "settings. A row is a mean over random splits, of the sizes of the source's or of 2/3 and "
        "1/3: as many as its second column says, and the same ones for every method in it. Made "
        "by `sketchforest bench accuracy`, which resumes what it has in "
        f"accuracy-{n_estimators}-trees.csv.{_where_defaults_come_from(names)}",
        "",
        "![Accuracy against the time of a fit](accuracy.svg)",
        "",
        "## LRAP (± standard deviation over splits); the best in bold",
        "",
        markdown_table(_header(methods), [_row(name, methods, scores) for name in names]),
        *(_verdict(all_scores, other) for other in methods if other != FLAGSHIP),
        *_tuned(results),
        *_published(names),
    ]
    for column, title, digits in _COLUMNS:
        values = defaults_on_common_splits(values_by_method(results, column))
        lines += [f"## {title}", "", _means(values, 100 if title.endswith("%") else 1, digits)]
    return "\n".join(lines)


def defaults_on_common_splits(values: Table) -> Table:
    """Of methods that are not tuned."""
    return on_common_splits({key: found for key, found in values.items() if key[1] not in TUNED})


def on_common_splits(values: Table) -> Table:
    """Of each set, the first splits, which all of its methods have."""
    n_common: dict[str, int] = {}
    for (name, _), found in values.items():
        n_common[name] = min(len(found), n_common.get(name, len(found)))
    return {key: found[: n_common[key[0]]] for key, found in values.items()}


def n_common_splits(scores: Table, name: str) -> str:
    return str(next(len(found) for (known, _), found in scores.items() if known == name))


def _names(values: Table) -> list[str]:
    return sorted({name for name, _ in values})


def _methods(values: Table) -> list[str]:
    known = {method for _, method in values}
    return [method for method in METHODS if method in known]


def _header(methods: Sequence[str]) -> list[str]:
    return ["data set", "splits", *methods]


def _row(name: str, methods: Sequence[str], scores: Table) -> list[str]:
    means = {m: mean_and_sd(scores[name, m]) for m in methods if (name, m) in scores}
    best = max(mean for mean, _ in means.values())
    cells = []
    for method in methods:
        mean, sd = means.get(method, (np.nan, 0.0))
        text = f"{mean:.4f} ± {sd:.4f}" if method in means else "–"
        if method in means and len(scores[name, method]) == 1:
            text = f"{mean:.4f}"
        cells.append(f"**{text}**" if mean == best else text)
    return [name, n_common_splits(scores, name), *cells]


def _means(values: Table, factor: float, digits: int) -> str:
    methods = _methods(values)
    rows = [
        [
            name,
            n_common_splits(values, name),
            *(_mean(values.get((name, method)), factor, digits) for method in methods),
        ]
        for name in _names(values)
    ]
    return markdown_table(_header(methods), rows)


def _mean(values: Sequence[float] | None, factor: float, digits: int) -> str:
    return "–" if values is None else f"{factor * float(np.mean(values)):.{digits}f}"


def _verdict(scores: Table, other: str) -> str:
    """Paired over splits: the mean difference against its standard deviation."""
    found = differences(scores, FLAGSHIP, other)
    counted = [values for values in found.values() if len(values) > 1]
    single = [name for name, values in found.items() if len(values) == 1]
    better, worse = better_and_worse(found.values())
    text = (
        f"Against {other}, on {split_counts(map(len, counted))} splits of each set, "
        f"the {FLAGSHIP} is better by more than one standard deviation of the difference on "
        f"{better} of {len(counted)} sets, and worse by more than one on {worse}."
    )
    left_out = f"Not counted, since a single split has no standard deviation: {', '.join(single)}."
    return " ".join([*([text] if counted else []), *([left_out] if single else [])]) + "\n"


def _tuned(results: Sequence[Mapping[str, str]]) -> list[str]:
    """Tuned methods beside the defaults on the very splits that tuned ones have."""
    scores, seconds = (_beside_tuned(results, name) for name in ("lrap", "fit_seconds"))
    if not scores:
        return []
    return [
        "## Tuned within the time of ten fits: LRAP",
        "",
        "On the splits that tuned forests have, so that these are not the means above.",
        "",
        _means(scores, 1, 4),
        *(
            _gain(scores, tuned, default)
            for tuned, defaults in DEFAULTS.items()
            for default in defaults
        ),
        "## Tuned within the time of ten fits: processor seconds of the fit or the search",
        "",
        _means(seconds, 1, 2),
    ]


def _beside_tuned(results: Sequence[Mapping[str, str]], column: str) -> Table:
    values = values_by_method(results, column)
    names = {name for name, method in values if method in TUNED}
    methods = {*TUNED, *(default for defaults in DEFAULTS.values() for default in defaults)}
    return on_common_splits(
        {key: found for key, found in values.items() if key[0] in names and key[1] in methods}
    )


def _gain(scores: Table, ours: str, other: str) -> str:
    gains = [float(np.mean(values)) for values in differences(scores, ours, other).values()]
    if not gains:
        return ""
    return (
        f"The {ours} less {other}: {np.mean(gains):+.4f} on average of {len(gains)} sets, better "
        f"on {sum(gain > 0 for gain in gains)}, worse on {sum(gain < 0 for gain in gains)}.\n"
    )


def _where_defaults_come_from(names: Sequence[str]) -> str:
    if not {*names} & {*catalogue()}:
        return ""
    return (
        " The defaults of the sketch forest were chosen on these very sets, on other splits: on "
        "yours they may be less ahead."
    )


def _published(names: Sequence[str]) -> list[str]:
    known = {name: figures for name, figures in PUBLISHED.items() if name in names}
    if not known:
        return []
    return [
        "Published by others (Prabhu and Varma, *FastXML: a fast, accurate and stable "
        "tree-classifier for extreme multi-label learning*, KDD 2014), on the splits of the "
        "Extreme Classification Repository, which are not the random ones of this page:",
        "",
        markdown_table(["P@1 / P@3 / P@5, %", *known], [["FastXML", *known.values()]]),
    ]


def save_front(results: Sequence[Mapping[str, str]], path: Path) -> None:
    """The picture of `draw_front` as SVG."""
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw_front(results, figure)
    path.write_bytes(picture_bytes(figure, "svg"))


def draw_front(results: Sequence[Mapping[str, str]], figure: "Figure") -> None:
    """LRAP against the time of a fit, a panel for each of some large sets that are there: the
    means of the page's tables, and so without tuned methods, which have other splits."""
    from matplotlib.ticker import LogLocator, NullLocator

    scores, times = (
        defaults_on_common_splits(values_by_method(results, name))
        for name in ("lrap", "fit_seconds")
    )
    names = [name for name in SHOWN if any(name == known for known, _ in scores)]
    names = names or sorted({name for name, _ in scores})[:3]
    figure.set_size_inches(3.6 * len(names) + 1.6, 3.8)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        for method, (marker, colour) in _STYLES.items():
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
