"""Other libraries for many labels, on their default settings."""

import os
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from sketchforest.datasets import Dataset, write_xc
from sketchforest.lab.bench.adapter import ModelAdapter, Options
from sketchforest.lab.data import TrainTestSplit

Pairs = list[tuple[int, float]]  # of a label or feature, and its value


class NapkinXC(ModelAdapter[sparse.csr_matrix, list[Pairs]]):
    """A probabilistic label tree of linear models. Fitting writes the model to its folder."""

    n_estimators = 1

    def __init__(self, data: TrainTestSplit, options: Options):
        from napkinxc.models import PLT

        _check_no_missing(data, "napkinXC")
        self.X, self.Y, self.X_test = (
            # It knows csr_matrix alone, not csr_array.
            sparse.csr_matrix(M.astype(np.float32))
            for M in (data.X_train, data.Y_train, data.X_test)
        )
        self.n_labels = data.Y_train.shape[1]
        self.folder = tempfile.TemporaryDirectory()
        self.model = PLT(self.folder.name, threads=options.n_jobs, seed=options.seed)

    def fit(self) -> None:
        self.model.fit(self.X, self.Y)

    def n_bytes(self) -> int:
        return _folder_size(self.folder.name)

    def prepare_predictions(self) -> None:
        self.model.load()

    def predict(self, X: sparse.csr_matrix) -> list[Pairs]:
        return self.model.predict_proba(X, top_k=self.n_labels)

    def scores(self, prediction: list[Pairs]) -> np.ndarray:
        return _scores(prediction, self.n_labels)

    def use_one_thread(self) -> None:
        self.model.set_params(threads=1)


class Omikuji(ModelAdapter[list[Pairs], list[Pairs]]):
    """Parabel: three label trees of linear models. Fitting reads the data from a text file."""

    def __init__(self, data: TrainTestSplit, options: Options):
        _check_no_missing(data, "omikuji")
        self.n_labels, self.n_jobs = data.Y_train.shape[1], options.n_jobs
        self.folder = tempfile.TemporaryDirectory()
        self.data_path = os.path.join(self.folder.name, "data.txt")
        write_xc(Dataset("train", data.X_train, data.Y_train), self.data_path)
        X_test = sparse.csr_array(data.X_test)
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
        return [self.model.predict(row, top_k=self.n_labels) for row in X]

    def scores(self, prediction: list[Pairs]) -> np.ndarray:
        return _scores(prediction, self.n_labels)

    def use_one_thread(self) -> None:
        self.model.init_prediction_thread_pool(1)


def _check_no_missing(data: TrainTestSplit, library: str) -> None:
    # They take NaN for a number, and the models that they learn from it are void.
    if np.isnan(data.X_train.data).any() or np.isnan(data.X_test.data).any():
        raise ValueError(f"{library} takes no missing values")


def _scores(prediction: list[Pairs], n_labels: int) -> np.ndarray:
    """(n_samples, n_labels) scores; labels that the search has not reached have none."""
    scores = np.zeros((len(prediction), n_labels), np.float32)
    for row, pairs in zip(scores, prediction, strict=True):
        if pairs:
            labels, values = zip(*pairs, strict=True)
            row[list(labels)] = values
    return scores


def _folder_size(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
