"""Terms of texts, numbers and categories beside each other: the features of one model."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from sketchforest._utils.typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.models import feature_names, notes_of
from sketchforest.datasets._rows import FLOAT32_MAX
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures
from sketchforest.explain import Explanation

# Beside terms, whose weights are below 1, numbers lie on a scale on which this share of them, from
# below and from above, is outside of 0 to 1.
OUTSIDE = 0.01

Scales = dict[str, tuple[float, float]]  # of numbers: what is 0, and how far 1 is from it


def table_features(model: Model, columns: Columns) -> TableFeatures:
    """The features of a model that are no terms of texts."""
    names = feature_names(model.fitted_)
    assert names is not None
    others = names[n_terms(model) :]
    return TableFeatures.of_names([str(name) for name in others], columns.categories)


def n_terms(model: Model) -> int:
    """How many of the features, the first ones, are terms of texts."""
    vectorizer = getattr(model, "vectorizer_", None)
    return 0 if vectorizer is None else len(vectorizer.vocabulary_)


def find_scales(X: sparse.csr_array, names: list[str]) -> Scales:
    """Of the first columns of X, which have these names."""
    scales: Scales = {}
    for column, name in enumerate(names):
        values = X[:, [column]].toarray().ravel().astype(np.float64)
        values = values[np.isfinite(values)]
        low, high = np.quantile(values, (OUTSIDE, 1 - OUTSIDE)) if len(values) else (0.0, 1.0)
        scales[name] = float(low), float(high - low) or 1.0
    return scales


def scaled(X: Matrix, scales: Scales) -> sparse.csr_array:
    """X with its first columns on these scales."""
    if not scales:
        return sparse.csr_array(X)
    low, width = np.array(list(scales.values())).T
    numbers, others = sparse.csr_array(X[:, : len(low)]), X[:, len(low) :]
    with np.errstate(over="ignore"):
        on_scale = (numbers.toarray() - low) / width
    # Features are 32 bits wide, and what is beyond them would be infinite there.
    on_scale = np.clip(on_scale, -FLOAT32_MAX, FLOAT32_MAX)
    return sparse.hstack([sparse.csr_array(on_scale), sparse.csr_array(others)], format="csr")


def explained(
    model: Model, x: Matrix, labels: Sequence[str | int] | None = None, k: int = 3
) -> Explanation:
    """Why a row has its scores, with numbers as they stand in the table, before scaling."""
    found = model.explain(x, labels, k)
    scales = notes_of(model).get("scales", {})
    values, is_present = found.values.copy(), found.is_present.copy()
    # A term may have the name of a column.
    for at in np.flatnonzero(found.features >= n_terms(model)):
        scale = scales.get(str(found.feature_names[at]))
        if scale is not None:
            values[at] = _on_own_scale(values[at], *scale)
            is_present[at] = True  # what is 0 on the scale is a number like others
    return replace(found, values=values, is_present=is_present)


def _on_own_scale(value: float, low: float, width: float) -> float:
    """The number whose place on the scale this is; as 32 bits had that, further digits than they
    know are left out."""
    distance = float(value) * width
    if not np.isfinite(distance) or distance == 0:
        return low + distance
    return round(low + distance, 6 - math.floor(math.log10(abs(distance))))


def joined(model: Model, texts: list[str] | None, X: Matrix) -> sparse.csr_array:
    """Texts, and the other features of the same rows, as the features of a model."""
    others = scaled(X, notes_of(model).get("scales", {}))
    if texts is None:
        return others.astype(np.float32)
    return with_terms(model.vectorizer_.transform(texts), others)


def with_terms(terms: sparse.csr_array, others: sparse.csr_array) -> sparse.csr_array:
    """The terms first: (n_rows, n_terms + n_others) float32."""
    if not others.shape[1]:
        return terms
    return sparse.csr_array(sparse.hstack([terms, others], format="csr"), dtype=np.float32)
