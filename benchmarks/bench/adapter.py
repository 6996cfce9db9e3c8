"""One interface to every library of the benchmark."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Rows = TypeVar("Rows")
Prediction = TypeVar("Prediction")


@dataclass(frozen=True)
class Options:
    """How a method is fitted. Of ``n_estimators`` trees, ``n_grown`` are really grown."""

    n_estimators: int = 100
    n_grown: int = 100
    n_jobs: int = 2
    seed: int = 0
    is_dense: bool = False  # X as an array


class ModelAdapter(ABC, Generic[Rows, Prediction]):
    """A model of one library on one split; its data lie in memory in the form that it wants."""

    X_test: Rows  # can be sliced
    predicts_labels = True
    n_estimators: int
    nodes_per_tree: float | None = None
    x_format = "csr"

    @abstractmethod
    def fit(self) -> None:
        """To the training rows."""

    @abstractmethod
    def n_bytes(self) -> int:
        """Size of the saved model."""

    def prepare_predictions(self) -> None:
        """Between fitting and predicting, not timed."""
        return None

    @abstractmethod
    def predict(self, X: Rows) -> Prediction:
        """The score of every label, in whatever form the library gives them."""

    @abstractmethod
    def scores(self, prediction: Prediction) -> np.ndarray:
        """(n_samples, n_labels) array of what `predict` gave."""

    @abstractmethod
    def use_one_thread(self) -> None:
        """Before predicting row by row: starting threads takes longer than one row."""
