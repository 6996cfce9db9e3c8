"""Combine text, numbers and categories into the features of one model."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from sketchforest._estimators.inspection.names import feature_names
from sketchforest._utils.display import shortened
from sketchforest._utils.typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import notes_of
from sketchforest.datasets._rows import FLOAT32_MAX
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures
from sketchforest.explain import Explanation

# TF-IDF weights are below 1. Numbers beside them are scaled so that these quantiles become 0 and 1.
QUANTILES = (0.01, 0.99)

Scales = dict[str, tuple[float, float]]  # offset and width of each number


def table_features(model: Model, columns: Columns) -> TableFeatures:
    """Return the features that are not terms of texts."""
    names = feature_names(model.fitted_)
    assert names is not None
    return TableFeatures.of_names(names[n_terms(model) :].astype(str).tolist(), columns.categories)


def n_terms(model: Model) -> int:
    """Return the number of terms of texts, which are the first features."""
    vectorizer = getattr(model, "vectorizer_", None)
    return 0 if vectorizer is None else len(vectorizer.vocabulary_)


def find_scales(X: sparse.csr_array, names: Sequence[str]) -> Scales:
    """Return the scales of the first columns of X, which have these names."""
    scales: Scales = {}
    for column, name in enumerate(names):
        values = X[:, [column]].toarray().ravel().astype(np.float64)
        values = values[np.isfinite(values)]
        low, high = np.quantile(values, QUANTILES) if len(values) else (0.0, 1.0)
        scales[name] = float(low), float(high - low) or 1.0
    return scales


def scale(X: Matrix, scales: Scales) -> sparse.csr_array:
    """Scale the first columns of X."""
    if not scales:
        return sparse.csr_array(X)
    low, width = np.array(list(scales.values())).T
    numbers, others = sparse.csr_array(X[:, : len(low)]), X[:, len(low) :]
    with np.errstate(over="ignore"):
        scaled = (numbers.toarray() - low) / width
    # Features are float32, where larger values would become infinite.
    scaled = np.clip(scaled, -FLOAT32_MAX, FLOAT32_MAX)
    return sparse.hstack([sparse.csr_array(scaled), sparse.csr_array(others)], format="csr")


def explain_row(
    model: Model, x: Matrix, labels: Sequence[str | int] | None = None, k: int = 3
) -> Explanation:
    """Explain the scores of a row, with numbers as in the table, before scaling."""
    found = model.explain(x, labels, k)
    scales = notes_of(model).get("scales", {})
    values, is_present = found.values.copy(), found.is_present.copy()
    # Skip terms, which may have the name of a column.
    for at in np.flatnonzero(found.features >= n_terms(model)):
        name = str(found.feature_names[at])
        if name in scales:
            values[at] = _unscale(values[at], *scales[name])
            is_present[at] = True  # a scaled value of 0 is a number like any other
    return replace(found, values=values, is_present=is_present)


def label_json(found: Explanation, at: int, n_features: int) -> dict[str, Any]:
    """Return the explanation of one label; the last lines sum up several features."""
    return {
        "label": str(found.label_names[at]),
        "score": float(found.scores[at]),
        "base": float(found.base[at]),
        "features": [
            {
                "feature": line.feature,
                "value": None if line.value is None or np.isnan(line.value) else float(line.value),
                "adds": line.adds,
            }
            for line in found.lines(at, n_features)
        ],
    }


def rows_json(found: Explanation, n_rows: int, max_text: int | None = None) -> list[dict[str, Any]]:
    """Return the training rows with the largest weights."""
    rows = []
    for at in range(min(n_rows, len(found.rows))):
        row = {"row": int(found.rows[at]), "id": found.row_names[at]}
        row |= {"weight": float(found.weights[at]), "labels": found.row_labels[at]}
        if found.row_texts is not None:
            text = found.row_texts[at]
            row["text"] = text if max_text is None else shortened(text, max_text)
        rows.append(row)
    return rows


def _unscale(value: float, low: float, width: float) -> float:
    """Invert the scaling, rounded to the precision of float32."""
    distance = float(value) * width
    if not np.isfinite(distance) or distance == 0:
        return low + distance
    return round(low + distance, 6 - math.floor(math.log10(abs(distance))))


def join_features(model: Model, texts: list[str] | None, X: Matrix) -> sparse.csr_array:
    """Combine texts with the other features of the same rows."""
    others = scale(X, notes_of(model).get("scales", {}))
    if texts is None:
        return others.astype(np.float32)
    return prepend_terms(model.vectorizer_.transform(texts), others)


def prepend_terms(terms: sparse.csr_array, others: sparse.csr_array) -> sparse.csr_array:
    """Return (n_rows, n_terms + n_others) float32."""
    if not others.shape[1]:
        return terms
    return sparse.csr_array(sparse.hstack([terms, others], format="csr"), dtype=np.float32)
