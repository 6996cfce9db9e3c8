"""What a fitted model knows of the file it was trained on, and what it says of rows."""

import hashlib
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TypedDict

import numpy as np

from sketchforest import load_forest
from sketchforest._estimators.fitted_state import publish
from sketchforest._estimators.inspection.names import feature_names, label_names, shown_features
from sketchforest._estimators.predicting.decisions import is_threshold
from sketchforest._estimators.predicting.labels import best_labels as _best_labels
from sketchforest._estimators.predicting.labels import predicted_labels
from sketchforest._saving.vectorizer import Vectorizer
from sketchforest._typing import MatrixLike
from sketchforest._workflows import Classifier, Model
from sketchforest.datasets import Dataset
from sketchforest.datasets._text import AnyPath
from sketchforest.datasets.columns import USUAL_SEPARATOR, Columns
from sketchforest.evaluation import is_classifier

__all__ = [
    "Notes",
    "RankedLabels",
    "as_lists",
    "attach_names",
    "best_labels",
    "feature_names",
    "is_classifier",
    "label_names",
    "notes_of",
    "open_model",
    "shown_features",
    "trained_columns",
]

RankedLabels = list[tuple[list[int], list[float]]]  # labels and scores of each row, best first


class OutOfBag(TypedDict):
    """The score of all trees on new rows, predicted by trees that did not see a row."""

    metric: str
    score: float
    standard_error: float


class Notes(TypedDict, total=False):
    """What a model notes of its training."""

    file: str
    format: str
    columns: dict[str, str | tuple[str, ...] | None]  # those of a table, by their use
    scales: dict[str, tuple[float, float]]  # of numbers beside text: what is 0, how far 1 is
    sha256: str  # of the file
    rows: int
    out_of_bag: "OutOfBag"
    test: dict[str, float]  # scores


def open_model(path: AnyPath, n_jobs: int | None = None) -> Model:
    """The model in a file; its rows are matched by the names of their features before they become
    numbers."""
    model = read_model(path)
    name_features(model)
    if n_jobs is not None and "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    return model


def read_model(path: AnyPath, mmap: bool = True) -> Model:
    if Path(path).is_dir():
        raise ValueError(
            f"MODEL must be a file; '{path}' is a folder. A model of parts is opened in Python, "
            "by sketchforest.load_forest."
        )
    try:
        model = load_forest(path, mmap)
    except ValueError as error:
        _, is_foreign, reason = str(error).partition(" is not one: ")
        if is_foreign:
            raise ValueError(f"{path} is not a sketchforest model: {reason}") from error
        raise
    return model


def name_features(model: Model) -> None:
    """What a data frame called its columns is kept as the names of a file are, so that
    scikit-learn need not warn that rows have no names."""
    fitted = model.fitted_
    if fitted.feature_names is not None:
        names = {"feature_names_": fitted.feature_names} | dict(fitted.attached)
        publish(model, replace(fitted, feature_names=None, attached=names))


def notes_of(model: Model) -> Notes:
    return getattr(model, "notes_", Notes())


def file_digest(path: AnyPath) -> str:
    """By which a file is known again."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def was_trained_on(model: Model, path: AnyPath) -> bool:
    """Whether the file is the one that the model was trained on, whatever its name."""
    digest = notes_of(model).get("sha256")
    return digest is not None and str(path) != "-" and file_digest(path) == digest


def trained_columns(model: Model) -> Columns:
    """The columns of the table that the model was trained on; the usual ones if it was none."""
    noted = notes_of(model).get("columns", {})
    known = {field.name: noted.get(field.name) for field in fields(Columns)}
    plain = {"tag_separator": USUAL_SEPARATOR} | {n: v for n, v in known.items() if v}
    return Columns(**plain)  # type: ignore[arg-type]


def attach_names(model: Model, dataset: Dataset, vectorizer: "Vectorizer | None" = None) -> None:
    """The names of labels and features, and what makes features of text, as a loaded model has
    them."""
    if dataset.label_names is not None:
        model.label_names_ = dataset.label_names
    if dataset.feature_names is not None:
        model.feature_names_ = dataset.feature_names
    if vectorizer is not None:
        model.vectorizer_ = vectorizer


def set_threshold(model: Model, threshold: object) -> None:
    if "threshold" not in model.get_params():
        raise ValueError(
            f"threshold is for forests of labels; got {threshold!r} for a "
            f"{type(model).__name__}. Leave it out."
        )
    if not is_threshold(threshold):
        raise ValueError(
            "threshold must be a probability from 0 to 1, f1, f1-per-label or top-K, as in top-3; "
            f"got {threshold!r}."
        )
    model.set_params(threshold=threshold)


def best_labels(model: Classifier, X: MatrixLike, top: int | None) -> RankedLabels:
    """Labels and scores of each row, best first: the `top` best, or those that are predicted."""
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
    """The most probable class of each column of classes, in the order of columns."""
    shares = model.predict_proba(X)
    first = np.cumsum([0, *(found.shape[1] for found in shares[:-1])])
    labels = np.stack([found.argmax(axis=1) for found in shares], axis=1) + first
    scores = np.stack([found.max(axis=1) for found in shares], axis=1)
    return list(zip(labels.tolist(), scores.tolist(), strict=True))


def as_lists(indices: np.ndarray, data: np.ndarray, indptr: np.ndarray) -> RankedLabels:
    """The rows of a CSR matrix."""
    columns, values = indices.tolist(), data.tolist()
    return [(columns[a:b], values[a:b]) for a, b in pairwise(indptr.tolist())]
