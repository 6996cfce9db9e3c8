"""The best labels of each row, as lists."""

from itertools import pairwise

import numpy as np

from sketchforest._estimators.predicting.labels import (
    PredictsLabels,
    best_labels,
    predicted_labels,
)
from sketchforest._utils.typing import MatrixLike

RankedLabels = list[tuple[list[int], list[float]]]  # labels and scores per row, best first


def ranked_labels(model: PredictsLabels, X: MatrixLike, top: int | None) -> RankedLabels:
    """Return the labels and scores of each row, best first: the `top` best, or the predicted."""
    fitted = model.fitted_
    if top is None and fitted.targets.column_classes is not None:
        return _best_of_columns(model, X)
    if top is None and fitted.targets.classes is None:
        likely = predicted_labels(model, X)
        rows = np.repeat(np.arange(likely.shape[0]), np.diff(likely.indptr))
        order = np.lexsort((likely.indices, -likely.data, rows))
        return as_lists(likely.indices[order], likely.data[order], likely.indptr)
    k = min(top or 1, fitted.labels.shape[1])
    labels, scores = best_labels(model, X, k)
    counts = np.count_nonzero(scores > 0, axis=1).tolist()
    found = zip(labels.tolist(), scores.tolist(), counts, strict=True)
    return [(row[:n], values[:n]) for row, values, n in found]


def _best_of_columns(model: PredictsLabels, X: MatrixLike) -> RankedLabels:
    """Return the most probable class of each target column, in the order of the columns."""
    shares = model.predict_proba(X)
    first = np.cumsum([0, *(found.shape[1] for found in shares[:-1])])
    labels = np.stack([found.argmax(axis=1) for found in shares], axis=1) + first
    scores = np.stack([found.max(axis=1) for found in shares], axis=1)
    return list(zip(labels.tolist(), scores.tolist(), strict=True))


def as_lists(indices: np.ndarray, data: np.ndarray, indptr: np.ndarray) -> RankedLabels:
    """Split a CSR matrix into rows."""
    columns, values = indices.tolist(), data.tolist()
    return [(columns[a:b], values[a:b]) for a, b in pairwise(indptr.tolist())]
