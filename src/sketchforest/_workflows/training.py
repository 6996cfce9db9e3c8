"""Train a model on a file: read, make features, fit, test, save."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from sketchforest._estimators.base import TreesEstimator
from sketchforest._estimators.fitting.out_of_bag import expected_score
from sketchforest._estimators.predicting.decisions import f1_kind
from sketchforest._evaluation.fitted import evaluate_rows
from sketchforest._features import Model
from sketchforest._features.encoder import Records, RowEncoder, trained_columns
from sketchforest._features.training_rows import EncodedRows, TrainingRows
from sketchforest._utils.files import check_out
from sketchforest._utils.progress import stage
from sketchforest._utils.registry import (
    COMMAND_LINE_NAMES,
    DEFAULT_ON_COMMAND_LINE,
    FORESTS_OF_LABELS,
    estimator_class,
)
from sketchforest._utils.typing import Matrix
from sketchforest._workflows.data_check import DataCheck, check_data
from sketchforest._workflows.data_file import DataFile
from sketchforest._workflows.evaluation import evaluate_file
from sketchforest._workflows.fitting import Backend, fit_on
from sketchforest._workflows.models import Notes, OutOfBag, file_digest
from sketchforest.datasets import Dataset
from sketchforest.datasets._text import AnyPath, bad_file
from sketchforest.datasets.columns import Columns
from sketchforest.datasets.table import TableFeatures
from sketchforest.datasets.table_files import (
    FASTTEXT_LABELS,
    FASTTEXT_TEXT,
    TABLE_FORMATS,
    open_table,
)
from sketchforest.evaluation import Evaluation
from sketchforest.tagger import Tagger

Params = dict[str, Any]  # of an estimator, by name

MAX_OOB_ROWS = 100_000  # out-of-bag scores predict all rows, which takes time and memory
_OF_FORESTS = ("n_jobs", "verbose")  # ignored for single trees
_TUNABLE = ("n_estimators", "random_state", "threshold", *_OF_FORESTS)


class TrainingFile(NamedTuple):
    """Training data, as a data set and as rows for a model, with notes for the model."""

    dataset: Dataset
    rows: TrainingRows
    notes: Notes
    missing_words: Mapping[str, int] = MappingProxyType({})

    @property
    def check(self) -> DataCheck:
        return check_data(self.dataset, self.rows.records.texts, self.missing_words)


_TEXT, _THREADS, _NO_COLUMNS = Tagger(), Backend(), Columns()


@dataclass(frozen=True)
class TrainOutcome:
    model: Model
    path: Path
    seconds: float
    advice: str  # of the tuner
    test: Evaluation | None
    check: DataCheck
    is_complete: bool = True  # False: tuning was interrupted


def train_file(
    file: DataFile,
    out: Path,
    *,
    tagger: Tagger = _TEXT,
    estimator: str = DEFAULT_ON_COMMAND_LINE,
    params: Params | None = None,
    test: AnyPath | None = None,
    holdout: float = 0.0,
    tunes: bool = False,
    budget: float | str | None = None,
    compact: bool = False,
    backend: Backend = _THREADS,
) -> TrainOutcome:
    """Train a model on a file, test it, and save it.

    `tagger` has the settings of texts and labels. The model is tested on another file, on a share
    of the rows, or on the file's own test rows. With `tunes`, `sketchforest.tuning.tune` chooses
    the parameters within the budget.
    """
    params = _check_params(estimator, params or {}, tunes)
    check_out(out)
    source = read_training_file(file)
    if estimator in FORESTS_OF_LABELS:
        check_indicator_labels(source, f"--forest {estimator}-regressor")
    train_rows, test_rows = _split(source.dataset, holdout, test, params.get("random_state"))
    encoded = source.rows.take(train_rows).encoded(tagger.get_params(deep=False))
    started = time.perf_counter()
    advice, is_complete = "", True
    if tunes:
        model, advice, is_complete = _tune(params, encoded.X, encoded.Y, budget)
    else:
        with stage("fitting"):
            model = _fit(estimator, params, encoded.X, encoded.Y, backend)
    seconds = time.perf_counter() - started
    out_of_bag = _expected_score(model, encoded.X)
    keep_rows(model, source, tagger, encoded, train_rows)
    if out_of_bag is not None:
        model.notes_["out_of_bag"] = out_of_bag
    tested = None
    if test is not None:
        tested = evaluate_file(model, DataFile(test, None, trained_columns(model), file.encoding))
    elif len(test_rows):
        held_out = source.rows.take(test_rows)
        X_test = encoded.encoder.encode(held_out.records)
        Y_test = held_out.Y[:, encoded.labels]
        tested = evaluate_rows(model, X_test, Y_test, np.full(len(test_rows), -1))
        tested = replace(tested, n_unknown=held_out.Y.shape[1] - len(encoded.labels))
    if tested is not None:
        model.notes_["test"] = tested.scores
    model.save(out, compact=compact)
    return TrainOutcome(model, out, seconds, advice, tested, source.check, is_complete)


def read_training_file(file: DataFile) -> TrainingFile:
    file = file.recognized()
    path, format, columns, encoding, _ = file
    assert format is not None
    is_table = format in TABLE_FORMATS
    if format == "fasttext":
        if columns != Columns():
            raise ValueError(
                "format must not be fasttext if columns are named; such files have no columns."
            )
        columns = Columns(text=(FASTTEXT_TEXT,), tags=FASTTEXT_LABELS)
    if is_table and columns.tags is None and not columns.labels:
        names = ", ".join(open_table(path, format, encoding=encoding).names)
        reason = f"a table needs --tags-column or --label-columns; the columns are {names}"
        raise bad_file(path, None, reason)
    if not is_table and columns != Columns():
        raise bad_file(path, None, f"only tables have columns; the format is {format}")
    found = file._replace(columns=columns).read()
    if found.dataset.Y.shape[1] == 0:
        raise bad_file(path, None, "it has no labels")
    noted = asdict(replace(columns, tag_separator=columns.separator)) if is_table else {}
    notes = Notes(file=Path(path).name, format=format, columns=noted)
    if encoding != "utf-8":
        notes["encoding"] = encoding
    if not file.is_piped:
        notes["sha256"] = file_digest(path)
    rows = _rows_of(found.dataset, found.texts, columns if is_table else Columns())
    return TrainingFile(found.dataset, rows, notes, found.missing_words)


def of_dataset(dataset: Dataset) -> TrainingFile:
    """Wrap a data set that is not a file of the user."""
    return TrainingFile(dataset, _rows_of(dataset), Notes())


def _rows_of(
    dataset: Dataset, texts: list[str] | None = None, columns: Columns = _NO_COLUMNS
) -> TrainingRows:
    names, table = dataset.feature_names, None
    if names is not None:
        table = TableFeatures.of_names(names.astype(str).tolist(), columns.categories)
    return TrainingRows(Records(texts, dataset.X), dataset.Y, dataset.label_names, columns, table)


def keep_rows(
    model: Model,
    source: TrainingFile,
    tagger: Tagger,
    encoded: EncodedRows,
    train_rows: np.ndarray,
) -> None:
    """Attach what the model file keeps of the training rows."""
    encoded.attach_to(model)
    encoder, n_rows = encoded.encoder, len(train_rows)
    if model.fitted_.targets.is_indicator and encoder.has_texts_or_categories:
        model.tagger_ = _settings(tagger, encoder)
    if n_rows < source.dataset.Y.shape[0]:  # explanations number rows as the file does
        model.attach(row_numbers=train_rows)
    # Read with the test file.
    model.notes_ = {**source.notes, **encoder.notes, "rows": n_rows}


def _settings(tagger: Tagger, encoder: RowEncoder) -> Params:
    """Return the parameters of a tagger that encodes a data frame of these rows alike."""
    found = tagger.get_params(deep=False) | {
        "text_columns": encoder.columns.text,
        "number_columns": encoder.table.numbers,
        "category_columns": encoder.columns.categories,
        "tag_separator": encoder.columns.separator,
    }
    del found["estimator"]
    return found


def check_indicator_labels(source: TrainingFile, regressor: str) -> None:
    """Raise if label columns hold other numbers than 0 and 1, and suggest the regressor."""
    Y, names = source.dataset.Y, source.dataset.label_names
    is_other = ~np.isin(Y.data, (0, 1))
    if names is None or not source.notes.get("columns", {}).get("labels") or not is_other.any():
        return
    at = int(np.argmax(is_other))
    raise ValueError(
        f"label_columns must hold 0 or 1; got {Y.data[at]:g} in "
        f"{str(names[Y.indices[at]])!r}. Use {regressor} for real numbers, or --tags-column for "
        "a column of classes."
    )


def _check_params(estimator: str, params: Params, tunes: bool) -> Params:
    """Return the parameters that the estimator has; raise for others, or if the tuner chooses."""
    known = _estimator_class(estimator)().get_params()
    for name, value in params.items():
        if name not in known and name not in _OF_FORESTS:
            raise ValueError(
                f"{name} is not a parameter of {estimator}; got {value!r}. Leave it out."
            )
    is_usual = estimator == DEFAULT_ON_COMMAND_LINE
    for name, value in (params if is_usual else {"estimator": estimator, **params}).items():
        if tunes and name not in _TUNABLE:
            raise ValueError(
                f"{name} must be left out with --tune, which chooses it; got {value!r}. Leave out "
                "--tune to set it yourself."
            )
    if tunes and f1_kind(params.get("threshold")):
        raise ValueError(
            f"threshold must be a number or 'top-K' with --tune; got {params['threshold']!r}."
        )
    return {name: value for name, value in params.items() if name in known}


def _estimator_class(name: str) -> type[Model]:
    if name not in COMMAND_LINE_NAMES:
        raise ValueError(f"estimator must be one of {', '.join(COMMAND_LINE_NAMES)}; got {name!r}.")
    return estimator_class(COMMAND_LINE_NAMES[name])


def _split(
    dataset: Dataset, holdout: float, test: AnyPath | None, seed: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows and the test rows."""
    every = np.arange(dataset.X.shape[0] or dataset.Y.shape[0])
    if test is not None:
        return every, every[:0]
    if holdout > 0:
        order = np.random.default_rng(seed).permutation(every)
        n_test = max(1, round(holdout * len(every)))
        if n_test == len(every):
            raise ValueError(f"holdout must leave at least one training row; got {holdout}.")
        return np.sort(order[n_test:]), np.sort(order[:n_test])
    if "train" in dataset.splits:
        return dataset.splits["train"], dataset.splits.get("test", every[:0])
    return every, every[:0]


