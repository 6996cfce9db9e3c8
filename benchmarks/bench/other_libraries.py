"""Other libraries for many labels, on their default settings."""

import os
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.bench.adapter import ModelAdapter, Options
from benchmarks.data import TrainTestSplit
from sketchforest.datasets import Dataset, write_xc

Pairs = list[tuple[int, float]]  # labels or features, with their values


class NapkinXC(ModelAdapter):
    """A probabilistic label tree of linear models. Fitting writes the model to a folder."""

    n_estimators = 1

    def __init__(self, data: TrainTestSplit, options: Options):
        from napkinxc.models import PLT

        X_train, X_test = _without_missing(data)
        self.X, self.Y, self.X_test = (
            # It does not take csr_array.
            sparse.csr_matrix(M.astype(np.float32))
            for M in (X_train, data.Y_train, X_test)
        )
        self.n_labels = self.top_k = data.Y_train.shape[1]
        self.folder = tempfile.TemporaryDirectory()
        self.model = PLT(self.folder.name, threads=options.n_jobs, seed=options.seed)

    def fit(self) -> None:
        self.model.fit(self.X, self.Y)

    def n_bytes(self) -> int:
        return _folder_size(self.folder.name)

    def prepare_predictions(self) -> None:
        self.model.load()

    def predict(self, X: sparse.csr_matrix) -> list[Pairs]:
        return self.model.predict_proba(X, top_k=self.top_k)

    def scores(self, prediction: list[Pairs]) -> np.ndarray:
        return _scores(prediction, self.n_labels)

    def use_one_thread(self) -> None:
        self.model.set_params(threads=1)


class Omikuji(ModelAdapter):
    """Parabel: three label trees of linear models. Fitting reads the data from a text file."""

    def __init__(self, data: TrainTestSplit, options: Options):
        X_train, X_test = _without_missing(data)
        self.n_labels = self.top_k = data.Y_train.shape[1]
        self.n_jobs = options.n_jobs
        self.folder = tempfile.TemporaryDirectory()
        self.data_path = os.path.join(self.folder.name, "data.txt")
        write_xc(Dataset("train", _without_empty_rows(X_train), data.Y_train), self.data_path)
        self.X_test = [
            list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            for row in (X_test[i : i + 1] for i in range(X_test.shape[0]))
        ]

    def fit(self) -> None:
        import omikuji

        self.model = omikuji.Model.train_on_data(self.data_path, n_threads=self.n_jobs)
        self.n_estimators = self.model.n_trees

    def n_bytes(self) -> int:
        path = os.path.join(self.folder.name, "model")
        self.model.save(path)
        return _folder_size(path)

    def prepare_predictions(self) -> None:
        self.model.init_prediction_thread_pool(self.n_jobs)

    def predict(self, X: list[Pairs]) -> list[Pairs]:
        return [self.model.predict(row, top_k=self.top_k) for row in X]

    def scores(self, prediction: list[Pairs]) -> np.ndarray:
        return _scores(prediction, self.n_labels)

    def use_one_thread(self) -> None:
        self.model.init_prediction_thread_pool(1)


def _without_missing(data: TrainTestSplit) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Replace NaN in X, which the libraries do not handle, by means of the training rows."""
    X_train, X_test = (sparse.csr_array(X, copy=True) for X in (data.X_train, data.X_test))
    if np.isnan(X_train.data).any() or np.isnan(X_test.data).any():
        is_known = ~np.isnan(X_train.data)
        columns, n_features = X_train.indices, X_train.shape[1]
        totals = np.bincount(columns[is_known], X_train.data[is_known], minlength=n_features)
        n_missing = np.bincount(columns[~is_known], minlength=n_features)
        means = totals / np.maximum(X_train.shape[0] - n_missing, 1)
        for X in (X_train, X_test):
            is_missing = np.isnan(X.data)
            X.data[is_missing] = means[X.indices[is_missing]]
    return X_train, X_test


def _without_empty_rows(X: sparse.csr_array) -> sparse.csr_array:
    """Store a zero in empty rows, because omikuji cannot read lines without features."""
    empty = np.flatnonzero(np.diff(X.indptr) == 0)
    if not len(empty):
        return X
    indptr = X.indptr + np.searchsorted(empty, np.arange(X.shape[0] + 1), side="left")
    indices = np.insert(X.indices, X.indptr[empty], 0)
    return sparse.csr_array((np.insert(X.data, X.indptr[empty], 0), indices, indptr), X.shape)


def _scores(prediction: list[Pairs], n_labels: int) -> np.ndarray:
    """Return (n_samples, n_labels) scores; labels that the search did not reach have 0."""
    scores = np.zeros((len(prediction), n_labels), np.float32)
    for row, pairs in zip(scores, prediction, strict=True):
        if pairs:
            labels, values = zip(*pairs, strict=True)
            row[list(labels)] = values
    return scores


def _folder_size(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
