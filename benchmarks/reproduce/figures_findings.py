"""What the paper claims by its figures, held against ours."""

from benchmarks.experiments import Lookup
from benchmarks.reproduce.figures import NAMES, SPARSE, Line, Panel
from benchmarks.reproduce.page import Finding
from benchmarks.reproduce.scores import Score, gap, verdict

_CONVERGED_BY = 25  # components, by the paper, for algorithm 2 on Delicious


def convergence(panel: Panel, lookup: Lookup) -> list[Finding]:
    """Algorithm 2 reaches the forest on the original outputs by m = 25, algorithm 1 later."""
    level = panel.line("original outputs").points(lookup).get(None)
    own, shared = (_points(panel.lines[place], lookup) for place in (0, 1))
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
    gaussian = _points(panel.line(NAMES["gaussian"]), lookup)
    pca = _points(panel.line(NAMES["pca"]), lookup)
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
    gaussian = _points(panel.line(NAMES["gaussian"]), lookup)
    findings = []
    for name in SPARSE:
        points = _points(panel.line(NAMES[name]), lookup)
        if not points or not gaussian:
            continue
        best, rival = (max(line, key=lambda m: line[m].mean) for line in (points, gaussian))
        text = (
            f"{NAMES[name]} is no worse than gaussian: at best {points[best].mean:.4f} "
            f"(m = {best}) against {gaussian[rival].mean:.4f} (m = {rival})."
        )
        findings.append(Finding(text, verdict(points[best], gaussian[rival]) != "worse"))
    return findings


def _points(line: Line, lookup: Lookup) -> dict[int, Score]:
    return {m: point for m, point in line.points(lookup).items() if m is not None}


def _at(m: int | None) -> str:
    return "nowhere in the range" if m is None else f"at m = {m}"
