"""The metrics, and what their names stand for."""

import re
from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest._typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics._ranks import (
    Array,
    block_top_k,
    entry_rows,
    find_hits,
    row_blocks,
    row_sums,
    true_ranks,
)

Metric: TypeAlias = Callable[..., float]


def lrap(
    Y_true: MatrixLike,
    Y_score: MatrixLike,
    *,
    sample_weight: WeightsLike = None,
    no_label_rows: Literal["drop", "one"] = "drop",
) -> float:
    """Label ranking average precision, in (0, 1], greater is better.

    The mean over rows, and over the true labels of a row, of the share of true labels among the
    labels that score at least as much. Rows without a true label are dropped, as in Joly, Geurts
    and Wehenkel (2014); ``no_label_rows="one"`` counts them as 1, as scikit-learn does.

    Examples
    --------
    >>> lrap([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [0.1, 0.2, 1]])
    0.75
    """
    if no_label_rows not in ("drop", "one"):
        raise ValueError(f"no_label_rows must be 'drop' or 'one'; got {no_label_rows!r}.")
    Y, S, weight = _validated(Y_true, Y_score, sample_weight)
    value = _lrap_of_rows(Y, S)
    has_no_label = np.diff(Y.indptr) == 0
    if no_label_rows == "one":
        value[has_no_label] = 1.0
    else:
        value[has_no_label] = 0.0
        weight = np.where(has_no_label, 0.0, weight)
        if not weight.any():
            raise ValueError(
                "Y_true must have a true label in some row of positive weight; got none. "
                "Use no_label_rows='one' to count rows without labels as 1."
            )
    return float(np.average(value, weights=weight))


def coverage_error(
    Y_true: MatrixLike, Y_score: MatrixLike, *, sample_weight: WeightsLike = None
) -> float:
    """Mean number of best-scored labels needed to find all true ones; lower is better.

    Labels tied with a true one are needed too; a row without true labels needs 0.

    Examples
    --------
    >>> coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    Y, S, weight = _validated(Y_true, Y_score, sample_weight)
    return float(np.average(_coverage_of_rows(Y, S), weights=weight))


def label_ranking_loss(
    Y_true: MatrixLike, Y_score: MatrixLike, *, sample_weight: WeightsLike = None
) -> float:
    """Mean share of (true, false) label pairs tied or in the wrong order; lower is better.

    Rows where no label or every label is true have no such pair and lose 0.

    Examples
    --------
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    Y, S, weight = _validated(Y_true, Y_score, sample_weight)
    return float(np.average(_ranking_loss_of_rows(Y, S), weights=weight))


def precision_at_k(
    Y_true: MatrixLike, Y_score: MatrixLike, k: int = 5, *, sample_weight: WeightsLike = None
) -> float:
    """Mean share of true labels among the k best-scored, in [0, 1], greater is better.

    Every row counts, also one without true labels, and the share is always of k.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.8], [0.3, 0.2, 0.1]], k=2)
    0.75
    """
    Y, S, weight = _validated(Y_true, Y_score, sample_weight)
    return float(np.average(_precision_of_rows(Y, S, k), weights=weight))


def ndcg_at_k(
    Y_true: MatrixLike, Y_score: MatrixLike, k: int = 5, *, sample_weight: WeightsLike = None
) -> float:
    """Mean normalised discounted cumulative gain of the k best, in [0, 1], greater is better.

    A true label at place l gains 1 / log2(l + 1), and a row is divided by what the best ranking
    of its labels gains. A row without true labels counts as 0, as in napkinXC and scikit-learn.

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2), 3)
    0.613
    """
    Y, S, weight = _validated(Y_true, Y_score, sample_weight)
    return float(np.average(_ndcg_of_rows(Y, S, k), weights=weight))


def psp_at_k(
    Y_true: MatrixLike,
    Y_score: MatrixLike,
    propensities: npt.ArrayLike | None = None,
    k: int = 5,
    *,
    Y_train: MatrixLike | None = None,
    A: float = 0.55,
    B: float = 1.5,
    sample_weight: WeightsLike = None,
) -> float:
    """Propensity-scored precision of the k best, in [0, 1], greater is better.

    A hit on label l gains 1 / p_l; the sum over rows is divided by what the best rankings gain
    together, as in the Extreme Classification Repository. The propensities p, of shape
    (n_labels,), are either given or estimated from ``Y_train`` by :func:`propensities`.

    Examples
    --------
    >>> psp_at_k([[1, 1, 0]], [[0.9, 0.1, 0.0]], propensities=[0.5, 0.25, 0.5], k=1)
    0.5
    """
    Y, S, weight = _validated(Y_true, Y_score, sample_weight)
    labels, _ = top_k(S, k)
    gain = 1.0 / _given_or_estimated(propensities, Y_train, A, B, n_labels=Y.shape[1])
    # Gains are positive, so the best true labels of a row are the top k of its gains.
    _, best = top_k(sparse.csr_array((gain[Y.indices], Y.indices, Y.indptr), shape=Y.shape), k)
    best_total = weight @ best.sum(axis=1)
    if best_total == 0:
        raise ValueError("Y_true must have a true label in some row of positive weight; got none.")
    return float(weight @ (find_hits(Y, labels) * gain[labels]).sum(axis=1) / best_total)


