"""Why a row has its scores: what the features add, and the training rows that vote."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sketchforest._display import (
    aligned,
    as_frame,
    html_bar,
    html_table,
    listed,
    new_axes,
    shortened,
    signed_bars,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SHOWN = 10  # features and rows
TEXT_WIDTH = 60


class Line(NamedTuple):
    """A feature, its value and what it adds; or several together, which have no value."""

    feature: str
    value: float | None
    adds: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Of one row and k labels, or outputs of a regressor.

    ``base + contributions.sum(axis=0)`` is ``scores``, and ``weights @ votes`` is, too.

    Attributes
    ----------
    labels : (k,) array
        Column numbers of Y.
    label_names : (k,) array
    scores, base : (k,) arrays
        The predictions, and what is predicted before any feature is asked for.
    features : (f,) array
        Column numbers of X: the features that were asked for on the row's way down the trees.
    feature_names : (f,) array
    values : (f,) array
        What the row has of them; NaN where it is missing.
    is_present : (f,) array
        False where a sparse row, a text for example, does not have the feature.
    contributions : (f, k) array
        What each feature adds to each score.
    rows : (r,) array
        Training rows in the row's leaves, the heaviest first, by their numbers in the file.
    row_names : list of str
        The same by their ids, where the model knows them.
    weights : (r,) array
        Their shares in the prediction, which sum to 1.
    votes : (r, k) array
        Their labels, 0 or 1, or outputs.
    row_labels : list of lists of str
        All labels of each of them; empty lists for a regressor.
    row_texts : list of str, or None
        Where the model keeps them.

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
        """(r, k) whether the training rows have the labels."""
        return self.votes > 0

    def lines(self, at: int = 0, n: int = SHOWN) -> list[Line]:
        """What adds up to the score of label number `at` of these: the n features that the row has
        and that add or take the most, then all others that it has, then those that it lacks."""
        added = self.contributions[:, at]
        order = np.argsort(-np.abs(added), kind="stable")
        order = order[added[order] != 0]
        present, absent = order[self.is_present[order]], order[~self.is_present[order]]
        first, others = present[:n], present[n:]
        lines = [
            Line(str(self.feature_names[i]), float(self.values[i]), float(added[i])) for i in first
        ]
        if len(others):
            lines.append(Line(f"{len(others)} other features", None, float(added[others].sum())))
        if len(absent):
            what = "feature" if len(absent) == 1 else "features"
            adds = float(added[absent].sum())
            lines.append(Line(f"{len(absent)} {what} that the row lacks", None, adds))
        return lines

    def __repr__(self) -> str:
        parts = []
        for at in range(len(self.labels)):
            table = [["adds", "value", "feature"]]
            table += [[f"{adds:+.4f}", _shown(v), name] for name, v, adds in self.lines(at)]
            parts += [self._headline(at) + ":", aligned(table, right=(0, 1))]
        parts.append(self._rows_headline() + ":")
        parts.append(aligned(self._row_table(), right=(0, 1)))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        tables = []
        for at in range(len(self.labels)):
            lines = self.lines(at)
            largest = max((abs(line.adds) for line in lines), default=0.0)
            body = [[name, _shown(v), html_bar(adds, largest)] for name, v, adds in lines]
            header = ["feature", "value", "adds"]
            tables.append(html_table(header, body, self._headline(at), bars="adds"))
        header = ["weight", "row", "labels", "text"]
        tables.append(html_table(header, self._row_table(200), self._rows_headline()))
        return "".join(tables)

    def to_frame(self) -> "DataFrame":
        """A data frame with a line for each label and feature: label, feature, value, is_present,
        adds; the largest first."""
        order = [np.argsort(-np.abs(added), kind="stable") for added in self.contributions.T]
        feature = np.concatenate(order)
        label = np.repeat(np.arange(len(self.labels)), len(self.features))
        return as_frame(
            {
                "label": self.label_names[label],
                "feature": self.feature_names[feature],
                "value": self.values[feature],
                "is_present": self.is_present[feature],
                "adds": self.contributions[feature, label],
            }
        )

    def rows_to_frame(self) -> "DataFrame":
        """A data frame with a line for each training row that votes: row, id, weight, labels and
        text, as far as they are known."""
        columns: dict[str, Sequence[object]] = {"row": self.rows.tolist(), "id": self.row_names}
        columns |= {"weight": self.weights.tolist(), "labels": self.row_labels}
        return as_frame(columns if self.row_texts is None else columns | {"text": self.row_texts})

    def plot(self, at: int = 0, n: int = SHOWN, ax: "Axes | None" = None) -> "Axes":
        """Bars of what the features add to the score of label number `at` of these."""
        lines = self.lines(at, n)
        axes = new_axes(7.0, 1.2 + 0.3 * len(lines)) if ax is None else ax
        names = [name if v is None else f"{name} = {_shown(v)}" for name, v, _ in lines]
        n_folded = sum(line.value is None for line in lines)
        signed_bars(axes, names, [line.adds for line in lines], n_folded)
        axes.set_title(self._headline(at), loc="left")
        axes.set_xlabel("adds to the score")
        return axes

    def _headline(self, at: int) -> str:
        name = shortened(str(self.label_names[at]), 40)
        return f"{name}: {self.scores[at]:.3f}, from {self.base[at]:.3f} before any feature"

    def _rows_headline(self) -> str:
        return f"The training rows that count, {min(SHOWN, len(self.rows))} of {len(self.rows)}"

    def _row_table(self, width: int = TEXT_WIDTH) -> list[list[str]]:
        table = []
        for at in range(min(SHOWN, len(self.rows))):
            text = "" if self.row_texts is None else shortened(self.row_texts[at], width)
            labels = shortened(listed(self.row_labels[at]), width)
            table.append([f"{self.weights[at]:.4f}", f"row {self.row_names[at]}", labels, text])
        return table


def _shown(value: float | None) -> str:
    return "" if value is None else "missing" if np.isnan(value) else f"{value:.4g}"
