"""Random projections, scaled so that squared distances are preserved in expectation."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sketchforest.projection._base import Matrix, Projection


@dataclass(frozen=True)
class GaussianProjection(Projection):
    """Independent entries from N(0, 1/m).

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
    """Entries +-sqrt(s/m) with probability 1/(2s) each, else 0. Dense for s = 1, CSR for s > 1.

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
    """Sparse signs with s = sqrt(n_labels), so about sqrt(n_labels) labels per component; CSR.

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
    """One random label per component, without replacement, scaled by sqrt(n_labels/m); CSR.

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
        return _chosen_labels(labels, scale, n_labels)


class _ByNorm(Projection):
    """Draws outputs by their norms."""

    fits_labels = True

    def fit(self, Y: Matrix, n_components: int, rng: np.random.Generator) -> sparse.csr_array:
        squares = np.square(Y) if isinstance(Y, np.ndarray) else Y.multiply(Y)
        return self.draw_by_norm(np.asarray(squares.sum(axis=0)).ravel(), n_components, rng)

    def draw_by_norm(
        self, squared_norms: np.ndarray, n_components: int, rng: np.random.Generator
    ) -> sparse.csr_array:
        """P (n_labels, n_components) for labels of these squared norms."""
        raise NotImplementedError


@dataclass(frozen=True)
class NormSubsampleProjection(_ByNorm):
    """One label per component, drawn with replacement in proportion to squared norms; CSR.

    The scale preserves squared distances in expectation: frequent labels are drawn often, and count
    less each time. Boosting uses the norms of gradients.

    Examples
    --------
    >>> Y = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    >>> P = NormSubsampleProjection().fit(Y, 4, np.random.default_rng(0))
    >>> bool(P.toarray()[2].any())  # a label without norm is never drawn
    False
    """

    def draw_by_norm(
        self, squared_norms: np.ndarray, n_components: int, rng: np.random.Generator
    ) -> sparse.csr_array:
        n_labels, total = len(squared_norms), squared_norms.sum()
        shares = squared_norms / total if total > 0 else np.full(n_labels, 1 / n_labels)
        labels = rng.choice(n_labels, n_components, p=shares)
        scale = (1 / np.sqrt(n_components * shares[labels])).astype(np.float32)
        return _chosen_labels(labels, scale, n_labels)


@dataclass(frozen=True)
class TopNormProjection(_ByNorm):
    """The labels of largest norm, one per component; CSR. Nothing is random.

    Examples
    --------
    >>> Y = np.array([[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]])
    >>> TopNormProjection().fit(Y, 2, np.random.default_rng(0)).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]], dtype=float32)
    """

    is_random = False

    def draw_by_norm(
        self, squared_norms: np.ndarray, n_components: int, rng: np.random.Generator
    ) -> sparse.csr_array:
        _check_reduces("top-norm", len(squared_norms), n_components)
        labels = np.argsort(-squared_norms, kind="stable")[:n_components]
        return _chosen_labels(labels, np.ones(n_components, np.float32), len(squared_norms))


def _chosen_labels(labels: np.ndarray, scale: np.ndarray, n_labels: int) -> sparse.csr_array:
    """One label per component, times its scale."""
    shape = (n_labels, len(labels))
    return sparse.csr_array((scale, (labels, np.arange(len(labels)))), shape=shape)


def random_signs(n_labels: int, n_components: int, s: float, rng: np.random.Generator) -> Matrix:
    """(n_labels, n_components) float32: +-sqrt(s / n_components) with probability 1/(2s) each."""
    shape = (n_labels, n_components)
    scale = np.float32(math.sqrt(s / n_components))
    if s == 1:
        return np.where(rng.integers(0, 2, shape, dtype=bool), scale, -scale)
    entries = _bernoulli_successes(n_labels * n_components, 1 / s, rng)
    values = np.where(rng.integers(0, 2, entries.size, dtype=bool), scale, -scale)
    indptr = np.searchsorted(entries, np.arange(n_labels + 1) * n_components)
    return sparse.csr_array((values, entries % n_components, indptr), shape=shape)


def _bernoulli_successes(n_trials: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """Increasing indices of the successes. Their gaps are geometric, so failures cost nothing."""
    batches, last = [], -1
    while last < n_trials:
        n_expected = int((n_trials - last) * p) + 1
        batches.append(last + np.cumsum(rng.geometric(p, n_expected)))
        last = int(batches[-1][-1])
    successes = np.concatenate(batches)
    return successes[: np.searchsorted(successes, n_trials)]


def _check_reduces(name: str, n_labels: int, n_components: int) -> None:
    if n_components > n_labels:
        raise ValueError(
            f"n_components must be at most n_labels={n_labels} for projection={name!r}; "
            f"got {n_components}. Use 'rademacher' to project to more dimensions."
        )
