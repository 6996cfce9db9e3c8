"""From probabilities to decisions: thresholds that make F1 largest, and the k best."""

import re
from typing import NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._trees.predict import first_largest
from sketchforest._trees.targets import F1Thresholds

# Chosen by rows that trees did not see: one for all labels, or one for each.
GLOBAL, PER_LABEL = "f1", "f1-per-label"
_FORMER_NAMES = {"oob-f1-global": GLOBAL, "oob-f1": PER_LABEL}
DEFAULT = 0.5
# Fewer rows than this tell no threshold of a label of its own: with one or two, most decisions for
# rare labels are wrong, and F1 of labels is hardly better for it.
LEAST_TRUE = 3


class Decision(NamedTuple):
    """The k best labels, or those above a threshold: one for all labels, or one for each."""

    k: int | None = None
    above: np.ndarray | np.float32 | None = None
    at_least_one: bool = False  # the most probable label, where none is above


def is_threshold(value: object) -> bool:
    """Whether it is a value of the parameter `threshold`; the length of an array is checked with
    the labels."""
    if isinstance(value, str):
        return f1_kind(value) is not None or n_best(value) is not None
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, int | float | np.integer | np.floating):
        return bool(0 <= value <= 1)
    if not isinstance(value, list | tuple | np.ndarray):
        return False
    try:
        numbers = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == 1 and bool(((numbers >= 0) & (numbers <= 1)).all())


def n_best(threshold: object) -> int | None:
    """The k of "top-k"; None for other thresholds."""
    found = re.fullmatch(r"top-([1-9][0-9]*)", threshold) if isinstance(threshold, str) else None
    return int(found[1]) if found else None


def f1_kind(threshold: object) -> str | None:
    """GLOBAL or PER_LABEL, where the threshold is chosen by F1; None for other thresholds."""
    if not isinstance(threshold, str):
        return None
    name = _FORMER_NAMES.get(threshold, threshold)
    return name if name in (GLOBAL, PER_LABEL) else None


def decide(threshold: object, chosen: F1Thresholds | None, n_labels: int) -> Decision:
    """When labels are predicted; `chosen` are the thresholds that were found out-of-bag."""
    kind = f1_kind(threshold)
    if kind is None:
        return given_decision(threshold, n_labels)
    assert chosen is not None
    above = chosen.for_all if kind == GLOBAL else chosen.for_each
    return Decision(above=above, at_least_one=chosen.at_least_one)


def given_decision(threshold: object, n_labels: int) -> Decision:
    """What is decided by a threshold that needs no choice."""
    k = n_best(threshold)
    if k is not None:
        return Decision(k=min(k, n_labels))
    above = np.asarray(threshold, np.float32)
    if above.ndim and len(above) != n_labels:
        raise ValueError(
            f"threshold must have one number for each of the {n_labels} labels; got {len(above)}."
        )
    return Decision(above=above if above.ndim else np.float32(above))


def best_thresholds(truth: sparse.csr_array, scores: sparse.csr_array) -> F1Thresholds:
    """F1 is largest where a label is predicted that scores above its threshold. Of equally good
    thresholds the highest; for a label of few rows, or whose F1 is 0 whatever the threshold, that
    for all labels; and for these then 0.5.

    A row has at least one label, its most probable, unless rows that would have none mostly have
    none in truth.

    Truth is an indicator and scores lie in [0, 1], both (n_rows, n_labels) CSR, the scores sorted
    by column and without zeros.
    """
    is_true = _are_true(truth, scores)
    best = first_largest(scores)
    if (np.diff(truth.indptr) == 0).any():
        free = _best_cuts(truth, scores, is_true, best[:0])
        is_below = scores.data[best] <= free.for_all
        n_right = np.count_nonzero(is_true[best[is_below]])
        has_label = np.diff(sparse.csr_array(scores > free.for_all).indptr) > 0
        n_none = np.count_nonzero(~has_label & (np.diff(truth.indptr) == 0))
        if n_none > n_right:
            return free._replace(at_least_one=False)
    return _best_cuts(truth, scores, is_true, best)


def with_labels(chosen: F1Thresholds, n_labels: int) -> F1Thresholds:
    """The same for other labels of the same rows: one for each where there are as many."""
    if len(chosen.for_each) == n_labels:
        return chosen
    return chosen._replace(for_each=np.full(n_labels, chosen.for_all))


