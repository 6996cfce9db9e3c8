"""The table of the demo."""

from collections.abc import Sequence

from rich import box
from rich.table import Table

from sketchforest._utils.units import UNKNOWN, ratio, seconds, size
from sketchforest.lab.demo.measurement import Measurement
from sketchforest.lab.measure import PRECISION_DEPTHS


def comparison_table(measurements: Sequence[Measurement], n_labels: int) -> Table:
    """One row for each forest, with how much faster and smaller it is than the first."""
    reference = measurements[0]
    table = Table(
        title=f"{reference.n_estimators} trees",
        caption=_footnote(reference),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        # With these, the table fits into 80 columns.
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("forest", no_wrap=True)
    table.add_column("outputs", no_wrap=True)
    depths = "/".join(map(str, PRECISION_DEPTHS))
    for header in ("fit", "faster", "LRAP", f"P@{depths}", "size", "smaller"):
        table.add_column(header, justify="right", no_wrap=True)
    for row in measurements:
        is_scaled = row.n_grown != row.n_estimators
        table.add_row(
            row.package + " *" * is_scaled,
            f"{n_labels} labels" if row.n_components is None else f"m = {row.n_components}",
            seconds(row.fit_seconds),
            ratio(reference.fit_seconds / row.fit_seconds),
            UNKNOWN if row.lrap is None else f"{row.lrap:.3f}",
            _precisions(row.precision),
            size(row.n_bytes),
            ratio(reference.n_bytes / row.n_bytes),
            end_section=row is reference,
        )
    return table


def _footnote(row: Measurement) -> str | None:
    if row.n_grown == row.n_estimators:
        return None
    return (
        f"* grown with {row.n_grown} of {row.n_estimators} trees; time and size are scaled, "
        "quality is not measured"
    )


def _precisions(precision: tuple[float, ...] | None) -> str:
    if precision is None:
        return UNKNOWN
    return "/".join(f"{100 * share:.0f}" for share in precision) + " %"
