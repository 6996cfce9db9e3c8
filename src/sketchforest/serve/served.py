"""A model that answers requests: rows as JSON in, names and numbers for JSON out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sketchforest._display import shortened
from sketchforest._estimators.inspection.description import what_is_predicted
from sketchforest._estimators.predicting.decisions import DEFAULT, Decision
from sketchforest._estimators.predicting.labels import decision_rule
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
from sketchforest.serve.fields import number_below, shown
from sketchforest.serve.limits import MAX_LABELS, Deadline, RefusedError, wrong
from sketchforest.serve.rows import Row, RowReader
from sketchforest.serve.words import MarkedText

# Rows that are predicted at once: some milliseconds of work, after which the time is looked at; of
# wide tables, which are dense, fewer.
BLOCK_ROWS, BLOCK_CELLS = 64, 1 << 20
# Labels that are explained at once, in memory for each of all training rows in the leaves.
EXPLAINED_AT_ONCE = 10
# Characters of the texts of a row that is explained: it is read while others wait for the
# interpreter's lock.
MAX_EXPLAINED = 200_000
# Characters of a row in which words are marked, shared by the labels that they are marked for.
MAX_MARKED = 100_000
MAX_TEXT = 500  # characters of a training row in an answer
MAX_FEATURES = 20  # that an answer names
MAX_FIELDS = 100  # that a list of models has of each

Json = dict[str, Any]
# By field: the words of its text, and where they end if that is not the end of the text.
Marked = dict[str, tuple[MarkedText, int | None]]


class Source(NamedTuple):
    """A model file, and what requests call it: they never name a file."""

    name: str
    path: Path
    threshold: bool | float | str | None = None  # None: as the model was trained
    mmap: bool = True  # else it is read into memory, and the file may change


def named_sources(
    given: Sequence[str], threshold: bool | float | str | None = None, mmap: bool = True
) -> list[Source]:
    """Of arguments MODEL or NAME=MODEL; a model is called as its file if not otherwise."""
    sources = []
    for argument in given:
        name, is_named, path = argument.partition("=")
        if not is_named or Path(argument).exists():
            name, path = Path(argument).name.removesuffix(".sf"), argument
        if not name or not path:
            raise ValueError(f"models must be MODEL or NAME=MODEL; got {argument!r}.")
        sources.append(Source(name, Path(path), threshold, mmap))
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
    n_rows: int  # that it was trained on
    n_labels: int
    # Of the labels, where they have names: numbers may be many more than the file has bytes.
    names: np.ndarray | None = field(repr=False)
    known: frozenset[str] = field(repr=False)  # the same
    decision: Decision  # when labels are predicted

    @classmethod
    def load(cls, source: Source) -> "ServedModel":
        """The file is mapped, so that all workers share what they read of it, unless told
        otherwise."""
        model = read_model(source.path, source.mmap)
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
        """What is derived from a model once is derived before the first request, but for what only
        explanations need: each worker has its own of it. All that a request needs, a row of
        nothing needs, too."""
        self.suggest([{}], 1)
        _ = self.reader.fields.expected, self.reader.fields.first(1), self.reader.fields.column("")

    def suggest(
        self, rows: Sequence[Row], k: int, deadline: Deadline | None = None
    ) -> list[list[Json]]:
        """The k best labels of each row, best first, with scores; and whether the model, as it was
        trained or told to decide, predicts them."""
        answers: list[list[Json]] = []
        size = BLOCK_ROWS
        if self.reader.has_table:
            size = max(1, min(size, BLOCK_CELLS // self.model.n_features_in_))
        for first in range(0, len(rows), size):
            if deadline is not None:
                deadline.check(f"{first:,} of {len(rows):,} rows")
            block = rows[first : first + size]
            answers += self._suggest_block(self.reader.read(block, first), k)
        return answers

    def _suggest_block(self, X: Matrix, k: int) -> list[list[Json]]:
        labels, scores = self._best(X, k)
        predicted = self._is_predicted(labels, scores)
        return [
            [
                {"label": name, "score": score, "predicted": is_predicted}
                for name, score, is_predicted in zip(*row, strict=True)
                if score > 0
            ]
            for row in zip(
                self._named(labels).tolist(),
                np.round(scores.astype(np.float64), 6).tolist(),
                predicted.tolist(),
                strict=True,
            )
        ]

    def _best(self, X: Matrix, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self.model.fitted_.predictor.best(X, 1, min(k, self.n_labels))

    def _named(self, labels: np.ndarray) -> np.ndarray:
        return labels.astype(str) if self.names is None else self.names[labels]

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

    def explain(
        self,
        row: Row,
        label: object,
        k: int,
        n_rows: int,
        deadline: Deadline | None = None,
    ) -> Json:
        """Why a row has its scores, for some labels; the words of its texts that count; and the
        training rows that count most."""
        labels = None if label is None else self._checked(label)
        texts = self.reader.texts(row) if isinstance(row, str | dict) else []
        n_characters = sum(map(len, texts))
        if n_characters > MAX_EXPLAINED:
            raise RefusedError(
                413,
                f"row must have at most {MAX_EXPLAINED:,} characters of text to be explained; got "
                f"{n_characters:,}. Shorten it, or ask /suggest for labels alone.",
            )
        X, marked = self.reader.read([row]), None
        n_labels = min(k, self.n_labels) if labels is None else len(labels)
        if labels is None and n_labels > EXPLAINED_AT_ONCE:
            labels = self._named(self._best(X, n_labels)[0].ravel()).tolist()
        answers: list[Json] = []
        for first in range(0, n_labels, EXPLAINED_AT_ONCE):
            if deadline is not None:
                deadline.check(f"{first} of {n_labels} labels")
            some = None if labels is None else labels[first : first + EXPLAINED_AT_ONCE]
            found = explained(self.model, X, some, n_labels)
            # All labels have the same features: those that the trees asked for.
            marked = marked or self._marked(found, texts, n_labels)
            answers += [self._label(found, at, marked) for at in range(len(found.labels))]
        until = {name: end for name, (_, end) in (marked or {}).items() if end is not None}
        return {
            "model": self.name,
            "labels": answers,
            "similar": _similar_rows(found, n_rows),
            **({"marked_until": until} if until else {}),
        }

    def _checked(self, label: object) -> list[str]:
        given: list[Any] = label if isinstance(label, list) else [label]
        if not 0 < len(given) <= MAX_LABELS or not all(isinstance(name, str) for name in given):
            rule = f"the name of a label, or a list of at most {MAX_LABELS}"
            raise wrong(f"label must be {rule}; got {shown(label)}.")
        for name in given:
            is_number = self.names is None and number_below(name, self.n_labels) is not None
            if not is_number and name not in self.known:
                raise wrong(f"label must be one of the model's; got {shown(name)}.")
        return given

    def _label(self, found: Explanation, at: int, marked: Marked) -> Json:
        present = found.is_present
        terms, added = found.feature_names[present], found.contributions[present, at]
        by_term = dict(zip(terms.tolist(), added.tolist(), strict=True))
        return {
            "label": str(found.label_names[at]),
            "score": float(found.scores[at]),
            "base": float(found.base[at]),
            "features": [
                {"feature": line.feature, "value": _finite(line.value), "adds": line.adds}
                for line in found.lines(at, MAX_FEATURES)
            ],
            "words": {
                name: [word._asdict() for word in text.words_that_count(by_term)]
                for name, (text, _) in marked.items()
            },
        }

    def _marked(self, found: Explanation, texts: Sequence[str], n_labels: int) -> Marked:
        """Each text of a row by its field, as far as words are marked."""
        marked: Marked = {}
        if not texts:
            return marked
        vectorizer = self.model.vectorizer_
        terms = set(found.feature_names[found.is_present].tolist())
        left = MAX_MARKED // max(n_labels, vectorizer.ngram_range[1])
        # A text that is no object is the document itself.
        for name, text in zip(self.reader.fields.of_text, texts, strict=False):
            is_cut = len(text) > left
            marked[name] = MarkedText.of(vectorizer, text, terms, left), left if is_cut else None
            left = max(0, left - len(text))
        return marked

    def info(self, is_whole: bool = False) -> Json:
        """What a model is; the whole has all its fields, and the names of all its labels, where
        these have names and are not numbers from 0."""
        model, reader = self.model, self.reader
        fields = [
            f._asdict() if f.values else {"name": f.name, "kind": f.kind}
            for f in reader.fields.first(None if is_whole else MAX_FIELDS)
        ]
        about: Json = {
            "name": self.name,
            "estimator": type(model).__name__,
            "trees": model.fitted_.forest.n_trees,
            "training_rows": self.n_rows,
            "features": model.n_features_in_,
            "labels": self.n_labels,
            "reads_text": bool(reader.fields.of_text),
            "row": reader.fields.expected,
            "fields": fields,
            "n_fields": reader.fields.n,
            "fields_are_numbers": reader.fields.is_numbered,
            "left_out_means": "missing" if reader.has_table else "zero",
            "predicts": what_is_predicted(model),
            "trained_on": Path(notes_of(model).get("file", "")).name or None,
        }
        if is_whole:
            about["label_names"] = None if self.names is None else self.names.tolist()
        return about


def _decision(model: Classifier) -> Decision:
    try:
        return decision_rule(model)
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
