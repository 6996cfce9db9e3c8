"""Explanations of the scores of one row: contributions of features, and training rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from sketchforest._boosting.model import BoostedFitted
from sketchforest._estimators.inspection.names import (
    find_labels,
    label_names,
    row_numbers,
    shown_features,
)
from sketchforest._estimators.parameters import check_k
from sketchforest._estimators.predicting.training_rows import weights_of_rows
from sketchforest._trees.contributions import contributions
from sketchforest._trees.fitted import Fitted
from sketchforest._trees.model import SparseRows
from sketchforest._utils.display import (
    aligned,
    as_frame,
    html_bar,
    html_table,
    listed,
    new_axes,
    shortened,
    signed_bars,
)
from sketchforest._utils.typing import Matrix, MatrixLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sketchforest._estimators.estimator import Estimator

SHOWN = 10  # features and rows
TEXT_WIDTH = 60


class Line(NamedTuple):
    """A feature, its value and its contribution; or several features together, without a value."""

    feature: str
    value: float | None
    adds: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The scores of one row for k labels or outputs, and what they consist of.

    ``scores`` equals ``base + contributions.sum(axis=0)``. In forests without a linear part or
    corrections, it also equals ``weights @ votes``. Scores of boosted classifiers are log-odds, or
    logarithms of probabilities plus a constant for classes; boosting has no training rows in its
    leaves.

    Attributes
    ----------
    labels : (k,) array
        Column numbers of Y.
    label_names : (k,) array
    scores, base : (k,) arrays
        The predictions, and the predictions at the roots, before any split, and of the linear part
        for a row without features.
    features : (f,) array
        Column numbers in X of the features in the splits that the row went through, and of those
        that the linear part weights.
    feature_names : (f,) array
    values : (f,) array
        Their values in the row; NaN if missing.
    is_present : (f,) array
        False for zeros of a sparse row: for example, words that a text does not contain.
    contributions : (f, k) array
        Contribution of each feature to each score, through the trees and the linear part.
    rows : (r,) array
        Numbers of the training rows in the leaves of the row, largest weight first.
    row_names : list of str
        Their ids, if attached, or else their numbers.
    weights : (r,) array
        Their weights in the prediction, which sum to 1.
    votes : (r, k) array
        Their labels, 0 or 1, or outputs.
    row_labels : list of lists of str
        All labels of each training row; empty lists for a regressor.
    row_texts : list of str, or None
        Their texts, if attached.

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y)
    >>> found = forest.explain(data.X[:1], k=2)
    >>> bool(abs(found.base + found.contributions.sum(axis=0) - found.scores).max() < 1e-6)
    True
    """

    labels: np.ndarray
    label_names: np.ndarray
    scores: np.ndarray
    base: np.ndarray
    features: np.ndarray
    feature_names: np.ndarray
    values: np.ndarray
    is_present: np.ndarray
    contributions: np.ndarray
    rows: np.ndarray
    row_names: list[str]
    weights: np.ndarray
    votes: np.ndarray
    row_labels: list[list[str]]
    row_texts: list[str] | None

    @property
    def has_label(self) -> np.ndarray:
        """(r, k) whether each training row has each label."""
        return self.votes > 0

    def lines(self, at: int = 0, n: int = SHOWN) -> list[Line]:
        """The contributions to score number `at`: the n largest of present features, then all
        other present features together, then all absent features together."""
        added = self.contributions[:, at]
        order = np.argsort(-np.abs(added), kind="stable")
        order = order[added[order] != 0]
        present, absent = order[self.is_present[order]], order[~self.is_present[order]]
        lines = [
            Line(str(self.feature_names[i]), float(self.values[i]), float(added[i]))
            for i in present[:n]
        ]
        for among, kind in ((present[n:], "other"), (absent, "absent")):
            if len(among):
                what = f"{len(among)} {kind} feature{'s' if len(among) > 1 else ''}"
                lines.append(Line(what, None, float(added[among].sum())))
        return lines

    def __repr__(self) -> str:
        parts = []
        for at in range(len(self.labels)):
            table = [["adds", "value", "feature"]]
            table += [[f"{adds:+.4f}", _shown(v), name] for name, v, adds in self.lines(at)]
            parts += [self._headline(at) + ":", aligned(table, right=(0, 1))]
        if len(self.rows):
            title, table = self._row_table(TEXT_WIDTH)
            parts += [f"{title}:", aligned(table, right=(0, 1))]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        tables = []
        for at in range(len(self.labels)):
            lines = self.lines(at)
            largest = max((abs(line.adds) for line in lines), default=0.0)
            body = [[name, _shown(v), html_bar(adds, largest)] for name, v, adds in lines]
            header = ["feature", "value", "adds"]
            tables.append(html_table(header, body, self._headline(at), bars="adds"))
        if len(self.rows):
            title, rows = self._row_table(200)
            tables.append(html_table(["weight", "row", "labels", "text"], rows, title))
        return "".join(tables)

    def to_frame(self) -> "DataFrame":
        """A data frame with a row for each label and feature, largest contribution first.

        Columns: label, feature, value, is_present, adds.
        """
        order = [np.argsort(-np.abs(added), kind="stable") for added in self.contributions.T]
        feature = np.concatenate(order)
        label = np.repeat(np.arange(len(self.labels)), len(self.features))
        columns = {"label": self.label_names[label], "feature": self.feature_names[feature]}
        columns |= {"value": self.values[feature], "is_present": self.is_present[feature]}
        return as_frame(columns | {"adds": self.contributions[feature, label]})

    def rows_to_frame(self) -> "DataFrame":
        """A data frame with a row for each training row in the prediction.

        Columns: row, id, weight, labels and, if attached, text.
        """
        columns: dict[str, Sequence[object]] = {"row": self.rows.tolist(), "id": self.row_names}
        columns |= {"weight": self.weights.tolist(), "labels": self.row_labels}
        return as_frame(columns if self.row_texts is None else columns | {"text": self.row_texts})

    def plot(self, at: int = 0, n: int = SHOWN, ax: "Axes | None" = None) -> "Axes":
        """Plot the contributions of the features to score number `at`."""
        lines = self.lines(at, n)
        axes = new_axes(7.0, 1.2 + 0.3 * len(lines)) if ax is None else ax
        names = [name if v is None else f"{name} = {_shown(v)}" for name, v, _ in lines]
        n_folded = sum(line.value is None for line in lines)
        signed_bars(axes, names, [line.adds for line in lines], n_folded)
        axes.set_title(self._headline(at), loc="left")
        axes.set_xlabel("contribution to the score")
        return axes

    def _headline(self, at: int) -> str:
        name = shortened(str(self.label_names[at]), 40)
        return f"{name}: {self.scores[at]:.3f} (baseline {self.base[at]:.3f})"

    def _row_table(self, width: int) -> tuple[str, list[list[str]]]:
        title = f"Most similar training rows, {min(SHOWN, len(self.rows))} of {len(self.rows)}"
        table = []
        for at in range(min(SHOWN, len(self.rows))):
            text = "" if self.row_texts is None else shortened(self.row_texts[at], width)
            labels = shortened(listed(self.row_labels[at]), width)
            table.append([f"{self.weights[at]:.4f}", f"row {self.row_names[at]}", labels, text])
        return title, table


