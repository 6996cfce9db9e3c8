"""The pictures of a report."""

import numpy as np

from sketchforest.evaluation import Evaluation, LabelTable
from sketchforest.report.svg import Axis, Picture

SHARE = Axis("", 0, 1)


def threshold_picture(evaluation: Evaluation, own: float | None) -> Picture | None:
    """Precision, recall and F1 of all decisions against the threshold."""
    shown = [each for each in evaluation.thresholds if each.n_predicted]
    if len(shown) < 2 or not shown[0].n_true:
        return None
    highest = min(1.0, max(shown[-1].threshold, own or 0) + 0.02)
    says = "Precision, recall and F1 against the threshold"
    picture = Picture(Axis("threshold: the probability to exceed", 0, highest), SHARE, says)
    picture.line([(each.threshold, each.precision) for each in shown], "other", "precision")
    picture.line([(each.threshold, each.recall) for each in shown], "third", "recall")
    picture.line([(each.threshold, each.f1) for each in shown], "first", "F1")
    if own is not None:
        picture.vertical(own, f"in use: {own:.3f}")
    return picture


def ranking_picture(evaluation: Evaluation) -> Picture | None:
    """Precision and nDCG of the k best labels."""
    if len(evaluation.curve) < 2:
        return None
    ks = Axis("k", 1, len(evaluation.curve), is_whole=True)
    picture = Picture(ks, SHARE, "Precision and nDCG of the k most probable labels of a row")
    precision, ndcg = zip(*evaluation.curve, strict=True)
    picture.line(list(enumerate(ndcg, 1)), "first", "nDCG@k")
    picture.line(list(enumerate(precision, 1)), "other", "P@k")
    return picture


def frequency_picture(labels: LabelTable) -> Picture | None:
    """F1 of each label against the number of its rows."""
    is_there = labels.n_true > 0
    if np.count_nonzero(is_there) < 2:
        return None
    n_true, f1 = labels.n_true[is_there], labels.f1[is_there]
    fewest, most = int(n_true.min()), int(n_true.max())
    rows = Axis("rows that have the label", 0.8 * fewest, 1.2 * most, is_log=True)
    picture = Picture(rows, Axis("F1", 0, 1), "F1 of each label against the number of its rows")
    picture.dots(zip(n_true.tolist(), f1.tolist(), strict=True), radius=3)
    return picture


def calibration_picture(evaluation: Evaluation) -> Picture | None:
    """Shares that came true against probabilities."""
    if not evaluation.bins:
        return None
    says = "The share of labels that are true against their probability"
    x, y = Axis("probability", 0, 1), Axis("share that is true", 0, 1)
    picture = Picture(x, y, says)
    points = [(probability, share) for probability, share, _ in evaluation.bins]
    picture.line([(0, 0), (1, 1)], "axis")
    picture.line(points, "first")
    picture.dots(points)
    return picture
