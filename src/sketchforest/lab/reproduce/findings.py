"""The paper's claims, judged by what was measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sketchforest.lab.page import Finding
from sketchforest.lab.reproduce.curves import NAMES, SPARSE, Curve, Panel
from sketchforest.lab.reproduce.paper import FORESTS, OUTPUT_TITLES, Score
from sketchforest.lab.reproduce.tables import Lookup, TableCell, TableRow, gap, verdict

_CONVERGED_BY = 25  # components, by the paper, for algorithm 2 on Delicious
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
        "twice the larger standard deviation (at most one in ten should)."
    )
    return Finding(text, n_far <= n_cells / 10 if n_cells and is_full else None)


def is_full_run(rows: Sequence[TableRow], n_estimators: int) -> bool:
    """Whether it makes sense to judge the scores by the paper's."""
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


def convergence(panel: Panel, lookup: Lookup) -> list[Finding]:
    """Algorithm 2 reaches the forest on the original outputs by m = 25, algorithm 1 later."""
    level = panel.curve("original outputs").points(lookup).get(None)
    own, shared = (_points(panel.curves[place], lookup) for place in (0, 1))
    if level is None or not own or not shared:
        return [Finding("Algorithm 2 converges by m = 25, algorithm 1 later.", None)]
    first_own, first_shared = converged_at(own, level), converged_at(shared, level)
    text = (
        f"Algorithm 2 converges {_at(first_own)} on {panel.dataset}, algorithm 1 "
        f"{_at(first_shared)} (the paper: about 25 and 75)."
    )
    is_soon = first_own is not None and first_own <= _CONVERGED_BY
    is_later = first_shared is None or (first_own is not None and first_shared > first_own)
    behind = [m for m in own if m in shared and shared[m].mean < own[m].mean]
    never_ahead = f"Algorithm 1 is below algorithm 2 at {len(behind)} of {len(own)} values of m."
    return [Finding(text, is_soon and is_later), Finding(never_ahead, len(behind) > len(own) / 2)]


def converged_at(points: dict[int, Score], level: Score) -> int | None:
    """The least m from which on no mean is more than one (the larger) sd below the level."""
    first = None
    for m in sorted(points, reverse=True):
        if verdict(points[m], level) == "worse":
            break
        first = m
    return first


def pca_is_behind(panel: Panel, lookup: Lookup) -> list[Finding]:
    """Principal components are far less effective than random ones."""
    gaussian = _points(panel.curve(NAMES["gaussian"]), lookup)
    pca = _points(panel.curve(NAMES["pca"]), lookup)
    tried = [m for m in gaussian if m in pca and m <= _CONVERGED_BY]
    if not tried:
        return [Finding("PCA is far behind random projections.", None)]
    far = [
        m for m in tried if pca[m].mean < gaussian[m].mean and (gap(pca[m], gaussian[m]) or 0.0) > 2
    ]
    lags = [gaussian[m].mean - pca[m].mean for m in tried]
    text = (
        f"PCA is behind gaussian projections by more than two standard deviations at {len(far)} of "
        f"the {len(tried)} values of m up to {tried[-1]} (by {min(lags):.4f} to {max(lags):.4f})."
    )
    return [Finding(text, len(far) == len(tried))]


def sparse_is_no_worse(panel: Panel, lookup: Lookup) -> list[Finding]:
    """At its best m, a sparse projection is not more than one sd below a gaussian one."""
    gaussian = _points(panel.curve(NAMES["gaussian"]), lookup)
    findings = []
    for name in SPARSE:
        points = _points(panel.curve(NAMES[name]), lookup)
        if not points or not gaussian:
            continue
        best, rival = (max(curve, key=lambda m: curve[m].mean) for curve in (points, gaussian))
        text = (
            f"{NAMES[name]} is no worse than gaussian: at best {points[best].mean:.4f} "
            f"(m = {best}) against {gaussian[rival].mean:.4f} (m = {rival})."
        )
        findings.append(Finding(text, verdict(points[best], gaussian[rival]) != "worse"))
    return findings


def _points(curve: Curve, lookup: Lookup) -> dict[int, Score]:
    return {m: point for m, point in curve.points(lookup).items() if m is not None}


def _at(m: int | None) -> str:
    return "nowhere in the range" if m is None else f"at m = {m}"
