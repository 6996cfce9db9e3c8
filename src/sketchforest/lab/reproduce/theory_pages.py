"""The bias/variance decomposition and Theorem 1 as sections of the report."""

import statistics
from collections.abc import Sequence
from typing import Any

from sketchforest.lab.page import Entry, Finding, Grid, Picture, Section
from sketchforest.lab.reproduce.curves import NAMES
from sketchforest.lab.reproduce.paper import Score
from sketchforest.lab.reproduce.pictures import COLOURS, draw, draw_lines
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.store import Result
from sketchforest.lab.reproduce.tables import Lookup
from sketchforest.lab.reproduce.theorem import TheoremCell, jl_epsilon, theorem_cells
from sketchforest.lab.reproduce.variance import VarianceCell, variance_cells

_TERMS = {"bias": "bias²", "v_ls": "V_LS", "v_proj": "V_proj", "v_algo": "V_algo"}
# Of independent normal errors, one in twenty is beyond two standard errors.
_MIN_DRAWS = 5
_TOLERATED_SHARE, _NEVER_BEYOND = 0.1, 4.0


def variance_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Measured terms, and what they predict beside what forests do."""
    cells = variance_cells(settings)
    known = [(cell, result) for cell in cells if (result := lookup(cell)) is not None]
    comparisons = [(cell, c) for cell, result in known for c in result["comparisons"]]
    return Section(
        name="variance",
        title="Section 3.3: the bias/variance decomposition",
        intro=_variance_intro(cells[0]),
        findings=[_agreement([_z(comparison) for _, comparison in comparisons])],
        pictures=[picture for cell, result in known for picture in _variance_picture(cell, result)],
        grids=[_terms_grid(known), _comparison_grid(comparisons)],
        rows=[_variance_row(cell, comparison) for cell, comparison in comparisons],
    )


def _variance_intro(cell: VarianceCell) -> list[str]:
    return [
        "Labels are generated with known probabilities, so that the Bayes predictor is known. "
        f"{cell.n_sets} learning samples of {cell.n_samples} rows are drawn, for each of them "
        f"{cell.n_projections} gaussian projections, for each of those {cell.n_trees} trees. A "
        "nested analysis of variance gives unbiased estimates of the terms; their standard errors "
        "are by leaving out one learning sample at a time.",
        "The paper's formulas then predict the variance of t trees given the learning sample, "
        "V_algo/t + V_proj for one shared projection (algorithm 1) and (V_algo + V_proj)/t for one "
        "in each tree (algorithm 2), and with bias² and V_LS the squared distance to the Bayes "
        f"predictor. Beside them: {cell.n_forests} other forests of each kind on each sample.",
    ]


def _z(comparison: dict[str, Any]) -> float:
    """Measured minus predicted in standard errors of the difference."""
    return (comparison["measured"] - comparison["predicted"]) / comparison["difference_se"]


def _agreement(distances: Sequence[float]) -> Finding:
    n_one, n_two = (sum(abs(z) <= bound for z in distances) for bound in (1, 2))
    text = (
        f"The variances and errors of forests agree with the formulas: {n_one} of "
        f"{len(distances)} within one standard error, {n_two} within two (68% and 95% would be "
        "chance alone)."
    )
    if not distances:
        return Finding(text, None)
    is_close = n_two >= (1 - _TOLERATED_SHARE) * len(distances)
    return Finding(text, is_close and max(map(abs, distances)) <= _NEVER_BEYOND)


def _terms_grid(known: Sequence[tuple[VarianceCell, Result]]) -> Grid:
    rows: list[list[Entry | str]] = [
        [
            f"m = {cell.n_components}",
            f"{result['noise']:.3f}",
            *(_with_error(*result["terms"][name]) for name in _TERMS),
        ]
        for cell, result in known
    ]
    return Grid(["", "noise", *_TERMS.values()], rows, "Terms, with standard errors")


def _comparison_grid(comparisons: Sequence[tuple[VarianceCell, dict[str, Any]]]) -> Grid:
    rows: list[list[Entry | str]] = [
        [
            f"m = {cell.n_components}, algorithm {c['algorithm']}, t = {c['t']}",
            {"variance": "variance given LS", "error": "distance to Bayes"}[c["quantity"]],
            _with_error(c["measured"], c["measured_se"]),
            f"{c['predicted']:.4f}",
            f"{_z(c):+.1f}",
        ]
        for cell, c in comparisons
    ]
    headers = ["", "quantity", "measured", "predicted", "standard errors apart"]
    return Grid(headers, rows, "Forests beside the formulas")


def _with_error(value: float, error: float) -> Entry:
    return Entry(f"{value:.4f}", f"± {error:.4f}")


def _variance_picture(cell: VarianceCell, result: Result) -> list[Picture]:
    variances = [c for c in result["comparisons"] if c["quantity"] == "variance"]

    def paint(axes: Any) -> None:
        for number, algorithm in enumerate((2, 1)):
            mine = [c for c in variances if c["algorithm"] == algorithm]
            sizes = [c["t"] for c in mine]
            axes.plot(
                sizes,
                [c["predicted"] for c in mine],
                color=COLOURS[number],
                label=f"algorithm {algorithm}, formula",
            )
            axes.errorbar(
                sizes,
                [c["measured"] for c in mine],
                [2 * c["measured_se"] for c in mine],
                color=COLOURS[number],
                fmt="os"[number],
                capsize=3,
                label=f"algorithm {algorithm}, measured ± 2 standard errors",
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sorted({c["t"] for c in variances}))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("t, trees")
        axes.set_ylabel("variance given the learning sample")
        axes.set_title(f"m = {cell.n_components}", loc="left", fontsize=10)
        axes.legend(loc="best", fontsize=8, edgecolor="none")

    caption = f"Variance of t trees on m = {cell.n_components} outputs, by formula and measured."
    return draw(f"m{cell.n_components}", caption, paint)


def _variance_row(cell: VarianceCell, comparison: dict[str, Any]) -> dict[str, Any]:
    return {
        "n_components": cell.n_components,
        **{name: _rounded(value) for name, value in comparison.items()},
        "standard_errors_apart": round(_z(comparison), 2),
    }


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


def theorem_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Distortion of distances and variances by every projection."""
    cells = theorem_cells(settings)
    known = [(cell, result) for cell in cells if (result := lookup(cell)) is not None]
    return Section(
        name="theorem",
        title="Theorem 1 and the Johnson-Lindenstrauss lemma",
        intro=_theorem_intro(cells[0]),
        findings=[_theorem_holds(known), *_is_unbiased(known)],
        pictures=[
            *_distortion_picture(known, "largest_distortion", "largest distortion of a distance"),
            *_distortion_picture(known, "largest_node_distortion", "largest distortion in a node"),
        ],
        grids=_theorem_grids(known),
        rows=[_theorem_row(cell, result) for cell, result in known],
    )


