"""Data sets kept as one NumPy archive: two CSR matrices, a split, names."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest._utils.files import written_whole
from sketchforest._utils.progress import stage
from sketchforest.datasets._rows import csr, sorted_repeats
from sketchforest.datasets._text import AnyPath, bad_file
from sketchforest.datasets._writing import refuse_infinity
from sketchforest.datasets.dataset import Dataset

_REQUIRED = ("X_data", "X_indices", "X_indptr", "X_shape", "Y_indices", "Y_indptr", "Y_shape")
_PARTS = ("train", "test")


def load_npz(path: AnyPath) -> Dataset:
    """The data set in an archive of ``X_data, X_indices, X_indptr, X_shape`` and ``Y_...``.

    Y holds only ones, so its data are not stored. ``train_rows`` with ``test_rows``,
    ``feature_names`` and ``label_names`` are optional.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, load_npz, write_npz
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.npz")
    ...     write_npz(data, path)
    ...     load_npz(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    arrays = _read_arrays(path)
    X = _matrix(path, "X", arrays)
    arrays["Y_data"] = np.ones(arrays["Y_indices"].shape, np.uint8)
    Y = _matrix(path, "Y", arrays)
    if X.shape[0] != Y.shape[0]:
        raise bad_file(path, None, f"X has {X.shape[0]} rows and Y has {Y.shape[0]}")
    if X.data.dtype.kind not in "biuf" or np.isinf(X.data).any():
        raise bad_file(
            path, None, "X_data must be numbers, or NaN where one is missing, without infinity"
        )
    return Dataset(
        name=Path(path).stem,
        X=X,
        Y=Y,
        feature_names=_names(path, "feature_names", arrays, X.shape[1]),
        label_names=_names(path, "label_names", arrays, Y.shape[1]),
        splits={
            part: _split(path, f"{part}_rows", arrays, X.shape[0])
            for part in _PARTS
            if f"{part}_rows" in arrays
        },
    )


def write_npz(dataset: Dataset, path: AnyPath) -> None:
    """Writes the archive that ``load_npz`` reads, compressed; nothing is lost but the name.

    Parameters
    ----------
    dataset : Dataset
    path : str or path

    Examples
    --------
    >>> import os, tempfile
    >>> from sketchforest.datasets import make_multilabel, load_npz, write_npz
    >>> data = make_multilabel(20, 10, 5, labels_per_row=2, features_per_row=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "tags.npz")
    ...     write_npz(data, path)
    ...     load_npz(path)
    Dataset('tags', n_samples=20, n_features=10, n_labels=5)
    """
    refuse_infinity(dataset)
    X, Y = dataset.X, dataset.Y
    arrays = {
        "X_data": X.data,
        "X_indices": X.indices,
        "X_indptr": X.indptr.astype(np.int64),
        "X_shape": np.array(X.shape, np.int64),
        "Y_indices": Y.indices,
        "Y_indptr": Y.indptr.astype(np.int64),
        "Y_shape": np.array(Y.shape, np.int64),
    }
    arrays |= {f"{part}_rows": rows for part, rows in dataset.splits.items() if part in _PARTS}
    for key in ("feature_names", "label_names"):
        if (names := getattr(dataset, key)) is not None:
            arrays[key] = np.asarray(names, np.str_)
    with written_whole(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read_arrays(path: AnyPath) -> dict[str, np.ndarray]:
    with Path(path).open("rb") as file, stage("reading"):
        try:
            with np.load(file) as archive:
                arrays = dict(archive)
        except Exception as error:
            # NumPy, zipfile and zlib raise a dozen types between them on broken bytes.
            reason = f"it is not a readable NumPy archive ({type(error).__name__}: {error})"
            raise bad_file(path, None, reason) from None
    missing = [key for key in _REQUIRED if key not in arrays]
    if missing:
        raise bad_file(path, None, f"it is not a data set: it has no {', '.join(missing)}")
    return arrays


def _matrix(path: AnyPath, name: str, arrays: dict[str, np.ndarray]) -> sparse.csr_array:
    data, indices, indptr, shape = (
        arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    whole = all(array.dtype.kind in "iu" for array in (indices, indptr, shape))
    if not whole or shape.shape != (2,) or any(a.ndim != 1 for a in (data, indices, indptr)):
        raise bad_file(path, None, f"{name} is not made of flat arrays of whole numbers")
    n_rows, n_columns = map(int, shape)
    ends = indptr.astype(np.int64)
    if (
        min(n_rows, n_columns) < 0
        or len(data) != len(indices)
        or len(ends) != n_rows + 1
        or ends[0] != 0
        or ends[-1] != len(indices)
        or np.any(np.diff(ends) < 0)
    ):
        raise bad_file(path, None, f"the arrays of {name} do not fit together")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < n_columns:
        raise bad_file(path, None, f"{name}_indices must be from 0 to {n_columns - 1}")
    matrix = csr(data, indices, indptr, (n_rows, n_columns))
    if sorted_repeats(matrix).any():
        raise bad_file(path, None, f"a row of {name} has a column twice")
    return matrix


def _names(
    path: AnyPath, key: str, arrays: dict[str, np.ndarray], count: int
) -> npt.NDArray[np.str_] | None:
    names = arrays.get(key)
    if names is not None and (names.dtype.kind != "U" or names.shape != (count,)):
        raise bad_file(path, None, f"{key} must be {count} strings")
    return names


def _split(
    path: AnyPath, key: str, arrays: dict[str, np.ndarray], n_rows: int
) -> npt.NDArray[np.integer]:
    rows = arrays[key]
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or np.any((rows < 0) | (rows >= n_rows)):
        raise bad_file(path, None, f"{key} must be row numbers from 0 to {n_rows - 1}")
    return rows
