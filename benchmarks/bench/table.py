"""The table of the benchmark."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from benchmarks.bench.results import Costs, Summary
from sketchforest._units import UNKNOWN, milliseconds, percent, ratio, seconds, size

_MAIN = "sklearn-rf"


def benchmark_table(summaries: Sequence[Summary]) -> Table:
    """Two lines for each method on one data set: its costs, and how many times less they are."""
    table = Table(
        title=summaries[0].dataset,
        caption=_footnotes(summaries),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        # With these, and two lines for each, the table fits into 80 columns.
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("method\ntrees", no_wrap=True)
    for name, compared in (
        ("fit", "faster"),
        ("predict", "faster"),
        ("one row", "faster"),
        ("memory", "less"),
        ("model", "smaller"),
    ):
        table.add_column(f"{name}\n{compared}", justify="right", no_wrap=True)
    table.add_column("LRAP\nP@1/3/5 %", justify="right", no_wrap=True)
    for summary in summaries:
        table.add_row(*_row(summary))
    return table


def _row(summary: Summary) -> list[Text | str]:
    costs = summary.costs
    figures = {
        "fit_ratio": seconds(costs.fit_seconds),
        "predict_ratio": seconds(costs.predict_seconds),
        "row_ratio": milliseconds(costs.row_milliseconds),
        "memory_ratio": size(costs.peak_bytes),
        "size_ratio": size(costs.model_bytes),
    }
    return [
        _two_lines(summary.method, _trees(costs)),
        *(
            _two_lines(_marked(text, costs), _ratio(summary, name))
            for name, text in figures.items()
        ),
        _quality(costs),
    ]


def _quality(costs: Costs) -> Text | str:
    if costs.lrap is None:
        return UNKNOWN
    precision = (costs.precision_at_1, costs.precision_at_3, costs.precision_at_5)
    return Text(f"{costs.lrap:.4f}\n{percent(precision)}")


def _two_lines(first: str, second: str) -> Text:
    return Text.assemble(first, "\n", (second, "dim"))


def _marked(text: str, costs: Costs) -> str:
    return text + "*" if costs.is_scaled and text != UNKNOWN else text


def _ratio(summary: Summary, name: str) -> str:
    value = summary.ratios[name]
    return "" if value is None or summary.method == summary.reference else ratio(value)


def _trees(costs: Costs) -> str:
    if costs.is_scaled:
        return f"{costs.n_grown}/{costs.n_estimators} trees"
    return f"{costs.n_estimators} tree" + "s" * (costs.n_estimators != 1)


def _footnotes(summaries: Sequence[Summary]) -> str:
    notes = []
    pairs = [(s.method, s.reference) for s in summaries if s.ratios["fit_ratio"]]
    others = [f"{method} to {reference}" for method, reference in pairs if reference != _MAIN]
    if others:
        notes.append(f"second lines: compared to {_MAIN}; {', '.join(others)}")
    elif pairs:
        notes.append(f"second lines: compared to {_MAIN}")
    if any(summary.costs.is_scaled for summary in summaries):
        notes.append(
            "* fewer trees were grown than asked: fit time, memory and size are scaled, "
            "predictions walk the grown trees again, quality is not measured"
        )
    return "\n".join(notes)
