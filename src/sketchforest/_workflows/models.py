"""Open models, and read their training notes."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import numpy as np

from sketchforest import Tagger, load_forest
from sketchforest._estimators.fitted_state import publish
from sketchforest._estimators.parameters import check_parameters
from sketchforest._features import Model
from sketchforest.datasets._text import AnyPath


class OutOfBag(TypedDict):
    """The expected score on new rows, extrapolated from out-of-bag predictions."""

    metric: str
    score: float
    standard_error: float


class Notes(TypedDict, total=False):
    """What a model stores about its training."""

    file: str
    format: str
    encoding: str  # of the file, unless utf-8
    columns: dict[str, str | tuple[str, ...] | bool | None]  # of a table, by role
    scales: dict[str, tuple[float, float]]  # offset and width of numbers beside text
    sha256: str  # of the training file
    rows: int  # trained on
    out_of_bag: "OutOfBag"
    test: dict[str, float]  # scores


def open_model(path: AnyPath, n_jobs: int | None = None) -> Model:
    """Load a model for files, whose rows are matched by feature name before prediction."""
    model = read_model(path)
    name_features(model)
    if n_jobs is not None and "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    return model


def read_model(path: AnyPath, mmap: bool = True) -> Model:
    if Path(path).is_dir():
        raise ValueError(
            f"MODEL must be a file; got the folder '{path}'. Open a partitioned model in Python, "
            "with sketchforest.load_forest."
        )
    model = load_forest(path, mmap)
    return model.estimator_ if isinstance(model, Tagger) else model


def name_features(model: Model) -> None:
    """Store the feature names of a data frame as those of a file.

    scikit-learn would otherwise warn about rows without names."""
    fitted = model.fitted_
    if fitted.feature_names is not None:
        names = {"feature_names_": fitted.feature_names} | dict(fitted.attached)
        publish(model, replace(fitted, feature_names=None, attached=names))


def notes_of(model: Model) -> Notes:
    return getattr(model, "notes_", Notes())


def file_digest(path: AnyPath) -> str:
    """Return the SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def training_rows_of_file(model: Model, path: AnyPath, n_rows: int) -> np.ndarray | None:
    """Return the number of each row of a file among the training rows, or -1.

    None unless the file has the content of the training file, whatever its name.
    """
    notes = notes_of(model)
    digest, n_trained = notes.get("sha256"), notes.get("rows", 0)
    if digest is None or str(path) == "-" or file_digest(path) != digest:
        return None
    numbers = np.full(n_rows, -1)
    numbers[getattr(model, "row_numbers_", slice(n_trained))] = np.arange(n_trained)
    return numbers


def set_threshold(model: Model, threshold: object) -> None:
    if "threshold" not in model.get_params():
        raise ValueError(
            f"threshold is for multi-label forests; got {threshold!r} for a "
            f"{type(model).__name__}. Leave it out."
        )
    check_parameters({"threshold": threshold})
    model.set_params(threshold=threshold)
