"""Other libraries for many labels, on their default settings."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sketchforest.lab.bench.forests import Contender, Options
from sketchforest.lab.data import Problem


class NapkinXC(Contender):
    """A probabilistic label tree of linear models. Fitting writes the model to its folder."""

    n_estimators = 1

    def __init__(self, problem: Problem, options: Options):
        from napkinxc.models import PLT

        _check_no_missing(problem, "napkinXC")
        self.X, self.Y, self.X_test = (
            # It knows csr_matrix alone, not csr_array.
            sparse.csr_matrix(M.astype(np.float32))
            for M in (problem.X_train, problem.Y_train, problem.X_test)
        )
        self.n_labels = problem.Y_train.shape[1]
        self.folder = tempfile.TemporaryDirectory()
        self.model = PLT(self.folder.name, threads=options.n_jobs, seed=options.seed)

    def fit(self) -> None:
        self.model.fit(self.X, self.Y)

    def n_bytes(self) -> int:
        return _folder_size(self.folder.name)

    def prepare_predictions(self) -> None:
        self.model.load()

    def predict(self, X: Any) -> list[list[tuple[int, float]]]:
        return self.model.predict_proba(X, top_k=self.n_labels)

    def scores(self, prediction: Any) -> npt.NDArray[Any]:
        return _scores(prediction, self.n_labels)

    def use_one_thread(self) -> None:
        self.model.set_params(threads=1)


class Omikuji(Contender):
    """Parabel: three label trees of linear models. Fitting reads the data from a text file."""

    def __init__(self, problem: Problem, options: Options):
        _check_no_missing(problem, "omikuji")
        self.n_labels, self.n_jobs = problem.Y_train.shape[1], options.n_jobs
        self.folder = tempfile.TemporaryDirectory()
        self.data_path = os.path.join(self.folder.name, "data.txt")
        _write_xc(problem.X_train, problem.Y_train, self.data_path)
        self.X_test = [
            list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            for row in (problem.X_test[i : i + 1] for i in range(problem.X_test.shape[0]))
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

    def predict(self, X: Any) -> list[list[tuple[int, float]]]:
        return [self.model.predict(row, top_k=self.n_labels) for row in X]

    def scores(self, prediction: Any) -> npt.NDArray[Any]:
        return _scores(prediction, self.n_labels)

    def use_one_thread(self) -> None:
        self.model.init_prediction_thread_pool(1)


def _check_no_missing(problem: Problem, library: str) -> None:
    # They take NaN for a number, and the models that they learn from it are void.
    if np.isnan(problem.X_train.data).any() or np.isnan(problem.X_test.data).any():
        raise ValueError(f"{library} takes no missing values")


def _scores(prediction: list[list[tuple[int, float]]], n_labels: int) -> npt.NDArray[Any]:
    """(n_samples, n_labels) scores; labels that the search has not reached have none."""
    scores = np.zeros((len(prediction), n_labels), np.float32)
    for row, pairs in zip(scores, prediction, strict=True):
        if pairs:
            labels, values = zip(*pairs, strict=True)
            row[list(labels)] = values
    return scores


def _write_xc(X: Any, Y: Any, path: str) -> None:
    """In the format of the Extreme Classification Repository."""
    with open(path, "w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for i in range(X.shape[0]):
            labels, row = Y[i : i + 1].indices, X[i : i + 1]
            pairs = (f"{j}:{value:.9g}" for j, value in zip(row.indices, row.data, strict=True))
            file.write(f"{','.join(map(str, labels))} {' '.join(pairs)}\n")


def _folder_size(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
