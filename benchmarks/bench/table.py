"""The table of the benchmark."""

from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from sketchforest._utils.units import UNKNOWN, milliseconds, ratio, seconds, size

_MAIN = "sklearn-rf"
# Column, cost, unit, ratio, and what the ratio says.
_COLUMNS = (
    ("fit", "fit_seconds", seconds, "fit_ratio", "faster"),
    ("predict", "predict_seconds", seconds, "predict_ratio", "faster"),
    ("one row", "row_milliseconds", milliseconds, "row_ratio", "faster"),
    ("memory", "peak_bytes", size, "memory_ratio", "less"),
    ("model", "model_bytes", size, "size_ratio", "smaller"),
)


def benchmark_table(summaries: pd.DataFrame) -> Table:
    """Build a table of one data set; the second line of a method compares it with scikit-learn."""
    table = Table(
        title=summaries["dataset"].iloc[0],
        caption=_footnotes(summaries),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,  # these three keep the table within 80 columns
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("method\ntrees", no_wrap=True)
    for name, *_, compared in _COLUMNS:
        table.add_column(f"{name}\n{compared}", justify="right", no_wrap=True)
    table.add_column("LRAP\nP@1/3/5 %", justify="right", no_wrap=True)
    for row in summaries.itertuples():
        cells = [_cell(row, *column[1:4]) for column in _COLUMNS]
        table.add_row(_two_lines(row.method, _trees(row)), *cells, _quality(row))
    return table


def _cell(row: Any, cost: str, unit: Any, compared: str) -> Text | str:
    value, times = getattr(row, cost), getattr(row, compared)
    if np.isnan(value):
        return UNKNOWN
    is_compared = not np.isnan(times) and row.method != row.reference
    return _two_lines(unit(value) + "*" * row.is_scaled, ratio(times) if is_compared else "")


def _quality(row: Any) -> Text | str:
    precision = (row.precision_at_1, row.precision_at_3, row.precision_at_5)
    if np.isnan([row.lrap, *precision]).any():
        return UNKNOWN
    return Text(f"{row.lrap:.4f}\n" + "/".join(f"{100 * share:.1f}" for share in precision))


def _two_lines(first: str, second: str) -> Text:
    return Text.assemble(first, "\n", (second, "dim"))


def _trees(row: Any) -> str:
    if row.is_scaled:
        return f"{row.n_grown}/{row.n_estimators} trees"
    return f"{row.n_estimators} tree" + "s" * (row.n_estimators != 1)


def _footnotes(summaries: pd.DataFrame) -> str:
    notes = []
    compared = summaries.dropna(subset="fit_ratio")
    if len(compared):
        others = compared[compared["reference"] != _MAIN]
        pairs = others["method"] + " to " + others["reference"]
        first = f"second lines: compared to {_MAIN}"
        notes.append("; ".join([first, *([", ".join(pairs)] if len(pairs) else [])]))
    if summaries["is_scaled"].any():
        notes.append(
            "* fewer trees were grown: fit time, memory and size are scaled, predictions use the "
            "grown trees several times, quality is not measured"
        )
    return "\n".join(notes)