def _shown(value: float | None) -> str:
    return "" if value is None else "missing" if np.isnan(value) else f"{value:.4g}"


def explain(
    model: "Estimator",
    x: MatrixLike,
    k: int = 3,
    label: str | int | Sequence[str | int] | None = None,
) -> Explanation:
    """Explain the scores of one row; the same as `model.explain`.

    Parameters
    ----------
    model : fitted estimator
    x : (1, n_features) array, scipy sparse matrix or data frame
    k : int, default=3
        Number of labels to explain, if `label` is not given.
    label : name, column number, or several of them, optional

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(data.X, data.Y)
    >>> found = explain(forest, data.X[:1], k=1)
    >>> bool(abs(found.base + found.contributions.sum(axis=0) - found.scores).max() < 1e-6)
    True
    """
    fitted = model.fitted_
    row = model._check_new(x, fitted)
    if row.shape[0] != 1:
        raise ValueError(
            f"row must be a single row; got {row.shape[0]} rows. Use X[[i]] for row i."
        )
    n_jobs = model._n_jobs
    labels = find_labels(fitted, label) if label is not None else _best(fitted, row, k, n_jobs)
    Y = _columns(fitted.labels, labels)
    if isinstance(fitted, BoostedFitted):  # leaves hold no training rows
        found = fitted.boosted.contributions(row, labels)
        weights = sparse.csr_array((1, 0))
    else:
        found = contributions(fitted.blended_predictor, row, labels)
        weights = weights_of_rows(fitted, row, n_jobs)
    order = np.argsort(-weights.data, kind="stable")
    rows = weights.indices[order]
    values = np.asarray(_columns(row, found.features), float).ravel()
    # Zeros of one-hot features and of the numbers beside them say something.
    is_sparse = sparse.issparse(row) and fitted.input_columns is None
    ids, texts = fitted.attached.get("row_ids_"), fitted.attached.get("row_texts_")
    numbers = row_numbers(fitted, rows)
    return Explanation(
        labels=labels,
        label_names=label_names(fitted, labels),
        scores=found.scores,
        base=found.base,
        features=found.features,
        feature_names=shown_features(fitted, found.features),
        values=values,
        is_present=(values != 0) | (not is_sparse),
        contributions=found.added,
        rows=numbers,
        row_names=list(map(str, numbers if ids is None else ids[rows])),
        weights=weights.data[order],
        votes=Y[rows],
        row_labels=_labels_of(fitted, rows),
        row_texts=None if texts is None else [texts[row] for row in rows],
    )


def _best(fitted: Fitted, row: Matrix, k: int, n_jobs: int | None) -> np.ndarray:
    """Column numbers of the k most probable labels, or of the first k outputs of a regressor."""
    n_labels = fitted.labels.shape[1]
    k = min(check_k(k, max(n_labels, k), "outputs"), n_labels)
    if not fitted.targets.is_classification:
        return np.arange(k)
    return fitted.predictor.best(row, n_jobs, k)[0].ravel().astype(np.int64)


def _columns(matrix: Matrix | SparseRows, columns: np.ndarray) -> np.ndarray:
    if isinstance(matrix, np.ndarray):
        return matrix[:, columns]
    rows = matrix.to_csr(np.float64) if isinstance(matrix, SparseRows) else matrix
    return rows[:, columns].toarray()


def _labels_of(fitted: Fitted, rows: np.ndarray) -> list[list[str]]:
    if not fitted.targets.is_classification:
        return [[] for _ in rows]
    found = fitted.targets.class_labels.to_csr(np.uint8)[rows]
    names = label_names(fitted, found.indices)
    return [names[a:b].tolist() for a, b in pairwise(found.indptr)]
