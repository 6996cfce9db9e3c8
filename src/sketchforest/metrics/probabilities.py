"""Metrics of predicted probabilities."""

import numpy as np
from scipy import sparse

from sketchforest._utils.typing import Matrix, MatrixLike, WeightsLike
from sketchforest.metrics._ranks import Array, entry_rows, row_blocks, row_sums
from sketchforest.metrics._validation import check_all, validated
from sketchforest.metrics.meanings import ranking_metric

# A forest of a hundred trees cannot tell smaller probabilities apart.
EPS = 1e-3


def _log_loss_of_rows(Y: sparse.csr_array, S: Matrix, eps: float = EPS) -> Array:
    values = S if isinstance(S, np.ndarray) else S.data
    check_all(
        (values >= 0) & (values <= 1),
        values,
        "Y_score must hold probabilities for log_loss",
        "Use scores from 0 to 1, such as those of predict_proba.",
    )
    blocks = [_block_losses(Y[rows], block, eps) for rows, block in row_blocks(S, extra=0)]
    means: Array = np.concatenate(blocks) / Y.shape[1]
    return means


def _block_losses(Y: sparse.csr_array, S: Matrix, eps: float) -> Array:
    """Sums over the labels of each row, as if none were true, then corrected for those that are."""
    if isinstance(S, np.ndarray):
        losses = _loss_of_false(S, eps).sum(axis=1)
        of_true = S[entry_rows(Y.indptr), Y.indices]
    else:
        n_absent = S.shape[1] - np.diff(S.indptr)
        losses = row_sums(S, _loss_of_false(S.data, eps)) - np.log1p(-eps) * n_absent
        of_true = _at_entries(S, Y)
    corrections = -np.log(np.clip(of_true, eps, 1 - eps)) - _loss_of_false(of_true, eps)
    return losses + row_sums(Y, corrections)


def _loss_of_false(score: Array, eps: float) -> Array:
    loss: Array = -np.log1p(-np.clip(score, eps, 1 - eps))
    return loss


def _at_entries(S: sparse.csr_array, Y: sparse.csr_array) -> Array:
    """The scores of the true labels; 0 where none is stored."""
    wanted, stored = (entry_rows(M.indptr) * M.shape[1] + M.indices for M in (Y, S))
    places = np.searchsorted(stored, wanted)
    is_stored = np.append(stored, -1)[places] == wanted
    return np.where(is_stored, np.append(S.data, 0.0)[places], 0.0)


@ranking_metric("log loss", "how surprising the labels are", "lower", _log_loss_of_rows)
def log_loss(
    Y_true: MatrixLike,
    Y_score: MatrixLike,
    *,
    eps: float = EPS,
    sample_weight: WeightsLike = None,
) -> float:
    """Mean binary cross-entropy of the labels; lower is better.

    Each label of each row costs -log p if it is true and -log(1 - p) if not, where p is its
    probability. The mean is over all rows and all labels.

    Parameters
    ----------
    Y_score : (n_samples, n_labels) array or scipy sparse matrix
        Probabilities. Entries not stored are 0.
    eps : float, default=0.001
        Probabilities are clipped to [eps, 1 - eps], since a true label of probability 0 would have
        infinite loss. Losses with different values of `eps` cannot be compared.

    Examples
    --------
    >>> round(log_loss([[1, 0], [0, 1]], [[0.9, 0.2], [0.0, 0.5]]), 4)
    0.2557
    """
    if not 0 < eps < 0.5:
        raise ValueError(f"eps must be between 0 and 0.5; got {eps!r}.")
    Y, S, weight = validated(Y_true, Y_score, sample_weight)
    return float(np.average(_log_loss_of_rows(Y, S, eps), weights=weight))
