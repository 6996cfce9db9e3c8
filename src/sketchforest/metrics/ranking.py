"""Ranking metrics."""

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics._ranks import (
    Array,
    block_top_k,
    entry_rows,
    find_hits,
    row_blocks,
    row_sums,
    true_ranks,
)
from sketchforest.metrics._shared_docs import described
from sketchforest.metrics._validation import check_all, checked_scores, indicator, validated
from sketchforest.metrics.meanings import ranking_metric


def _lrap_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, n_true_at_least = true_ranks(Y, S)
    n_true = np.diff(Y.indptr)
    share = row_sums(Y, n_true_at_least / n_at_least) / np.maximum(n_true, 1)
    return np.where(n_true > 0, share, np.nan)


@ranking_metric("LRAP", "how high true labels rank", of_rows=_lrap_of_rows)
def lrap(
    Y_true: MatrixLike,
    Y_score: MatrixLike,
    *,
    sample_weight: WeightsLike = None,
    no_label_rows: Literal["drop", "one"] = "drop",
) -> float:
    """Label ranking average precision, in (0, 1]; higher is better.

    For each true label, the share of true labels among those that score at least as high, averaged
    over the true labels of a row and then over rows. Rows without true labels are dropped, as in
    Joly, Geurts and Wehenkel (2014), or count as 1, as in scikit-learn.

    Parameters
    ----------
    no_label_rows : "drop" or "one", default="drop"
        Drop rows without true labels, or count them as 1.

    Examples
    --------
    >>> lrap([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [0.1, 0.2, 1]])
    0.75
    """
    if no_label_rows not in ("drop", "one"):
        raise ValueError(f"no_label_rows must be 'drop' or 'one'; got {no_label_rows!r}.")
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    value = _lrap_of_rows(Y, S)
    has_no_label = np.diff(Y.indptr) == 0
    if no_label_rows == "one":
        value[has_no_label] = 1.0
    else:
        value[has_no_label] = 0.0
        weight = np.where(has_no_label, 0.0, weight)
        if not weight.any():
            raise ValueError(
                "Y_true must have a true label in a row of positive weight; got none. "
                "Use no_label_rows='one' to count rows without labels as 1."
            )
    return float(np.average(value, weights=weight))


def _coverage_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, _ = true_ranks(Y, S)
    depth = np.zeros(Y.shape[0], dtype=np.int64)
    np.maximum.at(depth, entry_rows(Y.indptr), n_at_least)
    return depth


@ranking_metric("coverage error", "rank that covers all true labels", "lower", _coverage_of_rows)
def coverage_error(
    Y_true: MatrixLike, Y_score: MatrixLike, *, sample_weight: WeightsLike = None
) -> float:
    """Mean number of top-scored labels that cover all true ones; lower is better.

    Labels tied with a true one count too. A row without true labels counts as 0.

    Examples
    --------
    >>> coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(_coverage_of_rows(Y, S), weights=weight))


def _ranking_loss_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, n_true_at_least = true_ranks(Y, S)
    n_true = np.diff(Y.indptr).astype(np.int64)
    n_pairs = n_true * (Y.shape[1] - n_true)
    loss: Array = row_sums(Y, n_at_least - n_true_at_least) / np.maximum(n_pairs, 1)
    return loss


@ranking_metric(
    "ranking loss", "share of label pairs in wrong order", "lower", _ranking_loss_of_rows
)
def label_ranking_loss(
    Y_true: MatrixLike, Y_score: MatrixLike, *, sample_weight: WeightsLike = None
) -> float:
    """Mean share of (true, false) label pairs that are tied or in the wrong order; lower is better.

    Rows where no label or every label is true have no such pairs and count as 0.

    Examples
    --------
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(_ranking_loss_of_rows(Y, S), weights=weight))


def _precision_of_rows(Y: sparse.csr_array, S: Matrix, k: int = 5) -> Array:
    precision: Array = find_hits(Y, top_k(S, k)[0]).mean(axis=1)
    return precision


@ranking_metric("P@{k}", "share of true labels in the top {k}", of_rows=_precision_of_rows)
def precision_at_k(
    Y_true: MatrixLike, Y_score: MatrixLike, k: int = 5, *, sample_weight: WeightsLike = None
) -> float:
    """Mean share of true labels among the k top-scored ones, in [0, 1]; higher is better.

    The denominator is always k, and a row without true labels counts as 0.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.8], [0.3, 0.2, 0.1]], k=2)
    0.75
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(_precision_of_rows(Y, S, k), weights=weight))


def _ndcg_of_rows(Y: sparse.csr_array, S: Matrix, k: int = 5) -> Array:
    labels, _ = top_k(S, k)
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    # A row without labels has no hit, so any divisor but 0 makes it count as 0.
    best_gain = np.concatenate([[1.0], np.cumsum(discount)])
    ndcg: Array = find_hits(Y, labels) @ discount / best_gain[np.minimum(np.diff(Y.indptr), k)]
    return ndcg


@ranking_metric("nDCG@{k}", "like P@{k}, top ranks count more", of_rows=_ndcg_of_rows)
def ndcg_at_k(
    Y_true: MatrixLike, Y_score: MatrixLike, k: int = 5, *, sample_weight: WeightsLike = None
) -> float:
    """Mean normalized discounted cumulative gain of the top k, in [0, 1]; higher is better.

    A true label at rank r gains 1 / log2(r + 1), and the gain of a row is divided by that of its
    best ranking. A row without true labels counts as 0, as in napkinXC and scikit-learn.

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2), 3)
    0.613
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(_ndcg_of_rows(Y, S, k), weights=weight))


