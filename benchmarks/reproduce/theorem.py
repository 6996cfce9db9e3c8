"""Theorem 1 and the Johnson-Lindenstrauss inequality on real labels, for every projection."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from benchmarks.experiments import Workspace
from benchmarks.reproduce.figures import DENSE, NAMES, SPARSE, component_counts
from benchmarks.reproduce.settings import ReproduceSettings
from sketchforest import __version__
from sketchforest.projection import sketch

_N_ROWS = 500
_DRAWS = 10
_N_SUBSETS, _SUBSET_ROWS = 50, 20
PROJECTIONS = (*DENSE, *SPARSE, "pca")


@dataclass(frozen=True)
class TheoremResult:
    """How far ratios of squared distances and of variances are from 1, for each draw."""

    largest_distortion: list[float]
    typical_distortion: list[float]
    variance_ratio: list[float]
    largest_node_distortion: list[float]
    run_seconds: float


@dataclass(frozen=True)
class TheoremExperiment:
    """Several draws of a projection of some label vectors, and how much each distorts them."""

    table: ClassVar = "distortions"
    result_type: ClassVar = TheoremResult

    dataset: str
    projection: str
    n_components: int
    n_rows: int = _N_ROWS
    n_draws: int = _DRAWS
    seed: int = 0
    version: str = __version__

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        return f"distances under {NAMES[self.projection]}, m = {self.n_components}"

    def run(self, workspace: Workspace) -> TheoremResult:
        start = time.perf_counter()
        rng = np.random.default_rng([self.seed, 7])
        Y = distinct_rows(workspace.dataset(self.dataset).Y, self.n_rows, rng)
        subsets = [
            rng.choice(len(Y), min(_SUBSET_ROWS, len(Y)), replace=False) for _ in range(_N_SUBSETS)
        ]
        draws = [_distortions(Y, self._project(Y, draw), subsets) for draw in range(self.n_draws)]
        return TheoremResult(
            largest_distortion=[draw.distance for draw in draws],
            typical_distortion=[draw.typical_distance for draw in draws],
            variance_ratio=[draw.variance_ratio for draw in draws],
            largest_node_distortion=[draw.node_variance for draw in draws],
            run_seconds=time.perf_counter() - start,
        )

    def _project(self, Y: np.ndarray, draw: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, draw])
        return np.asarray(sketch(self.projection, Y, self.n_components, rng))


def theorem_experiments(settings: ReproduceSettings) -> list[TheoremExperiment]:
    dataset = settings.available((*settings.datasets, "delicious")[0])
    return [
        TheoremExperiment(
            dataset=dataset.dataset,
            projection=projection,
            n_components=m,
            n_draws=1 if projection == "pca" else settings.n_repeats(_DRAWS),  # not random
            seed=settings.seed,
        )
        for projection in PROJECTIONS
        for m in component_counts(dataset.n_labels, settings)
        if projection != "pca" or m <= _N_ROWS  # no more principal components than rows
    ]


def jl_epsilon(n_rows: int, n_components: int) -> float:
    """The distortion that the lemma promises to some projection to so many components."""
    return math.sqrt(8 * math.log(n_rows) / n_components)


def distinct_rows(Y: sparse.csr_array, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Up to ``n_rows`` different label vectors, dense: equal ones have no distance to distort."""
    rows = rng.permutation(Y.shape[0])[: 2 * n_rows]
    different = np.unique(Y[rows].toarray().astype(float), axis=0)
    # They come sorted, so the first ones would be those with few labels.
    return rng.permutation(different)[:n_rows]


class _Distortion(NamedTuple):
    distance: float  # the largest
    typical_distance: float
    variance_ratio: float
    node_variance: float  # the largest


def _distortions(Y: np.ndarray, Z: np.ndarray, subsets: Sequence[np.ndarray]) -> _Distortion:
    distances = np.abs(pdist(Z, "sqeuclidean") / pdist(Y, "sqeuclidean") - 1)
    variances = [_variance(Z[rows]) / _variance(Y[rows]) - 1 for rows in subsets]
    return _Distortion(
        distance=float(distances.max()),
        typical_distance=float(np.median(distances)),
        variance_ratio=_variance(Z) / _variance(Y),
        node_variance=float(np.abs(variances).max()),
    )


def _variance(Y: np.ndarray) -> float:
    return float(Y.var(axis=0, dtype=np.float64).sum())
