"""One interface to every library of the benchmark."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Options:
    """How to fit a method. Of `n_estimators` trees, `n_grown` are grown."""

    n_estimators: int = 100
    n_grown: int = 100
    n_jobs: int = 2
    seed: int = 0
    is_dense: bool = False  # whether X is dense


class ModelAdapter(ABC):
    """A model of one library and one split, with the data in the form that the library takes."""

    X_test: Any  # can be sliced
    predicts_labels = True
    n_estimators: int
    nodes_per_tree: float | None = None
    x_format = "csr"

    @abstractmethod
    def fit(self) -> None: ...

    @abstractmethod
    def n_bytes(self) -> int:
        """Size of the saved model."""

    def prepare_predictions(self) -> None:
        """Called between fitting and predicting, and not timed."""
        return None

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """Score every label, in whatever form the library returns."""

    @abstractmethod
    def scores(self, prediction: Any) -> np.ndarray:
        """Convert a prediction to an (n_samples, n_labels) array."""

    @abstractmethod
    def use_one_thread(self) -> None:
        """Called before single rows are predicted, because starting threads takes longer."""
