"""Matrices of random signs, dense or sparse."""

import math
from typing import TypeAlias

import numpy as np
from scipy import sparse

Matrix: TypeAlias = np.ndarray | sparse.csr_array


def random_signs(n_labels: int, n_components: int, s: float, rng: np.random.Generator) -> Matrix:
    """(n_labels, n_components) float32: +-sqrt(s / n_components) with probability 1/(2s) each."""
    shape = (n_labels, n_components)
    scale = np.float32(math.sqrt(s / n_components))
    if s == 1:
        return np.where(rng.integers(0, 2, shape, dtype=bool), scale, -scale)
    entries = _bernoulli_successes(n_labels * n_components, 1 / s, rng)
    values = np.where(rng.integers(0, 2, entries.size, dtype=bool), scale, -scale)
    row_starts = np.searchsorted(entries, np.arange(n_labels + 1) * n_components)
    return sparse.csr_array((values, entries % n_components, row_starts), shape=shape)


def _bernoulli_successes(n_trials: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """Increasing indices of the successes; the gaps between them are geometric, so the failures
    cost nothing."""
    batches, last = [], -1
    while last < n_trials:
        n_expected = int((n_trials - last) * p) + 1
        batches.append(last + np.cumsum(rng.geometric(p, n_expected)))
        last = int(batches[-1][-1])
    successes = np.concatenate(batches)
    return successes[: np.searchsorted(successes, n_trials)]
