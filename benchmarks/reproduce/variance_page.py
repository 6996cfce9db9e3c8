"""The bias/variance decomposition as a section of the report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import COLOURS, draw
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.variance import (
    FormulaCheck,
    VarianceExperiment,
    VarianceResult,
    variance_experiments,
)
from benchmarks.store import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TERMS = {"bias": "bias²", "v_ls": "V_LS", "v_proj": "V_proj", "v_algo": "V_algo"}
# Of independent normal errors, one in twenty is beyond two standard errors.
_TOLERATED_SHARE, _NEVER_BEYOND = 0.1, 4.0


def variance_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Measured terms, and what they predict beside what forests do."""
    experiments = variance_experiments(settings)
    known = [(one, result) for one in experiments if (result := lookup(one)) is not None]
    checks = [(one.n_components, check) for one, result in known for check in result.checks]
    return Section(
        name="variance",
        title="Section 3.3: the bias/variance decomposition",
        intro=_intro(experiments[0]),
        findings=[_agreement([_z(check) for _, check in checks])],
        pictures=[picture for one in known for picture in _picture(*one)],
        grids=[_terms_grid(known), _checks_grid(checks)],
        rows=[_csv_row(m, check) for m, check in checks],
    )


def _intro(first: VarianceExperiment) -> list[str]:
    return [
        "Labels are generated with known probabilities, so that the Bayes predictor is known. "
        f"{first.n_sets} learning samples of {first.n_samples} rows are drawn, for each of them "
        f"{first.n_projections} gaussian projections, for each of those {first.n_trees} trees. A "
        "nested analysis of variance gives unbiased estimates of the terms; their standard errors "
        "are by leaving out one learning sample at a time.",
        "The paper's formulas then predict the variance of t trees given the learning sample, "
        "V_algo/t + V_proj for one shared projection (algorithm 1) and (V_algo + V_proj)/t for one "
        "in each tree (algorithm 2), and with bias² and V_LS the squared distance to the Bayes "
        f"predictor. Beside them: {first.n_forests} other forests of each kind on each sample.",
    ]


def _z(check: FormulaCheck) -> float:
    """Measured minus predicted in standard errors of the difference."""
    return (check["measured"] - check["predicted"]) / check["difference_se"]


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


def _terms_grid(known: Sequence[tuple[VarianceExperiment, VarianceResult]]) -> Grid:
    rows: list[list[Entry | str]] = [
        [
            f"m = {one.n_components}",
            f"{result.noise:.3f}",
            *(_with_error(*result.terms[name]) for name in _TERMS),
        ]
        for one, result in known
    ]
    return Grid(["", "noise", *_TERMS.values()], rows, "Terms, with standard errors")


def _checks_grid(checks: Sequence[tuple[int, FormulaCheck]]) -> Grid:
    rows: list[list[Entry | str]] = [
        [
            f"m = {m}, algorithm {c['algorithm']}, t = {c['t']}",
            {"variance": "variance given LS", "error": "distance to Bayes"}[c["quantity"]],
            _with_error(c["measured"], c["measured_se"]),
            f"{c['predicted']:.4f}",
            f"{_z(c):+.1f}",
        ]
        for m, c in checks
    ]
    headers = ["", "quantity", "measured", "predicted", "standard errors apart"]
    return Grid(headers, rows, "Forests beside the formulas")


def _with_error(value: float, error: float) -> Entry:
    return Entry(f"{value:.4f}", f"± {error:.4f}")


def _picture(experiment: VarianceExperiment, result: VarianceResult) -> list[Picture]:
    m = experiment.n_components
    variances = [c for c in result.checks if c["quantity"] == "variance"]

    def paint(axes: "Axes") -> None:
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
        axes.set_title(f"m = {m}", loc="left", fontsize=10)
        axes.legend(loc="best", fontsize=8, edgecolor="none")

    caption = f"Variance of t trees on m = {m} outputs, by formula and measured."
    return draw(f"m{m}", caption, paint)


def _csv_row(m: int, check: FormulaCheck) -> Row:
    return {
        "n_components": m,
        **{name: _rounded(value) for name, value in check.items()},
        "standard_errors_apart": round(_z(check), 2),
    }


def _rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value
