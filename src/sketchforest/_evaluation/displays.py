"""Plots of evaluations, in the style of scikit-learn's displays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from sketchforest._estimators.method_docs import described_methods
from sketchforest._estimators.predicting.decisions import Decided, HasFittedModel, threshold_curve
from sketchforest._evaluation.fitted import THRESHOLDS, evaluate
from sketchforest._evaluation.result import Evaluation
from sketchforest._utils.display import new_axes, signed_bars, tidy
from sketchforest._utils.evaluation_pictures import (
    draw_calibration,
    draw_curve,
    draw_labels,
    draw_thresholds,
)
from sketchforest._utils.typing import Matrix, MatrixLike
from sketchforest.metrics import ndcg_at_k, precision_at_k
from sketchforest.metrics._validation import checked_scores, indicator
from sketchforest.metrics.labels import calibration, column_counts
from sketchforest.metrics.scorers import label_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEEPEST = 10  # k


@described_methods
class _Display:
    """A plot that remembers its axes."""

    ax_: "Axes"
    figure_: "Figure"
    _height = 4.0

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw the plot.

        Returns
        -------
        display
        """
        self.ax_ = new_axes(5.5, self._height) if ax is None else ax
        self.figure_ = cast("Figure", self.ax_.figure)
        tidy(self.ax_)
        self._draw(self.ax_)
        return self

    def _draw(self, ax: "Axes") -> None:
        raise NotImplementedError


@described_methods
class _EvaluationDisplay(_Display):
    """A plot of an evaluation. `from_estimator` leaves out rows that one of our models was trained
    on, or scores them out-of-bag, as `evaluate` does."""

    _needs_decisions = False
    _plotted: str  # the attribute of an evaluation that is plotted

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: MatrixLike, Y: MatrixLike, *, ax: "Axes | None" = None
    ) -> Self:
        """Score a fitted estimator on rows with known labels, and plot.

        Parameters
        ----------
        estimator : fitted estimator with predict_proba or decision_function
        Y : (n_samples, n_labels) indicators, dense or sparse

        Returns
        -------
        display
        """
        if isinstance(estimator, HasFittedModel):
            return cls.from_evaluation(evaluate(estimator, X, Y), ax=ax)  # type: ignore[arg-type]
        found = estimator.predict(X) if cls._needs_decisions else label_scores(estimator, X)
        return cls.from_predictions(Y, found, ax=ax)

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation, *, ax: "Axes | None" = None) -> Self:
        """Plot an existing evaluation, without predicting again.

        Parameters
        ----------
        evaluation : Evaluation

        Returns
        -------
        display
        """
        return cls(*cls._evaluated(evaluation)).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, Y_true: MatrixLike, Y_pred: MatrixLike, *, ax: "Axes | None" = None
    ) -> Self:
        """Plot predictions of any model.

        Parameters
        ----------
        Y_true : (n_samples, n_labels) indicators, dense or sparse
        Y_pred : (n_samples, n_labels) scores, dense or sparse

        Returns
        -------
        display
        """
        truth = indicator(Y_true, "Y_true")
        found = indicator(Y_pred, "Y_pred") if cls._needs_decisions else checked_scores(Y_pred)
        return cls(*cls._computed(truth, found)).plot(ax=ax)

    @classmethod
    def _evaluated(cls, evaluation: Evaluation) -> tuple[Any, ...]:
        """What an evaluation has for the constructor."""
        return (getattr(evaluation, cls._plotted),)

    @classmethod
    def _computed(cls, truth: sparse.csr_array, predicted: Matrix) -> tuple[Any, ...]:
        """What predictions have for the constructor."""
        raise NotImplementedError


class PrecisionAtKDisplay(_EvaluationDisplay):
    """Precision and nDCG of the k best labels, for k = 1, 2, ...

    Parameters
    ----------
    curve : list of pairs
        Precision and nDCG at each k.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sketchforest.evaluation import PrecisionAtKDisplay
    >>> shown = PrecisionAtKDisplay.from_predictions([[1, 0], [0, 1]], [[0.9, 0.1], [0.4, 0.2]])
    >>> [float(precision) for precision, ndcg in shown.curve]
    [0.5, 0.5]
    """

    _plotted = "curve"

    def __init__(self, curve: Sequence[tuple[float, float]]) -> None:
        self.curve = curve

    @classmethod
    def _computed(cls, truth: sparse.csr_array, predicted: Matrix) -> tuple[Any, ...]:
        ks = range(1, min(DEEPEST, truth.shape[1]) + 1)
        found = [(precision_at_k(truth, predicted, k), ndcg_at_k(truth, predicted, k)) for k in ks]
        return (found,)

    def _draw(self, ax: "Axes") -> None:
        draw_curve(ax, self.curve)


