"""Theorem 1 and the Johnson-Lindenstrauss inequality on real labels, for every projection."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from sketchforest.lab.reproduce.curves import DENSE, NAMES, SPARSE, component_counts
from sketchforest.lab.reproduce.problems import Workspace
from sketchforest.lab.reproduce.settings import ReproduceSettings
from sketchforest.lab.reproduce.store import Result
from sketchforest.projection import sketch

_N_ROWS = 500
_DRAWS = 10
_N_SUBSETS, _SUBSET_ROWS = 50, 20
PROJECTIONS = (*DENSE, *SPARSE, "pca")


@dataclass(frozen=True)
class TheoremCell:
    """Several draws of a projection of some label vectors, and how much each distorts them."""

    dataset: str
    projection: str
    n_components: int
    n_rows: int = _N_ROWS
    n_draws: int = _DRAWS
    seed: int = 0
    synthetic: bool = False

    @property
    def group(self) -> str:
        return self.dataset

    @property
    def kind(self) -> str:
        return f"distances under {NAMES[self.projection]}, m = {self.n_components}"

    def run(self, workspace: Workspace) -> Result:
        rng = np.random.default_rng([self.seed, 7])
        data = workspace.dataset(self.dataset, synthetic=self.synthetic)
        Y = distinct_rows(data.Y, self.n_rows, rng)
        subsets = [
            rng.choice(len(Y), min(_SUBSET_ROWS, len(Y)), replace=False) for _ in range(_N_SUBSETS)
        ]
        draws = [_distortions(Y, self._project(Y, draw), subsets) for draw in range(self.n_draws)]
        return {name: [draw[name] for draw in draws] for name in draws[0]}

    def _project(self, Y: np.ndarray, draw: int) -> np.ndarray:
        rng = np.random.default_rng([self.seed, draw])
        return np.asarray(sketch(self.projection, Y, self.n_components, rng))


def theorem_cells(settings: ReproduceSettings) -> list[TheoremCell]:
    dataset = settings.available((*settings.datasets, "delicious")[0])
    return [
        TheoremCell(
            dataset=dataset.dataset,
            projection=projection,
            n_components=m,
            n_draws=1 if projection == "pca" else settings.n_repeats(_DRAWS),  # not random
            seed=settings.seed,
            synthetic=settings.is_stand_in(dataset.dataset),
        )
        for projection in PROJECTIONS
        for m in component_counts(dataset.n_labels, settings)
        if projection != "pca" or m <= _N_ROWS  # no more principal components than rows
    ]


def jl_epsilon(n_rows: int, n_components: int) -> float:
    """The distortion that the lemma promises to some projection to so many components."""
    return math.sqrt(8 * math.log(n_rows) / n_components)


def distinct_rows(Y: Any, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Up to ``n_rows`` different label vectors, dense: equal ones have no distance to distort."""
    rows = rng.permutation(Y.shape[0])[: 2 * n_rows]
    different = np.unique(Y[rows].toarray().astype(float), axis=0)
    # They come sorted, so the first ones would be those with few labels.
    return rng.permutation(different)[:n_rows]


def _distortions(Y: np.ndarray, Z: np.ndarray, subsets: Sequence[np.ndarray]) -> dict[str, float]:
    """How far ratios of squared distances and of variances are from 1, after and before."""
    distances = np.abs(pdist(Z, "sqeuclidean") / pdist(Y, "sqeuclidean") - 1)
    variances = [_variance(Z[rows]) / _variance(Y[rows]) - 1 for rows in subsets]
    return {
        "largest_distortion": float(distances.max()),
        "typical_distortion": float(np.median(distances)),
        "variance_ratio": _variance(Z) / _variance(Y),
        "largest_node_distortion": float(np.abs(variances).max()),
    }


def _variance(Y: np.ndarray) -> float:
    return float(Y.var(axis=0, dtype=np.float64).sum())
