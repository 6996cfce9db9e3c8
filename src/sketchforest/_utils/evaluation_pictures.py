"""Plots of an evaluation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sketchforest._utils.display import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_curve(axes: "Axes", curve: "Sequence[tuple[float, float]]") -> None:
    precision, ndcg = zip(*curve, strict=True)
    ks = range(1, len(precision) + 1)
    axes.plot(ks, precision, "o-", color=BLUE, label="precision")
    axes.plot(ks, ndcg, "s--", color=ORANGE, label="nDCG")
    axes.set_title("Top k labels", loc="left")
    axes.set_xlabel("k")
    axes.set_ylabel("mean over rows (1 is best)")
    axes.set_ylim(0, 1)
    axes.legend(edgecolor="none")


def draw_labels(axes: "Axes", n_true: np.ndarray, f1: np.ndarray) -> None:
    is_there = n_true > 0
    axes.plot(n_true[is_there], f1[is_there], "o", color=BLUE, alpha=0.5, markersize=4)
    axes.set_xscale("log")
    axes.set_title(f"F1 of {is_there.sum():,} labels by frequency", loc="left")
    axes.set_xlabel("rows with the label (log scale)")
    axes.set_ylabel("F1")
    axes.set_ylim(-0.03, 1.03)


def draw_calibration(axes: "Axes", bins: "Sequence[tuple[float, float, int]]") -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    axes.plot([b[0] for b in bins], [b[1] for b in bins], "o-", color=BLUE)
    axes.set_title("Calibration", loc="left")
    axes.set_xlabel("predicted probability")
    axes.set_ylabel("observed frequency")
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)


def draw_thresholds(axes: "Axes", curve: Sequence[Any]) -> None:
    """`curve` has threshold, precision, recall and f1 of each decision."""
    shown = [each for each in curve if each.n_predicted]
    thresholds = [each.threshold for each in shown]
    for name, color, style in (
        ("precision", ORANGE, "--"),
        ("recall", GREY, ":"),
        ("F1", BLUE, "-"),
    ):
        values = [getattr(each, name.lower()) for each in shown]
        axes.plot(thresholds, values, color=color, linestyle=style, label=name)
    axes.set_title("Decisions by threshold", loc="left")
    axes.set_xlabel("threshold")
    axes.set_ylim(0, 1.03)
    axes.legend(edgecolor="none")
