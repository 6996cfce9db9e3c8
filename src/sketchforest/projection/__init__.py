"""Projections of the label space: the matrices P of the sketch Z = Y @ P.

Splits are searched on Z (n_samples, n_components) instead of Y (n_samples, n_labels). Random
projections are scaled so that squared distances, hence variances, are preserved in expectation.

To add a projection, define its class here and enter it in ``PROJECTIONS`` of ``_utils.registry``.
"""

import math
from numbers import Integral, Real
from typing import Literal, TypeAlias, cast

import numpy as np
from sklearn.base import BaseEstimator

from sketchforest._utils.registry import PROJECTIONS as _CLASS_NAMES
from sketchforest._utils.sparse import checked_if_sparse
from sketchforest.projection._base import Matrix, Projection, as_float32, check_finite
from sketchforest.projection._pca import PCAProjection
from sketchforest.projection._random import (
    AchlioptasProjection,
    GaussianProjection,
    HadamardProjection,
    NormSubsampleProjection,
    RademacherProjection,
    SparseProjection,
    SubsampleProjection,
    TopNormProjection,
)
from sketchforest.projection._transformer import TransformerProjection

__all__ = [
    "AchlioptasProjection",
    "GaussianProjection",
    "HadamardProjection",
    "NormSubsampleProjection",
    "PCAProjection",
    "Projection",
    "RademacherProjection",
    "SparseProjection",
    "SubsampleProjection",
    "TopNormProjection",
    "TransformerProjection",
    "sketch",
]

# The cheapest that lost to the original outputs on fewer than one set in ten: docs/study.
DEFAULT_N_COMPONENTS = 64
# Sufficient for the extra-trees of a sketch forest, and for its oblique trees with few labels.
MIXED_N_COMPONENTS, MANY_LABELS = 32, 256
# From one non-zero in this many entries on, a dense product is at least as fast as a CSR one.
DENSE_ENOUGH = 64

# Trees of a sketch forest have defaults of their own.
TreeType: TypeAlias = Literal["any", "extra", "oblique"]
ProjectionLike: TypeAlias = str | Projection | TransformerProjection | BaseEstimator | None

PROJECTIONS: dict[str, type[Projection]] = {
    name: globals()[class_name] for name, class_name in _CLASS_NAMES.items()
}
for _class in (Projection, TransformerProjection, *PROJECTIONS.values()):
    _class.__module__ = __name__  # pickles and skops name the public module


def resolve_projection(projection: ProjectionLike) -> Projection | TransformerProjection | None:
    """The projection for a name, a projection object, a scikit-learn transformer or None."""
    if projection is None or isinstance(projection, Projection | TransformerProjection):
        return projection
    if isinstance(projection, str) and projection in PROJECTIONS:
        return PROJECTIONS[projection]()
    # A class has the methods of its instances, but they cannot be called.
    if not isinstance(projection, type):
        if hasattr(projection, "draw"):
            return cast(Projection, projection)
        if hasattr(projection, "get_params") and (
            hasattr(projection, "fit_transform") or hasattr(projection, "transform")
        ):
            return TransformerProjection(projection)
    raise ValueError(
        f"projection must be {', '.join(map(repr, PROJECTIONS))}, None, a Projection instance "
        f"or a scikit-learn transformer; got {projection!r}."
    )


