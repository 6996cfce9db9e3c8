"""From probabilities to decisions: thresholds that make F1 largest, and the k best."""

import re
from typing import Any

import numpy as np
from scipy import sparse

PER_LABEL, GLOBAL = "oob-f1", "oob-f1-global"
DEFAULT = 0.5


def is_threshold(value: Any) -> bool:
    """Whether it is a value of the parameter `threshold`."""
    if isinstance(value, str):
        return value in (PER_LABEL, GLOBAL) or n_best(value) is not None
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and bool(0 <= value <= 1)


def n_best(threshold: Any) -> int | None:
    """The k of "top-k"; None for other thresholds."""
    found = re.fullmatch(r"top-([1-9][0-9]*)", threshold) if isinstance(threshold, str) else None
    return int(found[1]) if found else None


def is_out_of_bag(threshold: Any) -> bool:
    return threshold in (PER_LABEL, GLOBAL) if isinstance(threshold, str) else False


def best_thresholds(truth: Any, scores: Any, threshold: str) -> np.ndarray:
    """(n_labels,) float32 thresholds, or () for one: F1 is largest where a label is predicted that
    scores above it. Of equally good ones the highest; 0.5 where F1 is 0 whatever the threshold.

    Truth is an indicator and scores lie in [0, 1], both (n_rows, n_labels) CSR.
    """
    # Score and truth of an entry side by side, as the two parts of a complex number.
    both = scores.astype(np.complex128) + 1j * truth.astype(np.float64)
    entries = sparse.coo_array(both)
    n_labels = truth.shape[1] if threshold == PER_LABEL else 1
    label = entries.col if threshold == PER_LABEL else np.zeros(entries.nnz, np.int32)
    found = _best_cuts(label, entries.data.real, entries.data.imag > 0, n_labels)
    return found if threshold == PER_LABEL else found[0]


def _best_cuts(
    label: np.ndarray, score: np.ndarray, is_true: np.ndarray, n_labels: int
) -> np.ndarray:
    """(n_labels,) thresholds, from the entries that have a score or are true."""
    cuts = np.full(n_labels, DEFAULT, np.float32)
    n_true = np.bincount(label[is_true], minlength=n_labels)
    order = np.lexsort((-score, label))  # by label, best first: each prefix is a prediction
    label, score, is_true = label[order], score[order], is_true[order]
    first = np.searchsorted(label, np.arange(n_labels))[label]  # entry of the label
    hits_before = np.append(0, np.cumsum(is_true))
    n_hits = hits_before[1:] - hits_before[first]
    n_predicted = np.arange(len(label)) - first + 1
    f1 = 2 * n_hits / (n_predicted + n_true[label])
    # What comes below the entry: the next score of the label, or zero.
    has_next = np.append(label[1:] == label[:-1], False)
    below = np.where(has_next, np.append(score[1:], 0), 0)
    # No threshold parts equal scores, and a label of score 0 is never predicted.
    f1[(score == below) | (score == 0)] = 0
    best = np.zeros(n_labels)
    np.maximum.at(best, label, f1)
    is_best = (f1 == best[label]) & (f1 > 0)
    chosen = np.flatnonzero(is_best)[::-1]  # the first of a label is written last
    cuts[label[chosen]] = _between(below[chosen], score[chosen])
    return cuts


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Numbers from low on and below high, in float32 as both are: midway if there is one."""
    middle = ((low + high) / 2).astype(np.float32)
    return np.where(middle < high, middle, low.astype(np.float32))
