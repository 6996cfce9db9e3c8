"""The paper's two tables next to ours, as sections of the report."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from benchmarks.experiments import Lookup
from benchmarks.reproduce.data import find_set
from benchmarks.reproduce.drawing import COLOURS, MARKERS, ORIGINAL, draw
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section, text_grid
from benchmarks.reproduce.paper import EXTRA_TREES_REMARK, FORESTS, OUTPUT_TITLES
from benchmarks.reproduce.scores import score_of, score_text
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.tables import table_rows
from benchmarks.studies.study import split_counts

NAMES = {"random_forest": "table1", "extra_trees": "table2"}
_TITLES = {
    "random_forest": "Table 1: random forests on gaussian projections",
    "extra_trees": "Table 2: extra-trees on gaussian projections",
}
_NO_REASON = {
    "random_forest": "The data have the paper's sizes; no reason is known.",
    "extra_trees": "The data have the paper's sizes; on sparse data the last note may explain it.",
}
_LEGEND = (
    "* differs from the paper's mean by more than one of the larger standard deviations, ** by "
    "more than two. Underlined: worse than the forest on the original outputs by more than one "
    "(the larger) standard deviation, which is the paper's own test; bold: better. † not the "
    "paper's problem, and not counted."
)
_MIN_SPLITS = 3  # below that, standard deviations say little
_GAINS = ("corel5k", "medical", "delicious")


def table_section(forest: str, settings: ReproduceSettings, lookup: Lookup) -> Section:
    rows = table_rows(forest, settings, lookup)
    return section_of_rows(forest, rows, settings.n_estimators)


def section_of_rows(forest: str, rows: pd.DataFrame, n_estimators: int) -> Section:
    """Make one of the two tables, from the rows of its CSV file."""
    is_full = n_estimators == 100 and rows["n_splits"].min() >= _MIN_SPLITS
    far = _comparable(rows).query("mark == '**'") if is_full else rows[:0]
    is_extra = forest == "extra_trees"
    deviations = [(name, find_set(name).deviation) for name in rows["dataset"].unique()]
    notes = [f"{name}: {deviation}" for name, deviation in deviations if deviation]
    return Section(
        name=NAMES[forest],
        title=_TITLES[forest],
        intro=_intro(rows, n_estimators),
        findings=[
            agreement(FORESTS[forest], rows, is_full),
            _same_verdicts(forest, rows, is_full),
            *(gains_at_low_m(rows) if is_extra else []),
        ],
        pictures=gap_pictures(FORESTS[forest], rows),
        grids=[_grid(forest, rows), *([_differences_grid(forest, far)] if len(far) else [])],
        notes=[*notes, *([EXTRA_TREES_REMARK] if is_extra else [])],
        rows=rows.round({"gap_in_sd": 3, "fit_seconds": 4}).round(5),
    )


def _intro(rows: pd.DataFrame, n_estimators: int) -> list[str]:
    lines = [
        "Label ranking average precision (LRAP) on test rows, mean ± standard deviation over "
        f"{split_counts(rows['n_splits'])} random splits of the paper's sizes; {n_estimators} "
        "fully grown trees, √p features per split. Test rows without labels are left out. The "
        "paper's score is below ours.",
        _LEGEND,
    ]
    if n_estimators != 100:
        lines.append(f"A quick run: {n_estimators} trees instead of the paper's 100.")
    return lines


# ---- the paper's claims


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """Select scores on the paper's own problems that both of us have."""
    return rows[rows["is_comparable"] & rows["gap_in_sd"].notna()]


def agreement(what: str, rows: pd.DataFrame, is_full: bool) -> Finding:
    """At most one comparable score in ten is more than two standard deviations off."""
    marks = _comparable(rows)["mark"]
    n_scores, n_far = len(marks), int((marks == "**").sum())
    text = (
        f"{what}: {n_far} of {n_scores} comparable scores differ from the paper's by more than "
        "twice the larger standard deviation over splits (our criterion: at most one in ten)."
    )
    return Finding(text, n_far <= n_scores / 10 if n_scores and is_full else None)


def _same_verdicts(forest: str, rows: pd.DataFrame, is_full: bool) -> Finding:
    """Our comparisons with the original outputs come out as the paper's; none is reversed."""
    cells = _comparable(rows).query("outputs != 'original'")
    ours, theirs = cells["against_original"], cells["paper_against_original"]
    n_same = (ours == theirs).sum()
    n_opposite = int(((ours != theirs) & (ours != "") & (theirs != "")).sum())
    text = (
        f"{FORESTS[forest]}: the comparison with the forest on the original outputs (worse, "
        f"better, neither) comes out as in the paper in {n_same} of {len(cells)} cells, and is "
        f"reversed in {n_opposite}."
    )
    return Finding(text, n_opposite == 0 if len(cells) and is_full else None)