@ranking_metric("PSP@{k}", "like P@{k}, rare labels count more", has_name=False)
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
    """Propensity-scored precision of the top k, in [0, 1]; higher is better.

    A hit on label l gains 1 / p_l. The total gain is divided by that of the best rankings, as in
    the Extreme Classification Repository. Pass either the propensities p or ``Y_train``, from which
    :func:`propensities` estimates them. Rows without true labels add nothing to either total.

    Parameters
    ----------
    propensities : (n_labels,) array or None, default=None
        Probability that a true label is observed. None estimates it from `Y_train`.

    Examples
    --------
    >>> psp_at_k([[1, 1, 0]], [[0.9, 0.1, 0.0]], propensities=[0.5, 0.25, 0.5], k=1)
    0.5
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    labels, _ = top_k(S, k)
    gain = 1.0 / _given_or_estimated(propensities, Y_train, A, B, n_labels=Y.shape[1])
    # Gains are positive, so the best true labels of a row are the top k of its gains.
    _, best = top_k(sparse.csr_array((gain[Y.indices], Y.indices, Y.indptr), shape=Y.shape), k)
    best_total = weight @ best.sum(axis=1)
    if best_total == 0:
        raise ValueError("Y_true must have a true label in a row of positive weight; got none.")
    return float(weight @ (find_hits(Y, labels) * gain[labels]).sum(axis=1) / best_total)


@described
def propensities(Y_train: MatrixLike, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """Probability that a true label is observed, after Jain, Prabhu and Varma (2016).

    With N samples, N_l of them with label l, it is 1 / (1 + C (N_l + B)^-A), where
    C = (log N - 1) (B + 1)^A. They use A=0.5, B=0.4 for Wikipedia and A=0.6, B=2.6 for Amazon.

    Returns
    -------
    (n_labels,) float64 array

    Examples
    --------
    >>> propensities([[1, 0], [1, 0], [1, 1], [0, 0]]).round(3)
    array([0.782, 0.721])
    """
    Y = indicator(Y_train, "Y_train")
    n_samples, n_labels = Y.shape
    if n_samples < 3:
        # log N < 1 would give probabilities above 1.
        raise ValueError(f"Y_train must have at least 3 rows; got {n_samples}.")
    if not (A > 0 and B > 0):
        raise ValueError(f"A and B must be positive; got A={A} and B={B}.")
    C = (np.log(n_samples) - 1.0) * (B + 1.0) ** A
    n_rows_with = np.bincount(Y.indices, minlength=n_labels)
    propensity: Array = 1.0 / (1.0 + C * (n_rows_with + B) ** -A)
    return propensity


@described
def top_k(Y_score: MatrixLike, k: int) -> tuple[Array, Array]:
    """The k top-scored labels of each row and their scores, best first.

    Ties go to the lower label number.

    Returns
    -------
    labels, scores : (n_samples, k) arrays

    Examples
    --------
    >>> labels, scores = top_k([[0.1, 0.7, 0.7]], k=2)
    >>> labels.tolist()
    [[1, 2]]
    """
    S = checked_scores(Y_score)
    if not isinstance(k, int | np.integer) or not 1 <= k <= S.shape[1]:
        raise ValueError(f"k must be an integer from 1 to n_labels={S.shape[1]}; got {k!r}.")
    blocks = [block_top_k(S_block, int(k)) for _, S_block in row_blocks(S, extra=k)]
    labels, scores = zip(*blocks, strict=True)
    return np.concatenate(labels), np.concatenate(scores)


def _given_or_estimated(
    given: npt.ArrayLike | None, Y_train: MatrixLike | None, A: float, B: float, n_labels: int
) -> Array:
    if (given is None) == (Y_train is None):
        got = "neither" if given is None else "both"
        raise ValueError(f"psp_at_k needs either propensities or Y_train; got {got}.")
    name, p = "propensities", np.asarray(given, dtype=np.float64)
    if Y_train is not None:
        name, p = "Y_train", propensities(Y_train, A, B)
    if p.shape != (n_labels,):
        raise ValueError(f"{name} must cover {n_labels} labels; got shape {p.shape}.")
    rule, fix = "propensities must be above 0 and at most 1", "Pass 1/p if these are inverses."
    check_all((p > 0) & (p <= 1), p, rule, fix)
    return p
