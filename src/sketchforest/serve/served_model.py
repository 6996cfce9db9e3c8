"""Predict and explain rows of JSON with a loaded model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sketchforest._estimators.inspection.description import what_is_predicted
from sketchforest._estimators.inspection.names import label_names
from sketchforest._estimators.predicting.decisions import DEFAULT, Decision
from sketchforest._estimators.predicting.labels import decision_rule, without_words
from sketchforest._features import Classifier
from sketchforest._utils.typing import Matrix
from sketchforest._workflows.explanation_json import label_json, rows_json
from sketchforest._workflows.models import name_features, notes_of, read_model, set_threshold
from sketchforest.evaluation import is_classifier
from sketchforest.explain import Explanation
from sketchforest.serve.fields import parse_index, shown
from sketchforest.serve.highlights import TokenizedText
from sketchforest.serve.limits import Deadline
from sketchforest.serve.responses import RequestError, invalid
from sketchforest.serve.rows import Row, RowReader

# Rows predicted at a time: some milliseconds of work between two checks of the deadline. Tables
# are dense, so wide ones have fewer.
BLOCK_ROWS, BLOCK_CELLS = 64, 1 << 20
EXPLAINED_AT_A_TIME = 10  # labels; each needs memory for all training rows in the leaves
MAX_EXPLAINED = 200_000  # characters per explained row: tokenizing holds the GIL
MAX_MARKED = 100_000  # characters per row searched for words, divided among its labels
MAX_TEXT = 500  # characters of a training row in a response
MAX_FEATURES = 20  # per explained label
MAX_FIELDS = 100  # per model in a list of models

Json = dict[str, Any]
# By field: the tokenized text, and where tokenizing stopped if that is before its end.
Tokenized = dict[str, tuple[TokenizedText, int | None]]


class ModelSource(NamedTuple):
    """A model file and its public name: requests never name a file."""

    name: str
    path: Path
    threshold: bool | float | str | None = None  # None: the model's own
    mmap: bool = True  # False: read the file into memory, so that it may change


def named_sources(
    arguments: Sequence[str], threshold: bool | float | str | None = None, mmap: bool = True
) -> list[ModelSource]:
    """Parse arguments of the form MODEL or NAME=MODEL; the default name is that of the file."""
    sources: dict[str, ModelSource] = {}
    for argument in arguments:
        name, is_named, path = argument.partition("=")
        if not is_named or Path(argument).exists():
            name, path = Path(argument).name.removesuffix(".sf"), argument
        if not name or not path:
            raise ValueError(f"models must be MODEL or NAME=MODEL; got {argument!r}.")
        if name in sources:
            raise ValueError(
                f"models must have unique names; got two models named {name!r}. "
                f"Use OTHER_NAME={path} for one of them."
            )
        sources[name] = ModelSource(name, Path(path), threshold, mmap)
    return list(sources.values())


@dataclass(frozen=True)
class ServedModel:
    name: str
    model: Classifier
    reader: RowReader
    n_rows: int  # training rows
    n_labels: int
    # None if labels are numbers, which can be many more than the file has bytes.
    label_names: np.ndarray | None = field(repr=False)
    known_labels: frozenset[str] = field(repr=False)
    decision: Decision  # which labels count as predicted

    @classmethod
    def load(cls, source: ModelSource) -> "ServedModel":
        """Load a model. By default the file is mapped, and workers share its memory."""
        model = read_model(source.path, source.mmap)
        reader = RowReader.of(model)
        name_features(model)
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=1)  # workers run in parallel, not the threads of one request
        if not is_classifier(model):
            raise ValueError(
                f"{source.path} has a {type(model).__name__}, but only classifiers can be served. "
                "Use 'sketchforest predict' for regressors."
            )
        if source.threshold is not None:
            set_threshold(model, source.threshold)
        has_classes = model.fitted_.targets.has_classes
        has_names = has_classes or hasattr(model, "label_names_")
        names = label_names(model.fitted_) if has_names else None
        known = frozenset([] if names is None else names.tolist())
        decision = Decision(k=1) if has_classes else _decision(model)
        n_rows, n_labels = model.fitted_.labels.shape
        served = cls(source.name, model, reader, n_rows, n_labels, names, known, decision)
        served.warm_up()
        return served

    def warm_up(self) -> None:
        """Compute everything lazy that predictions need, before the first request."""
        self.suggest([{}], 1)
        _ = self.reader.fields.expected, self.reader.fields.first(1), self.reader.fields.index("")

    def suggest(
        self, rows: Sequence[Row], k: int, deadline: Deadline | None = None
    ) -> list[list[Json]]:
        """Return the k best labels of each row with scores, best first, and which are predicted."""
        found: list[list[Json]] = []
        size = BLOCK_ROWS
        if self.reader.has_table:
            size = max(1, min(size, BLOCK_CELLS // self.model.fitted_.n_features))
        for first in range(0, len(rows), size):
            if deadline is not None:
                deadline.check(f"{first:,} of {len(rows):,} rows")
            block = rows[first : first + size]
            found += self._suggest_block(self.reader.read(block, first), k)
        return found

    def _suggest_block(self, X: Matrix, k: int) -> list[list[Json]]:
        labels, scores = self._best(X, k)
        predicted = self._is_predicted(labels, scores, without_words(self.model.fitted_, X))
        return [
            [
                {"label": name, "score": score, "predicted": is_predicted}
                for name, score, is_predicted in zip(*row, strict=True)
                if score > 0
            ]
            for row in zip(
                self._names(labels).tolist(),
                np.round(scores.astype(np.float64), 6).tolist(),
                predicted.tolist(),
                strict=True,
            )
        ]

    def _best(self, X: Matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self.model.fitted_.calibrated_predictor.best(X, 1, min(k, self.n_labels))

    def _names(self, labels: np.ndarray) -> np.ndarray:
        return labels.astype(str) if self.label_names is None else self.label_names[labels]

    def _is_predicted(
        self, labels: np.ndarray, scores: np.ndarray, no_words: np.ndarray
    ) -> np.ndarray:
        """Return an (n_rows, k) mask. Labels are in order of score, best first."""
        rank = np.arange(labels.shape[1])
        if self.model.fitted_.targets.column_classes is not None:
            return self._is_first_of_column(labels)
        k, above, at_least_one = self.decision
        if k is not None:
            return np.broadcast_to(rank < k, labels.shape)
        least = above[labels] if isinstance(above, np.ndarray) else above
        is_predicted: np.ndarray = (scores > least) | ((rank == 0) & at_least_one)
        return is_predicted & ~(no_words[:, None] & at_least_one)

    def _is_first_of_column(self, labels: np.ndarray) -> np.ndarray:
        """Mark the best class of each target column."""
        sizes = self.model.fitted_.targets.classes_per_output
        column = np.repeat(np.arange(len(sizes)), sizes)[labels]
        is_first = np.zeros(labels.shape, bool)
        for row, found in enumerate(column):
            is_first[row, np.unique(found, return_index=True)[1]] = True
        return is_first

    def explain(
        self,
        row: Row,
        labels: Sequence[str] | None,
        k: int,
        n_rows: int,
        deadline: Deadline | None = None,
    ) -> Json:
        """Explain by features, words and similar training rows; labels default to the k best."""
        for name in labels or ():
            is_number = self.label_names is None and parse_index(name, self.n_labels) is not None
            if not is_number and name not in self.known_labels:
                raise invalid(f"label must be one of the model's labels; got {shown(name)}.")
        texts = self.reader.texts(row) if isinstance(row, str | dict) else []
        n_characters = sum(map(len, texts))
        if n_characters > MAX_EXPLAINED:
            raise RequestError(
                413,
                f"row must have at most {MAX_EXPLAINED:,} characters of text to be explained; got "
                f"{n_characters:,}. Shorten it, or use /suggest.",
            )
        X, tokenized = self.reader.read([row]), None
        n_labels = min(k, self.n_labels) if labels is None else len(labels)
        if labels is None and n_labels > EXPLAINED_AT_A_TIME:
            labels = self._names(self._best(X, n_labels)[0].ravel()).tolist()
        explanations: list[Json] = []
        for first in range(0, n_labels, EXPLAINED_AT_A_TIME):
            if deadline is not None:
                deadline.check(f"{first} of {n_labels} labels")
            some = None if labels is None else labels[first : first + EXPLAINED_AT_A_TIME]
            found = self.reader.encoder.unscaled(self.model.explain(X, some, n_labels))
            # All labels have the same features: those on the paths of the row.
            if tokenized is None:
                tokenized = self._tokenize(found, texts, n_labels)
            explanations += [
                label_json(found, at, MAX_FEATURES) | {"words": _words(found, at, tokenized)}
                for at in range(len(found.labels))
            ]
        until = {name: end for name, (_, end) in (tokenized or {}).items() if end is not None}
        return {
            "model": self.name,
            "labels": explanations,
            "similar": rows_json(found, n_rows, MAX_TEXT),
            **({"marked_until": until} if until else {}),
        }

    def _tokenize(self, found: Explanation, texts: Sequence[str], n_labels: int) -> Tokenized:
        """Tokenize the texts of a row, up to a limit."""
        tokenized: Tokenized = {}
        if not texts:
            return tokenized
        vectorizer = self.model.vectorizer_
        terms = set(found.feature_names[found.is_present].tolist())
        left = MAX_MARKED // max(n_labels, vectorizer.ngram_range[1])
        # A row that is one string has a single text, whatever the number of text fields.
        for name, text in zip(self.reader.encoder.text_columns, texts, strict=False):
            end = left if len(text) > left else None
            tokenized[name] = TokenizedText.of(vectorizer, text, terms, left), end
            left = max(0, left - len(text))
        return tokenized

    def info(self, full: bool = False) -> Json:
        """Describe the model; in full with all fields, and all label names unless numbered."""
        model, fields = self.model, self.reader.fields
        about: Json = {
            "name": self.name,
            "estimator": type(model).__name__,
            "trees": model.fitted_.forest.n_trees,
            "training_rows": self.n_rows,
            "features": model.fitted_.n_features,
            "labels": self.n_labels,
            "reads_text": bool(self.reader.encoder.text_columns),
            "row": fields.expected,
            "fields": [
                f._asdict() if f.values else {"name": f.name, "kind": f.kind}
                for f in fields.first(None if full else MAX_FIELDS)
            ],
            "n_fields": len(fields),
            "fields_are_numbers": fields.is_numbered,
            "left_out_means": "missing" if self.reader.has_table else "zero",
            "predicts": what_is_predicted(model),
            "trained_on": Path(notes_of(model).get("file", "")).name or None,
        }
        if full:
            about["label_names"] = None if self.label_names is None else self.label_names.tolist()
        return about


def _decision(model: Classifier) -> Decision:
    try:
        return decision_rule(model)
    except ValueError:  # no threshold was chosen in training: predict at least the best label
        return Decision(above=np.float32(DEFAULT), at_least_one=True)


def _words(found: Explanation, at: int, tokenized: Tokenized) -> Json:
    present = found.is_present
    terms, contributions = found.feature_names[present], found.contributions[present, at]
    by_term = dict(zip(terms.tolist(), contributions.tolist(), strict=True))
    return {
        name: [word._asdict() for word in text.highlights(by_term)]
        for name, (text, _) in tokenized.items()
    }
