"""Projections of the label space: the matrices P of the sketch Z = Y @ P.

Splits are searched on Z (n_samples, n_components) instead of Y (n_samples, n_labels). The random
matrices here are scaled so that squared distances, hence variances, are preserved in expectation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar, Literal, TypeAlias, cast

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from sketchforest._eigenvectors import eigenvectors_by_products, eigenvectors_of_gram
from sketchforest._random_signs import Matrix, random_signs
from sketchforest._sparse import checked_if_sparse
from sketchforest._transformer_projection import TransformerProjection, as_float32, check_finite

__all__ = [
    "AchlioptasProjection",
    "GaussianProjection",
    "HadamardProjection",
    "PCAProjection",
    "Projection",
    "RademacherProjection",
    "SparseProjection",
    "SubsampleProjection",
    "TransformerProjection",
    "sketch",
]

# The cheapest that lost to the original outputs on fewer than one set in ten: docs/study.
DEFAULT_N_COMPONENTS = 64
# The extra-trees of a sketch forest, and its oblique trees with few labels, do with fewer.
MIXED_N_COMPONENTS, MANY_LABELS = 32, 256
# One non-zero in so many makes the CSR product as slow as the dense one.
DENSE_ENOUGH = 64
# A Gram matrix of this order takes 32 MB and well under a second.
MAX_GRAM_LABELS = 2000


class Projection:
    """A way to make P (n_labels, n_components); subclass it and define `draw` or `fit`.

    Attributes
    ----------
    fits_labels : bool
        True if P depends on the labels: `fit` is called instead of `draw`.
    is_random : bool
        False if P ignores the random generator, so that one P serves every tree.

    Examples
    --------
    >>> class FirstLabels(Projection):
    ...     is_random = False
    ...     def draw(self, n_labels, n_components, rng):
    ...         return np.eye(n_labels, n_components, dtype=np.float32)
    >>> sketch(FirstLabels(), np.array([[1, 0, 1], [0, 1, 1]]), 2, np.random.default_rng(0))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    fits_labels: ClassVar[bool] = False
    is_random: ClassVar[bool] = True

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> Matrix:
        """P (n_labels, n_components), float32, dense or CSR, drawn from `rng`."""
        raise NotImplementedError(f"{type(self).__name__} does not define draw.")

    def fit(self, Y: Matrix, n_components: int, rng: np.random.Generator) -> Matrix:
        """P (n_labels, n_components), float32, dense or CSR, computed from the labels."""
        raise NotImplementedError(f"{type(self).__name__} does not define fit.")


@dataclass(frozen=True)
class GaussianProjection(Projection):
    """Independent entries N(0, 1/m).

    Examples
    --------
    >>> GaussianProjection().draw(1000, 32, np.random.default_rng(0)).shape
    (1000, 32)
    """

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> np.ndarray:
        P = rng.standard_normal((n_labels, n_components), dtype=np.float32)
        P *= np.float32(1 / math.sqrt(n_components))
        return P


@dataclass(frozen=True)
class RademacherProjection(Projection):
    """Entries +-sqrt(s/m) with probability 1/(2s) each, else 0; dense for s = 1, CSR for s > 1.

    Examples
    --------
    >>> np.unique(RademacherProjection().draw(1000, 4, np.random.default_rng(0)))
    array([-0.5,  0.5], dtype=float32)
    """

    s: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.s < math.inf:
            raise ValueError(
                f"s must be a finite number of at least 1; got {self.s!r}. "
                "Use s=1 for a matrix without zeros."
            )

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> Matrix:
        return random_signs(n_labels, n_components, self.s, rng)


@dataclass(frozen=True)
class AchlioptasProjection(Projection):
    """Entries +-sqrt(3/m) with probability 1/6 each, else 0; CSR.

    Examples
    --------
    >>> np.unique(AchlioptasProjection().draw(1000, 3, np.random.default_rng(0)).data)
    array([-1.,  1.], dtype=float32)
    """

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> Matrix:
        return random_signs(n_labels, n_components, 3.0, rng)


@dataclass(frozen=True)
class SparseProjection(Projection):
    """Sparse signs with s = sqrt(n_labels): about sqrt(n_labels) labels a component; CSR.

    Examples
    --------
    >>> P = SparseProjection().draw(10_000, 1, np.random.default_rng(0))
    >>> bool(50 < P.nnz < 150)
    True
    """

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> Matrix:
        return random_signs(n_labels, n_components, math.sqrt(n_labels), rng)


@dataclass(frozen=True)
class HadamardProjection(Projection):
    """Distinct random columns of a Sylvester-Hadamard matrix, scaled by 1/sqrt(m).

    Examples
    --------
    >>> P = HadamardProjection().draw(8, 8, np.random.default_rng(0))
    >>> bool(np.allclose(P @ P.T, np.eye(8), atol=1e-6))
    True
    """

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> np.ndarray:
        _check_reduces("hadamard", n_labels, n_components)
        order = 1 << (n_labels - 1).bit_length()
        index = np.min_scalar_type(order - 1)
        columns = rng.choice(order, n_components, replace=False).astype(index)
        common_bits = np.bitwise_count(np.arange(n_labels, dtype=index)[:, None] & columns)
        scale = np.float32(1 / math.sqrt(n_components))
        return np.where(common_bits & 1, -scale, scale)


