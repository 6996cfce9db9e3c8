"""The paper's two tables beside ours: for the terminal, for pages and for CSV files."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from sketchforest._units import UNKNOWN
from sketchforest.lab.page import Entry, Grid, Section
from sketchforest.lab.reproduce.findings import (
    Difference,
    agreement,
    gains_at_low_m,
    is_full_run,
    large_differences,
    same_verdicts,
)
from sketchforest.lab.reproduce.paper import (
    EXTRA_TREES_REMARK,
    FORESTS,
    OUTPUT_TITLES,
    Score,
)
from sketchforest.lab.reproduce.pictures import gap_pictures
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.tables import Lookup, TableCell, TableRow, table_rows

STAND_IN = "generated"
_TITLES = {
    "random_forest": "Table 1: random forests on gaussian projections",
    "extra_trees": "Table 2: extra-trees on gaussian projections",
}
_NAMES = {"random_forest": "table1", "extra_trees": "table2"}
_NO_REASON = {
    "random_forest": "The data have the paper's sizes; no reason is known.",
    "extra_trees": "The data have the paper's sizes; on sparse data the last note may explain it.",
}
_LEGEND = (
    "* differs from the paper's mean by more than one of the larger standard deviations, ** by "
    "more than two."
)
_VERDICTS = (
    "Underlined: worse than the forest on the original outputs by more than one (the larger) "
    "standard deviation, which is the paper's own test; bold: better."
)


def table_section(forest: str, settings: ReproduceSettings, lookup: Lookup) -> Section:
    """One of the two tables."""
    rows = table_rows(forest, settings, lookup)
    is_full = is_full_run(rows, settings.n_estimators)
    far = large_differences(forest, rows) if is_full else []
    gains = gains_at_low_m(rows) if forest == "extra_trees" else []
    return Section(
        name=_NAMES[forest],
        title=_TITLES[forest],
        intro=_intro(settings, rows),
        findings=[
            agreement(forest, rows, is_full),
            same_verdicts(forest, rows, is_full),
            *gains,
        ],
        pictures=gap_pictures("gaps", FORESTS[forest], rows),
        grids=[_grid(forest, rows), *([_differences_grid(far)] if far else [])],
        notes=[*deviations(rows), *([EXTRA_TREES_REMARK] if forest == "extra_trees" else [])],
        rows=[_csv_row(forest, row, cell) for row in rows for cell in row.cells.values()],
    )


def _intro(settings: ReproduceSettings, rows: Sequence[TableRow]) -> list[str]:
    lines = [
        "Label ranking average precision (LRAP) of test rows, mean ± standard deviation over "
        f"{_n_splits(rows)} random splits of the paper's sizes; {settings.n_estimators} trees, "
        "fully grown, √p features a split. Test rows without labels are left out. The paper's "
        "score is below ours.",
        f"{_LEGEND} {_VERDICTS} † not the paper's problem, and not counted.",
    ]
    if settings.n_estimators != 100:
        lines.append(f"A quick run: {settings.n_estimators} trees where the paper has 100.")
    if any(row.is_stand_in for row in rows):
        lines.append(
            f"Rows marked '{STAND_IN}' are not the paper's data, which are not here, but generated "
            "ones of the same sizes; their scores cannot be compared."
        )
    return lines


def _n_splits(rows: Sequence[TableRow]) -> str:
    counts = [cell.n_splits for row in rows for cell in row.cells.values()]
    return " to ".join(str(count) for count in sorted({min(counts), max(counts)}))


def _grid(forest: str, rows: Sequence[TableRow]) -> Grid:
    outputs = list(rows[0].cells)
    headers = ["data set", *(OUTPUT_TITLES[name] for name in outputs)]
    noted = [row for row in rows if row.paper_set.deviation]
    entries = [_entries(row, noted.index(row) + 1 if row in noted else 0) for row in rows]
    return Grid(headers, entries, FORESTS[forest])


def _entries(row: TableRow, note: int) -> list[Entry | str]:
    return [
        Entry(row.label, _remark(row) + (f", note {note}" if note else "")),
        *(_score_entry(cell) for cell in row.cells.values()),
    ]


def _differences_grid(differences: Sequence[Difference]) -> Grid:
    rows: list[list[Entry | str]] = [
        [
            f"{d.row.paper_set.dataset}, {OUTPUT_TITLES[d.cell.outputs]}",
            score_text(d.cell.ours),
            score_text(d.cell.paper),
            f"{d.cell.gap:.1f}",
            Entry(d.row.paper_set.deviation or _NO_REASON[d.forest], style="long"),
        ]
        for d in differences
    ]
    headers = ["", "ours", "paper", "apart, in sd", "what is known about it"]
    return Grid(headers, rows, "Scores more than two standard deviations from the paper's")


def _score_entry(cell: TableCell) -> Entry:
    shade = {"": "", "*": "near", "**": "far"}[cell.mark]
    style = " ".join(filter(None, (cell.verdict, shade)))
    return Entry(f"{score_text(cell.ours)} {cell.mark}".strip(), score_text(cell.paper), style)


def _remark(row: TableRow) -> str:
    sizes = row.paper_set
    figures = f"{sizes.n_train:,}+{sizes.n_test:,} rows, d={sizes.n_labels:,}"
    if row.is_stand_in:
        return f"{figures}, {STAND_IN}"
    return figures


def score_text(score: Score | None) -> str:
    if score is None:
        return UNKNOWN
    return f"{score.mean:.3f}" + ("" if score.sd is None else f" ± {score.sd:.3f}")


def deviations(rows: Sequence[TableRow]) -> list[str]:
    """Where the data differ from the paper's, as far as that is known."""
    named = [(row.paper_set.dataset, row.paper_set.deviation) for row in rows]
    return [f"{dataset}: {deviation}" for dataset, deviation in named if deviation]


