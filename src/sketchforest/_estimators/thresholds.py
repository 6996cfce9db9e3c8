"""From probabilities to decisions: thresholds that make F1 largest, and the k best."""

import re
from itertools import pairwise

import numpy as np
from scipy import sparse

PER_LABEL, GLOBAL = "oob-f1", "oob-f1-global"
DEFAULT = 0.5


def is_threshold(value: object) -> bool:
    """Whether it is a value of the parameter `threshold`."""
    if isinstance(value, str):
        return value in (PER_LABEL, GLOBAL) or n_best(value) is not None
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(0 <= value <= 1)


def n_best(threshold: object) -> int | None:
    """The k of "top-k"; None for other thresholds."""
    found = re.fullmatch(r"top-([1-9][0-9]*)", threshold) if isinstance(threshold, str) else None
    return int(found[1]) if found else None


def is_out_of_bag(threshold: object) -> bool:
    return threshold in (PER_LABEL, GLOBAL) if isinstance(threshold, str) else False


def decision_rule(
    threshold: object, chosen: np.ndarray | np.float32 | None, n_labels: int
) -> tuple[int | None, np.ndarray | np.float32 | None]:
    """How many labels a row has at most, and the probability that each must exceed; `chosen` are
    the thresholds that were found out-of-bag."""
    if is_out_of_bag(threshold):
        return None, chosen
    k = n_best(threshold)
    return (None, np.float32(threshold)) if k is None else (min(k, n_labels), None)  # type: ignore[arg-type]


def best_thresholds(
    truth: sparse.csr_array, scores: sparse.csr_array, threshold: str
) -> np.ndarray | np.float32:
    """(n_labels,) float32 thresholds, or one: F1 is largest where a label is predicted that scores
    above it. Of equally good ones the highest; 0.5 where F1 is 0 whatever the threshold.

    Truth is an indicator and scores lie in [0, 1], both (n_rows, n_labels) CSR.
    """
    scores, truth = sparse.csc_array(scores), sparse.csc_array(truth)
    places = list(
        zip(pairwise(scores.indptr.tolist()), pairwise(truth.indptr.tolist()), strict=True)
    )
    is_true = np.zeros(scores.nnz, bool)
    has_label = np.zeros(truth.shape[0], bool)
    for (first, end), (first_true, end_true) in places:
        rows = truth.indices[first_true:end_true]
        has_label[rows] = True
        is_true[first:end] = has_label[scores.indices[first:end]]
        has_label[rows] = False
    if threshold == GLOBAL:
        return _best_cut(scores.data, is_true, truth.nnz)
    cuts = [
        _best_cut(scores.data[first:end], is_true[first:end], end_true - first_true)
        for (first, end), (first_true, end_true) in places
    ]
    return np.array(cuts, np.float32)


def _best_cut(score: np.ndarray, is_true: np.ndarray, n_true: int) -> np.float32:
    """From the entries that have a score, and the number of all that are true."""
    order = np.argsort(-score, kind="stable")  # best first: each beginning is a prediction
    score, n_hits = score[order], np.cumsum(is_true[order])
    below = np.append(score[1:], np.float32(0))
    # No threshold parts equal scores, and a label of score 0 is never predicted.
    last = np.flatnonzero(score > below)
    f1 = 2 * n_hits[last] / (last + 1 + n_true)
    if not f1.any():
        return np.float32(DEFAULT)
    best = last[np.argmax(f1)]
    # Midway, unless that is rounded up to the score itself.
    middle = np.float32((float(below[best]) + float(score[best])) / 2)
    return middle if middle < score[best] else np.float32(below[best])
