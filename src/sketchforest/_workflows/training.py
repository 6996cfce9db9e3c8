"""From a file to a model file: read, make features, grow, test, save."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sketchforest import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sketchforest._estimators.thresholds import is_out_of_bag
from sketchforest._workflows.evaluation import Evaluation, evaluate
from sketchforest._workflows.model_input import (
    label_names,
    read_labelled,
    read_training,
    training_format,
)
from sketchforest.datasets import Dataset
from sketchforest.datasets._text import AnyPath, bad_file
from sketchforest.datasets.table import TABLE_FORMATS, Columns

ESTIMATORS: dict[str, type] = {
    "random-forest": RandomForestClassifier,
    "extra-trees": ExtraTreesClassifier,
    "decision-tree": DecisionTreeClassifier,
    "random-forest-regressor": RandomForestRegressor,
    "extra-trees-regressor": ExtraTreesRegressor,
    "decision-tree-regressor": DecisionTreeRegressor,
}
DEFAULT = "default"  # a parameter that is left to the estimator
# Out-of-bag scores cost a prediction of all rows, and memory for it.
MAX_OOB_ROWS = 100_000
# What may be given where the other settings are tuned.
_TUNED_WITH = ("n_estimators", "random_state", "n_jobs", "verbose", "threshold")


class TextSettings(NamedTuple):
    """How text becomes features."""

    ngrams: int = 1
    min_count: int = 2
    max_terms: int | None = None


@dataclass(frozen=True)
class TrainOutcome:
    model: Any
    path: Path
    seconds: float
    advice: str = ""  # of the search, where settings were tuned
    test: Evaluation | None = None
    n_unknown: int = 0
    notes: dict[str, Any] = field(default_factory=dict)


def train_file(
    file: AnyPath,
    out: Path,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    text: TextSettings | None = None,
    estimator: str = "random-forest",
    params: dict[str, Any] | None = None,
    test: AnyPath | None = None,
    holdout: float = 0.0,
    tunes: bool = False,
    budget: float | str | None = None,
    compact: bool = False,
    options: dict[str, Any] | None = None,
) -> TrainOutcome:
    """Trains a model on a file and saves it; tests it on another file, on a share of the rows, or
    on the test rows that the file itself names. What is saved is what was tested.

    With `tunes`, the settings are those that `sketchforest.tuning.tune` finds within the budget.
    """
    columns, params = columns or Columns(), dict(params or {})
    columns = replace(columns, tag_separator=columns.tag_separator or ";")
    kind = _kind(estimator)
    params = check_options(kind, estimator, params)
    if tunes:
        _check_tuned(estimator, params)
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(f"out must be a file in a folder that exists; got '{out}'.")
    dataset, texts, notes = read_problem(file, format, columns, **(options or {}))
    train_rows, test_rows = _split(dataset, holdout, test, params.get("random_state"))
    vectorizer = None
    if texts is not None:
        vectorizer, dataset = _features_of_text(dataset, texts, train_rows, text or TextSettings())
    started = time.perf_counter()
    X, Y = dataset.X[train_rows], dataset.Y[train_rows]
    model, advice = _tune(params, X, Y, budget) if tunes else (_fit(kind, params, X, Y), "")
    seconds = time.perf_counter() - started
    if "verbose" in params:  # who loads the model may not want to watch
        model.set_params(verbose=0)
    notes["rows"] = X.shape[0]
    attach(model, dataset, notes)
    if vectorizer is not None:
        model.vectorizer_ = vectorizer
    evaluation, n_unknown = None, 0
    if test is not None:
        rows = read_labelled(test, training_format(test, None), model, columns)
        evaluation = evaluate(model, rows.X, rows.Y, label_names(model))
        n_unknown = len(rows.unknown)
    elif len(test_rows):
        evaluation = evaluate(model, dataset.X[test_rows], dataset.Y[test_rows], label_names(model))
    if evaluation is not None:
        notes["test"] = evaluation.scores
    model.save(out, compact=compact)
    return TrainOutcome(model, out, seconds, advice, evaluation, n_unknown, notes)


def read_problem(
    file: AnyPath, format: str | None, columns: Columns, **options: Any
) -> tuple[Dataset, list[str] | None, dict[str, Any]]:
    """Data to train on, texts if there are any, and what a model notes of the file."""
    format = training_format(file, format)
    is_table = format in TABLE_FORMATS
    if is_table and columns.tags is None and not columns.labels:
        raise bad_file(file, None, "a table needs --tags-column or --label-columns")
    if not is_table and (columns.text or columns.tags or columns.labels or columns.ignored):
        raise bad_file(file, None, f"only tables have columns, and its format is {format}")
    columns = replace(columns, tag_separator=columns.tag_separator or ";")
    dataset, texts = read_training(file, format, columns, **options)
    if dataset.Y.shape[1] == 0:
        raise bad_file(file, None, "it has no labels")
    notes = {
        "file": Path(file).name,
        "format": format,
        "columns": vars(columns) if is_table else {},
    }
    return dataset, texts, notes


def attach(model: Any, dataset: Dataset, notes: dict[str, Any]) -> None:
    """Names and notes, as a loaded model has them."""
    model.notes_ = notes
    if dataset.label_names is not None:
        model.label_names_ = dataset.label_names
    if dataset.feature_names is not None:
        model.feature_names_ = dataset.feature_names


def check_options(kind: type, estimator: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters that the estimator has; one that it lacks must not have been asked for."""
    known = kind().get_params()
    usual = RandomForestClassifier().get_params()
    kept = {}
    for name, value in params.items():
        if value == DEFAULT and isinstance(value, str):
            continue
        if name in known:
            kept[name] = value
        elif name not in ("n_jobs", "verbose") and value != usual[name]:
            raise ValueError(f"{name} is no parameter of {estimator}; got {value!r}. Leave it out.")
    return kept