def _csv_row(forest: str, row: TableRow, cell: TableCell) -> dict[str, Any]:
    return {
        "forest": forest,
        "dataset": row.paper_set.dataset,
        "is_generated": row.is_stand_in,
        "is_comparable": row.is_comparable,
        "n_train": row.paper_set.n_train,
        "n_test": row.paper_set.n_test,
        "outputs": cell.outputs,
        "n_splits": cell.n_splits,
        "lrap": _number(cell.ours, "mean"),
        "lrap_sd": _number(cell.ours, "sd"),
        "paper": _number(cell.paper, "mean"),
        "paper_sd": _number(cell.paper, "sd"),
        "gap_in_sd": None if cell.gap is None else round(cell.gap, 3),
        "mark": cell.mark,
        "against_original": cell.verdict,
        "gain": _number(cell.gain, "mean"),
        "gain_sd": _number(cell.gain, "sd"),
        "paper_against_original": cell.paper_verdict,
        "fit_seconds": None if cell.fit_seconds is None else round(cell.fit_seconds, 4),
    }


def _number(score: Score | None, name: str) -> float | None:
    value = None if score is None else getattr(score, name)
    return None if value is None else round(value, 5)


def terminal_table(section: Section) -> Table:
    """Any grid of a page, for the terminal."""
    grid = section.grids[0]
    table = Table(
        title=section.title,
        box=box.SIMPLE_HEAD,
        # With these, the paper's tables fit into 80 columns.
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    rows = [[_two_lines(entry) for entry in row] for row in grid.rows]
    for place, header in enumerate(grid.headers):
        # Headers may be folded, figures not.
        width = max((_width(row[place]) for row in rows), default=1)
        table.add_column(header, justify="right" if place else "left", min_width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _width(text: Text) -> int:
    return max(len(line) for line in text.plain.split("\n"))


def _two_lines(entry: Entry | str) -> Text:
    if isinstance(entry, str):
        return Text(entry)
    style = {"worse": "underline", "better": "bold"}.get(entry.style.split(" ")[0], "")
    text = Text(_narrow(entry.text), style=style)
    return Text.assemble(text, "\n", (_narrow(entry.detail), "dim")) if entry.detail else text


def _narrow(text: str) -> str:
    return text.replace(" ± ", "±").replace(" *", "*").replace(" rows, ", ", ")