def resolve_n_components(
    n_components: object, n_labels: int, tree_type: TreeType = "any"
) -> int | None:
    """The number of components m, or None to keep the original outputs.

    Parameters
    ----------
    n_components : None, int, float, "log", "sqrt" or "all"
        A count; a fraction of the labels; floor(0.5 + ln d); floor(0.5 + sqrt d); or d itself.
        None is 64, and keeps up to 64 labels as they are: projecting them upwards only adds noise.
    n_labels : int
        The number of labels d.
    tree_type : "any", "extra" or "oblique", default="any"
        In a sketch forest, None is 32 for "extra" trees, which keep up to 32 labels as they are,
        and 64 for "oblique" trees, or 32 for fewer than 256 labels. These are always projected:
        with few labels, oblique trees on the same outputs are too similar.
    """
    match n_components:
        case None:
            if tree_type == "oblique":
                return MIXED_N_COMPONENTS if n_labels < MANY_LABELS else DEFAULT_N_COMPONENTS
            usual = MIXED_N_COMPONENTS if tree_type == "extra" else DEFAULT_N_COMPONENTS
            return usual if n_labels > usual else None
        case "log":
            return _nearest_count(math.log(n_labels))
        case "sqrt":
            return _nearest_count(math.sqrt(n_labels))
        case "all":
            return n_labels
        case bool():
            pass  # True is the int 1 to Python, but nobody means one component by it
        case Integral() if int(n_components) >= 1:
            return int(n_components)
        case Real() if 0 < float(n_components) <= 1:
            return _nearest_count(float(n_components) * n_labels)
    raise ValueError(
        "n_components must be an int of at least 1, a fraction in (0, 1], 'log', 'sqrt', 'all', "
        f"None, or 'auto' in a forest; got {n_components!r}. Use projection=None to keep the "
        "original outputs."
    )


def _nearest_count(n_components: float) -> int:
    return max(1, math.floor(0.5 + n_components))


def project_labels(Y: Matrix, P: Matrix) -> np.ndarray:
    """Z = Y @ P (n_samples, n_components), dense float32. Y is never densified."""
    # Dense rows are streamed: with s = 3 on Delicious, over ten times faster than in CSR.
    Y, P = checked_if_sparse("Y", Y), checked_if_sparse("P", P)
    if not isinstance(P, np.ndarray) and DENSE_ENOUGH * P.nnz >= P.shape[0] * P.shape[1]:
        P = P.toarray()
    Z = Y @ P
    if not isinstance(Z, np.ndarray):
        Z = Z.toarray()
    return np.ascontiguousarray(Z, dtype=np.float32)


def matrix(
    projection: ProjectionLike, Y: Matrix, n_components: int, rng: np.random.Generator
) -> Matrix:
    """The matrix P (n_labels, n_components) that `sketch` would use, a float32 array or CSR."""
    projection, Y = resolve_projection(projection), checked_if_sparse("Y", Y)
    if projection is None or isinstance(projection, TransformerProjection):
        raise ValueError(
            f"projection must be a name or a Projection to have a matrix; got {projection!r}. "
            "Use sketch to get Z alone."
        )
    n_labels = Y.shape[1]
    if getattr(projection, "fits_labels", False):
        P = as_float32(projection.fit(Y, n_components, rng))
    else:
        P = as_float32(projection.draw(n_labels, n_components, rng))
    if P.shape != (n_labels, n_components):
        raise ValueError(
            "projection must return P of shape (n_labels, n_components)="
            f"{n_labels, n_components}; {type(projection).__name__} returned {P.shape}."
        )
    if not isinstance(projection, tuple(PROJECTIONS.values())):
        check_finite(P, type(projection).__name__)
    return P


def sketch(
    projection: ProjectionLike, Y: Matrix, n_components: int | None, rng: np.random.Generator
) -> Matrix:
    """Project labels to the outputs Z on which a tree searches its splits.

    Takes O(nnz(Y) m) time, and never densifies Y.

    Parameters
    ----------
    projection : str, Projection, scikit-learn transformer or None
        As in the forests. None returns Y.
    Y : (n_samples, n_labels) array or CSR
    n_components : int or None
        The number of components m. None returns Y; a transformer ignores it.
    rng : numpy.random.Generator

    Returns
    -------
    (n_samples, n_components) float32 array, or Y itself

    Examples
    --------
    >>> Y = np.eye(1000, dtype=np.float32)[:5]
    >>> sketch("gaussian", Y, 32, np.random.default_rng(0)).shape
    (5, 32)
    """
    projection = resolve_projection(projection)
    if isinstance(projection, TransformerProjection):
        return projection.fit_transform(checked_if_sparse("Y", Y), rng)
    if projection is None or n_components is None:
        return Y
    return project_labels(Y, matrix(projection, Y, n_components, rng))
