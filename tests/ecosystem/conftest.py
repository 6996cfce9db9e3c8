"""Small data sets with targets of each type."""

from types import SimpleNamespace

import numpy as np
import pytest

N_ROWS = 120


@pytest.fixture(scope="session")
def data():
    """X with targets: binary y, three classes y3, one real t, multi-label Y, several real T."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 5)).astype(np.float32)
    T = X[:, :3] * 2 + 0.3 * rng.normal(size=(N_ROWS, 3))
    return SimpleNamespace(
        X=X,
        T=T,
        t=T[:, 0],
        Y=(T > 0).astype(int),
        y=(T[:, 0] > 0).astype(int),
        y3=np.digitize(T[:, 0], [-1, 1]),
    )