def _kind(estimator: str) -> type:
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATORS)}; got {estimator!r}.")
    return ESTIMATORS[estimator]


def _fit(kind: type, params: dict[str, Any], X: Any, Y: Any) -> Any:
    model = kind(**params)
    if "oob_score" not in params and hasattr(model, "oob_score"):
        model.set_params(oob_score=bool(model.bootstrap) and X.shape[0] <= MAX_OOB_ROWS)
    return model.fit(X, Y)


def _check_tuned(estimator: str, params: dict[str, Any]) -> None:
    """What the search chooses, or does not take, must not have been asked for."""
    usual = RandomForestClassifier().get_params() | {"estimator": "random-forest"}
    for name, value in {"estimator": estimator, **params}.items():
        if name not in _TUNED_WITH and value != usual[name]:
            raise ValueError(
                f"{name} must be left out where settings are tuned; got {value!r}. Leave out "
                "--tune to set it yourself."
            )
    threshold = params.get("threshold", 0.5)
    if is_out_of_bag(threshold):
        raise ValueError(
            f"threshold must be a number or 'top-K' where settings are tuned; got {threshold!r}."
        )


def _tune(params: dict[str, Any], X: Any, Y: Any, budget: float | str | None) -> tuple[Any, str]:
    """The forest that the search finds, and its advice."""
    from sketchforest.tuning import tune

    settings = {name: params[name] for name in _TUNED_WITH if name in params}
    threshold = settings.pop("threshold", 0.5)
    found = tune(X, Y, metric="lrap", budget=budget, **settings)
    return found.forest.set_params(threshold=threshold), found.advice


def _split(
    dataset: Dataset, holdout: float, test: AnyPath | None, seed: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on, and rows to test on."""
    every = np.arange(dataset.X.shape[0] or dataset.Y.shape[0])
    if test is not None:
        return every, every[:0]
    if holdout > 0:
        order = np.random.default_rng(seed).permutation(every)
        n_test = max(1, round(holdout * len(every)))
        if n_test == len(every):
            raise ValueError(f"holdout must leave a row to train on; got {holdout}.")
        return np.sort(order[n_test:]), np.sort(order[:n_test])
    if "train" in dataset.splits:
        return dataset.splits["train"], dataset.splits.get("test", every[:0])
    return every, every[:0]


def _features_of_text(
    dataset: Dataset, texts: list[str], train_rows: np.ndarray, settings: TextSettings
) -> tuple[Any, Dataset]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        ngram_range=(1, settings.ngrams),
        min_df=settings.min_count,
        max_features=settings.max_terms,
        sublinear_tf=True,
        dtype=np.float32,
    )
    try:
        vectorizer.fit([texts[row] for row in train_rows.tolist()])
    except ValueError as error:
        raise ValueError(
            f"text must hold words, each in {settings.min_count} texts or more; got none "
            f"({str(error).splitlines()[0].rstrip('.')}). Use a lower --min-count."
        ) from error
    terms = vectorizer.get_feature_names_out()
    return vectorizer, replace(dataset, X=vectorizer.transform(texts), feature_names=terms)
