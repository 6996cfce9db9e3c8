"""What the paper claims by its tables, held against ours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.reproduce.page import Finding
from benchmarks.reproduce.paper import FORESTS, OUTPUT_TITLES
from benchmarks.reproduce.tables import TableCell, TableRow

# Few splits have no standard deviation worth the name.
_MIN_SPLITS = 3
_GAINS = ("corel5k", "medical", "delicious")


@dataclass(frozen=True)
class Difference:
    """A comparable cell that differs from the paper's by more than twice the larger sd."""

    forest: str
    row: TableRow
    cell: TableCell


def comparable_cells(rows: Sequence[TableRow]) -> list[tuple[TableRow, TableCell]]:
    """Cells of the paper's own problems that both of us have."""
    return [
        (row, cell)
        for row in rows
        if row.is_comparable
        for cell in row.cells.values()
        if cell.gap is not None
    ]


def large_differences(forest: str, rows: Sequence[TableRow]) -> list[Difference]:
    return [
        Difference(forest, row, cell) for row, cell in comparable_cells(rows) if cell.mark == "**"
    ]


def agreement(forest: str, rows: Sequence[TableRow], is_full: bool) -> Finding:
    """At most one comparable cell in ten is more than two standard deviations off."""
    n_cells, n_far = len(comparable_cells(rows)), len(large_differences(forest, rows))
    return share_finding(FORESTS[forest], n_far, n_cells, is_full)


def share_finding(what: str, n_far: int, n_cells: int, is_full: bool) -> Finding:
    text = (
        f"{what}: {n_far} of {n_cells} comparable scores differ from the paper's by more than "
        "twice the larger standard deviation over splits (our own bar: at most one in ten)."
    )
    return Finding(text, n_far <= n_cells / 10 if n_cells and is_full else None)


def is_full_run(rows: Sequence[TableRow], n_estimators: int) -> bool:
    """Whether it makes sense to compare the scores with the paper's."""
    n_splits = [cell.n_splits for row in rows for cell in row.cells.values()]
    return n_estimators == 100 and min(n_splits, default=0) >= _MIN_SPLITS


def same_verdicts(forest: str, rows: Sequence[TableRow], is_full: bool) -> Finding:
    """How often our underlines are the paper's; an opposite one would refute it."""
    pairs = [
        (cell.verdict, cell.paper_verdict)
        for _, cell in comparable_cells(rows)
        if cell.outputs != "original"
    ]
    n_same = sum(ours == theirs for ours, theirs in pairs)
    n_opposite = sum({ours, theirs} == {"worse", "better"} for ours, theirs in pairs)
    text = (
        f"{FORESTS[forest]}: the comparison with the forest on the original outputs (worse, "
        f"better, neither) comes out as in the paper in {n_same} of {len(pairs)} cells, and the "
        f"other way round in {n_opposite}."
    )
    return Finding(text, n_opposite == 0 if pairs and is_full else None)


def gains_at_low_m(rows: Sequence[TableRow]) -> list[Finding]:
    """Extra-trees gain from few components on three of the sets: compared split by split, by more
    than two standard errors."""
    findings = []
    for row in rows:
        gains = {name: gain for name in ("1", "log") if (gain := row.cells[name].gain) is not None}
        if row.paper_set.dataset not in _GAINS or not row.is_comparable or not gains:
            continue
        best, gain = max(gains.items(), key=lambda item: item[1].mean)
        n_splits = row.cells[best].n_splits
        error = (gain.sd or 0.0) / math.sqrt(n_splits)
        text = (
            f"Extra-trees on {row.paper_set.dataset} gain at low m: {OUTPUT_TITLES[best]} "
            f"is better than the original outputs by {gain.mean:+.4f} on the same splits (standard "
            f"error {error:.4f}; the paper: {_paper_gain(row, best):+.3f})."
        )
        findings.append(Finding(text, gain.mean > 2 * error if n_splits >= _MIN_SPLITS else None))
    return findings


def _paper_gain(row: TableRow, outputs: str) -> float:
    ours, original = row.cells[outputs].paper, row.cells["original"].paper
    return ours.mean - original.mean if ours and original else math.nan
