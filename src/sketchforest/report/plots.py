"""The plots of a report."""

import numpy as np

from sketchforest.evaluation import Evaluation, LabelTable
from sketchforest.report.svg import Axis, Plot

UNIT = Axis("", 0, 1)


def threshold_plot(evaluation: Evaluation, own: float | None) -> Plot | None:
    """Precision, recall and F1 against the threshold."""
    shown = [each for each in evaluation.thresholds if each.n_predicted]
    if len(shown) < 2 or not shown[0].n_true:
        return None
    highest = min(1.0, max(shown[-1].threshold, own or 0) + 0.02)
    plot = Plot(Axis("threshold", 0, highest), UNIT, "Precision, recall and F1 by threshold")
    for style, name in (("other", "precision"), ("third", "recall"), ("first", "F1")):
        plot.line([(each.threshold, getattr(each, name.lower())) for each in shown], style, name)
    if own is not None:
        plot.vertical(own, f"in use: {own:.3f}")
    return plot


def ranking_plot(evaluation: Evaluation) -> Plot | None:
    """Precision and nDCG of the k best labels."""
    if len(evaluation.curve) < 2:
        return None
    ks = Axis("k", 1, len(evaluation.curve), is_whole=True)
    plot = Plot(ks, UNIT, "Precision and nDCG of the k most probable labels")
    precision, ndcg = zip(*evaluation.curve, strict=True)
    plot.line(list(enumerate(ndcg, 1)), "first", "nDCG@k")
    plot.line(list(enumerate(precision, 1)), "other", "P@k")
    return plot


def frequency_plot(labels: LabelTable) -> Plot | None:
    """F1 of each label against its number of rows."""
    occurs = labels.n_true > 0
    if np.count_nonzero(occurs) < 2:
        return None
    n_true, f1 = labels.n_true[occurs], labels.f1[occurs]
    fewest, most = int(n_true.min()), int(n_true.max())
    rows = Axis("rows with the label", 0.8 * fewest, 1.2 * most, is_log=True)
    plot = Plot(rows, Axis("F1", 0, 1), "F1 of each label by its number of rows")
    plot.dots(zip(n_true.tolist(), f1.tolist(), strict=True), radius=3)
    return plot


def calibration_plot(evaluation: Evaluation) -> Plot | None:
    """Observed frequency against predicted probability."""
    if not evaluation.bins:
        return None
    x, y = Axis("predicted probability", 0, 1), Axis("observed frequency", 0, 1)
    plot = Plot(x, y, "Observed frequency of labels by predicted probability")
    points = [(probability, share) for probability, share, _ in evaluation.bins]
    plot.line([(0, 0), (1, 1)], "axis")
    plot.line(points, "first")
    plot.dots(points)
    return plot
