"""Reader of data sets kept as one NumPy archive: two CSR matrices, a split, names."""

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.datasets.dataset import Dataset

_REQUIRED = ("X_data", "X_indices", "X_indptr", "X_shape", "Y_indices", "Y_indptr", "Y_shape")


def load_npz(path: str | os.PathLike[str]) -> Dataset:
    """The data set in an archive of ``X_data, X_indices, X_indptr, X_shape`` and ``Y_...``.

    Y holds only ones, so its data are not stored. ``train_rows`` with ``test_rows``,
    ``feature_names`` and ``label_names`` are optional.
    """
    path = Path(path)
    with np.load(path) as archive:
        missing = [key for key in _REQUIRED if key not in archive]
        if missing:
            raise ValueError(f"{path.name} is not a data set: it has no {', '.join(missing)}.")
        arrays = dict(archive)
    return Dataset(
        name=path.stem,
        X=_csr(arrays["X_data"], arrays["X_indices"], arrays["X_indptr"], arrays["X_shape"]),
        Y=_csr(
            np.ones(len(arrays["Y_indices"]), np.uint8),
            arrays["Y_indices"],
            arrays["Y_indptr"],
            arrays["Y_shape"],
        ),
        feature_names=arrays.get("feature_names"),
        label_names=arrays.get("label_names"),
        splits={part: arrays[f"{part}_rows"] for part in ("train", "test")}
        if "train_rows" in arrays
        else {},
    )


def _csr(
    data: npt.NDArray, indices: npt.NDArray, indptr: npt.NDArray, shape: npt.NDArray
) -> sparse.csr_array:
    # scikit-learn's trees refuse 64-bit indices, and scipy widens both if one is wide.
    width = np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64
    n_rows, n_columns = map(int, shape)
    return sparse.csr_array(
        (data, indices.astype(width, copy=False), indptr.astype(width, copy=False)),
        shape=(n_rows, n_columns),
    )