def gains_at_low_m(rows: pd.DataFrame) -> list[Finding]:
    """Extra-trees gain from few components on three data sets, by over two standard errors."""
    findings = []
    low_m = rows[rows["outputs"].isin(["1", "log"]) & rows["is_comparable"] & rows["gain"].notna()]
    for name, found in low_m[low_m["dataset"].isin(_GAINS)].groupby("dataset", sort=False):
        best = found.loc[found["gain"].idxmax()]
        error = np.nan_to_num(best["gain_sd"]) / math.sqrt(best["n_splits"])
        is_original = (rows["dataset"] == name) & (rows["outputs"] == "original")
        paper_gain = best["paper"] - rows.loc[is_original, "paper"].iloc[0]
        text = (
            f"Extra-trees on {name} gain at low m: {OUTPUT_TITLES[best['outputs']]} is better than "
            f"the original outputs by {best['gain']:+.4f} on the same splits (standard error "
            f"{error:.4f}; the paper: {paper_gain:+.3f})."
        )
        is_clear = bool(best["gain"] > 2 * error)
        findings.append(Finding(text, is_clear if best["n_splits"] >= _MIN_SPLITS else None))
    return findings


# ---- tables and pictures


def _label(dataset: str) -> str:
    return dataset + ("" if find_set(dataset).is_comparable else " †")


def _grid(forest: str, rows: pd.DataFrame) -> Grid:
    headers = ["data set", *(OUTPUT_TITLES[name] for name in rows["outputs"].unique())]
    entries, n_notes = [], 0
    for name, cells in rows.groupby("dataset", sort=False):
        sizes = find_set(str(name))
        remark = f"{sizes.n_train:,}+{sizes.n_test:,} rows, d={sizes.n_labels:,}"
        if sizes.deviation:
            n_notes += 1
            remark += f", note {n_notes}"
        scores = [_score_entry(cell) for cell in cells.itertuples()]
        entries.append([Entry(_label(sizes.dataset), remark), *scores])
    return Grid(headers, entries, FORESTS[forest])


def _score_entry(cell: Any) -> Entry:
    ours, paper = (score_text(score_of(cell, name)) for name in ("lrap", "paper"))
    shade = {"": "", "*": "near", "**": "far"}[cell.mark]
    style = " ".join(filter(None, (cell.against_original, shade)))
    return Entry(f"{ours} {cell.mark}".strip(), paper, style)


def _differences_grid(forest: str, far: pd.DataFrame) -> Grid:
    rows = [
        [
            f"{cell.dataset}, {OUTPUT_TITLES[cell.outputs]}",
            score_text(score_of(cell, "lrap")),
            score_text(score_of(cell, "paper")),
            f"{cell.gap_in_sd:.1f}",
            Entry(find_set(cell.dataset).deviation or _NO_REASON[forest], style="long"),
        ]
        for cell in far.itertuples()
    ]
    headers = ["", "ours", "paper", "apart, in sd", "what is known about it"]
    return text_grid(headers, rows, "Scores more than two standard deviations from the paper's")


def gap_pictures(title: str, rows: pd.DataFrame) -> list[Picture]:
    """Draw our mean minus the paper's, in units of the larger standard deviation."""
    known = rows[rows["gap_in_sd"].notna()]
    if known.empty:
        return []
    datasets, outputs = list(known["dataset"].unique()), list(rows["outputs"].unique())
    signed = known["gap_in_sd"] * np.where(known["lrap"] >= known["paper"], 1, -1)
    heights = known["dataset"].map(datasets.index)

    def paint(axes: Axes) -> None:
        axes.axvspan(-2, 2, color="#0072b2", alpha=0.07, lw=0)
        axes.axvspan(-1, 1, color="#0072b2", alpha=0.1, lw=0)
        axes.axvline(0, color=ORIGINAL, linewidth=1)
        for place, name in enumerate(outputs):
            is_shown = known["outputs"] == name
            axes.scatter(
                signed[is_shown],
                heights[is_shown] + 0.18 * (place - 1.5),
                label=OUTPUT_TITLES[name],
                color=ORIGINAL if name == "original" else COLOURS[place - 1],
                marker=MARKERS[place],
                s=26,
            )
        axes.set_yticks(range(len(datasets)), [_label(name) for name in datasets])
        axes.invert_yaxis()
        axes.set_xlabel("ours minus the paper's, in standard deviations († another problem)")
        axes.set_title(title, loc="left", fontsize=10)
        # Outside, because the markers of a legend look like points.
        axes.figure.legend(
            loc="outside lower center", ncols=len(outputs), fontsize=8, edgecolor="none"
        )

    caption = f"{title}: distance from the paper's means. Bands: one and two standard deviations."
    return draw("gaps", caption, paint, height=1.9 + 0.34 * len(datasets))