def _theorem_intro(cell: TheoremCell) -> list[str]:
    source = f"{cell.dataset}{' (generated)' if cell.synthetic else ''}"
    return [
        f"Up to {cell.n_rows} different label vectors of {source}, {cell.n_draws} draws of each "
        "projection. If no squared distance of two vectors changes by a factor outside 1 ± ε, then "
        "neither does the variance of any subset: the sum of variances is half the mean squared "
        "distance. A node is a subset of 20 rows.",
        "Dashed: √(8 ln n / m), the ε of the lemma as the paper states it. PCA is not scaled to "
        "preserve distances and can only shrink them.",
    ]


def _theorem_holds(known: Sequence[tuple[TheoremCell, Result]]) -> Finding:
    pairs = [
        (max(abs(ratio - 1), node), distance)
        for _, result in known
        for ratio, node, distance in zip(
            result["variance_ratio"],
            result["largest_node_distortion"],
            result["largest_distortion"],
            strict=True,
        )
    ]
    # The second tolerance is for projections that distort nothing: all labels, subsampled.
    held = sum(variance <= distance * (1 + 1e-5) + 1e-12 for variance, distance in pairs)
    text = (
        f"Theorem 1: in {held} of {len(pairs)} draws no variance is distorted more than the most "
        "distorted distance."
    )
    return Finding(text, held == len(pairs) if pairs else None)