def propensities(Y_train: MatrixLike, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """(n_labels,) chance that a true label is observed, by Jain, Prabhu and Varma (2016).

    With N rows, N_l of them with label l, it is 1 / (1 + C (N_l + B)^-A), where
    C = (log N - 1) (B + 1)^A. They use A=0.5, B=0.4 for Wikipedia, A=0.6, B=2.6 for Amazon.

    Examples
    --------
    >>> propensities([[1, 0], [1, 0], [1, 1], [0, 0]]).round(3)
    array([0.782, 0.721])
    """
    Y = _indicator(Y_train, "Y_train")
    n_samples, n_labels = Y.shape
    if n_samples < 3:
        # log N < 1 would give chances above 1.
        raise ValueError(f"Y_train must have at least 3 rows; got {n_samples}.")
    if not (A > 0 and B > 0):
        raise ValueError(f"A and B must be positive; got A={A} and B={B}.")
    C = (np.log(n_samples) - 1.0) * (B + 1.0) ** A
    n_rows_with = np.bincount(Y.indices, minlength=n_labels)
    chance: Array = 1.0 / (1.0 + C * (n_rows_with + B) ** -A)
    return chance


def top_k(Y_score: MatrixLike, k: int) -> tuple[Array, Array]:
    """(n_samples, k) labels and their scores, best first, equal scores by the lower label.

    Examples
    --------
    >>> labels, scores = top_k([[0.1, 0.7, 0.7]], k=2)
    >>> labels.tolist()
    [[1, 2]]
    """
    S = _scores(Y_score)
    if not isinstance(k, int | np.integer) or not 1 <= k <= S.shape[1]:
        raise ValueError(f"k must be an integer from 1 to n_labels={S.shape[1]}; got {k!r}.")
    blocks = [block_top_k(S_block, int(k)) for _, S_block in row_blocks(S, extra=k)]
    labels, scores = zip(*blocks, strict=True)
    return np.concatenate(labels), np.concatenate(scores)


def get_metric(name_or_callable: str | Metric) -> Metric:
    """The function (Y_true, Y_score) -> float of that name; a callable is returned as it is.

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


def row_values(
    name_or_callable: str | Metric, Y_true: MatrixLike, Y_score: MatrixLike
) -> Array | None:
    """(n_samples,) what each row adds to the mean that the metric is, NaN for rows it leaves out;
    None for a metric that is no mean over rows, or not one of ours.

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
    Y, S, _ = _validated(Y_true, Y_score, None)
    return of_rows(Y, S, **at_k)


def greater_is_better(name_or_callable: str | Metric) -> bool:
    """Whether to maximise the metric; a callable that is not one of ours is to be maximised.

    Examples
    --------
    >>> greater_is_better("lrap"), greater_is_better("coverage_error")
    (True, False)
    """
    metric = get_metric(name_or_callable)
    return getattr(metric, "func", metric) not in (coverage_error, label_ranking_loss)


def is_ranking(metric: Metric) -> bool:
    """Whether it is one of ours, which look at scores and not at decisions."""
    ours = {*_METRICS.values(), *_METRICS_AT_K.values(), psp_at_k}
    return getattr(metric, "func", metric) in ours


_METRICS: dict[str, Metric] = {
    "lrap": lrap,
    "coverage_error": coverage_error,
    "label_ranking_loss": label_ranking_loss,
}
_METRICS_AT_K: dict[str, Metric] = {"precision_at_": precision_at_k, "ndcg_at_": ndcg_at_k}


def _lrap_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, n_true_at_least = true_ranks(Y, S)
    n_true = np.diff(Y.indptr)
    share = row_sums(Y, n_true_at_least / n_at_least) / np.maximum(n_true, 1)
    return np.where(n_true > 0, share, np.nan)


def _coverage_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, _ = true_ranks(Y, S)
    depth = np.zeros(Y.shape[0], dtype=np.int64)
    np.maximum.at(depth, entry_rows(Y.indptr), n_at_least)
    return depth


def _ranking_loss_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, n_true_at_least = true_ranks(Y, S)
    n_true = np.diff(Y.indptr).astype(np.int64)
    n_pairs = n_true * (Y.shape[1] - n_true)
    loss: Array = row_sums(Y, n_at_least - n_true_at_least) / np.maximum(n_pairs, 1)
    return loss


def _precision_of_rows(Y: sparse.csr_array, S: Matrix, k: int = 5) -> Array:
    precision: Array = find_hits(Y, top_k(S, k)[0]).mean(axis=1)
    return precision


def _ndcg_of_rows(Y: sparse.csr_array, S: Matrix, k: int = 5) -> Array:
    labels, _ = top_k(S, k)
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    # A row without labels has no hit, so any divisor but 0 makes it count as 0.
    best_gain = np.concatenate([[1.0], np.cumsum(discount)])
    ndcg: Array = find_hits(Y, labels) @ discount / best_gain[np.minimum(np.diff(Y.indptr), k)]
    return ndcg


_OF_ROWS: dict[Metric, Callable[..., Array]] = {
    lrap: _lrap_of_rows,
    coverage_error: _coverage_of_rows,
    label_ranking_loss: _ranking_loss_of_rows,
    precision_at_k: _precision_of_rows,
    ndcg_at_k: _ndcg_of_rows,
}


def _validated(
    Y_true: MatrixLike, Y_score: MatrixLike, weight: WeightsLike
) -> tuple[sparse.csr_array, Matrix, Array]:
    """Truth as canonical CSR, scores as an array or canonical CSR, and one weight per row."""
    Y, S = _indicator(Y_true, "Y_true"), _scores(Y_score)
    if Y.shape != S.shape:
        raise ValueError(f"Y_score must have the shape of Y_true, {Y.shape}; got {S.shape}.")
    weight = np.ones(Y.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    if weight.shape != Y.shape[:1]:
        raise ValueError(f"sample_weight must have shape {Y.shape[:1]}; got {weight.shape}.")
    is_weight = np.isfinite(weight) & (weight >= 0)
    _check_all(is_weight, weight, "sample_weight must be finite and 0 or more")
    if not weight.any():
        raise ValueError("sample_weight must have a positive weight; got only zeros.")
    return Y, S, weight


def _indicator(Y_true: MatrixLike, name: str) -> sparse.csr_array:
    """Boolean CSR without duplicates or stored zeros."""
    Y = _matrix(Y_true, name)
    if isinstance(Y, np.ndarray):
        rows, labels = np.nonzero(Y)
        values = Y[rows, labels]
    else:
        entries = Y.tocoo()
        rows, labels, values = entries.row, entries.col, entries.data
    is_indicator = (values == 0) | (values == 1)
    _check_all(is_indicator, values, f"{name} must hold only 0 and 1", "Use Y > 0 to make it so.")
    # Booleans add up by "or", so that duplicates merge.
    truth = sparse.csr_array((values == 1, (rows, labels)), shape=Y.shape)
    truth.eliminate_zeros()
    return truth


def _scores(Y_score: MatrixLike) -> Matrix:
    """The array, or a CSR sorted and without duplicates or stored zeros."""
    S = _matrix(Y_score, "Y_score")
    if not isinstance(S, np.ndarray):
        S = sparse.csr_array(S, copy=True)
        S.sum_duplicates()
        S.eliminate_zeros()
    values = S if isinstance(S, np.ndarray) else S.data
    # The extremes show any NaN or infinity without an array of flags.
    extremes = np.array([values.min(initial=0), values.max(initial=0)])
    _check_all(np.isfinite(extremes), extremes, "Y_score must be finite", "Try np.nan_to_num.")
    return S


def _matrix(M: MatrixLike, name: str) -> Matrix:
    """Two axes of real numbers; what is not sparse becomes an array."""
    matrix: Matrix = M if sparse.issparse(M) else np.asarray(M)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{name} must be 2-d, (n_samples, n_labels), and not empty; got shape {matrix.shape}. "
            "Use reshape(1, -1) for a single row."
        )
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers; got {matrix.dtype}. Use astype(float).")
    return matrix


def _given_or_estimated(
    given: npt.ArrayLike | None, Y_train: MatrixLike | None, A: float, B: float, n_labels: int
) -> Array:
    if (given is None) == (Y_train is None):
        got = "neither" if given is None else "both"
        raise ValueError(f"psp_at_k needs either propensities or Y_train; got {got}.")
    chance = propensities(Y_train, A, B) if given is None else np.asarray(given, dtype=np.float64)
    if chance.shape != (n_labels,):
        name = "Y_train" if given is None else "propensities"
        raise ValueError(f"{name} must be for {n_labels} labels; got shape {chance.shape}.")
    rule = "propensities must be above 0 and at most 1"
    _check_all((chance > 0) & (chance <= 1), chance, rule, "Invert inverse propensities.")
    return chance


def _check_all(ok: Array, values: Array, rule: str, way_out: str = "") -> None:
    if not ok.all():
        raise ValueError(f"{rule}; got {values[~ok][0]}. {way_out}".rstrip())