@dataclass(frozen=True)
class SubsampleProjection(Projection):
    """Distinct random labels, one a component, scaled by sqrt(n_labels/m); CSR.

    Examples
    --------
    >>> P = SubsampleProjection().draw(8, 2, np.random.default_rng(0))
    >>> P.sum(axis=0)
    array([2., 2.], dtype=float32)
    """

    def draw(self, n_labels: int, n_components: int, rng: np.random.Generator) -> sparse.csr_array:
        _check_reduces("subsample", n_labels, n_components)
        labels = rng.choice(n_labels, n_components, replace=False)
        scale = np.full(n_components, math.sqrt(n_labels / n_components), dtype=np.float32)
        return sparse.csr_array(
            (scale, (labels, np.arange(n_components))), shape=(n_labels, n_components)
        )


@dataclass(frozen=True)
class PCAProjection(Projection):
    """Leading eigenvectors of the covariance of Y, largest eigenvalue first; Y stays sparse.

    The largest entry of every column is made positive, so P depends on nothing but Y.

    Examples
    --------
    >>> Y = np.array([[0, 0], [1, 0], [0, 0], [1, 0]])
    >>> PCAProjection().fit(Y, 1)
    array([[1.],
           [0.]], dtype=float32)
    """

    fits_labels: ClassVar[bool] = True
    is_random: ClassVar[bool] = False

    def fit(
        self, Y: Matrix, n_components: int, rng: np.random.Generator | None = None
    ) -> np.ndarray:
        Y = checked_if_sparse("Y", Y)
        n_labels = Y.shape[1]
        if n_components > min(Y.shape):
            raise ValueError(
                f"n_components must be at most min(n_samples, n_labels)={min(Y.shape)} for "
                f"projection='pca'; got {n_components}. Use 'rademacher' for more components."
            )
        Y = Y.astype(float) if sparse.issparse(Y) else np.asarray(Y, dtype=float)
        # ARPACK keeps 2m + 1 vectors: past half of the labels, the Gram matrix is no larger.
        if n_labels <= MAX_GRAM_LABELS or 2 * n_components >= n_labels:
            P = eigenvectors_of_gram(Y, n_components)
        else:
            P = eigenvectors_by_products(Y, n_components)
        # The tolerance lets the first of equal entries win, not the luck of the last digit.
        size = np.abs(P)
        largest = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
        signs = np.where(P[largest, np.arange(n_components)] < 0, -1, 1)
        return np.ascontiguousarray(P * signs, dtype=np.float32)


# Trees of a sketch forest have defaults of their own.
TreeType: TypeAlias = Literal["any", "extra", "oblique"]
ProjectionLike: TypeAlias = str | Projection | TransformerProjection | BaseEstimator | None

PROJECTIONS: dict[str, Callable[[], Projection]] = {
    "gaussian": GaussianProjection,
    "rademacher": RademacherProjection,
    "achlioptas": AchlioptasProjection,
    "sparse": SparseProjection,
    "hadamard": HadamardProjection,
    "subsample": SubsampleProjection,
    "pca": PCAProjection,
}


def resolve_projection(projection: ProjectionLike) -> Projection | TransformerProjection | None:
    """The projection meant by a name, None, a projection object or a scikit-learn transformer."""
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
    tree_type : str, default="any"
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
            pass  # the int 1 to Python, but nobody means one component by True
        case Integral() if int(n_components) >= 1:
            return int(n_components)
        case Real() if 0 < float(n_components) <= 1:
            return _nearest_count(float(n_components) * n_labels)
    raise ValueError(
        "n_components must be an int of at least 1, a fraction in (0, 1], 'log', 'sqrt', 'all', "
        f"None, or 'auto' in a forest; got {n_components!r}. Use projection=None to keep the "
        "original outputs."
    )


def project_labels(Y: Matrix, P: Matrix) -> np.ndarray:
    """Z = Y @ P (n_samples, n_components), dense float32; Y is never made dense."""
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
    """P (n_labels, n_components), float32, dense or CSR: the matrix that `sketch` would use."""
    projection, Y = resolve_projection(projection), checked_if_sparse("Y", Y)
    if projection is None or isinstance(projection, TransformerProjection):
        raise ValueError(
            f"projection must be a name or a Projection to have a matrix; got {projection!r}. "
            "Use sketch for Z alone."
        )
    n_labels = Y.shape[1]
    if getattr(projection, "fits_labels", False):
        P = as_float32(projection.fit(Y, n_components, rng))
    else:
        P = as_float32(projection.draw(n_labels, n_components, rng))
    if P.shape != (n_labels, n_components):
        raise ValueError(
            f"projection must give P of shape (n_labels, n_components)={n_labels, n_components}; "
            f"{type(projection).__name__} gave {P.shape}."
        )
    if not isinstance(projection, tuple(PROJECTIONS.values())):  # type: ignore[arg-type]
        check_finite(P, type(projection).__name__)
    return P


def sketch(
    projection: ProjectionLike, Y: Matrix, n_components: int | None, rng: np.random.Generator
) -> Matrix:
    """Z (n_samples, n_components), what a tree searches its splits on.

    Parameters
    ----------
    projection : str, Projection, scikit-learn transformer or None
        As in the forests; None keeps Y.
    Y : (n_samples, n_labels) array or CSR
    n_components : int or None
        The number m; None keeps Y, and a transformer has its own.
    rng : numpy.random.Generator

    Returns
    -------
    (n_samples, n_components) float32 array, or Y itself. Made in O(nnz(Y) m), without Y dense.

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


def _check_reduces(name: str, n_labels: int, n_components: int) -> None:
    if n_components > n_labels:
        raise ValueError(
            f"n_components must be at most n_labels={n_labels} for projection={name!r}; "
            f"got {n_components}. Use 'rademacher' to project upwards."
        )


def _nearest_count(n_components: float) -> int:
    return max(1, math.floor(0.5 + n_components))
