"""The page of the accuracy study: tables, conclusions and a picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from benchmarks.significance import compare_methods, verdict
from benchmarks.studies.embeddings import N_NEIGHBORS
from benchmarks.studies.study import (
    by_method,
    differences,
    markdown_table,
    split_counts,
)
from sketchforest._utils.pictures import picture_bytes
from sketchforest._utils.tables import latex_table
from sketchforest.datasets import catalogue
from sketchforest.metrics.probabilities import EPS

FLAGSHIP = "sketch forest"
# The default methods to compare each tuned method with.
DEFAULTS = {
    "tuned forest": ("random forest", "extra-trees"),
    "tuned sketch forest": (FLAGSHIP,),
}
TUNED = tuple(DEFAULTS)
METHODS = (
    *("random forest", "extra-trees", TUNED[0], FLAGSHIP, TUNED[1]),
    *("napkinXC", "omikuji", "ridge", "k-NN"),
)
_STYLES = {
    "random forest": ("o", "#888888"),
    "extra-trees": ("s", "#56b4e9"),
    FLAGSHIP: ("^", "#d55e00"),
    "napkinXC": ("v", "#009e73"),
    "omikuji": ("P", "#cc79a7"),
    "ridge": ("D", "#0072b2"),
    "k-NN": ("X", "#e69f00"),
}
N_DIMENSIONS = 512  # of texts for ridge regression and nearest neighbours
# Data sets of the picture: many labels, text, and many rows.
SHOWN = ("delicious", "bibtex", "stackex_cooking")
PUBLISHED = {"delicious": "69.6 / 64.1 / 59.3", "mediamill": "84.2 / 67.3 / 53.0"}
_COLUMNS = (
    ("p1", "P@1, %", 1),
    ("p3", "P@3, %", 1),
    ("p5", "P@5, %", 1),
    ("ndcg5", "nDCG@5, %", 1),
    ("psp5", "PSP@5, %", 1),
    ("log_loss", f"Log loss per label, probabilities clipped to [{EPS:g}, {1 - EPS:g}]", 4),
    ("fit_seconds", "Processor seconds to fit", 2),
    ("predict_seconds", "Processor seconds to predict all test rows", 2),
    ("megabytes", "Size of the model, MB", 1),
)


def accuracy_page(results: pd.DataFrame, n_estimators: int) -> str:
    """Make tables of means over splits, and count the data sets on which the flagship leads."""
    scores = defaults_on_common_splits(results, "lrap")
    names = scores.index.unique("dataset")
    lines = [
        "# Accuracy",
        "",
        f"Forests of {n_estimators} trees and label trees of linear models, all with default "
        "settings, are compared with ridge regression (its penalty chosen by leave-one-out errors) "
        f"and {N_NEIGHBORS} nearest neighbours by cosine. The last two use standardized features "
        f"or, for text, {N_DIMENSIONS} dimensions of an SVD of TF-IDF weights, and their fit times "
        "include the prediction. Each line is a mean over random splits with the sizes of the "
        "source's split, or 2/3 and 1/3; all methods have the same splits, which the second column "
        "counts. `python -m benchmarks bench accuracy` makes this page, and adds missing results "
        f"to accuracy-{n_estimators}-trees.csv.{_where_defaults_come_from(names)}",
        "",
        "![Accuracy against the time of a fit](accuracy.svg)",
        "",
        "## LRAP (± standard deviation over splits); the best in bold",
        "",
        markdown_table(["data set", "splits", *scores], _score_rows(scores)),
        *(_verdict(by_method(results, "lrap"), other) for other in scores if other != FLAGSHIP),
        *_significance(results),
        *_tuned(results),
        *_published(names),
    ]
    for column, title, digits in _COLUMNS:
        if column in results:
            values = defaults_on_common_splits(results, column)
            factor = 100 if title.endswith("%") else 1
            lines += [f"## {title}", "", _means(values, factor, digits)]
    return "\n".join(lines)


def defaults_on_common_splits(results: pd.DataFrame, column: str) -> pd.DataFrame:
    """Pivot a column of the methods that are not tuned."""
    values = by_method(results[~results["method"].isin(TUNED)], column)
    return on_common_splits(values)


def on_common_splits(values: pd.DataFrame) -> pd.DataFrame:
    """Keep the splits of a data set that all of its methods have, and sort the methods."""
    kept = [
        block.dropna(axis="columns", how="all").dropna()
        for _, block in values.groupby("dataset", sort=True)
    ]
    found = pd.concat(kept) if kept else values
    return found[[method for method in METHODS if method in found]]


def _score_rows(scores: pd.DataFrame) -> list[list[str]]:
    groups = scores.groupby("dataset")
    rows = []
    for (name, mean), (_, sd) in zip(
        groups.mean().iterrows(), groups.std().iterrows(), strict=True
    ):
        texts = {m: f"{mean[m]:.4f}" + _spread(sd[m]) for m in scores if mean[m] == mean[m]}
        texts |= {m: f"**{text}**" for m, text in texts.items() if mean[m] == mean.max()}
        n_splits = len(groups.get_group(name))
        rows.append([str(name), str(n_splits), *(texts.get(m, "–") for m in scores)])
    return rows


def _spread(sd: float) -> str:
    return "" if np.isnan(sd) else f" ± {sd:.4f}"


def _means(values: pd.DataFrame, factor: float, digits: int) -> str:
    groups = values.groupby("dataset")
    rows = [
        [
            str(name),
            str(len(groups.get_group(name))),
            *("–" if np.isnan(mean) else f"{factor * mean:.{digits}f}" for mean in means),
        ]
        for name, means in groups.mean().iterrows()
    ]
    return markdown_table(["data set", "splits", *values], rows)


def _verdict(scores: pd.DataFrame, other: str) -> str:
    """Compare split by split: the mean difference against its standard deviation."""
    found = differences(scores, FLAGSHIP, other)
    counted, single = found[found["count"] > 1], found.index[found["count"] == 1]
    better, worse = better_and_worse(found)
    text = (
        f"On {split_counts(counted['count'])} splits of each data set, the {FLAGSHIP} beats "
        f"{other} by more than one standard deviation of the difference on {better} of "
        f"{len(counted)} data sets, and is beaten by as much on {worse}."
    )
    left_out = f"Not counted, because one split has no standard deviation: {', '.join(single)}."
    parts = [*([text] if len(counted) else []), *([left_out] if len(single) else [])]
    return " ".join(parts) + "\n"


def compared_with_flagship(results: pd.DataFrame) -> pd.DataFrame:
    """Differences in LRAP with their significance; empty without the flagship."""
    scores = by_method(results[~results["method"].isin(TUNED)], "lrap")
    kept = [method for method in METHODS if method in scores]
    return compare_methods(scores[kept], FLAGSHIP) if FLAGSHIP in kept else pd.DataFrame()


def _significance(results: pd.DataFrame) -> list[str]:
    compared = compared_with_flagship(results)
    others = compared["other"].unique() if len(compared) else ()
    return [f"{text}\n" for other in others if (text := verdict(compared, FLAGSHIP, other))]


def save_tables(results: pd.DataFrame, folder: Path) -> None:
    """Write the table of LRAP for LaTeX, and the differences with p values as CSV."""
    scores = defaults_on_common_splits(results, "lrap")
    rows = [[cell.replace("**", "") for cell in row] for row in _score_rows(scores)]
    table = latex_table(["data set", "splits", *scores], rows)
    (folder / "accuracy.tex").write_text(table, encoding="utf-8")
    compared_with_flagship(results).to_csv(folder / "accuracy-significance.csv", index=False)


def better_and_worse(found: pd.DataFrame) -> tuple[int, int]:
    """Count data sets where differences are above and below zero by more than their sd."""
    is_better, is_worse = found["mean"] > found["std"], found["mean"] < -found["std"]
    return int(is_better.sum()), int(is_worse.sum())


def _tuned(results: pd.DataFrame) -> list[str]:
    """Compare tuned methods with the defaults on the same splits."""
    if not results["method"].isin(TUNED).any():
        return []
    tuned = results[results["method"].isin(TUNED)]
    methods = [*TUNED, *(default for defaults in DEFAULTS.values() for default in defaults)]
    is_shown = results["dataset"].isin(tuned["dataset"]) & results["method"].isin(methods)
    scores = on_common_splits(by_method(results[is_shown], "lrap"))
    return [
        "## Tuned within the time of ten fits: LRAP",
        "",
        "On the splits on which forests were tuned; the means therefore differ from those above.",
        "",
        _means(scores, 1, 4),
        *(
            _gain(scores, tuned, default)
            for tuned, defaults in DEFAULTS.items()
            for default in defaults
        ),
    ]


def _gain(scores: pd.DataFrame, ours: str, other: str) -> str:
    gains = differences(scores, ours, other)["mean"]
    if not len(gains):
        return ""
    return (
        f"{ours.capitalize()} minus {other}: {gains.mean():+.4f} on average over {len(gains)} "
        f"data sets, better on {(gains > 0).sum()}, worse on {(gains < 0).sum()}.\n"
    )


def _where_defaults_come_from(names: Sequence[str]) -> str:
    if not {*names} & {*catalogue()}:
        return ""
    return (
        " The defaults of the sketch forest were chosen on other splits of these data sets: expect "
        "a smaller lead on your data. [](study/linear.md) shows how much the linear part and the "
        "correction by other labels add. Methods with default settings were measured on 16 cores, "
        "sixteen fits at a time with one thread each, and tuned forests on another machine."
    )


def _published(names: Sequence[str]) -> list[str]:
    known = {name: figures for name, figures in PUBLISHED.items() if name in names}
    if not known:
        return []
    return [
        "Published by others (Prabhu and Varma, *FastXML: a fast, accurate and stable "
        "tree-classifier for extreme multi-label learning*, KDD 2014), on the splits of the "
        "Extreme Classification Repository, not on the random splits of this page:",
        "",
        markdown_table(["P@1 / P@3 / P@5, %", *known], [["FastXML", *known.values()]]),
    ]


def save_picture(results: pd.DataFrame, path: Path) -> None:
    """Write the picture of `draw_accuracy` as SVG."""
    figure = Figure(layout="constrained")
    draw_accuracy(results, figure)
    path.write_bytes(picture_bytes(figure, "svg"))


def draw_accuracy(results: pd.DataFrame, figure: Figure) -> None:
    """Draw LRAP against fit time, with a panel for each of some large data sets.

    The points are the means of the page's tables. Tuned methods have other splits, and are not
    shown.
    """
    scores, times = (
        defaults_on_common_splits(results, name).groupby("dataset").mean()
        for name in ("lrap", "fit_seconds")
    )
    names = [name for name in SHOWN if name in scores.index] or scores.index[:3]
    figure.set_size_inches(3.6 * len(names) + 1.6, 3.8)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        for method, (marker, colour) in _STYLES.items():
            if method in scores and scores.loc[name, method] > 0:
                x, y = times.loc[name, method], scores.loc[name, method]
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
    labels = [method for method in METHODS if method in known]
    handles = [known[label] for label in labels]
    figure.legend(handles, labels, loc="outside right center", edgecolor="none")
