"""The evaluation of a fitted model, as shown and as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sketchforest._estimators.predicting.decisions import Decided
from sketchforest._evaluation.label_table import LabelTable
from sketchforest._evaluation.mistakes import ConfusedPair, WrongRow
from sketchforest._utils.display import aligned, html_table, new_axes, tidy
from sketchforest._utils.evaluation_pictures import draw_calibration, draw_curve, draw_labels
from sketchforest._utils.tables import Table, described_methods, latex_table
from sketchforest.metrics.meanings import meaning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The rows behind the scores.
NEW_ROWS = "new rows"
HELD_OUT = "held-out rows"
OUT_OF_BAG = "out-of-bag"
TRAINING_ROWS = "training rows included"
_ARROWS = {"higher": "↑", "lower": "↓", "": " "}


@described_methods
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Table):
    """Scores of a model on some rows.

    `to_frame` and `to_csv` have the columns score, value, says (its meaning) and better.

    Attributes
    ----------
    scores : dict of floats
        Scores by name; `meaning(name)` describes them.
    labels : LabelTable or None
        Scores of each label; None for a regressor.
    curve : list of pairs
        Precision and nDCG of the k best labels, for k = 1, 2, ...
    bins : list of triples
        Calibration of the predicted probabilities, in bins of width 0.1: mean probability, share of
        true labels, and number of predictions.
    thresholds : list of Decided
        Precision and recall at other thresholds, lowest first; empty for classes and regressors.
    wrong_rows : list of WrongRow
        The rows that the model gets most wrong, by LRAP.
    confused_pairs : list of ConfusedPair
        The most frequent pairs of a label that is missed and one that is predicted in its place.
    seconds : float
        Time to predict the probabilities of all rows.
    n_unknown : int
        Number of labels in the file that the model does not know.
    basis : str
        The rows behind the scores: "new rows"; "held-out rows", if training rows were also given
        and left out; "out-of-bag", if all given rows were; or "training rows included".
    n_trained_on : int
        Number of given rows that the model was trained on, as far as it recognizes them.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.evaluation import evaluate
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> found = evaluate(forest, data.X[150:], data.Y[150:])
    >>> sorted(found.scores)[:3]
    ['average_precision', 'calibration_error', 'coverage_error']
    """

    scores: dict[str, float]
    labels: LabelTable | None = None
    curve: Sequence[tuple[float, float]] = ()
    bins: Sequence[tuple[float, float, int]] = ()
    thresholds: Sequence[Decided] = ()
    wrong_rows: Sequence[WrongRow] = ()
    confused_pairs: Sequence[ConfusedPair] = ()
    seconds: float = 0.0
    n_unknown: int = 0
    basis: str = NEW_ROWS
    n_trained_on: int = 0

    @property
    def caution(self) -> str | None:
        """A sentence about the rows behind the scores; None for new rows."""
        n_rows, n_trained = f"{self.scores['rows']:,.0f}", f"{self.n_trained_on:,}"
        if self.basis == HELD_OUT:
            return f"Scored on {n_rows} held-out rows, without the {n_trained} training rows."
        if self.basis == OUT_OF_BAG:
            return (
                f"Out-of-bag: the model was trained on all {n_trained} rows, so {n_rows} of them "
                "are scored by the trees that did not see them. All trees together score higher."
            )
        if self.basis == TRAINING_ROWS:
            return (
                f"Training rows included: the model was trained on {n_trained} of {n_rows} rows. "
                "Expect much lower scores on new rows."
            )
        return None

    def __repr__(self) -> str:
        together: dict[str, list[str]] = {}  # one line for all k of a metric
        for name in self.scores:
            together.setdefault(name.rpartition("_at_")[0] or name, []).append(name)
        table = []
        for metric, names in together.items():
            ks = ", ".join(name.rpartition("_at_")[2] for name in names)
            title, says, better = meaning(f"{metric}_at_k" if "_at_" in names[0] else metric)
            title = title.replace("@k", f"@{ks}")
            values = " ".join(f"{self.scores[name]:.3f}" for name in names)
            values = values if len(names) > 1 else _shown(names[0], self.scores[names[0]])
            table.append([_ARROWS[better], title, values, says])
        title = "Scores" if self.basis == NEW_ROWS else f"Scores, {self.basis}"
        parts = [f"{title} (↑ higher is better, ↓ lower is better):", aligned(table)]
        if self.labels is not None:
            parts += ["Most frequent labels:", repr(self.labels)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        rows = []
        for name, value in self.scores.items():
            title, says, better = meaning(name)
            rows.append([title, _shown(name, value), says, better])
        caption = "" if self.caution is None else self.caution
        html = html_table(["score", "", "what it says", "better"], rows, caption)
        return html if self.labels is None else html + self.labels._repr_html_()

    def _columns(self) -> dict[str, list[Any]]:
        """The scores, their values and meanings; `labels` has the scores of each label."""
        meanings = [meaning(name) for name in self.scores]
        columns: dict[str, list[Any]] = {"score": list(self.scores)}
        columns["value"] = list(self.scores.values())
        return columns | {part: [getattr(m, part) for m in meanings] for part in ("says", "better")}

    def to_latex(self, caption: str | None = None) -> str:
        """The scores as a LaTeX table, for the package booktabs."""
        rows = [[meaning(name).title, _shown(name, v)] for name, v in self.scores.items()]
        return latex_table(["score", "value"], rows, caption)

    def plot(self, axes: "Sequence[Axes] | None" = None) -> "Sequence[Axes]":
        """Plot precision and nDCG of the k best labels, F1 of each label, and calibration."""
        if self.labels is None:
            raise ValueError("plot is for classifiers; this model is a regressor. Use the scores.")
        axes = new_axes(12.0, 3.8, n=3) if axes is None else axes
        draw_curve(axes[0], self.curve)
        draw_labels(axes[1], self.labels.n_true, self.labels.f1)
        draw_calibration(axes[2], self.bins)
        for each in axes:
            tidy(each)
        return axes


def _shown(name: str, value: float) -> str:
    return f"{value:,.0f}" if name == "rows" else f"{value:.4f}"
