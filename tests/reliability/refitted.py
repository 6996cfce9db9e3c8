"""A fit replaces the whole model at once: others are told what the old model says, or the new
one, and two fits at once leave one whole model.

    python tests/reliability/refitted.py --minutes 10

One estimator is fitted to two data sets of other numbers of rows, features and labels each. What
is right for a model that has other features than X is the error that names them.
"""

import functools
import itertools
import random
import time
from typing import Any, NamedTuple

import numpy as np
from questions import Question, Rows, answer, questions_to
from scipy import sparse
from sklearn.base import clone
from stress import Findings, Raised, main, run_threads

from sketchforest import (
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    SketchForestClassifier,
)

MOST_SECONDS = 120
RNG = np.random.default_rng(0)
SMALL = {"n_estimators": 4, "random_state": 0}
SCORED = SMALL | {"bootstrap": True, "oob_score": True}


def numbers(n_rows: int, n_features: int) -> np.ndarray:
    return RNG.normal(size=(n_rows, n_features))


def words(n_rows: int, n_features: int) -> sparse.csr_array:
    return sparse.random_array((n_rows, n_features), density=0.1, format="csr", rng=n_rows)


def labels(n_rows: int, n_labels: int) -> sparse.csr_array:
    return sparse.csr_array((RNG.random((n_rows, n_labels)) < 0.2).astype(int))


def classes(n_rows: int, n_classes: int) -> np.ndarray:
    return np.array([f"class {number}" for number in RNG.integers(0, n_classes, n_rows)])


def rows(X: Any, Y: Any) -> Rows:
    return Rows(X, X, Y)


def frames(n_rows: int, n_features: int, n_labels: int) -> Rows:
    import pandas as pd

    X = pd.DataFrame(numbers(n_rows, n_features)).add_prefix(f"feature of {n_features}: ")
    Y = pd.DataFrame(labels(n_rows, n_labels).toarray()).add_prefix(f"label of {n_labels}: ")
    return rows(X, Y)


KINDS: dict[str, tuple[Any, Rows, Rows]] = {
    "random forest": (
        RandomForestClassifier(**SCORED, n_jobs=2),
        rows(numbers(40, 6), labels(40, 9)),
        rows(numbers(60, 9), labels(60, 14)),
    ),
    "random forest, classes and labels": (
        RandomForestClassifier(**SMALL),
        rows(words(40, 30), classes(40, 3)),
        rows(words(60, 40), labels(60, 14)),
    ),
    "sketch forest, data frames": (
        SketchForestClassifier(**SMALL),
        frames(40, 6, 9),
        frames(60, 9, 14),
    ),
    "regressor": (
        ExtraTreesRegressor(**SMALL),
        rows(numbers(40, 6), numbers(40, 1).ravel()),
        rows(numbers(60, 9), numbers(60, 5)),
    ),
    "tree": (
        DecisionTreeClassifier(random_state=0),
        rows(numbers(40, 6), classes(40, 3)),
        rows(numbers(60, 9), labels(60, 14)),
    ),
}


class Known(NamedTuple):
    """What models that one thread fitted and asked say of the rows of both data sets."""

    questions: dict[str, Question]
    data: tuple[Rows, Rows]
    answers: list[list[dict[str, Any]]]  # by model and rows


@functools.cache
def known(kind: str) -> Known:
    estimator, *data = KINDS[kind]
    models = [clone(estimator).fit(each.features, each.Y) for each in data]
    questions = questions_to(models[0]) | questions_to(models[1])
    questions.pop("fit")  # of a clone, which knows nothing of the model
    answers = [
        [{name: answer(q, model, asked) for name, q in questions.items()} for asked in data]
        for model in models
    ]
    for model in (0, 1):
        assert not isinstance(answers[model][model]["predict"], Raised)
        assert "feature" in answers[model][1 - model]["predict"].message
    return Known(questions, tuple(data), answers)


def _fit(model: Any, rows: Rows) -> None:
    model.fit(rows.features, rows.Y)


def refit(kind: str, n_threads: int, seconds: float, seed: str, findings: Findings) -> None:
    """One thread fits, the others ask."""
    questions, data, answers = known(kind)
    model, end = clone(KINDS[kind][0]).fit(data[1].features, data[1].Y), time.monotonic() + seconds

    def fit() -> None:
        for number in itertools.count():
            if time.monotonic() > end:
                return
            found = answer(_fit, model, data[number % 2])
            findings.add(f"{kind}, refitted: fit", found is None, found)

    def ask(number: int) -> None:
        draw = random.Random(f"{seed} {number}")
        while time.monotonic() < end:
            name, of = draw.choice(list(questions)), draw.randrange(2)
            found = answer(questions[name], model, data[of])
            is_right = found in [answers[0][of][name], answers[1][of][name]]
            findings.add(f"{kind}, refitted: {name}", is_right, found)

    tasks = [fit, *(functools.partial(ask, number) for number in range(n_threads - 1))]
    run_threads(tasks, findings, seconds + MOST_SECONDS)


def fit_at_once(kind: str, findings: Findings) -> None:
    """Threads fit the same estimator to one of the two at once, and then one asks."""
    questions, data, answers = known(kind)
    model = clone(KINDS[kind][0])

    def fit(each: Rows) -> None:
        found = answer(_fit, model, each)
        findings.add(f"{kind}, fitted at once: fit", found is None, found)

    run_threads([functools.partial(fit, each) for each in data] * 3, findings, MOST_SECONDS)
    found = [{name: answer(q, model, asked) for name, q in questions.items()} for asked in data]
    different = [
        {name for of in (0, 1) for name in questions if found[of][name] != answers[at][of][name]}
        for at in (0, 1)
    ]
    fewest = min(different, key=len)
    findings.add(f"{kind}, fitted at once: {', '.join(sorted(fewest)[:8])}", not fewest)


def run(n_threads: int, seconds: float, seed: str, kinds: list[str]) -> Findings:
    """Rounds until the time is over, at least one for each kind."""
    findings, end = Findings(), time.monotonic() + seconds
    for number in itertools.count():
        for kind in kinds:
            if (number and time.monotonic() > end) or findings.has_hang:
                return findings
            refit(kind, n_threads, min(seconds / len(kinds), 5), f"{seed} {number}", findings)
            for _ in range(10):
                fit_at_once(kind, findings)
    raise AssertionError


if __name__ == "__main__":
    main(__doc__, __file__, KINDS, run)
