"""What a fit leaves behind, whatever the estimator: trees, the labels of their rows, settings."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sketchforest._trees.model import Forest, Labels, SparseRows
from sketchforest._trees.problem import GrowSettings


@dataclass(frozen=True)
class Targets:
    """The labels of the training rows, and the form in which they were given."""

    labels: Labels
    is_sparse: bool
    classes: np.ndarray | None = None  # of a classifier; None: an indicator matrix
    dtype: np.dtype | None = None  # of a classifier's Y
    is_vector: bool = False  # one real output, given as (n_samples,)
    label_names: np.ndarray | None = None  # of a data frame with names of type str
    is_spmatrix: bool = False  # sparse, in scipy's container of the older interface

    @property
    def is_classification(self) -> bool:
        return self.dtype is not None

    @property
    def is_indicator(self) -> bool:
        """Whether rows have labels, and not one class each or real outputs."""
        return self.is_classification and self.classes is None

    @property
    def n_outputs(self) -> int:
        return 1 if self.classes is not None else self.labels.shape[1]

    @property
    def classes_per_output(self) -> np.ndarray:
        """(n_outputs,) number of classes; 2 for a label, 1 for a real output."""
        n_classes = len(self.classes) if self.classes is not None else 1 + self.is_classification
        return np.full(self.n_outputs, n_classes, dtype=np.intp)

    @property
    def impurity_scale(self) -> float:
        """From the variance summed over labels to scikit-learn's impurity."""
        if self.classes is not None:
            return 1.0  # Gini, 1 - sum p^2, is the summed variance of the classes' indicators
        n_labels = self.labels.shape[1]
        return 2 / n_labels if self.is_classification else 1 / n_labels  # mean of 2 p (1 - p)

    def equals(self, other: "Targets") -> bool:
        """Whether the rows have the same labels or classes, in whatever container."""
        mine, theirs = _arrays_of(self), _arrays_of(other)
        return self.labels.shape == other.labels.shape and all(map(_is_same, mine, theirs))

    @property
    def class_labels(self) -> SparseRows:
        """The labels of a classifier, which are sparse however they were given."""
        assert isinstance(self.labels, SparseRows)
        return self.labels


class F1Thresholds(NamedTuple):
    """Probabilities that make F1 largest where labels above them are predicted, and the most
    probable label of a row anyway."""

    for_all: np.float32
    for_each: np.ndarray  # (n_labels,) float32


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves behind."""

    forest: Forest
    targets: Targets
    settings: GrowSettings
    fingerprint: str | None = None  # of X and the weights of its rows; None: of a single tree


def _arrays_of(targets: Targets) -> list[np.ndarray | None]:
    labels = targets.labels
    if isinstance(labels, np.ndarray):
        return [labels, None, None, targets.classes]
    return [labels.row_start, labels.columns, labels.values, targets.classes]


def _is_same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)
