"""From a file to a model file: read, make features, grow, test, save."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy import sparse

from sketchforest import RandomForestClassifier, SketchForestClassifier
from sketchforest._estimators.fitting.out_of_bag import expected_score
from sketchforest._estimators.predicting.decisions import f1_kind
from sketchforest._files import check_out
from sketchforest._progress import stage
from sketchforest._registry import (
    COMMAND_LINE_NAMES,
    DEFAULT_ON_COMMAND_LINE,
    FORESTS_OF_LABELS,
    estimator_class,
)
from sketchforest._saving.vectorizer import Vectorizer
from sketchforest._typing import Matrix
from sketchforest._workflows import Model
from sketchforest._workflows.evaluation import Evaluation, evaluate, evaluate_file
from sketchforest._workflows.fitting import Where, fit_there
from sketchforest._workflows.model_input import read_training, training_columns, training_format
from sketchforest._workflows.models import (
    Notes,
    OutOfBag,
    attach_names,
    file_digest,
    trained_columns,
)
from sketchforest._workflows.row_features import find_scales, scaled, with_terms
from sketchforest.datasets import Dataset
from sketchforest.datasets._text import AnyPath, bad_file
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.files import ReadOptions
from sketchforest.datasets.table_files import TABLE_FORMATS, open_table

Params = dict[str, Any]  # of an estimator, as they are written on the command line

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
    keeps_texts: bool = False  # in the model, for readers of explanations


class TrainingFile(NamedTuple):
    """Data to train on, texts in place of X if there are any, and what is noted of the file."""

    dataset: Dataset
    texts: list[str] | None
    notes: Notes


_FEATURES_ONLY, _USUAL_TEXT, _HERE = Columns(), TextSettings(), Where()


@dataclass(frozen=True)
class TrainOutcome:
    model: Model
    path: Path
    seconds: float
    advice: str  # of the search, where settings were tuned
    test: Evaluation | None
    is_complete: bool = True  # the search was not interrupted


def train_file(
    file: AnyPath,
    out: Path,
    *,
    format: str | None = None,
    columns: Columns = _FEATURES_ONLY,
    encoding: str = "utf-8",
    text: TextSettings = _USUAL_TEXT,
    estimator: str = DEFAULT_ON_COMMAND_LINE,
    params: Params | None = None,
    test: AnyPath | None = None,
    holdout: float = 0.0,
    tunes: bool = False,
    budget: float | str | None = None,
    compact: bool = False,
    options: ReadOptions | None = None,
    where: Where = _HERE,
) -> TrainOutcome:
    """Trains a model on a file and saves it; tests it on another file, on a share of the rows, or
    on the test rows that the file itself names. What is saved is what was tested.

    With `tunes`, the settings are those that `sketchforest.tuning.tune` finds within the budget.
    """
    params = _check_params(estimator, params or {}, tunes)
    check_out(out)
    source = read_training_file(file, format, columns, encoding, **(options or ReadOptions()))
    if estimator in FORESTS_OF_LABELS:
        check_zeros_and_ones(source, f"--forest {estimator}-regressor")
    train_rows, test_rows = _split(source.dataset, holdout, test, params.get("random_state"))
    source, vectorizer = with_features(source, train_rows, text)
    dataset = source.dataset
    X, Y = dataset.X[train_rows], dataset.Y[train_rows]
    started = time.perf_counter()
    advice, is_complete = "", True
    if tunes:
        model, advice, is_complete = _tune(params, X, Y, budget)
    else:
        with stage("fitting"):
            model = _fit(estimator, params, X, Y, where)
    seconds = time.perf_counter() - started
    out_of_bag = _predicted_score(model, X)
    attach_names(model, dataset, vectorizer)
    if len(train_rows) < dataset.Y.shape[0]:  # what is said of training rows names the file's
        model.attach(row_numbers=train_rows)
    if text.keeps_texts and source.texts is not None:
        model.attach(row_texts=[source.texts[row] for row in train_rows])
    model.notes_ = {**source.notes, "rows": len(train_rows)}  # which the test file is read by
    if out_of_bag is not None:
        model.notes_["out_of_bag"] = out_of_bag
    tested = _test(model, dataset, test_rows, test, encoding)
    if tested is not None:
        model.notes_["test"] = tested.scores
    model.save(out, compact=compact)
    return TrainOutcome(model, out, seconds, advice, tested, is_complete)


def read_training_file(
    path: AnyPath,
    format: str | None,
    columns: Columns,
    encoding: str = "utf-8",
    **options: Unpack[ReadOptions],
) -> TrainingFile:
    format = training_format(path, format)
    is_table = format in TABLE_FORMATS
    columns = training_columns(columns, format)
    if is_table and columns.tags is None and not columns.labels:
        names = ", ".join(open_table(path, format, encoding=encoding).names)
        reason = f"a table needs --tags-column or --label-columns; its columns are {names}"
        raise bad_file(path, None, reason)
    if not is_table and columns != Columns():
        raise bad_file(path, None, f"only tables have columns, and its format is {format}")
    dataset, texts = read_training(path, format, columns, encoding, **options)
    if dataset.Y.shape[1] == 0:
        raise bad_file(path, None, "it has no labels")
    noted = asdict(replace(columns, tag_separator=columns.separator)) if is_table else {}
    notes = Notes(file=Path(path).name, format=format, columns=noted)
    if str(path) != "-":
        notes["sha256"] = file_digest(path)
    return TrainingFile(dataset, texts, notes)


def check_zeros_and_ones(source: TrainingFile, regressor: str) -> None:
    """Raises for columns of labels with other numbers, which are for what is called `regressor`."""
    Y, names = source.dataset.Y, source.dataset.label_names
    is_other = ~np.isin(Y.data, (0, 1))
    if names is None or not source.notes.get("columns", {}).get("labels") or not is_other.any():
        return
    at = int(np.argmax(is_other))
    raise ValueError(
        f"label_columns must hold 0 or 1, whether a row has the label; got {Y.data[at]:g} in "
        f"{str(names[Y.indices[at]])!r}. Use {regressor} for real numbers, and --tags-column for "
        "a column of classes."
    )


def _check_params(estimator: str, params: Params, tunes: bool) -> Params:
    """The parameters that the estimator has; one that it lacks must not have been asked for."""
    known = _estimator_class(estimator)().get_params()
    usual = RandomForestClassifier().get_params() | SketchForestClassifier().get_params()
    kept = {}
    for name, value in params.items():
        if value == DEFAULT and isinstance(value, str):
            continue
        if name in known:
            kept[name] = value
        elif name not in ("n_jobs", "verbose") and value != usual[name]:
            raise ValueError(f"{name} is no parameter of {estimator}; got {value!r}. Leave it out.")
    if tunes:
        _check_tuned(estimator, kept)
    return kept


def _check_tuned(estimator: str, params: Params) -> None:
    """What the search chooses, or does not take, must not have been asked for."""
    usual = SketchForestClassifier().get_params() | {"estimator": DEFAULT_ON_COMMAND_LINE}
    for name, value in {"estimator": estimator, **params}.items():
        if name not in _TUNED_WITH and value != usual[name]:
            raise ValueError(
                f"{name} must be left out where settings are tuned; got {value!r}. Leave out "
                "--tune to set it yourself."
            )
    threshold = params.get("threshold", 0.5)
    if f1_kind(threshold):
        raise ValueError(
            f"threshold must be a number or 'top-K' where settings are tuned; got {threshold!r}."
        )


def _estimator_class(name: str) -> type[Model]:
    if name not in COMMAND_LINE_NAMES:
        raise ValueError(f"estimator must be one of {', '.join(COMMAND_LINE_NAMES)}; got {name!r}.")
    return estimator_class(COMMAND_LINE_NAMES[name])


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


def with_features(
    source: TrainingFile, train_rows: np.ndarray, settings: TextSettings = _USUAL_TEXT
) -> "tuple[TrainingFile, Vectorizer | None]":
    """The file, with features made of its texts and categories if it has them, and what made those
    of its texts."""
    dataset, texts, notes = source
    categories = notes.get("columns", {}).get("categories", ())
    if texts is None and not categories:
        return source, None
    assert dataset.feature_names is not None
    n_indicators = sum(
        any(str(name).startswith(f"{c}=") for c in categories or ())
        for name in dataset.feature_names
    )
    numbers = dataset.feature_names[: len(dataset.feature_names) - n_indicators].tolist()
    scales = find_scales(dataset.X[train_rows], numbers)
    X, names, vectorizer = scaled(dataset.X, scales), dataset.feature_names, None
    if texts is not None:
        terms, vectorizer = _terms(texts, train_rows, settings)
        X = with_terms(terms, X)
        names = np.append(vectorizer.get_feature_names_out(), names)
    if scales:
        notes = {**notes, "scales": scales}
    made = replace(dataset, X=X, feature_names=names.astype(np.str_))
    return TrainingFile(made, texts, notes), vectorizer


def _terms(
    texts: list[str], train_rows: np.ndarray, settings: TextSettings
) -> "tuple[sparse.csr_array, Vectorizer]":
    """The weights of the terms in all texts, and what weighs them, which knows the training rows
    alone."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        ngram_range=(1, settings.ngrams),
        min_df=settings.min_count,
        max_features=settings.max_terms,
        sublinear_tf=True,
        dtype=np.float32,
    )
    others = np.setdiff1d(np.arange(len(texts)), train_rows)
    with stage("words", len(texts)) as shown:
        terms = _fitted_terms(vectorizer, shown.over(texts[row] for row in train_rows.tolist()))
        if len(others):
            rest = shown.over(texts[row] for row in others.tolist())
            more = sparse.csr_array(vectorizer.transform(rest))
            place = np.argsort(np.concatenate([train_rows, others]), kind="stable")
            terms = sparse.vstack([terms, more], format="csr")[place]
    return terms, vectorizer


