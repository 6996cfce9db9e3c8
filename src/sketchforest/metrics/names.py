"""Metrics looked up by name."""

import re
from functools import partial

from sketchforest._utils import docs
from sketchforest._utils.docs import Described
from sketchforest._utils.typing import MatrixLike
from sketchforest.metrics import probabilities as probabilities  # registers its metrics
from sketchforest.metrics import ranking as ranking
from sketchforest.metrics._ranks import Array
from sketchforest.metrics._shared_docs import PARAMETERS
from sketchforest.metrics._validation import validated
from sketchforest.metrics.meanings import METRICS, Metric, Registered, meaning

_KNOWN = ", ".join(
    f'"{name}K"' if name.endswith("_at_") else f'"{name}"'
    for name, entry in METRICS.items()
    if entry.has_name
)
_METRIC = Described(
    "str or callable", f"One of {_KNOWN}, or a function (Y_true, Y_score) -> float."
)
_documented = partial(docs.described, known={"name_or_callable": _METRIC, **PARAMETERS})


@_documented
def get_metric(name_or_callable: str | Metric) -> Metric:
    """Look up a metric by name; a callable is returned unchanged.

    Returns
    -------
    callable

    Examples
    --------
    >>> get_metric("precision_at_1")([[1, 0]], [[0.9, 0.1]])
    1.0
    """
    if callable(name_or_callable):
        return name_or_callable
    name = str(name_or_callable)
    at_k = re.fullmatch(r"(\w+_at_)([1-9][0-9]*)", name)
    found = METRICS.get(at_k[1] if at_k else name)
    if found is None or not found.has_name or name.endswith("_at_"):
        raise ValueError(
            f"metric must be a callable or one of {_KNOWN} (K a positive integer); "
            f"got {name_or_callable!r}."
        )
    return partial(found.function, k=int(at_k[2])) if at_k else found.function


@_documented
def row_values(
    name_or_callable: str | Metric, Y_true: MatrixLike, Y_score: MatrixLike
) -> Array | None:
    """The values whose mean over rows is the metric.

    Returns
    -------
    (n_samples,) array or None
        NaN for rows that the metric leaves out; None if the metric is not a mean over rows or is
        not from this package.

    Examples
    --------
    >>> row_values("lrap", [[1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
    array([1. , 0.5, nan])
    """
    metric = get_metric(name_or_callable)
    found = _registered(metric)
    if found is None or found[1].of_rows is None:
        return None
    Y, S, _ = validated(Y_true, Y_score, None)
    return found[1].of_rows(Y, S, **(metric.keywords if isinstance(metric, partial) else {}))


@_documented
def greater_is_better(name_or_callable: str | Metric) -> bool:
    """Whether to maximize the metric; True for callables from outside this package.

    Examples
    --------
    >>> greater_is_better("lrap"), greater_is_better("coverage_error")
    (True, False)
    """
    found = _registered(get_metric(name_or_callable))
    return found is None or meaning(found[0]).better == "higher"


@_documented
def is_ranking(metric: Metric) -> bool:
    """Whether this is one of the metrics here that take scores and not decisions.

    Parameters
    ----------
    metric : callable

    Examples
    --------
    >>> from sketchforest.metrics import is_ranking, lrap
    >>> is_ranking(lrap), is_ranking(max)
    (True, False)
    """
    return _registered(metric) is not None


def _registered(metric: Metric) -> tuple[str, Registered] | None:
    function = metric.func if isinstance(metric, partial) else metric
    return next((pair for pair in METRICS.items() if pair[1].function is function), None)
