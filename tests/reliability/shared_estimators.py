"""Threads that ask one fresh model everything at once are told what one thread alone is told.

    python tests/reliability/shared_estimators.py --threads 32 --minutes 10

Each round has a model that nobody asked anything yet: what it computes when first asked for, many
threads ask for at once. `make sanitize-threads` runs it with the core under the thread sanitizer.
"""

import copy
import functools
import itertools
import json
import pickle
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from questions import (
    FOLDER,
    Rows,
    answer,
    answers_alone,
    questions_to,
    same_objects_of,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from stress import Findings, main, run_threads

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SketchBoostingClassifier,
    SketchBoostingRegressor,
    SketchForestClassifier,
    SketchForestRegressor,
    Tagger,
    load_forest,
)

MOST_SECONDS = 300
N_QUESTIONS = 4  # of each thread to a fresh model
N_ROWS, N_LABELS = 90, 24
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(N_ROWS, 8))
WORDS = sparse.random_array((N_ROWS, 60), density=0.1, format="csr", rng=1)
LABELS = sparse.csr_array((RNG.random((N_ROWS, N_LABELS)) < 0.15).astype(int))
OUTPUTS = np.column_stack([NUMBERS[:, 0] * NUMBERS[:, 1], NUMBERS[:, 2], NUMBERS[:, 3] ** 2])
CLASSES = np.array(["red", "green", "blue", "grey"])[(NUMBERS[:, :2] > 0) @ [1, 2]]
COLUMNS = np.column_stack([CLASSES, np.where(NUMBERS[:, 4] > 0, "yes", "no")])
TEXTS = [" ".join(f"word{i % 20}" for i in RNG.integers(0, 400, 12)) for _ in range(N_ROWS)]
TAGS = [[f"tag {label}" for label in LABELS[[row]].indices] for row in range(N_ROWS)]
VECTORIZER = TfidfVectorizer().fit(TEXTS)

SMALL = {"n_estimators": 4, "random_state": 0}
SKETCH = SMALL | {"n_components": 4}
SCORED = SMALL | {"bootstrap": True, "oob_score": True}
BOOSTED = {"max_iter": 4, "min_samples_leaf": 5, "random_state": 0}
KINDS: dict[str, tuple[Any, Any, Any]] = {
    "random forest, sparse X and Y": (RandomForestClassifier(**SKETCH), WORDS, LABELS),
    "random forest, dense, out-of-bag": (
        RandomForestClassifier(**SCORED, n_jobs=2),
        NUMBERS,
        LABELS.toarray(),
    ),
    "random forest, classes": (RandomForestClassifier(**SCORED), NUMBERS, CLASSES),
    "extra-trees, sparse Y": (ExtraTreesClassifier(**SKETCH), NUMBERS, LABELS),
    "extra-trees, columns of classes": (ExtraTreesClassifier(**SMALL), NUMBERS, COLUMNS),
    "random forest, calibrated": (
        RandomForestClassifier(**SMALL | {"n_estimators": 9}, calibrate="isotonic"),
        NUMBERS,
        LABELS,
    ),
    "sketch forest, sparse X and Y": (SketchForestClassifier(**SKETCH), WORDS, LABELS),
    "sketch forest, trees alone": (
        SketchForestClassifier(**SKETCH, linear=0, label_correlations=False),
        WORDS,
        LABELS,
    ),
    "sketch forest, linear part": (SketchForestClassifier(**SMALL, linear=0.4), NUMBERS, LABELS),
    "sketch forest, dense": (SketchForestClassifier(**SCORED, n_jobs=2), NUMBERS, LABELS),
    "sketch forest, classes": (SketchForestClassifier(**SMALL), WORDS, CLASSES),
    "random forest, medians": (
        RandomForestRegressor(**SMALL, criterion="absolute_error"),
        NUMBERS,
        OUTPUTS,
    ),
    "random forest, one output": (RandomForestRegressor(**SCORED), WORDS, OUTPUTS[:, 0]),
    "extra-trees regressor": (ExtraTreesRegressor(**SMALL), NUMBERS, OUTPUTS),
    "sketch forest regressor": (SketchForestRegressor(**SMALL), NUMBERS, OUTPUTS),
    "sketch forest regressor, linear part": (
        SketchForestRegressor(**SMALL, linear=0.6),
        WORDS,
        OUTPUTS,
    ),
    "boosting, sparse X and Y": (
        SketchBoostingClassifier(**BOOSTED, n_components=4, n_jobs=2),
        WORDS,
        LABELS,
    ),
    "boosting, classes": (SketchBoostingClassifier(**BOOSTED), NUMBERS, CLASSES),
    "boosting regressor": (SketchBoostingRegressor(**BOOSTED), NUMBERS, OUTPUTS),
    "tree, sparse X and Y": (DecisionTreeClassifier(random_state=0), WORDS, LABELS),
    "oblique tree": (DecisionTreeClassifier("oblique", random_state=0), NUMBERS, LABELS),
    "extra-tree, classes": (ExtraTreeClassifier(random_state=0), NUMBERS, CLASSES),
    "tree regressor": (DecisionTreeRegressor(random_state=0), NUMBERS, OUTPUTS),
    "texts": (RandomForestClassifier(**SMALL), TEXTS, LABELS),
    "tagger": (Tagger(SketchForestClassifier(**SMALL), keep_texts=True), TEXTS, TAGS),
    "parts": (RandomForestClassifier(**SMALL), WORDS, LABELS),
}