def _fitted_terms(vectorizer: Vectorizer, texts: Iterable[str]) -> sparse.csr_array:
    try:
        return sparse.csr_array(vectorizer.fit_transform(texts))
    except ValueError as error:
        raise ValueError(
            f"text must hold words, each in {vectorizer.min_df} texts or more; got none "
            f"({str(error).splitlines()[0].rstrip('.')}). Use a lower --min-count."
        ) from error


def _fit(estimator: str, params: Params, X: Matrix, Y: Matrix, where: Where) -> Model:
    model = _estimator_class(estimator)(**params)
    if "oob_score" not in params and hasattr(model, "oob_score"):
        # From it, 'predict --threshold f1' chooses later.
        model.set_params(oob_score=bool(model.bootstrap) and X.shape[0] <= MAX_OOB_ROWS)
    fit_there(model, X, Y, where)
    # Who loads the model may not want to watch.
    return model.set_params(verbose=0) if "verbose" in params else model


def _predicted_score(model: Model, X: Matrix) -> OutOfBag | None:
    """Where trees leave rows out: the score of all of them on new rows."""
    if not model.fitted_.targets.is_indicator:
        return None
    asked_for = getattr(model, "oob_score", None)
    metric = asked_for if isinstance(asked_for, str) else "lrap"
    found = expected_score(model, X, metric)
    if found is None or not np.isfinite(found.se):
        return None
    # A curve that is drawn on may end above what a score can be.
    return OutOfBag(metric=metric, score=min(found.score, 1.0), standard_error=found.se)


def _tune(
    params: Params, X: Matrix, Y: Matrix, budget: float | str | None
) -> tuple[Model, str, bool]:
    """The forest that the search finds, its advice, and whether it was not interrupted."""
    from sketchforest.tuning import tune

    settings = {name: params[name] for name in _TUNED_WITH if name in params}
    # If none is given, that of the kind of forest that is found: rows that its trees did not see
    # choose it, where there are some.
    given = {"threshold": settings.pop("threshold")} if "threshold" in settings else {}
    found = tune(X, Y, metric="lrap", budget=budget, **settings)
    model = found.forest.set_params(verbose=0, **given)
    return model, found.advice, found.is_complete


def _test(
    model: Model, dataset: Dataset, rows: np.ndarray, file: AnyPath | None, encoding: str
) -> Evaluation | None:
    """The scores on another file, or on rows of this one; None if there are neither."""
    if file is not None:
        return evaluate_file(model, file, None, trained_columns(model), encoding)
    return evaluate(model, dataset.X[rows], dataset.Y[rows]) if len(rows) else None
