"""A model that answers requests: rows as JSON in, names and numbers for JSON out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sketchforest._display import shortened
from sketchforest._estimators.description import what_is_predicted
from sketchforest._estimators.thresholds import DEFAULT, Decision
from sketchforest._typing import Matrix
from sketchforest._workflows import Classifier
from sketchforest._workflows.models import (
    is_classifier,
    label_names,
    name_features,
    notes_of,
    read_model,
    set_threshold,
)
from sketchforest._workflows.row_features import explained
from sketchforest.explain import Explanation
from sketchforest.serve.limits import MAX_LABELS, RefusedError, wrong
from sketchforest.serve.rows import Row, RowReader, shown
from sketchforest.serve.words import in_fields

# Rows that are predicted at once: some milliseconds of work, after which the time is looked at.
BLOCK_ROWS = 64
MAX_TEXT = 500  # characters of a training row in an answer
MAX_FEATURES = 20  # that an answer names
MAX_FIELDS = 100  # that a list of models has of each

Json = dict[str, Any]


class Source(NamedTuple):
    """A model file, and what requests call it: they never name a file."""

    name: str
    path: Path
    threshold: bool | float | str | None = None  # None: as the model was trained


def named_sources(
    given: Sequence[str], threshold: bool | float | str | None = None
) -> list[Source]:
    """Of arguments MODEL or NAME=MODEL; a model is called as its file if not otherwise."""
    sources = []
    for argument in given:
        name, is_named, path = argument.partition("=")
        if not is_named or Path(argument).exists():
            name, path = Path(argument).name.removesuffix(".sf"), argument
        if not name or not path:
            raise ValueError(f"models must be MODEL or NAME=MODEL; got {argument!r}.")
        sources.append(Source(name, Path(path), threshold))
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"models must have names of their own; got two that are called {name!r}. "
                f"Use NAME={name}.sf for one of them."
            )
    return sources


@dataclass(frozen=True)
class ServedModel:
    name: str
    model: Classifier
    reader: RowReader
    names: np.ndarray = field(repr=False)  # of the labels
    known: frozenset[str] = field(repr=False)  # the same
    decision: Decision  # when labels are predicted

    @classmethod
    def load(cls, source: Source) -> "ServedModel":
        """The file is mapped, so that all workers share what they read of it."""
        model = read_model(source.path)
        reader = RowReader.of(model)
        name_features(model)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=1)  # the workers are what runs at the same time
        if not is_classifier(model):
            raise ValueError(
                f"{source.path} has a {type(model).__name__}; serve is for classifiers. Use "
                "'sketchforest predict' for it."
            )
        if source.threshold is not None:
            set_threshold(model, source.threshold)
        names = label_names(model.fitted_)
        served = cls(source.name, model, reader, names, frozenset(names.tolist()), _decision(model))
        served.warm_up()
        return served

    def warm_up(self) -> None:
        """What is derived from a model once is derived before the first request, but for what only
        explanations need: each worker has its own of it."""
        self.model.fitted_.predictor.warm_up()
        _ = self.reader.fields, self.reader.expected, self.reader._place, self.reader._names

    def suggest(self, rows: Sequence[Row], k: int, deadline: float) -> list[list[Json]]:
        """The k best labels of each row, best first, with scores; and whether the model, as it was
        trained or told to decide, predicts them."""
        answers = []
        for first in range(0, len(rows), BLOCK_ROWS):
            if first and time.monotonic() > deadline:
                raise RefusedError(
                    503, f"the time is up after {first:,} of {len(rows):,} rows; send fewer."
                )
            block = rows[first : first + BLOCK_ROWS]
            answers += self._suggest_block(self.reader.read(block, first), k)
        return answers

    def _suggest_block(self, X: Matrix, k: int) -> list[list[Json]]:
        k = min(k, len(self.names))
        labels, scores = self.model.fitted_.predictor.best(X, 1, k)
        predicted = self._is_predicted(labels, scores)
        return [
            [
                {"label": name, "score": score, "predicted": is_predicted}
                for name, score, is_predicted in zip(*row, strict=True)
                if score > 0
            ]
            for row in zip(
                self.names[labels].tolist(),
                np.round(scores.astype(np.float64), 6).tolist(),
                predicted.tolist(),
                strict=True,
            )
        ]

    def _is_predicted(self, labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """(n_rows, k) of labels in the order of their scores, the best first."""
        rank = np.arange(labels.shape[1])
        if self.model.fitted_.targets.column_classes is not None:
            return self._is_first_of_column(labels)
        k, above, at_least_one = self.decision
        if k is not None:
            return np.broadcast_to(rank < k, labels.shape)
        least = above[labels] if isinstance(above, np.ndarray) else above
        return (scores > least) | ((rank == 0) & at_least_one)

    def _is_first_of_column(self, labels: np.ndarray) -> np.ndarray:
        """Of several columns of classes, the best class of each."""
        sizes = self.model.fitted_.targets.classes_per_output
        column = np.repeat(np.arange(len(sizes)), sizes)[labels]
        is_first = np.zeros(labels.shape, bool)
        for row, found in enumerate(column):
            is_first[row, np.unique(found, return_index=True)[1]] = True
        return is_first

    def explain(self, row: Row, label: object, k: int, n_rows: int) -> Json:
        """Why a row has its scores, for some labels; the words of its texts that count; and the
        training rows that count most."""
        labels = None if label is None else self._checked(label)
        found = explained(self.model, self.reader.read([row]), labels, k)
        return {
            "model": self.name,
            "labels": [self._label(found, at, row) for at in range(len(found.labels))],
            "similar": _similar_rows(found, n_rows),
        }

    def _checked(self, label: object) -> list[str]:
        given: list[Any] = label if isinstance(label, list) else [label]
        if not 0 < len(given) <= MAX_LABELS or not all(isinstance(name, str) for name in given):
            rule = f"the name of a label, or a list of at most {MAX_LABELS}"
            raise wrong(f"label must be {rule}; got {shown(label)}.")
        unknown = [name for name in given if name not in self.known]
        if unknown:
            raise wrong(f"label must be one of the model's; got {shown(unknown[0])}.")
        return given

    def _label(self, found: Explanation, at: int, row: Row) -> Json:
        return {
            "label": str(found.label_names[at]),
            "score": float(found.scores[at]),
            "base": float(found.base[at]),
            "features": [
                {"feature": line.feature, "value": _finite(line.value), "adds": line.adds}
                for line in found.lines(at, MAX_FEATURES)
            ],
            "words": self._words(found, at, row),
        }

    def _words(self, found: Explanation, at: int, row: Row) -> dict[str, list[Json]]:
        """By the field of text that they stand in."""
        texts = self.reader.texts(row)
        if not texts:
            return {}
        present = found.is_present
        terms, added = found.feature_names[present], found.contributions[present, at]
        by_term = dict(zip(terms.tolist(), added.tolist(), strict=True))
        fields = in_fields(self.model.vectorizer_, texts, by_term)
        # A text that is no object is the document itself.
        names = self.reader.text_fields
        return {
            name: [word._asdict() for word in words]
            for name, words in zip(names, fields, strict=False)
        }

    def info(self, is_whole: bool = False) -> Json:
        """What a model is; the whole has the names of all its labels, and all its fields."""
        model, reader = self.model, self.reader
        fields = [
            f._asdict() if f.values else {"name": f.name, "kind": f.kind}
            for f in reader.fields[: None if is_whole else MAX_FIELDS]
        ]
        about: Json = {
            "name": self.name,
            "estimator": type(model).__name__,
            "trees": model.fitted_.forest.n_trees,
            "training_rows": model.fitted_.labels.shape[0],
            "features": model.n_features_in_,
            "labels": len(self.names),
            "reads_text": bool(reader.text_fields),
            "row": reader.expected,
            "fields": fields,
            "n_fields": len(reader.fields),
            "left_out_means": "missing" if reader.has_table else "zero",
            "predicts": what_is_predicted(model),
            "trained_on": Path(notes_of(model).get("file", "")).name or None,
        }
        return about | {"label_names": self.names.tolist()} if is_whole else about


def _decision(model: Classifier) -> Decision:
    if model.fitted_.targets.has_classes:
        return Decision(k=1)
    try:
        return model._decision(model.fitted_)
    except ValueError:  # no threshold was chosen in training; the most probable label is one
        return Decision(above=np.float32(DEFAULT), at_least_one=True)


def _similar_rows(found: Explanation, n_rows: int) -> list[Json]:
    rows = []
    for at in range(min(n_rows, len(found.rows))):
        row: Json = {
            "row": int(found.rows[at]),
            "id": found.row_names[at],
            "weight": float(found.weights[at]),
            "labels": found.row_labels[at],
        }
        if found.row_texts is not None:
            row["text"] = shortened(found.row_texts[at], MAX_TEXT)
        rows.append(row)
    return rows


def _finite(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value
