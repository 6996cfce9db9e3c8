"""The scores of each label."""

from dataclasses import dataclass

import numpy as np

from sketchforest._utils.display import aligned, html_table, shortened
from sketchforest._utils.tables import Table, described_methods, latex_table

LABEL_COLUMNS = (
    *("label", "true", "predicted", "hits", "precision", "recall", "f1"),
    *("average_precision", "calibration_error"),
)
SHOWN = 10


@described_methods
@dataclass(frozen=True, eq=False, repr=False)
class LabelTable(Table):
    """Scores of each label, by the decisions of `predict` and by probabilities.

    `to_frame` and `to_csv` have the columns LABEL_COLUMNS, most frequent labels first.

    Examples
    --------
    >>> from sketchforest import SketchForestClassifier
    >>> from sketchforest.datasets import make_multilabel
    >>> from sketchforest.evaluation import evaluate
    >>> data = make_multilabel(200, 30, 50, labels_per_row=4, features_per_row=8)
    >>> forest = SketchForestClassifier(10, random_state=0).fit(data.X[:150], data.Y[:150])
    >>> found = evaluate(forest, data.X[150:], data.Y[150:])
    >>> found.labels.precision.shape
    (50,)
    """

    names: np.ndarray
    n_true: np.ndarray
    n_predicted: np.ndarray
    n_hits: np.ndarray
    average_precision: np.ndarray  # NaN for labels that do not occur
    calibration_error: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        return _ratio(self.n_hits, self.n_predicted)

    @property
    def recall(self) -> np.ndarray:
        return _ratio(self.n_hits, self.n_true)

    @property
    def f1(self) -> np.ndarray:
        return _ratio(2 * self.n_hits, self.n_true + self.n_predicted)

    def rows(self) -> list[tuple[str, int, int, int, float, float, float, float, float]]:
        """Rows with the columns LABEL_COLUMNS, most frequent labels first."""
        columns = self._columns().values()
        return list(zip(*(np.asarray(column).tolist() for column in columns), strict=True))

    def to_latex(self, n: int = SHOWN, caption: str | None = None) -> str:
        """The n most frequent labels as a LaTeX table, for the package booktabs."""
        header = ["label", "true", "predicted", "precision", "recall", "F1", "AP"]
        rows = [
            [name, n_true, n_predicted, *(f"{value:.3f}" for value in shares[:-1])]
            for name, n_true, n_predicted, _, *shares in self.rows()[:n]
        ]
        return latex_table(header, rows, caption)

    def __repr__(self) -> str:
        rows = self.rows()[:SHOWN]
        table = [["label", "true", "predicted", "precision", "recall", "F1", "AP"]]
        table += [
            [shortened(name, 24), f"{n:,}", f"{m:,}", *(f"{v:.3f}" for v in quality[:-1])]
            for name, n, m, _, *quality in rows
        ]
        return aligned(table, right=range(1, 7))

    def _repr_html_(self) -> str:
        rows = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in r] for r in self.rows()]
        return html_table(LABEL_COLUMNS, rows[:SHOWN], f"{len(rows)} labels, most frequent first")

    def _columns(self) -> dict[str, np.ndarray]:
        order = np.argsort(-self.n_true, kind="stable")
        shares = (
            self.precision,
            self.recall,
            self.f1,
            self.average_precision,
            self.calibration_error,
        )
        counts = self.names, self.n_true, self.n_predicted, self.n_hits
        columns = zip(LABEL_COLUMNS, (*counts, *(each.round(4) for each in shares)), strict=True)
        return {name: values[order] for name, values in columns}


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
