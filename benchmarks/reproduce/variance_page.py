"""The bias/variance decomposition as a section of the report."""

import pandas as pd
from matplotlib.axes import Axes

from benchmarks.experiments import Lookup
from benchmarks.reproduce.drawing import COLOURS, draw
from benchmarks.reproduce.page import Entry, Finding, Grid, Picture, Section, text_grid
from benchmarks.reproduce.settings import ReproduceSettings
from benchmarks.reproduce.variance import VarianceExperiment, variance_experiments

_TERMS = {"bias": "bias²", "v_ls": "V_LS", "v_proj": "V_proj", "v_algo": "V_algo"}
# One in twenty independent normal errors exceeds two standard errors.
_TOLERATED_SHARE, _NEVER_BEYOND = 0.1, 4.0


def variance_section(settings: ReproduceSettings, lookup: Lookup) -> Section:
    """Show measured terms, and their predictions next to measurements of forests."""
    experiments = variance_experiments(settings)
    known = [(one, result) for one in experiments if (result := lookup(one)) is not None]
    checks = pd.DataFrame(
        [
            {"n_components": one.n_components, **check}
            for one, result in known
            for check in result.checks
        ],
        columns=["n_components", *_CHECK_COLUMNS],
    )
    apart = (checks["measured"] - checks["predicted"]) / checks["difference_se"]
    terms = [
        [
            f"m = {one.n_components}",
            f"{result.noise:.3f}",
            *(_with_error(*result.terms[name]) for name in _TERMS),
        ]
        for one, result in known
    ]
    return Section(
        name="variance",
        title="Section 3.3: the bias/variance decomposition",
        intro=_intro(experiments[0]),
        findings=[_agreement(apart)],
        pictures=[
            picture
            for m, found in checks[checks["quantity"] == "variance"].groupby("n_components")
            for picture in _picture(m, found)
        ],
        grids=[
            text_grid(["", "noise", *_TERMS.values()], terms, "Terms, with standard errors"),
            _checks_grid(checks.assign(apart=apart)),
        ],
        rows=checks.round(6).assign(standard_errors_apart=apart.astype(float).round(2)),
    )


_CHECK_COLUMNS = ["algorithm", "t", "quantity", "measured", "measured_se", "predicted"]
_CHECK_COLUMNS += ["difference_se"]


def _intro(first: VarianceExperiment) -> list[str]:
    return [
        "Labels are generated with known probabilities, so that the Bayes predictor is known. "
        f"There are {first.n_sets} learning samples of {first.n_samples} rows, "
        f"{first.n_projections} gaussian projections for each sample, and {first.n_trees} trees "
        "for each projection. A nested analysis of variance gives unbiased estimates of the terms; "
        "standard errors come from leaving out one learning sample at a time.",
        "The paper's formulas then predict the variance of t trees given the learning sample: "
        "V_algo/t + V_proj for one shared projection (algorithm 1) and (V_algo + V_proj)/t for one "
        "per tree (algorithm 2). With bias² and V_LS they predict the squared distance to the "
        f"Bayes predictor. They are compared with {first.n_forests} other forests of each kind on "
        "each sample.",
    ]


def _agreement(apart: pd.Series) -> Finding:
    n_one, n_two = (int((apart.abs() <= bound).sum()) for bound in (1, 2))
    text = (
        f"The variances and errors of forests agree with the formulas: {n_one} of {len(apart)} "
        f"within one standard error, {n_two} within two (68% and 95% would be chance alone)."
    )
    if apart.empty:
        return Finding(text, None)
    is_close = n_two >= (1 - _TOLERATED_SHARE) * len(apart)
    return Finding(text, is_close and bool(apart.abs().max() <= _NEVER_BEYOND))


def _checks_grid(checks: pd.DataFrame) -> Grid:
    rows = [
        [
            f"m = {check.n_components}, algorithm {check.algorithm}, t = {check.t}",
            {"variance": "variance given LS", "error": "distance to Bayes"}[check.quantity],
            _with_error(check.measured, check.measured_se),
            f"{check.predicted:.4f}",
            f"{check.apart:+.1f}",
        ]
        for check in checks.itertuples()
    ]
    headers = ["", "quantity", "measured", "predicted", "standard errors apart"]
    return text_grid(headers, rows, "Forests compared with the formulas")


def _with_error(value: float, error: float) -> Entry:
    return Entry(f"{value:.4f}", f"± {error:.4f}")


def _picture(m: int, variances: pd.DataFrame) -> list[Picture]:
    def paint(axes: Axes) -> None:
        for number, algorithm in enumerate((2, 1)):
            found, colour = variances[variances["algorithm"] == algorithm], COLOURS[number]
            label = f"algorithm {algorithm}, formula"
            axes.plot(found["t"], found["predicted"], color=colour, label=label)
            axes.errorbar(
                found["t"],
                found["measured"],
                2 * found["measured_se"],
                color=colour,
                fmt="os"[number],
                capsize=3,
                label=f"algorithm {algorithm}, measured ± 2 standard errors",
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sorted(variances["t"].unique()))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("t, trees")
        axes.set_ylabel("variance given the learning sample")
        axes.set_title(f"m = {m}", loc="left", fontsize=10)
        axes.legend(loc="best", fontsize=8, edgecolor="none")

    caption = f"Variance of t trees on m = {m} outputs, by formula and measured."
    return draw(f"m{m}", caption, paint)