def _best_cuts(
    truth: sparse.csr_array, scores: sparse.csr_array, is_true: np.ndarray, fixed: np.ndarray
) -> F1Thresholds:
    """Entries of scores that are `fixed` are predicted anyway."""
    n_labels = truth.shape[1]
    is_fixed = np.zeros(scores.nnz, bool)
    is_fixed[fixed] = True
    order = np.argsort(scores.indices, kind="stable")
    columns = _Entries(scores.data[order], is_true[order], is_fixed[order])
    n_true = np.bincount(truth.indices, minlength=n_labels)
    for_all = columns.best_cut(int(n_true.sum()), np.float32(DEFAULT))
    ends = np.cumsum(np.bincount(scores.indices, minlength=n_labels))
    for_each = [
        columns.part(first, end).best_cut(n, for_all) if n >= LEAST_TRUE else for_all
        for first, end, n in zip(np.append(0, ends[:-1]), ends, n_true.tolist(), strict=True)
    ]
    return F1Thresholds(for_all, np.array(for_each, np.float32))


def _are_true(truth: sparse.csr_array, scores: sparse.csr_array) -> np.ndarray:
    """(scores.nnz,) whether the entry is one of the truth."""
    numbers = np.arange(1.0, scores.nnz + 1)
    numbered = sparse.csr_array((numbers, scores.indices, scores.indptr), shape=scores.shape)
    found = np.zeros(scores.nnz, bool)
    found[sparse.csr_array(numbered.multiply(truth)).data.astype(np.int64) - 1] = True
    return found


class Decided(NamedTuple):
    """How many labels of all rows are predicted by a threshold, and how many of these are true."""

    threshold: float
    n_predicted: int
    n_hits: int
    n_true: int  # whatever is predicted

    @property
    def precision(self) -> float:
        return self.n_hits / self.n_predicted if self.n_predicted else float("nan")

    @property
    def recall(self) -> float:
        return self.n_hits / self.n_true if self.n_true else float("nan")

    @property
    def f1(self) -> float:
        total = self.n_predicted + self.n_true
        return 2 * self.n_hits / total if total else 0.0


def threshold_curve(
    truth: sparse.csr_array,
    scores: sparse.csr_array,
    thresholds: np.ndarray,
    at_least_one: bool = False,
) -> list[Decided]:
    """What one threshold for all labels decides, for each of some thresholds, lowest first.

    Truth and scores are as for `best_thresholds`.
    """
    is_true = _are_true(truth, scores)
    is_fixed = np.zeros(scores.nnz, bool)
    if at_least_one:
        is_fixed[first_largest(scores)] = True
    thresholds = np.unique(np.asarray(thresholds, np.float32))

    def n_above(among: np.ndarray) -> np.ndarray:
        score = np.sort(scores.data[among & ~is_fixed])
        n_fixed = np.count_nonzero(among & is_fixed)
        return n_fixed + len(score) - np.searchsorted(score, thresholds, side="right")

    n_predicted, n_hits = n_above(np.ones(scores.nnz, bool)), n_above(is_true)
    found = zip(thresholds.tolist(), n_predicted.tolist(), n_hits.tolist(), strict=True)
    return [Decided(*each, truth.nnz) for each in found]


class _Entries(NamedTuple):
    """Pairs of a row and a label that have a score; those that are fixed are predicted anyway."""

    score: np.ndarray
    is_true: np.ndarray
    is_fixed: np.ndarray

    def part(self, first: int, end: int) -> "_Entries":
        return _Entries(*(array[first:end] for array in self))

    def best_cut(self, n_true: int, otherwise: np.float32) -> np.float32:
        """n_true is the number of all that are true, with a score or without."""
        is_free = ~self.is_fixed
        n_fixed = len(self.score) - np.count_nonzero(is_free)
        n_fixed_hits = np.count_nonzero(self.is_true & self.is_fixed)
        score, is_true = self.score[is_free], self.is_true[is_free]
        order = np.argsort(-score, kind="stable")  # best first: each beginning is a prediction
        score, n_hits = score[order], np.append(0, np.cumsum(is_true[order]))
        bounds = np.concatenate([score[:1], score, [np.float32(0)]])
        # No threshold parts equal scores, and a label of score 0 is never predicted.
        sizes = np.flatnonzero(np.append(True, bounds[1:-1] > bounds[2:]))
        total = n_fixed + sizes + n_true
        f1 = 2 * (n_fixed_hits + n_hits[sizes]) / np.where(total > 0, total, 1)
        if not f1.any() or not len(score):
            return otherwise
        best = sizes[np.argmax(f1)]
        if best == 0:
            return np.float32(score[0])
        below, least = bounds[best + 1], bounds[best]
        # Midway, unless that is rounded up to the score itself.
        middle = np.float32((float(below) + float(least)) / 2)
        return middle if middle < least else np.float32(below)