class ThresholdCurveDisplay(_EvaluationDisplay):
    """Precision, recall and F1 of all decisions, by the threshold of a label's score.

    Parameters
    ----------
    thresholds : list of Decided
        As in `Evaluation.thresholds`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sketchforest.evaluation import ThresholdCurveDisplay
    >>> shown = ThresholdCurveDisplay.from_predictions([[1, 0], [0, 1]], [[0.9, 0.1], [0.4, 0.2]])
    >>> shown.thresholds[50].recall
    0.5
    """

    _plotted = "thresholds"

    def __init__(self, thresholds: Sequence[Decided]) -> None:
        if not thresholds:
            raise ValueError(
                "thresholds must not be empty; got none. Classes and real outputs have none."
            )
        self.thresholds = thresholds

    @classmethod
    def _computed(cls, truth: sparse.csr_array, predicted: Matrix) -> tuple[Any, ...]:
        return (threshold_curve(truth, sparse.csr_array(predicted), THRESHOLDS),)

    def _draw(self, ax: "Axes") -> None:
        draw_thresholds(ax, self.thresholds)


class CalibrationDisplay(_EvaluationDisplay):
    """Share of true labels by predicted probability.

    Parameters
    ----------
    bins : list of triples
        As in `Evaluation.bins`.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sketchforest.evaluation import CalibrationDisplay
    >>> shown = CalibrationDisplay.from_predictions([[1, 0], [0, 1]], [[0.9, 0.1], [0.4, 0.2]])
    >>> len(shown.bins)
    4
    """

    _plotted = "bins"

    def __init__(self, bins: Sequence[tuple[float, float, int]]) -> None:
        self.bins = bins

    @classmethod
    def _computed(cls, truth: sparse.csr_array, predicted: Matrix) -> tuple[Any, ...]:
        return (calibration(truth, sparse.csr_array(predicted)),)

    def _draw(self, ax: "Axes") -> None:
        draw_calibration(ax, self.bins)


class LabelFrequencyDisplay(_EvaluationDisplay):
    """F1 of each label by its number of rows; `from_predictions` takes decisions, not scores.

    Parameters
    ----------
    n_true : (n_labels,) array
        Number of rows with the label.
    f1 : (n_labels,) array

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sketchforest.evaluation import LabelFrequencyDisplay
    >>> shown = LabelFrequencyDisplay.from_predictions([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    >>> shown.f1.tolist()
    [1.0, 0.0]
    """

    _needs_decisions = True

    def __init__(self, n_true: np.ndarray, f1: np.ndarray) -> None:
        self.n_true, self.f1 = n_true, f1

    @classmethod
    def _evaluated(cls, evaluation: Evaluation) -> tuple[Any, ...]:
        if evaluation.labels is None:
            raise ValueError("evaluation must be that of a classifier; got one of a regressor.")
        return evaluation.labels.n_true, evaluation.labels.f1

    @classmethod
    def _computed(cls, truth: sparse.csr_array, predicted: Matrix) -> tuple[Any, ...]:
        n_true, n_predicted = column_counts(truth), column_counts(predicted)
        total = n_true + n_predicted
        return n_true, 2 * column_counts(truth.multiply(predicted)) / np.where(total > 0, total, 1)

    def _draw(self, ax: "Axes") -> None:
        draw_labels(ax, self.n_true, self.f1)


@described_methods
class FeatureImportancesDisplay(_Display):
    """The most important features of a fitted estimator.

    Parameters
    ----------
    names : sequence of str
    importances : (n,) array
        The largest first.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sketchforest import RandomForestClassifier
    >>> from sketchforest.evaluation import FeatureImportancesDisplay
    >>> forest = RandomForestClassifier(5, random_state=0).fit([[0, 1], [0, 2]] * 9, [0, 1] * 9)
    >>> FeatureImportancesDisplay.from_estimator(forest).names
    ['1', '0']
    """

    def __init__(self, names: Sequence[str], importances: np.ndarray) -> None:
        self.names, self.importances = list(names), np.asarray(importances)
        self._height = 1 + 0.25 * len(self.names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, n: int = 20, ax: "Axes | None" = None
    ) -> "FeatureImportancesDisplay":
        """Plot the n largest `feature_importances_` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``feature_importances_``

        Returns
        -------
        display
        """
        importances = np.asarray(estimator.feature_importances_)
        best = np.argsort(-importances, kind="stable")[:n]
        known = getattr(estimator, "feature_names_", None)
        known = getattr(estimator, "feature_names_in_", None) if known is None else known
        names = best if known is None else np.asarray(known)[best]
        return cls(list(map(str, names)), importances[best]).plot(ax=ax)

    def _draw(self, ax: "Axes") -> None:
        signed_bars(ax, self.names, self.importances.tolist())
        ax.set_xlabel("share of the gain of all splits")
