"""Metrics by name, and what is known of them."""

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from sketchforest._utils.typing import MatrixLike
from sketchforest.metrics._ranks import Array
from sketchforest.metrics._shared_docs import described
from sketchforest.metrics._validation import validated
from sketchforest.metrics.ranking import (
    coverage_error,
    coverage_of_rows,
    label_ranking_loss,
    lrap,
    lrap_of_rows,
    ndcg_at_k,
    ndcg_of_rows,
    precision_at_k,
    precision_of_rows,
    psp_at_k,
    ranking_loss_of_rows,
)

Metric: TypeAlias = Callable[..., float]


@described
def get_metric(name_or_callable: str | Metric) -> Metric:
    """The function (Y_true, Y_score) -> float of that name; a callable is returned as it is.

    Parameters
    ----------
    name_or_callable

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
    if name in _METRICS:
        return _METRICS[name]
    at_k = re.fullmatch(r"(\w+_at_)([1-9][0-9]*)", name)
    if at_k and at_k[1] in _METRICS_AT_K:
        return partial(_METRICS_AT_K[at_k[1]], k=int(at_k[2]))
    known = ", ".join([*_METRICS, *(f"{prefix}K" for prefix in _METRICS_AT_K)])
    raise ValueError(
        f"metric must be a callable or one of {known} (K a positive integer); "
        f"got {name_or_callable!r}."
    )


@described
def row_values(
    name_or_callable: str | Metric, Y_true: MatrixLike, Y_score: MatrixLike
) -> Array | None:
    """(n_samples,) what each row adds to the mean that the metric is, NaN for rows it leaves out;
    None for a metric that is no mean over rows, or not one of ours.

    Parameters
    ----------
    name_or_callable, Y_true, Y_score

    Returns
    -------
    (n_samples,) array or None

    Examples
    --------
    >>> row_values("lrap", [[1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
    array([1. , 0.5, nan])
    """
    metric = get_metric(name_or_callable)
    at_k = metric.keywords if isinstance(metric, partial) else {}
    of_rows = _OF_ROWS.get(getattr(metric, "func", metric))
    if of_rows is None:
        return None
    Y, S, _ = validated(Y_true, Y_score, None)
    return of_rows(Y, S, **at_k)


@described
def greater_is_better(name_or_callable: str | Metric) -> bool:
    """Whether to maximise the metric; a callable that is not one of ours is to be maximised.

    Parameters
    ----------
    name_or_callable

    Returns
    -------
    bool

    Examples
    --------
    >>> greater_is_better("lrap"), greater_is_better("coverage_error")
    (True, False)
    """
    metric = get_metric(name_or_callable)
    return getattr(metric, "func", metric) not in (coverage_error, label_ranking_loss)


def is_ranking(metric: Metric) -> bool:
    """Whether it is one of ours, which look at scores and not at decisions.

    Parameters
    ----------
    metric : callable

    Returns
    -------
    bool

    Examples
    --------
    >>> is_ranking(lrap), is_ranking(max)
    (True, False)
    """
    ours = {*_METRICS.values(), *_METRICS_AT_K.values(), psp_at_k}
    return getattr(metric, "func", metric) in ours


_METRICS: dict[str, Metric] = {
    "lrap": lrap,
    "coverage_error": coverage_error,
    "label_ranking_loss": label_ranking_loss,
}
_METRICS_AT_K: dict[str, Metric] = {"precision_at_": precision_at_k, "ndcg_at_": ndcg_at_k}
_OF_ROWS: dict[Metric, Callable[..., Array]] = {
    lrap: lrap_of_rows,
    coverage_error: coverage_of_rows,
    label_ranking_loss: ranking_loss_of_rows,
    precision_at_k: precision_of_rows,
    ndcg_at_k: ndcg_of_rows,
}
