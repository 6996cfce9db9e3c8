"""What scores say, and which way is good."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """What a score is called, what it says, and which way is good.

    Examples
    --------
    >>> from sketchforest.evaluation import meaning
    >>> meaning("coverage_error")
    Meaning(title='coverage error', says='rank of the last true label', better='lower')
    """

    title: str
    says: str
    better: str  # "higher" or "lower"; "" for a number that is no score


_MEANINGS = {
    "rows": Meaning("rows", "how many were scored", ""),
    "lrap": Meaning("LRAP", "how near the top true labels rank", "higher"),
    "precision": Meaning("P@{k}", "share of the {k} best that is true", "higher"),
    "ndcg": Meaning("nDCG@{k}", "the same, higher ranks count more", "higher"),
    "psp": Meaning("PSP@{k}", "as P@{k}, rare labels count more", "higher"),
    "coverage_error": Meaning("coverage error", "rank of the last true label", "lower"),
    "micro_f1": Meaning("F1, all decisions", "precision and recall of predict", "higher"),
    "macro_f1": Meaning("F1, mean of labels", "the same of each label, the mean", "higher"),
    "average_precision": Meaning(
        "average precision", "how well labels rank rows, the mean", "higher"
    ),
    "calibration_error": Meaning("calibration error", "gap of probabilities and shares", "lower"),
    "r2": Meaning("R²", "share of the variance that is predicted", "higher"),
    "mean_absolute_error": Meaning("mean absolute error", "how far off, in its unit", "lower"),
    "root_mean_squared_error": Meaning("RMSE", "the same, large errors count more", "lower"),
}


def meaning(name: str) -> Meaning:
    """Of a score, as in "lrap" or "precision_at_5".

    Parameters
    ----------
    name : str

    Returns
    -------
    Meaning

    Examples
    --------
    >>> from sketchforest.evaluation import meaning
    >>> meaning("precision_at_5").says
    'share of the 5 best that is true'
    """
    metric, at, k = name.rpartition("_at_")
    found = _MEANINGS.get(metric if at else name, Meaning(name, "", ""))
    return Meaning(*(part.format(k=k) for part in found))
