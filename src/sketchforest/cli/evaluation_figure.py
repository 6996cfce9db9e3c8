"""The picture of an evaluation: the best k labels, and each label by itself."""

import os
from typing import Any

from sketchforest._workflows.evaluation import Evaluation

_BLUE, _ORANGE = "#0072b2", "#d55e00"  # told apart by readers who see few colours, too


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
    _draw_curve(ranking, result.curve or {})
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


def _draw_curve(axes: Any, curve: dict[str, list[float]]) -> None:
    styles = (("precision", _BLUE, "o-", "precision"), ("ndcg", _ORANGE, "s--", "nDCG"))
    for name, colour, style, label in styles:
        values = curve.get(name, [])
        axes.plot(range(1, len(values) + 1), values, style, color=colour, label=label)
    axes.set_title("The k best labels of a row", loc="left")
    axes.set_xlabel("k")
    axes.set_ylim(0, 1)
    axes.legend(edgecolor="none")
