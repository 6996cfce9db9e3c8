"""The metrics of rankings."""

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


@described
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

    Parameters
    ----------
    Y_true, Y_score, sample_weight
    no_label_rows : "drop" or "one", default="drop"
        What rows without a true label count: nothing, or 1.

    Returns
    -------
    float

    Examples
    --------
    >>> lrap([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [0.1, 0.2, 1]])
    0.75
    """
    if no_label_rows not in ("drop", "one"):
        raise ValueError(f"no_label_rows must be 'drop' or 'one'; got {no_label_rows!r}.")
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    value = lrap_of_rows(Y, S)
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


@described
def coverage_error(
    Y_true: MatrixLike, Y_score: MatrixLike, *, sample_weight: WeightsLike = None
) -> float:
    """Mean number of best-scored labels needed to find all true ones; lower is better.

    Labels tied with a true one are needed too; a row without true labels needs 0.

    Parameters
    ----------
    Y_true, Y_score, sample_weight

    Returns
    -------
    float

    Examples
    --------
    >>> coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(coverage_of_rows(Y, S), weights=weight))


@described
def label_ranking_loss(
    Y_true: MatrixLike, Y_score: MatrixLike, *, sample_weight: WeightsLike = None
) -> float:
    """Mean share of (true, false) label pairs tied or in the wrong order; lower is better.

    Rows where no label or every label is true have no such pair and lose 0.

    Parameters
    ----------
    Y_true, Y_score, sample_weight

    Returns
    -------
    float

    Examples
    --------
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(ranking_loss_of_rows(Y, S), weights=weight))


@described
def precision_at_k(
    Y_true: MatrixLike, Y_score: MatrixLike, k: int = 5, *, sample_weight: WeightsLike = None
) -> float:
    """Mean share of true labels among the k best-scored, in [0, 1], greater is better.

    Every row counts, one without true labels as 0, and the share is always of k.

    Parameters
    ----------
    Y_true, Y_score, k, sample_weight

    Returns
    -------
    float

    Examples
    --------
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.8], [0.3, 0.2, 0.1]], k=2)
    0.75
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(precision_of_rows(Y, S, k), weights=weight))


@described
def ndcg_at_k(
    Y_true: MatrixLike, Y_score: MatrixLike, k: int = 5, *, sample_weight: WeightsLike = None
) -> float:
    """Mean normalised discounted cumulative gain of the k best, in [0, 1], greater is better.

    A true label at place l gains 1 / log2(l + 1), and a row is divided by what the best ranking
    of its labels gains. A row without true labels counts as 0, as in napkinXC and scikit-learn.

    Parameters
    ----------
    Y_true, Y_score, k, sample_weight

    Returns
    -------
    float

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2), 3)
    0.613
    """
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(ndcg_of_rows(Y, S, k), weights=weight))


@described
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
    (n_labels,), are either given or estimated from ``Y_train`` by :func:`propensities`. A row
    without true labels adds nothing to either sum.

    Parameters
    ----------
    Y_true, Y_score
    propensities : (n_labels,) array or None, default=None
        Chances that true labels are observed; else estimated from `Y_train`.
    k, Y_train, A, B, sample_weight

    Returns
    -------
    float

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
        raise ValueError("Y_true must have a true label in some row of positive weight; got none.")
    return float(weight @ (find_hits(Y, labels) * gain[labels]).sum(axis=1) / best_total)


@described
def propensities(Y_train: MatrixLike, A: float = 0.55, B: float = 1.5) -> np.ndarray:
    """(n_labels,) chance that a true label is observed, by Jain, Prabhu and Varma (2016).

    With N rows, N_l of them with label l, it is 1 / (1 + C (N_l + B)^-A), where
    C = (log N - 1) (B + 1)^A. They use A=0.5, B=0.4 for Wikipedia, A=0.6, B=2.6 for Amazon.

    Parameters
    ----------
    Y_train, A, B

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
        # log N < 1 would give chances above 1.
        raise ValueError(f"Y_train must have at least 3 rows; got {n_samples}.")
    if not (A > 0 and B > 0):
        raise ValueError(f"A and B must be positive; got A={A} and B={B}.")
    C = (np.log(n_samples) - 1.0) * (B + 1.0) ** A
    n_rows_with = np.bincount(Y.indices, minlength=n_labels)
    chance: Array = 1.0 / (1.0 + C * (n_rows_with + B) ** -A)
    return chance


@described
def top_k(Y_score: MatrixLike, k: int) -> tuple[Array, Array]:
    """(n_samples, k) labels and their scores, best first, equal scores by the lower label.

    Parameters
    ----------
    Y_score, k

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


def lrap_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, n_true_at_least = true_ranks(Y, S)
    n_true = np.diff(Y.indptr)
    share = row_sums(Y, n_true_at_least / n_at_least) / np.maximum(n_true, 1)
    return np.where(n_true > 0, share, np.nan)


def coverage_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, _ = true_ranks(Y, S)
    depth = np.zeros(Y.shape[0], dtype=np.int64)
    np.maximum.at(depth, entry_rows(Y.indptr), n_at_least)
    return depth


def ranking_loss_of_rows(Y: sparse.csr_array, S: Matrix) -> Array:
    n_at_least, n_true_at_least = true_ranks(Y, S)
    n_true = np.diff(Y.indptr).astype(np.int64)
    n_pairs = n_true * (Y.shape[1] - n_true)
    loss: Array = row_sums(Y, n_at_least - n_true_at_least) / np.maximum(n_pairs, 1)
    return loss


def precision_of_rows(Y: sparse.csr_array, S: Matrix, k: int = 5) -> Array:
    precision: Array = find_hits(Y, top_k(S, k)[0]).mean(axis=1)
    return precision


def ndcg_of_rows(Y: sparse.csr_array, S: Matrix, k: int = 5) -> Array:
    labels, _ = top_k(S, k)
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    # A row without labels has no hit, so any divisor but 0 makes it count as 0.
    best_gain = np.concatenate([[1.0], np.cumsum(discount)])
    ndcg: Array = find_hits(Y, labels) @ discount / best_gain[np.minimum(np.diff(Y.indptr), k)]
    return ndcg


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
    check_all((chance > 0) & (chance <= 1), chance, rule, "Invert inverse propensities.")
    return chance
