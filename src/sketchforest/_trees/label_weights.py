"""Weights that let rare labels count more, in the search for splits and in predictions."""

import numpy as np

from sketchforest._trees.model import SparseRows

# Weights are this power of the inverse frequency. With 1, as for classes, they would undo the
# ranking: a label of one row would come before one of a thousand rows that is as likely.
EXPONENT = 0.3


def balanced_label_weights(labels: SparseRows) -> np.ndarray:
    """(n_labels,) float32 weights, on average 1 for the labels of a row."""
    counts = np.bincount(labels.indices, minlength=labels.n_columns)
    logs = -EXPONENT * np.log((counts + 1) / (labels.n_rows + 2))
    mean = np.average(logs, weights=counts) if counts.any() else 0.0
    return np.exp(logs - mean).astype(np.float32)


def weighted_labels(labels: SparseRows, weights: np.ndarray) -> SparseRows:
    """Labels as outputs for the search of splits, in which impurities count by these weights."""
    # Impurity is a sum of squares.
    values = np.sqrt(weights)[labels.indices].astype(np.float32)
    return SparseRows(**labels.fields() | {"values": values})


def reweighted(scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Scores where each row with a label counts `weights` times as much as one without it."""
    found: np.ndarray = weights * scores / (1 + (weights - 1) * scores)
    return found
