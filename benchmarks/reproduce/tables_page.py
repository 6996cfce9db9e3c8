"""The paper's two tables beside ours, as sections of the report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import COLOURS, MARKERS, ORIGINAL, draw
from benchmarks.reproduce.page import Entry, Grid, Picture, Section
from benchmarks.reproduce.paper import EXTRA_TREES_REMARK, FORESTS, OUTPUT_TITLES
from benchmarks.reproduce.scores import Score, score_text
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.tables import TableCell, TableRow, table_rows
from benchmarks.reproduce.tables_findings import (
    Difference,
    agreement,
    gains_at_low_m,
    is_full_run,
    large_differences,
    same_verdicts,
)
from benchmarks.store import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        pictures=_gap_pictures(FORESTS[forest], rows),
        grids=[_grid(forest, rows), *([_differences_grid(far)] if far else [])],
        notes=[*_deviations(rows), *([EXTRA_TREES_REMARK] if forest == "extra_trees" else [])],
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
    return f"{sizes.n_train:,}+{sizes.n_test:,} rows, d={sizes.n_labels:,}"


def _gap_pictures(title: str, rows: Sequence[TableRow]) -> list[Picture]:
    """Ours minus the paper's mean in units of the larger standard deviation, by data set."""
    known = [row for row in rows if any(cell.gap is not None for cell in row.cells.values())]
    if not known:
        return []

    def paint(axes: "Axes") -> None:
        axes.axvspan(-2, 2, color="#0072b2", alpha=0.07, lw=0)
        axes.axvspan(-1, 1, color="#0072b2", alpha=0.1, lw=0)
        axes.axvline(0, color=ORIGINAL, linewidth=1)
        for place, outputs in enumerate(rows[0].cells):
            points = [
                (signed, height)
                for height, row in enumerate(known)
                if (signed := _signed_gap(row, outputs)) is not None
            ]
            axes.scatter(
                [x for x, _ in points],
                [y + 0.18 * (place - 1.5) for _, y in points],
                label=OUTPUT_TITLES[outputs],
                color=ORIGINAL if outputs == "original" else COLOURS[place - 1],
                marker=MARKERS[place],
                s=26,
            )
        axes.set_yticks(range(len(known)), [row.label for row in known])
        axes.invert_yaxis()
        axes.set_xlabel("ours minus the paper's, in standard deviations († another problem)")
        axes.set_title(title, loc="left", fontsize=10)
        # Not among the points: markers of a legend there look like more of them.
        axes.figure.legend(
            loc="outside lower center", ncols=len(rows[0].cells), fontsize=8, edgecolor="none"
        )

    caption = f"{title}: distance from the paper's means. Bands: one and two standard deviations."
    return draw("gaps", caption, paint, height=1.9 + 0.34 * len(known))


def _signed_gap(row: TableRow, outputs: str) -> float | None:
    cell = row.cells[outputs]
    if cell.ours is None or cell.paper is None or cell.gap is None:
        return None
    return cell.gap if cell.ours.mean >= cell.paper.mean else -cell.gap


def _deviations(rows: Sequence[TableRow]) -> list[str]:
    """Where the data differ from the paper's, as far as that is known."""
    named = [(row.paper_set.dataset, row.paper_set.deviation) for row in rows]
    return [f"{dataset}: {deviation}" for dataset, deviation in named if deviation]


def _csv_row(forest: str, row: TableRow, cell: TableCell) -> Row:
    return {
        "forest": forest,
        "dataset": row.paper_set.dataset,
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