def rows_of(kind: str) -> Rows:
    _, X, Y = KINDS[kind]
    return Rows(X, VECTORIZER.transform(X) if kind == "texts" else X, Y)


def fitted(kind: str) -> Any:
    if kind == "parts":
        return load_forest(_folder_of_parts())
    model = clone(KINDS[kind][0]).fit(rows_of(kind).features, rows_of(kind).Y)
    return model.attach(vectorizer=VECTORIZER) if kind == "texts" else model


@functools.cache
def _folder_of_parts() -> Path:
    folder = Path(FOLDER.name) / "parts"
    folder.mkdir()
    names = ["part-00000.sf", "part-00001.sf"]
    rows, half = rows_of("parts"), N_ROWS // 2
    for name, part in zip(names, (slice(half), slice(half, None)), strict=True):
        clone(KINDS["parts"][0]).fit(rows.X[part], rows.Y[part]).save(folder / name)
    (folder / "index.json").write_text(json.dumps({"format_version": 1, "parts": names}))
    return folder


@functools.cache
def _file(kind: str) -> Path:
    path = Path(FOLDER.name) / f"{list(KINDS).index(kind)}.sf"
    fitted(kind).save(path)
    return path


@functools.cache
def _pickled(kind: str) -> bytes:
    return pickle.dumps(fitted(kind))


WAYS: dict[str, Callable[[str], Any]] = {
    "fitted": fitted,
    "mapped": lambda kind: load_forest(_file(kind)),
    "loaded": lambda kind: load_forest(_file(kind), mmap=False),
    "unpickled": lambda kind: pickle.loads(_pickled(kind)),
    "deepcopied": lambda kind: copy.deepcopy(fitted(kind)),
}
WAYS_OF_PARTS = WAYS | {
    "mapped": lambda kind: load_forest(_folder_of_parts()),
    "loaded": lambda kind: load_forest(_folder_of_parts(), mmap=False),
}


def fresh(kind: str, way: str) -> Any:
    return (WAYS_OF_PARTS if kind == "parts" else WAYS)[way](kind)


@functools.cache
def known_answers(kind: str, way: str) -> dict[str, Any]:
    return answers_alone(fresh(kind, way), rows_of(kind))


def race(kind: str, way: str, n_threads: int, findings: Findings) -> None:
    """What is made once is the same object for all threads that ask at the same moment."""
    for name, read in same_objects_of(fresh(kind, way)).items():
        model, objects = fresh(kind, way), []

        def ask(model=model, objects=objects, read=read) -> None:
            objects.append(read(model))

        run_threads([ask] * n_threads, findings, MOST_SECONDS)
        is_one = len({*map(id, objects)}) == 1
        findings.add(f"{kind}, {way}: several objects: {name}", is_one)


def share(
    kind: str, way: str, n_threads: int, n_questions: int | None, seed: str, findings: Findings
) -> None:
    """A fresh model; threads begin with the same question, and go on in orders of their own."""
    known, model, rows = known_answers(kind, way), fresh(kind, way), rows_of(kind)
    questions = questions_to(model)
    first = random.Random(seed).choice(list(questions))

    def ask(number: int) -> None:
        order = list(questions)
        random.Random(f"{seed} {number}").shuffle(order)
        for name in [first, *order[:n_questions]]:
            found = answer(questions[name], model, rows)
            findings.add(f"{kind}, {way}: {name}", found == known[name], found)

    run_threads([functools.partial(ask, n) for n in range(n_threads)], findings, MOST_SECONDS)


def run(n_threads: int, seconds: float, seed: str, kinds: list[str]) -> Findings:
    """Rounds until the time is over, at least one for each kind. In every fourth all is asked."""
    findings, end, ways = Findings(), time.monotonic() + seconds, list(WAYS)
    for number in itertools.count():
        n_questions = None if number % 4 == 3 else N_QUESTIONS
        for at, kind in enumerate(kinds):
            if (number and time.monotonic() > end) or findings.has_hang:
                return findings
            way = ways[(number + at) % len(ways)]
            race(kind, way, n_threads, findings)
            share(kind, way, n_threads, n_questions, f"{seed} {number} {kind}", findings)
    raise AssertionError


if __name__ == "__main__":
    main(__doc__, __file__, KINDS, run)
