"""Data sets as NumPy archives: two CSR matrices, a split, names."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest._utils.files import written_whole
from sketchforest._utils.progress import stage
from sketchforest._utils.sparse import checked_arrays
from sketchforest.datasets._rows import csr, sorted_repeats
from sketchforest.datasets._shared_docs import round_trip
from sketchforest.datasets._text import AnyPath, bad_file
from sketchforest.datasets._writing import check_finite
from sketchforest.datasets.dataset import Dataset
from sketchforest.ontology import Ontology

_REQUIRED = ("X_data", "X_indices", "X_indptr", "X_shape", "Y_indices", "Y_indptr", "Y_shape")
_PARTS = ("train", "test")


@round_trip("load_npz", "write_npz", "tags.npz")
def load_npz(path: AnyPath) -> Dataset:
    """Read an archive of ``X_data, X_indices, X_indptr, X_shape`` and ``Y_...``.

    Y holds only ones, so ``Y_data`` is not stored. ``train_rows`` with ``test_rows``,
    ``feature_names`` and ``label_names`` are optional, as are ``hierarchy_nodes`` (names) with
    ``hierarchy_edges`` (pairs of the numbers of a parent and a child node; -1 is the root).
    """
    arrays = _read_arrays(path)
    X = _matrix(path, "X", arrays)
    arrays["Y_data"] = np.ones(arrays["Y_indices"].shape, np.uint8)
    Y = _matrix(path, "Y", arrays)
    if X.shape[0] != Y.shape[0]:
        raise bad_file(path, None, f"X has {X.shape[0]} rows and Y has {Y.shape[0]}")
    if X.data.dtype.kind not in "biuf" or np.isinf(X.data).any():
        raise bad_file(path, None, "X_data must be numbers, or NaN if missing, without infinity")
    label_names = _names(path, "label_names", arrays, Y.shape[1])
    return Dataset(
        name=Path(path).stem,
        X=X,
        Y=Y,
        feature_names=_names(path, "feature_names", arrays, X.shape[1]),
        label_names=label_names,
        ontology=_hierarchy(path, arrays, label_names),
        splits={
            part: _split(path, f"{part}_rows", arrays, X.shape[0])
            for part in _PARTS
            if f"{part}_rows" in arrays
        },
    )


@round_trip("load_npz", "write_npz", "tags.npz")
def write_npz(dataset: Dataset, path: AnyPath) -> None:
    """Write the compressed archive that ``load_npz`` reads; only the name is lost."""
    check_finite(dataset)
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
    if dataset.ontology is not None:
        arrays |= _hierarchy_arrays(dataset.ontology, arrays.get("label_names"))
    with written_whole(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read_arrays(path: AnyPath) -> dict[str, np.ndarray]:
    with Path(path).open("rb") as file, stage("reading"):
        try:
            with np.load(file) as archive:
                arrays = dict(archive)
        except Exception as error:
            # NumPy, zipfile and zlib raise a dozen types of errors on broken bytes.
            reason = f"it is not a readable NumPy archive ({type(error).__name__}: {error})"
            raise bad_file(path, None, reason) from None
    missing = [key for key in _REQUIRED if key not in arrays]
    if missing:
        raise bad_file(path, None, f"it is not a data set: {', '.join(missing)} missing")
    return arrays


def _matrix(path: AnyPath, name: str, arrays: dict[str, np.ndarray]) -> sparse.csr_array:
    data, indices, indptr, shape = (
        arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    if shape.dtype.kind not in "iu" or shape.shape != (2,) or data.ndim != 1 or shape.min() < 0:
        raise bad_file(path, None, f"{name}_shape must be two counts, and {name}_data must be 1-d")
    n_rows, n_columns = map(int, shape)
    try:
        if len(data) != len(indices):
            raise ValueError(f"there are {len(data)} values but {len(indices)} indices")
        data, indices, indptr = checked_arrays(data, indices, indptr, n_rows, n_columns)
    except (TypeError, ValueError) as error:
        raise bad_file(path, None, f"{name} is not a valid CSR matrix: {error}") from None
    matrix = csr(data, indices, indptr, (n_rows, n_columns))
    if sorted_repeats(matrix).any():
        raise bad_file(path, None, f"a row of {name} repeats a column")
    return matrix


def _names(
    path: AnyPath, key: str, arrays: dict[str, np.ndarray], count: int
) -> npt.NDArray[np.str_] | None:
    names = arrays.get(key)
    if names is not None and (names.dtype.kind != "U" or names.shape != (count,)):
        raise bad_file(path, None, f"{key} must be {count} strings")
    return names


def _hierarchy(
    path: AnyPath, arrays: dict[str, np.ndarray], label_names: np.ndarray | None
) -> Ontology | None:
    if "hierarchy_edges" not in arrays:
        return None
    nodes, edges = arrays.get("hierarchy_nodes"), arrays["hierarchy_edges"]
    if label_names is None or nodes is None or nodes.dtype.kind != "U" or nodes.ndim != 1:
        raise bad_file(path, None, "hierarchy_edges need label_names and hierarchy_nodes, names")
    is_valid = edges.dtype.kind in "iu" and edges.ndim == 2 and edges.shape[1] == 2
    if not is_valid or np.any((edges < -1) | (edges >= len(nodes))) or np.any(edges[:, 1] < 0):
        raise bad_file(path, None, "hierarchy_edges must be pairs of node numbers")
    names = nodes.tolist()
    pairs = [(names[child], names[parent]) for parent, child in edges.tolist() if parent >= 0]
    try:
        return Ontology.from_edges(pairs, label_names)
    except ValueError as error:
        raise bad_file(path, None, f"the hierarchy is not valid ({error})") from None


def _hierarchy_arrays(ontology: Ontology, label_names: np.ndarray | None) -> dict[str, np.ndarray]:
    names = ontology.names if label_names is None else label_names
    if names is None:
        raise ValueError("label_names must be given to write an ontology; got None.")
    edges = [(parent, label) for label, above in enumerate(ontology.parents) for parent in above]
    return {
        "label_names": names,
        "hierarchy_nodes": names,
        "hierarchy_edges": np.array(edges, np.int32).reshape(-1, 2),
    }


def _split(
    path: AnyPath, key: str, arrays: dict[str, np.ndarray], n_rows: int
) -> npt.NDArray[np.integer]:
    rows = arrays[key]
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or np.any((rows < 0) | (rows >= n_rows)):
        raise bad_file(path, None, f"{key} must be row numbers from 0 to {n_rows - 1}")
    return rows
