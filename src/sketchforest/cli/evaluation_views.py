"""Scores of a model: tables for the terminal, and a picture."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from sketchforest._workflows.evaluation import Evaluation
from sketchforest.cli.tables import SHOWN, as_it_is, plain_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE = "#0072b2", "#d55e00"  # told apart by readers who see few colours, too
_SCORE_NAMES = {
    "lrap": "LRAP",
    "coverage_error": "coverage error",
    "micro_f1": "F1, all decisions",
    "macro_f1": "F1, mean of labels",
    "r2": "R²",
}


def show_evaluation(evaluation: Evaluation, console: Console) -> None:
    show_unknown(evaluation, console)
    console.print(scores_table(evaluation.scores))
    if evaluation.labels is not None:
        console.print("\nThe most frequent labels:")
        numbers = ("true", "predicted", "precision", "recall", "F1")
        table = plain_table("label", *numbers, right=numbers)
        for name, n_true, n_predicted, _, *quality in evaluation.labels.rows()[:SHOWN]:
            table.add_row(
                as_it_is(name), f"{n_true:,}", f"{n_predicted:,}", *(f"{v:.3f}" for v in quality)
            )
        console.print(table)


def show_unknown(evaluation: Evaluation, console: Console) -> None:
    if evaluation.n_unknown:
        console.print(f"{evaluation.n_unknown} labels that the model does not know are left out.")


def scores_table(scores: Mapping[str, float]) -> Table:
    table = plain_table("score", "", right=("",))
    for name, value in scores.items():
        table.add_row(score_name(name), f"{value:,.0f}" if name == "rows" else f"{value:.4f}")
    return table


def score_name(name: str) -> str:
    metric, at, k = name.rpartition("_at_")
    short = {"precision": "P", "ndcg": "nDCG", "psp": "PSP"}
    return f"{short.get(metric, metric)}@{k}" if at else _SCORE_NAMES.get(name, name)


def save_evaluation_figure(result: Evaluation, path: str | os.PathLike[str]) -> None:
    """Precision and nDCG against k; F1 of each label against its number of rows."""
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError(
            "The picture needs matplotlib. Install it with: pip install 'sketchforest[plot]'"
        ) from None
    # A bare Figure needs no display and leaves the caller's pyplot alone.
    figure = matplotlib.figure.Figure(figsize=(10, 4.2), layout="constrained")
    ranking, labels = figure.subplots(1, 2)
    _draw_curve(ranking, result)
    table = result.labels
    if table is not None:
        is_there = table.n_true > 0
        labels.plot(
            table.n_true[is_there], table.f1[is_there], "o", color=_BLUE, alpha=0.5, markersize=4
        )
        labels.set_xscale("log")
        labels.set_title(f"F1 of {is_there.sum():,} labels, by their number of rows", loc="left")
        labels.set_xlabel("rows that have the label (log scale)")
        labels.set_ylim(-0.03, 1.03)
    for axes in (ranking, labels):
        axes.grid(color="#e6e6e6")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=150)


def _draw_curve(axes: "Axes", result: Evaluation) -> None:
    precision, ndcg = zip(*result.curve, strict=True)
    ks = range(1, len(precision) + 1)
    axes.plot(ks, precision, "o-", color=_BLUE, label="precision")
    axes.plot(ks, ndcg, "s--", color=_ORANGE, label="nDCG")
    axes.set_title("The k best labels of a row", loc="left")
    axes.set_xlabel("k")
    axes.set_ylim(0, 1)
    axes.legend(edgecolor="none")
