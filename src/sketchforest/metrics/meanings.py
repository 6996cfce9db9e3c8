"""The registry of metrics, and what each score means.

To add a ranking metric, define it in ``ranking`` with the decorator `ranking_metric`, and export it
from the package.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from sketchforest.metrics._shared_docs import described

Metric: TypeAlias = Callable[..., float]
Function = TypeVar("Function", bound=Metric)


class Meaning(NamedTuple):
    """Title and meaning of a score, and whether higher or lower is better.

    Examples
    --------
    >>> from sketchforest.evaluation import meaning
    >>> meaning("coverage_error")
    Meaning(title='coverage error', says='rank that covers all true labels', better='lower')
    """

    title: str
    says: str
    better: str  # "higher" or "lower"; "" for a number that is not a score


class Registered(NamedTuple):
    """A ranking metric, and its values per row where it is a mean over rows."""

    function: Metric
    of_rows: Callable[..., np.ndarray] | None
    has_name: bool  # callers may ask for it by name


# By name; those with a depth as "precision_at_", the others as "lrap".
METRICS: dict[str, Registered] = {}
_MEANINGS = {
    "rows": Meaning("rows", "number of rows scored", ""),
    "micro_f1": Meaning("micro F1", "F1 of all decisions together", "higher"),
    "macro_f1": Meaning("macro F1", "mean F1 of the labels", "higher"),
    "average_precision": Meaning("average precision", "how well labels rank rows", "higher"),
    "calibration_error": Meaning(
        "calibration error", "gap between probability and frequency", "lower"
    ),
    "r2": Meaning("R²", "fraction of the variance explained", "higher"),
    "mean_absolute_error": Meaning("mean absolute error", "in the unit of the outputs", "lower"),
    "root_mean_squared_error": Meaning("RMSE", "large errors count more", "lower"),
}


def ranking_metric(
    title: str,
    says: str,
    better: str = "higher",
    of_rows: Callable[..., np.ndarray] | None = None,
    has_name: bool = True,
) -> Callable[[Function], Function]:
    """Decorator that registers a metric under its name and fills in its docstring."""

    def register(function: Function) -> Function:
        name = re.sub("_at_k$", "_at_", function.__name__)
        METRICS[name] = Registered(function, of_rows, has_name)
        _MEANINGS[name.removesuffix("_at_")] = Meaning(title, says, better)
        return described(function)

    return register


def meaning(name: str) -> Meaning:
    """The meaning of a score such as "lrap" or "precision_at_5".

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
    'share of true labels in the top 5'
    """
    metric, at, k = name.rpartition("_at_")
    found = _MEANINGS.get(metric if at else name, Meaning(name, "", ""))
    return Meaning(*(part.format(k=k) for part in found))
