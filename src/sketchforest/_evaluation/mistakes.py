"""The mistakes of a model: its worst rows, and pairs of labels that it confuses."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest.metrics import row_values

if TYPE_CHECKING:
    from collections.abc import Sequence

N_ROWS, N_PAIRS = 10, 10
MIN_PAIR_ROWS = 2


class ScoredLabel(NamedTuple):
    name: str
    score: float
    is_right: bool  # a true label that is predicted, or a predicted one that is true


class WrongRow(NamedTuple):
    """A row with its true and its predicted labels, the best scores first.

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.evaluation import evaluate
    >>> forest = RandomForestClassifier(9, random_state=0).fit([[0], [1], [2]] * 9, list("aab") * 9)
    >>> found = evaluate(forest, [[0.2], [1.9]], ["a", "a"])
    >>> [(wrong.row, wrong.true[0].name, wrong.predicted[0].name) for wrong in found.wrong_rows]
    [(1, 'a', 'b')]
    """

    row: int
    true: "list[ScoredLabel]"
    predicted: "list[ScoredLabel]"
    text: str | None = None


class ConfusedPair(NamedTuple):
    """How often one label is predicted where it is wrong and another, true one is not predicted.

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.evaluation import evaluate
    >>> forest = RandomForestClassifier(9, random_state=0).fit([[0], [1], [2]] * 9, list("aab") * 9)
    >>> evaluate(forest, [[1.8], [1.9]], ["a", "a"]).confused_pairs
    [ConfusedPair(true='a', predicted='b', n_rows=2)]
    """

    true: str
    predicted: str
    n_rows: int


def most_wrong_rows(
    truth: sparse.csr_array,
    scores: sparse.csr_array,
    predicted: sparse.csr_array,
    names: np.ndarray,
    n: int = N_ROWS,
) -> list[WrongRow]:
    """The rows with the lowest LRAP, and of equal ones those with the most wrong decisions.

    The matrices are (n_rows, n_labels): indicators, scores, and indicators. Rows without true or
    without wrong labels are left out.
    """
    lrap = row_values("lrap", truth, scores)
    assert lrap is not None
    hits = truth.multiply(predicted).tocsr()
    n_wrong = np.diff(truth.indptr) + _row_counts(predicted) - 2 * _row_counts(hits)
    order = np.lexsort((-n_wrong, lrap))  # NaN, of rows without labels, is last
    order = order[(n_wrong[order] > 0) & ~np.isnan(lrap[order])][:n]
    found = []
    for row in order.tolist():
        score = scores[[row]].toarray().ravel()
        is_true, is_predicted = (m[[row]].toarray().ravel() > 0 for m in (truth, predicted))
        found.append(
            WrongRow(
                row,
                _scored(is_true, score, is_predicted, names),
                _scored(is_predicted, score, is_true, names),
            )
        )
    return found


def _scored(
    chosen: np.ndarray, score: np.ndarray, is_right: np.ndarray, names: np.ndarray
) -> list[ScoredLabel]:
    labels = np.flatnonzero(chosen)
    labels = labels[np.argsort(-score[labels], kind="stable")]
    return [ScoredLabel(str(names[at]), float(score[at]), bool(is_right[at])) for at in labels]


def confused_pairs(
    truth: sparse.csr_array, predicted: sparse.csr_array, names: np.ndarray, n: int = N_PAIRS
) -> list[ConfusedPair]:
    """The most frequent pairs of a missed label and a wrong one in the same rows."""
    hits = truth.multiply(predicted).tocsr()
    missed, wrong = (sparse.csr_array(m.astype(np.int32) - hits) for m in (truth, predicted))
    for matrix in (missed, wrong):
        matrix.eliminate_zeros()
    together = sparse.coo_array(missed.T @ wrong)
    is_frequent = together.data >= MIN_PAIR_ROWS
    rows, columns, counts = (a[is_frequent] for a in (*together.coords, together.data))
    order = np.lexsort((columns, rows, -counts))[:n]
    return [
        ConfusedPair(str(names[rows[at]]), str(names[columns[at]]), int(counts[at])) for at in order
    ]


def with_texts(found: "Sequence[WrongRow]", texts: "Sequence[str] | None") -> list[WrongRow]:
    return [each if texts is None else each._replace(text=texts[each.row]) for each in found]


def _row_counts(matrix: sparse.csr_array) -> np.ndarray:
    counts: np.ndarray = np.asarray((matrix != 0).sum(axis=1)).ravel()
    return counts
