"""The labels of the training rows, and thresholds of decisions."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sketchforest._trees.criterion import VARIANCE, Criterion
from sketchforest._trees.model import Labels, SparseRows


@dataclass(frozen=True)
class Targets:
    """The labels of the training rows, and the form in which Y was passed."""

    labels: Labels
    is_sparse: bool
    classes: np.ndarray | None = None  # if each row has one class
    dtype: np.dtype | None = None  # of a classifier's Y
    is_vector: bool = False  # one real output, passed as (n_samples,)
    label_names: np.ndarray | None = None  # if Y was a data frame with names of type str
    is_spmatrix: bool = False  # a scipy matrix rather than array
    # For several columns of classes. The labels are their indicators, one column after the other.
    column_classes: tuple[np.ndarray, ...] | None = None
    criterion: Criterion = VARIANCE
    is_balanced: bool = False  # rare labels count more

    @property
    def is_classification(self) -> bool:
        return self.dtype is not None

    @property
    def is_indicator(self) -> bool:
        """Whether rows have labels, rather than classes or real outputs."""
        return self.is_classification and not self.has_classes

    @property
    def has_classes(self) -> bool:
        """Whether rows have one class each, or one in each of several columns."""
        return self.classes is not None or self.column_classes is not None

    @property
    def n_outputs(self) -> int:
        return len(self.classes_by_output) if self.has_classes else self.labels.shape[1]

    @property
    def classes_by_output(self) -> list[np.ndarray]:
        """The classes of each output; empty for real outputs."""
        if self.column_classes is not None:
            return list(self.column_classes)
        if self.classes is not None:
            return [self.classes]
        if not self.is_classification:
            return []
        return [np.array([0, 1], dtype=self.dtype)] * self.labels.shape[1]

    @property
    def classes_per_output(self) -> np.ndarray:
        """(n_outputs,) number of classes; 2 for a label, 1 for a real output."""
        if not self.has_classes:
            return np.full(self.n_outputs, 1 + self.is_classification, dtype=np.intp)
        return np.array([len(classes) for classes in self.classes_by_output], dtype=np.intp)

    def by_column(self, of_classes: np.ndarray) -> list[np.ndarray]:
        """Split (n, n_labels) values by column of classes."""
        ends = np.cumsum(self.classes_per_output)[:-1]
        return np.split(of_classes, ends, axis=1)

    def most_probable(self, of_classes: np.ndarray) -> np.ndarray:
        """(n, n_columns) most probable class in each column, given (n, n_labels) values.

        The first of equally probable classes is chosen.
        """
        largest = [found.argmax(axis=1) for found in self.by_column(of_classes)]
        return np.stack(list(map(np.take, self.classes_by_output, largest)), axis=1)

    @property
    def impurity_scale(self) -> float:
        """The factor from the core's impurity, summed over labels, to scikit-learn's mean."""
        return self.criterion.scale(self.n_outputs, are_labels=self.is_indicator)

    @property
    def native_criterion(self) -> str:
        """The name of the criterion's implementation in the core."""
        return self.criterion.native_name_of(are_labels=self.is_indicator)

    def equals(self, other: "Targets") -> bool:
        """Whether the rows have the same labels or classes, in any container."""
        mine, theirs = _arrays_of(self), _arrays_of(other)
        has_same_shape = self.labels.shape == other.labels.shape and len(mine) == len(theirs)
        return has_same_shape and all(map(np.array_equal, mine, theirs))

    @property
    def class_labels(self) -> SparseRows:
        """The labels of a classifier, which are always stored sparse."""
        assert isinstance(self.labels, SparseRows)
        return self.labels


class F1Thresholds(NamedTuple):
    """Thresholds that maximize F1: labels with higher probabilities are predicted."""

    for_all: np.float32
    for_each: np.ndarray  # (n_labels,) float32
    at_least_one: bool = True  # predict the most probable label of a row if none is above


def _arrays_of(targets: Targets) -> list[Any]:
    labels, classes = targets.labels, (targets.classes, *(targets.column_classes or ()))
    if isinstance(labels, np.ndarray):
        return [labels, None, None, *classes]
    return [labels.indptr, labels.indices, labels.data, *classes]
