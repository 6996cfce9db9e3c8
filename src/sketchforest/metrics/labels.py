"""Average precision and calibration per label."""

from itertools import pairwise

import numpy as np
from scipy import sparse

N_BINS = 10


def column_counts(matrix: sparse.sparray) -> np.ndarray:
    """(n_columns,) number of non-zeros."""
    found = sparse.csr_array(matrix, copy=True)
    found.eliminate_zeros()
    return np.bincount(found.indices, minlength=found.shape[1])


def f1_scores(n_true: np.ndarray, n_predicted: np.ndarray, n_hits: np.ndarray) -> dict[str, float]:
    """F1 of all decisions, and the mean F1 of the labels that occur or are predicted."""
    total = n_true + n_predicted
    is_there = total > 0
    if not is_there.any():
        return {"micro_f1": 0.0, "macro_f1": 0.0}
    of_labels = 2 * n_hits[is_there] / total[is_there]
    return {
        "micro_f1": float(2 * n_hits.sum() / total.sum()),
        "macro_f1": float(of_labels.mean()),
    }


def average_precisions(truth: sparse.csr_array, scores: sparse.csr_array) -> np.ndarray:
    """(n_labels,) average precision of each label, as in scikit-learn; NaN if no row has the label.

    Scores that are not stored are zero and rank below all others.
    """
    scores, truth = sparse.csc_array(scores), sparse.csc_array(truth.astype(bool))
    n_rows, n_labels = truth.shape
    found = np.full(n_labels, np.nan)
    has_label = np.zeros(n_rows, bool)
    spans = zip(pairwise(truth.indptr), pairwise(scores.indptr), strict=True)
    for label, ((first_true, end_true), (first, end)) in enumerate(spans):
        rows = truth.indices[first_true:end_true]
        if not len(rows):
            continue
        has_label[rows] = True
        is_true = has_label[scores.indices[first:end]]
        has_label[rows] = False
        found[label] = _average_precision(scores.data[first:end], is_true, len(rows), n_rows)
    return found


def _average_precision(score: np.ndarray, is_true: np.ndarray, n_true: int, n_rows: int) -> float:
    is_above = score > 0
    score, is_true = score[is_above], is_true[is_above]
    order = np.argsort(-score, kind="stable")
    score, n_hits = score[order], np.cumsum(is_true[order])
    last = np.flatnonzero(score > np.append(score[1:], 0))  # end of each group of tied scores
    hits, sizes = np.append(n_hits[last], n_true), np.append(last + 1, n_rows)
    return float((np.diff(hits, prepend=0) * hits / sizes).sum() / n_true)


def calibration_errors(truth: sparse.csr_array, scores: sparse.csr_array) -> np.ndarray:
    """(n_labels,) expected calibration error: the mean gap, over ten bins of scores, between the
    mean score and the share of rows that have the label."""
    n_rows, n_labels = truth.shape
    place = scores.indices * N_BINS + _bins(scores.data)
    sums = np.bincount(place, scores.data, n_labels * N_BINS).reshape(n_labels, N_BINS)
    hits = _hits_by_bin(truth, scores)
    return np.abs(sums - hits).sum(axis=1) / max(1, n_rows)


def calibration(
    truth: sparse.csr_array, scores: sparse.csr_array
) -> list[tuple[float, float, int]]:
    """(mean score, share that is true, size) of each non-empty bin of (row, label) pairs.

    Pairs without a stored score are in no bin.
    """
    sizes = np.bincount(_bins(scores.data), minlength=N_BINS)
    sums = np.bincount(_bins(scores.data), scores.data, N_BINS)
    missed = truth.sum() - truth.multiply(scores > 0).sum()
    hits = _hits_by_bin(truth, scores).sum(axis=0)
    hits[0] -= missed  # labels without a stored score
    filled = np.flatnonzero(sizes)
    return [(float(sums[b] / sizes[b]), float(hits[b] / sizes[b]), int(sizes[b])) for b in filled]


def _hits_by_bin(truth: sparse.csr_array, scores: sparse.csr_array) -> np.ndarray:
    """(n_labels, N_BINS): rows that have the label; rows without a score are in the first bin."""
    n_labels = truth.shape[1]
    hits = sparse.csr_array(scores.multiply(truth.astype(bool)))
    by_bin = np.bincount(hits.indices * N_BINS + _bins(hits.data), minlength=n_labels * N_BINS)
    by_bin = by_bin.reshape(n_labels, N_BINS)
    n_true = np.bincount(sparse.csr_array(truth).indices, minlength=n_labels)
    by_bin[:, 0] += n_true - by_bin.sum(axis=1)
    return by_bin


def _bins(score: np.ndarray) -> np.ndarray:
    return np.minimum((score * N_BINS).astype(np.int64), N_BINS - 1)
