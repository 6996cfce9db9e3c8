"""Generated data in the shape of a real data set that cannot be had."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.datasets._rows import csr
from sketchforest.datasets.catalogue import DatasetInfo, describe
from sketchforest.datasets.dataset import Dataset
from sketchforest.datasets.generators import make_multilabel, make_sparse_multilabel

# Where the catalogue does not know them: a few labels, and the words of a short text.
_ASSUMED_CARDINALITY = 3.0
_ASSUMED_FEATURES_PER_ROW = 60.0

_DENSE_SHARE = 0.25  # of non-zeros, above which features are measurements and not words
_N_WORDS = 200  # behind dense features
_LARGE = 1_000_000  # non-zeros, from where on the generator must be the one for large data
_NOISE = 0.5
# Generators come out low where a row has a large share of all words; what is too much is cut.
_EXCESS = (1.1, 1.3, 1.7, 2.5, 4.0)


def make_like(name: str, random_state: int = 0) -> Dataset:
    """A generated stand-in for a data set of the catalogue, marked by ``is_synthetic``.

    It has the same numbers of rows, features and labels, the same split sizes, labels in a row
    on average and share of non-zero features (3 labels and 60 features where these are not
    known). Nothing else is alike: what is measured on it says nothing of the real one.

    Examples
    --------
    >>> data = make_like("emotions")
    >>> data
    Dataset('emotions (synthetic)', n_samples=593, n_features=72, n_labels=6)
    >>> data.is_synthetic
    True
    """
    info = describe(name)
    rng = np.random.default_rng(random_state)
    cardinality = info.cardinality or min(_ASSUMED_CARDINALITY, info.n_labels)
    n_labels = round(cardinality * info.n_samples)
    n_values = round(_features_per_row(info) * info.n_samples)
    is_dense = n_values > _DENSE_SHARE * info.n_samples * info.n_features
    for excess in _EXCESS:
        data = _generate(info, is_dense, cardinality, excess, random_state)
        if data.Y.nnz >= n_labels and (is_dense or data.X.nnz >= n_values):
            break
    X = _dense_features(data.X, info.n_features, rng) if is_dense else data.X
    return Dataset(
        name=f"{name} (synthetic)",
        X=_thinned(X, n_values, rng),
        Y=_thinned(data.Y, n_labels, rng),
        splits=_split(info),
        is_synthetic=True,
    )


def _features_per_row(info: DatasetInfo) -> float:
    if info.x_density is None:
        return min(_ASSUMED_FEATURES_PER_ROW, info.n_features / 10)
    return info.x_density * info.n_features


def _generate(
    info: DatasetInfo, is_dense: bool, cardinality: float, excess: float, random_state: int
) -> Dataset:
    n_features = _N_WORDS if is_dense else info.n_features
    features_per_row = n_features / 8 if is_dense else _features_per_row(info)
    labels_per_row = min(1 + (cardinality - 1) * excess, info.n_labels)
    features_per_row = min(max(1.0, features_per_row * excess), n_features)
    sizes = (info.n_samples, n_features, info.n_labels)
    if info.n_samples * (labels_per_row + features_per_row) > _LARGE:
        return make_sparse_multilabel(
            *sizes, int(np.ceil(labels_per_row)), int(np.ceil(features_per_row)), random_state
        )
    return make_multilabel(*sizes, labels_per_row, features_per_row, random_state)


def _dense_features(
    words: sparse.csr_array, n_features: int, rng: np.random.Generator
) -> sparse.csr_array:
    """(n_samples, n_features) measurements: each a mix of the row's words, with noise."""
    mix = rng.standard_normal((words.shape[1], n_features), np.float32)
    X = words.astype(np.float32) @ mix
    X /= X.std()
    X += np.float32(_NOISE) * rng.standard_normal(X.shape, np.float32)
    return sparse.csr_array(X)


def _thinned(matrix: sparse.csr_array, n_kept: int, rng: np.random.Generator) -> sparse.csr_array:
    """``n_kept`` of the entries, drawn; a row loses its first only when there is no other way."""
    n_cut = matrix.nnz - n_kept
    if n_cut <= 0:
        return matrix
    keys = rng.random(matrix.nnz)
    starts = matrix.indptr[:-1]
    keys[starts[np.diff(matrix.indptr) > 0]] += 1
    keep = np.ones(matrix.nnz, bool)
    keep[np.argpartition(keys, n_cut - 1)[:n_cut]] = False
    ends = np.append(0, np.cumsum(keep))[matrix.indptr]
    return csr(matrix.data[keep], matrix.indices[keep], ends, matrix.shape)


def _split(info: DatasetInfo) -> dict[str, npt.NDArray]:
    if info.n_train is None:
        return {}
    # Rows are exchangeable, so the first ones are as good a training sample as any.
    train, test = np.split(np.arange(info.n_samples), [info.n_train])
    return {"train": train, "test": test}
