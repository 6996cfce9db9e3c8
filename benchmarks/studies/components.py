"""The default of n_components: projected forests against the forest on the original outputs."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import TrainTestSplit
from benchmarks.studies.study import (
    FitResult,
    Measure,
    Study,
    by_method,
    fit_and_score,
    markdown_table,
    n_labels,
    sd,
    split_counts,
)
from sketchforest import ExtraTreesClassifier, RandomForestClassifier
from sketchforest.projection import resolve_n_components

KINDS = {"rf": RandomForestClassifier, "et": ExtraTreesClassifier}
COMPONENTS: tuple[int | str, ...] = (1, "log", 4, 8, 16, 32, 64, 128)
PLAIN = "plain"
# The share of data sets on which a default may be at most one sd below the plain forest.
ENOUGH = 0.9


def run_components(study: Study) -> bool:
    """Measure, and write components-T-trees.csv and components.md."""

    def methods(dataset: str, split: int) -> dict[str, Measure]:
        return {
            f"{kind}-{m}": partial(_measure, kind, m, study.forest_params | {"random_state": split})
            for kind in KINDS
            for m in (PLAIN, *_distinct(n_labels(dataset, study.data_home)))
        }

    page = partial(components_page, n_estimators=study.n_estimators)
    return study.run("components", FitResult, methods, page)


def _distinct(n_labels: int) -> list[int | str]:
    """List values that project: the default keeps the original outputs if m is d or more."""
    return [m for m in COMPONENTS if (resolve_n_components(m, n_labels) or n_labels) < n_labels]


def _measure(kind: str, m: int | str, params: dict[str, Any], data: TrainTestSplit) -> FitResult:
    outputs = {"projection": None} if m == PLAIN else {"n_components": m}
    return fit_and_score(KINDS[kind](**params, **outputs), data)


def components_page(results: pd.DataFrame, n_estimators: int) -> str:
    """Make the table of means, and name the default that it supports."""
    scores, seconds = by_method(results, "lrap"), by_method(results, "seconds")
    n_splits = split_counts(results.groupby(["dataset", "method"]).size())
    lines = [
        "# How many components",
        "",
        f"Forests of {n_estimators} trees; each tree has its own gaussian projection of the labels "
        f"to m components. LRAP on test rows, means over {n_splits} random splits of each data "
        "set; sd is the standard deviation over these splits. `log` is ln d, where d is the number "
        "of labels. *Italics*: more than one sd below the forest on the original outputs. `=`: the "
        "data set has m labels or fewer, so nothing is projected. Made by `python -m benchmarks "
        "bench components`.",
        "",
    ]
    names = results["dataset"].unique()
    is_ok, relative_seconds = {}, {}
    for kind, title in (("rf", "Random forest"), ("et", "Extra-trees")):
        columns = [f"{kind}-{m}" for m in (PLAIN, *COMPONENTS)]
        mean, times = (
            values.reindex(columns=columns).groupby("dataset").mean().loc[names]
            for values in (scores, seconds)
        )
        plain, spread = mean.pop(f"{kind}-{PLAIN}"), sd(scores)[f"{kind}-{PLAIN}"].loc[names]
        cells = mean.map(lambda value: "=" if np.isnan(value) else f"{value:.4f}")
        is_below = mean.lt(plain - spread, axis=0)
        cells = cells.where(~is_below, "*" + cells + "*")
        rows = [
            [name, f"{plain[name]:.4f} ± {spread[name]:.4f}", *cells.loc[name]] for name in names
        ]
        header = ["data set", "original outputs", *(f"m={m}" for m in COMPONENTS)]
        lines += [f"## {title}: LRAP, mean over splits (± sd)", "", markdown_table(header, rows)]
        # Where nothing is projected, the forest is the plain one.
        is_ok[kind] = (~is_below).mean().to_numpy()
        plain_seconds = times.pop(f"{kind}-{PLAIN}")
        relative_seconds[kind] = np.log(times.div(plain_seconds, axis=0).fillna(1.0)).to_numpy()
    share_ok = pd.DataFrame(is_ok, index=list(map(str, COMPONENTS)))
    share_ok["time"] = np.exp(np.concatenate([*relative_seconds.values()]).mean(axis=0))
    table = [
        [m, f"{row['rf']:.0%}", f"{row['et']:.0%}", f"{row['time']:.2f} of the original's"]
        for m, row in share_ok.iterrows()
    ]
    lines += [
        "## At most one sd below the original outputs",
        "",
        "The share of data sets where that holds, and the fit time relative to the forest on the "
        "original outputs: the geometric mean over data sets and both kinds of forest.",
        "",
        markdown_table(["n_components", "random forest", "extra-trees", "fit time"], table),
    ]
    good = share_ok[share_ok[[*KINDS]].min(axis=1) >= ENOUGH]
    lines.append(
        f"The fastest that holds on {ENOUGH:.0%} of the data sets: "
        f"n_components={good['time'].idxmin()}.\n"
        if len(good)
        else f"None holds on {ENOUGH:.0%} of the data sets.\n"
    )
    return "\n".join(lines)
