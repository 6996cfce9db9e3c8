"""From averages over the leaves to predictions: in the form of Y, by threshold, or the k best.

Thresholds are decision thresholds here: probabilities that a label must exceed to be predicted.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._trees.parallel import run_blocks
from sketchforest._trees.predict import Kept, Predictor, check_fits_memory, first_largest
from sketchforest._trees.targets import F1Thresholds, Targets
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest._utils.warning import warn_of_old_name
from sketchforest.metrics import top_k
from sketchforest.ontology import Ontology

if TYPE_CHECKING:
    from sketchforest._trees.fitted import Fitted

# Thresholds chosen on out-of-bag rows: one for all labels, or one per label.
GLOBAL, PER_LABEL = "f1", "f1-per-label"
_FORMER_NAMES = {"oob-f1-global": GLOBAL, "oob-f1": PER_LABEL}
DEFAULT = 0.5
# A label of fewer rows gets no threshold of its own: with one or two, most decisions for rare
# labels are wrong, and macro F1 hardly improves.
MIN_TRUE_ROWS = 3
LABELS_AT_A_TIME = 32  # one thread chooses their thresholds


class Decision(NamedTuple):
    """Which labels are predicted: the k best, or those above a threshold."""

    k: int | None = None
    above: np.ndarray | np.float32 | None = None  # one number, or one per label
    at_least_one: bool = False  # the most probable label, if none is above


def is_threshold(value: object) -> bool:
    """Whether a value is valid for the parameter `threshold`, except for the length of an array."""
    if isinstance(value, str):
        return f1_kind(value) is not None or n_best(value) is not None
    if isinstance(value, bool | np.bool_):
        return False
    is_list = isinstance(value, list | tuple | np.ndarray)
    if not is_list and not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        numbers = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.ndim == int(is_list) and bool(((numbers >= 0) & (numbers <= 1)).all())


def n_best(threshold: object) -> int | None:
    """The k of "top-k", or None for other thresholds."""
    found = re.fullmatch(r"top-([1-9][0-9]*)", threshold) if isinstance(threshold, str) else None
    return int(found[1]) if found else None


def f1_kind(threshold: object) -> str | None:
    """GLOBAL or PER_LABEL for thresholds that maximize F1, or None for others."""
    if not isinstance(threshold, str):
        return None
    name = _FORMER_NAMES.get(threshold, threshold)
    return name if name in (GLOBAL, PER_LABEL) else None


def warn_of_former_name(threshold: object) -> None:
    if isinstance(threshold, str) and threshold in _FORMER_NAMES:
        warn_of_old_name(f"threshold={threshold!r}", repr(_FORMER_NAMES[threshold]))


def decide(threshold: object, chosen: F1Thresholds | None, n_labels: int) -> Decision:
    """The decision rule of a threshold; `chosen` are those that maximize out-of-bag F1."""
    kind = f1_kind(threshold)
    if kind is None:
        return given_decision(threshold, n_labels)
    assert chosen is not None
    above = chosen.for_all if kind == GLOBAL else chosen.for_each
    return Decision(above=above, at_least_one=chosen.at_least_one)


def given_decision(threshold: object, n_labels: int) -> Decision:
    """The decision rule of a threshold that is a number, an array or "top-k"."""
    k = n_best(threshold)
    if k is not None:
        return Decision(k=min(k, n_labels))
    above = np.asarray(threshold, np.float32)
    if above.ndim and len(above) != n_labels:
        raise ValueError(
            f"threshold must have one number for each of the {n_labels} labels; got {len(above)}."
        )
    return Decision(above=above if above.ndim else np.float32(above))


class HasFittedModel:
    """The interface of estimators and partitioned forests that predictions need."""

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> Fitted: ...
        @property
        def _n_jobs(self) -> int | None: ...
        def _check_new(self, X: MatrixLike, fitted: Fitted) -> Matrix: ...


def averages_as_given(
    predictor: Predictor,
    targets: Targets,
    X: Matrix,
    n_jobs: int | None,
    exclude: sparse.csr_array | None = None,
) -> Matrix:
    """Probabilities, or means of outputs, in the form of Y: sparse, a matrix or a vector.

    `exclude` (n_samples, n_trees) marks the trees to leave out for each row.
    """
    if targets.is_sparse:
        dtype = np.float32 if targets.is_classification else np.float64
        return as_given(predictor.average_sparse(X, n_jobs, Kept(dtype), exclude), targets)
    averages = dense_averages(predictor, targets, X, n_jobs, exclude)
    return averages.ravel() if targets.is_vector else averages


def as_given(found: sparse.csr_array, targets: Targets) -> sparse.csr_array | sparse.csr_matrix:
    """The sparse container that Y had, since `*` means different products for the two kinds."""
    return sparse.csr_matrix(found) if targets.is_spmatrix else found


def decisions(averages: Matrix, decision: Decision, targets: Targets) -> Matrix:
    """(n_samples, n_labels) indicators of the predicted labels, dense or sparse as Y was."""
    scores = sparse.csr_array(averages, copy=True)
    if decision.k is not None:
        chosen = keep_best(scores, decision.k)
    else:
        chosen = Kept(np.float32, *decision).of(scores)
    chosen.data = np.ones(chosen.nnz, targets.dtype)
    return as_given(chosen, targets) if targets.is_sparse else chosen.toarray()


def keep_best(scores: sparse.csr_array, k: int) -> sparse.csr_array:
    """The k largest scores of each row, without zeros."""
    labels, best = top_k(scores, k)
    rows = np.repeat(np.arange(len(labels)), k)
    kept = sparse.csr_array((best.ravel(), (rows, labels.ravel())), shape=scores.shape)
    kept.eliminate_zeros()
    return kept


def dense_averages(
    predictor: Predictor,
    targets: Targets,
    X: Matrix,
    n_jobs: int | None,
    exclude: sparse.csr_array | None = None,
) -> np.ndarray:
    """`averages_as_given` as a dense matrix; raises if it does not fit in memory."""
    shape = X.shape[0], targets.labels.shape[1]
    if not targets.is_classification:
        check_fits_memory(shape, np.float64, "Predict fewer rows at a time.")
        return predictor.average(X, n_jobs, np.float64, exclude)
    dtype = np.float64 if targets.has_classes else np.float32
    check_fits_memory(shape, dtype, "Use predict_sparse or predict_topk.")
    averages = predictor.average(X, n_jobs, dtype, exclude)
    return np.minimum(averages, 1, out=averages)  # rounding may exceed 1, which log_loss refuses


def check_ontology(ontology: object, targets: Targets) -> None:
    """Raise unless `ontology` is None or an ontology of the labels of the model."""
    if ontology is None:
        return
    if not isinstance(ontology, Ontology):
        raise TypeError(f"ontology must be an Ontology or None; got {ontology!r}.")
    n_labels = targets.labels.shape[1]
    if targets.has_classes or ontology.n_labels != n_labels:
        raise ValueError(
            f"ontology must have the labels of a multi-label model; got {ontology!r} for "
            f"{n_labels} labels or classes."
        )


def best_thresholds(
    truth: sparse.csr_array, scores: sparse.csr_array, n_jobs: int | None = None
) -> F1Thresholds:
    """The thresholds that maximize F1, micro-averaged over all labels and of each label.

    The highest of equally good thresholds is chosen. A label with few rows, or with an F1 of 0
    whatever its threshold, gets the threshold of all labels, which falls back to 0.5.

    Each row gets at least its most probable label, unless most rows without a label above the
    threshold have none in truth.

    `truth` is an indicator matrix, and `scores` lie in [0, 1]; both are (n_rows, n_labels) CSR, the
    scores sorted by column and without zeros.
    """
    is_true = _are_true(truth, scores)
    best = first_largest(scores)
    if (np.diff(truth.indptr) == 0).any():
        free = _best_cuts(truth, scores, is_true, best[:0], n_jobs)
        is_below = scores.data[best] <= free.for_all
        n_right = np.count_nonzero(is_true[best[is_below]])
        has_label = np.diff(sparse.csr_array(scores > free.for_all).indptr) > 0
        n_none = np.count_nonzero(~has_label & (np.diff(truth.indptr) == 0))
        if n_none > n_right:
            return free._replace(at_least_one=False)
    return _best_cuts(truth, scores, is_true, best, n_jobs)


def for_n_labels(chosen: F1Thresholds, n_labels: int) -> F1Thresholds:
    """Thresholds for other labels of the same rows; per-label ones are kept if they fit."""
    if len(chosen.for_each) == n_labels:
        return chosen
    return chosen._replace(for_each=np.full(n_labels, chosen.for_all))


def _best_cuts(
    truth: sparse.csr_array,
    scores: sparse.csr_array,
    is_true: np.ndarray,
    fixed: np.ndarray,
    n_jobs: int | None,
) -> F1Thresholds:
    """The best thresholds, if the entries `fixed` of the scores are predicted in any case."""
    n_labels = truth.shape[1]
    is_fixed = np.zeros(scores.nnz, bool)
    is_fixed[fixed] = True
    numbered = sparse.csr_array(
        (np.arange(scores.nnz), scores.indices, scores.indptr), scores.shape
    )
    order = numbered.tocsc().data
    columns = _Entries(scores.data[order], is_true[order], is_fixed[order])
    n_true = np.bincount(truth.indices, minlength=n_labels)
    ends = np.cumsum(np.bincount(scores.indices, minlength=n_labels)).tolist()
    bounds = list(zip([0, *ends[:-1]], ends, strict=True))
    has_enough = n_true >= MIN_TRUE_ROWS

    def cuts_of(labels: np.ndarray | None) -> list[np.float32]:
        """The cuts of some labels, or for None that of all labels together, which takes longest."""
        if labels is None:
            return [columns.best_cut(int(n_true.sum()))]
        return [columns.between(*bounds[label]).best_cut(int(n_true[label])) for label in labels]

    blocks = np.array_split(np.flatnonzero(has_enough), -(-n_labels // LABELS_AT_A_TIME))
    [for_all], *of_blocks = run_blocks(cuts_of, [None, *blocks], n_jobs=n_jobs)
    for_all = np.float32(DEFAULT) if np.isnan(for_all) else for_all
    for_each = np.full(n_labels, for_all)
    found = np.concatenate([for_each[:0], *of_blocks])
    for_each[has_enough] = np.where(np.isnan(found), for_all, found)
    return F1Thresholds(for_all, for_each)


def _are_true(truth: sparse.csr_array, scores: sparse.csr_array) -> np.ndarray:
    """(scores.nnz,) whether each entry of the scores is true."""
    numbers = np.arange(1.0, scores.nnz + 1)
    numbered = sparse.csr_array((numbers, scores.indices, scores.indptr), shape=scores.shape)
    found = np.zeros(scores.nnz, bool)
    found[sparse.csr_array(numbered.multiply(truth)).data.astype(np.int64) - 1] = True
    return found


class Decided(NamedTuple):
    """The numbers of predictions and hits over all rows at one threshold."""

    threshold: float
    n_predicted: int
    n_hits: int
    n_true: int  # does not depend on the threshold

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
    """The decisions of each of several thresholds for all labels, lowest threshold first.

    `truth` and `scores` are as for `best_thresholds`.
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
    """Pairs of a row and a label with a score. Fixed ones are predicted in any case."""

    score: np.ndarray
    is_true: np.ndarray
    is_fixed: np.ndarray

    def between(self, first: int, end: int) -> "_Entries":
        return _Entries(*(array[first:end] for array in self))

    def best_cut(self, n_true: int) -> np.float32:
        """The threshold of largest F1, NaN if that is 0; `n_true` counts true pairs with and
        without a score."""
        is_free = ~self.is_fixed
        n_fixed = len(self.score) - np.count_nonzero(is_free)
        n_fixed_hits = np.count_nonzero(self.is_true & self.is_fixed)
        score, is_true = self.score[is_free], self.is_true[is_free]
        order = np.argsort(-score)  # best first: any prefix is a possible prediction
        score, n_hits = score[order], np.append(0, np.cumsum(is_true[order]))
        bounds = np.concatenate([score[:1], score, [np.float32(0)]])
        # No threshold separates equal scores, and a label with score 0 is never predicted.
        sizes = np.flatnonzero(np.append(True, bounds[1:-1] > bounds[2:]))
        total = n_fixed + sizes + n_true
        f1 = 2 * (n_fixed_hits + n_hits[sizes]) / np.where(total > 0, total, 1)
        if not f1.any() or not len(score):
            return np.float32(np.nan)
        best = sizes[np.argmax(f1)]
        if best == 0:
            return np.float32(score[0])
        below, least = bounds[best + 1], bounds[best]
        # Midway between scores, unless that rounds up to the higher one.
        middle = np.float32((float(below) + float(least)) / 2)
        return middle if middle < least else np.float32(below)
