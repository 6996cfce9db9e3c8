"""Open models, read their training notes, and rank labels."""

import hashlib
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np

from sketchforest import load_forest
from sketchforest._estimators.fitted_state import publish
from sketchforest._estimators.parameters import check_parameters
from sketchforest._estimators.predicting.labels import best_labels as _best_labels
from sketchforest._estimators.predicting.labels import predicted_labels
from sketchforest._saving.vectorizer import Vectorizer
from sketchforest._utils.typing import MatrixLike
from sketchforest._workflows import Classifier, Model
from sketchforest.datasets import Dataset
from sketchforest.datasets._text import AnyPath
from sketchforest.datasets.columns import USUAL_SEPARATOR, Columns

RankedLabels = list[tuple[list[int], list[float]]]  # labels and scores per row, best first


class OutOfBag(TypedDict):
    """The expected score on new rows, extrapolated from out-of-bag predictions."""

    metric: str
    score: float
    standard_error: float


class Notes(TypedDict, total=False):
    """What a model stores about its training."""

    file: str
    format: str
    columns: dict[str, str | tuple[str, ...] | None]  # of a table, by role
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
    return load_forest(path, mmap)


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


def was_trained_on(model: Model, path: AnyPath) -> bool:
    """Return whether the file has the content of the training file, whatever its name."""
    digest = notes_of(model).get("sha256")
    return digest is not None and str(path) != "-" and file_digest(path) == digest


def trained_columns(model: Model) -> Columns:
    """Return the columns of the training table; default columns if there was no table."""
    noted = notes_of(model).get("columns", {})
    known = {f.name: noted[f.name] for f in fields(Columns) if noted.get(f.name)}
    return Columns(**{"tag_separator": USUAL_SEPARATOR} | known)  # type: ignore[arg-type]


def attach_names(model: Model, dataset: Dataset, vectorizer: "Vectorizer | None" = None) -> None:
    """Attach the names of labels and features, and the text vectorizer, for the model file."""
    if dataset.label_names is not None:
        model.label_names_ = dataset.label_names
    if dataset.feature_names is not None:
        model.feature_names_ = dataset.feature_names
    if vectorizer is not None:
        model.vectorizer_ = vectorizer


def set_threshold(model: Model, threshold: object) -> None:
    if "threshold" not in model.get_params():
        raise ValueError(
            f"threshold is for multi-label forests; got {threshold!r} for a "
            f"{type(model).__name__}. Leave it out."
        )
    check_parameters({"threshold": threshold})
    model.set_params(threshold=threshold)


def best_labels(model: Classifier, X: MatrixLike, top: int | None) -> RankedLabels:
    """Return the labels and scores of each row, best first: the `top` best, or the predicted."""
    fitted = model.fitted_
    if top is None and fitted.targets.column_classes is not None:
        return _best_of_columns(model, X)
    if top is None and fitted.targets.classes is None:
        likely = predicted_labels(model, X)
        rows = np.repeat(np.arange(likely.shape[0]), np.diff(likely.indptr))
        order = np.lexsort((likely.indices, -likely.data, rows))
        return as_lists(likely.indices[order], likely.data[order], likely.indptr)
    k = min(top or 1, fitted.labels.shape[1])
    labels, scores = _best_labels(model, X, k)
    counts = np.count_nonzero(scores > 0, axis=1).tolist()
    found = zip(labels.tolist(), scores.tolist(), counts, strict=True)
    return [(row[:n], values[:n]) for row, values, n in found]


def _best_of_columns(model: Classifier, X: MatrixLike) -> RankedLabels:
    """Return the most probable class of each target column, in the order of the columns."""
    shares = model.predict_proba(X)
    first = np.cumsum([0, *(found.shape[1] for found in shares[:-1])])
    labels = np.stack([found.argmax(axis=1) for found in shares], axis=1) + first
    scores = np.stack([found.max(axis=1) for found in shares], axis=1)
    return list(zip(labels.tolist(), scores.tolist(), strict=True))


def as_lists(indices: np.ndarray, data: np.ndarray, indptr: np.ndarray) -> RankedLabels:
    """Split a CSR matrix into rows."""
    columns, values = indices.tolist(), data.tolist()
    return [(columns[a:b], values[a:b]) for a, b in pairwise(indptr.tolist())]
