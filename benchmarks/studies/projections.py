"""Kinds of projections at several m, compared with the original outputs."""

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
    split_counts,
)
from sketchforest import RandomForestClassifier

PROJECTIONS = (
    "gaussian",
    "rademacher",
    "achlioptas",
    "sparse",
    "subsample",
    "hadamard",
    "pca",
)
COMPONENTS = (1, 10, 64)
PLAIN = "original outputs"


def run_projections(study: Study) -> bool:
    """Measure, and write projections-T-trees.csv and projections.md."""

    def methods(dataset: str, split: int) -> dict[str, Measure]:
        measure = partial(_measure, study.forest_params | {"random_state": split})
        projected = [m for m in COMPONENTS if m < n_labels(dataset, study.data_home)]
        return {
            PLAIN: partial(measure, None, None),
            **{f"{p}-{m}": partial(measure, p, m) for m in projected for p in PROJECTIONS},
        }

    page = partial(projections_page, n_estimators=study.n_estimators)
    return study.run("projections", FitResult, methods, page)


def _measure(
    params: dict[str, Any], projection: str | None, m: int | None, data: TrainTestSplit
) -> FitResult:
    forest = RandomForestClassifier(**params, projection=projection, n_components=m)
    return fit_and_score(forest, data)


def projections_page(results: pd.DataFrame, n_estimators: int) -> str:
    """Make a line for each data set and m, with marks for clear differences to gaussian ones."""
    scores = by_method(results, "lrap")
    rows = []
    for name in results["dataset"].unique():
        found = scores.loc[name].dropna(axis="columns", how="all")
        plain = f"{found[PLAIN].mean():.3f}" if PLAIN in found else "–"
        for m in COMPONENTS:
            kinds = [f"{projection}-{m}" for projection in PROJECTIONS]
            if not found.columns.intersection(kinds).empty:
                cells = [_cell(found, kind, f"gaussian-{m}") for kind in kinds]
                rows.append([name, str(m), plain, *cells])
    n_splits = split_counts(results.groupby(["dataset", "method"]).size())
    return "\n".join(
        [
            "# Which projection",
            "",
            f"Random forests of {n_estimators} trees; each tree has its own projection. LRAP on "
            f"test rows, means over {n_splits} random splits of each data set, which are the same "
            "for all projections. **Bold**: above the gaussian projection on every split; "
            "*italics*: below it on every split. Made by `python -m benchmarks bench projections`.",
            "",
            markdown_table(["data set", "m", PLAIN, *PROJECTIONS], rows),
        ]
    )


def _cell(scores: pd.DataFrame, method: str, gaussian: str) -> str:
    if method not in scores:
        return "–"
    text = f"{scores[method].mean():.3f}"
    gains = (scores[method] - scores.get(gaussian, np.nan)).dropna()
    if len(gains) and gains.min() > 0:
        return f"**{text}**"
    return f"*{text}*" if len(gains) and gains.max() < 0 else text