def _is_unbiased(known: Sequence[tuple[TheoremCell, Result]]) -> list[Finding]:
    distances = []
    for cell, result in known:
        ratios = result["variance_ratio"]
        if cell.projection != "pca" and len(ratios) >= _MIN_DRAWS:
            error = statistics.stdev(ratios) / len(ratios) ** 0.5
            distances.append(abs(statistics.fmean(ratios) - 1) / error if error else 0.0)
    if not distances:
        return []
    close = sum(distance <= 3 for distance in distances)
    text = (
        f"Random projections preserve the variance on average: {close} of {len(distances)} mean "
        "ratios are within three standard errors of 1."
    )
    return [Finding(text, close >= (1 - _TOLERATED_SHARE) * len(distances))]


def _theorem_grids(known: Sequence[tuple[TheoremCell, Result]]) -> list[Grid]:
    """A row for each m, a column for each projection."""
    captions = {
        "variance_ratio": "Variance after over variance before, and its standard deviation",
        "largest_distortion": "Largest distortion of a distance, and its standard deviation",
    }
    projections = list(dict.fromkeys(cell.projection for cell, _ in known))
    counts = sorted({cell.n_components for cell, _ in known})
    found = {(cell.projection, cell.n_components): result for cell, result in known}
    headers = ["", *(NAMES[projection] for projection in projections)]
    return [
        Grid(
            headers,
            [
                [f"m = {m}", *(_over_draws(found.get((name, m)), figure) for name in projections)]
                for m in counts
            ],
            caption,
        )
        for figure, caption in captions.items()
    ]


def _over_draws(result: Result | None, figure: str) -> Entry | str:
    if result is None:
        return ""
    values = result[figure]
    deviation = f"± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return Entry(f"{statistics.fmean(values):.2f}", deviation)


def _distortion_picture(
    known: Sequence[tuple[TheoremCell, Result]], name: str, title: str
) -> list[Picture]:
    lines: dict[str, dict[int, Score]] = {}
    for cell, result in known:
        mean = statistics.fmean(result[name])
        lines.setdefault(NAMES[cell.projection], {})[cell.n_components] = Score(mean, None)
    if not lines:
        return []

    def paint(axes: Any) -> None:
        counts = sorted({m for points in lines.values() for m in points})
        bound = [jl_epsilon(known[0][0].n_rows, m) for m in counts]
        axes.plot(counts, bound, "--", color="#777777", label="√(8 ln n / m)")
        draw_lines(axes, lines, log_y=True)
        axes.set_xlabel("m, projected outputs")
        axes.set_title(title, loc="left", fontsize=10)

    return draw(name.replace("_", "-"), f"{title.capitalize()}, mean over draws.", paint)


def _theorem_row(cell: TheoremCell, result: Result) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "projection": cell.projection,
        "m": cell.n_components,
        "n_draws": cell.n_draws,
        "variance_ratio": round(statistics.fmean(result["variance_ratio"]), 5),
        "variance_ratio_sd": round(statistics.pstdev(result["variance_ratio"]), 5),
        "largest_distortion": round(statistics.fmean(result["largest_distortion"]), 5),
        "typical_distortion": round(statistics.fmean(result["typical_distortion"]), 5),
        "largest_node_distortion": round(statistics.fmean(result["largest_node_distortion"]), 5),
        "jl_epsilon": round(jl_epsilon(cell.n_rows, cell.n_components), 5),
    }
