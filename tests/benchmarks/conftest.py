"""The benchmarks need more than the package does: benchmarks/requirements.txt."""

from importlib.util import find_spec

import numpy as np
import pytest

from sketchforest.datasets import make_multilabel

collect_ignore_glob = []
if find_spec("pandas") is None or find_spec("matplotlib") is None:
    collect_ignore_glob.append("test_*.py")


@pytest.fixture
def data_home(tmp_path):
    """A folder with a tiny data set that has no split."""
    data = make_multilabel(150, 30, 12, labels_per_row=3, features_per_row=6)
    arrays = {}
    for name, M in (("X", data.X), ("Y", data.Y)):
        arrays |= {f"{name}_{part}": getattr(M, part) for part in ("indices", "indptr", "shape")}
    np.savez(tmp_path / "tiny.npz", X_data=data.X.data, **arrays)
    return tmp_path