def _fit(estimator: str, params: Params, X: Matrix, Y: Matrix, backend: Backend) -> Model:
    model = _estimator_class(estimator)(**params)
    if "oob_score" not in params and hasattr(model, "oob_score"):
        # 'predict --threshold f1' needs out-of-bag scores to choose a threshold later.
        model.set_params(oob_score=bool(model.bootstrap) and X.shape[0] <= MAX_OOB_ROWS)
    fit_on(backend, model, X, Y)
    # Do not show progress to whoever loads the model.
    return model.set_params(verbose=0) if "verbose" in params else model


def _expected_score(model: Model, X: Matrix) -> OutOfBag | None:
    """Return the expected score on new rows if trees leave rows out."""
    if not (model.fitted_.targets.is_indicator and isinstance(model, TreesEstimator)):
        return None
    oob_score = getattr(model, "oob_score", None)
    metric = oob_score if isinstance(oob_score, str) else "lrap"
    found = expected_score(model, X, metric)
    if found is None or not np.isfinite(found.se):
        return None
    # Extrapolation can exceed the best possible score.
    return OutOfBag(metric=metric, score=min(found.score, 1.0), standard_error=found.se)


def _tune(
    params: Params, X: Matrix, Y: Matrix, budget: float | str | None
) -> tuple[Model, str, bool]:
    """Return the tuned forest, advice, and whether tuning ran to its end."""
    from sketchforest.tuning import tune

    # Without a threshold, the forest chooses its own, from out-of-bag scores if it has any.
    given = {"threshold": params.pop("threshold")} if "threshold" in params else {}
    found = tune(X, Y, metric="lrap", budget=budget, **params)
    model = found.forest.set_params(verbose=0, **given)
    return model, found.advice, found.is_complete
