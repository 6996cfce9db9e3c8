"""The command `tune`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption

if TYPE_CHECKING:
    from sketchforest._saving.vectorizer import Vectorizer
    from sketchforest._utils.typing import Matrix
    from sketchforest._workflows.models import Notes
    from sketchforest.datasets import Dataset
    from sketchforest.datasets.columns import Columns
    from sketchforest.tuning import TuningResult


def tune(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A data file, or the name of a data set.")
    ],
    format: options.FormatOption = None,
    encoding: options.EncodingOption = "utf-8",
    text_column: options.TextOption = None,
    category_column: options.CategoryOption = "",
    number_column: options.NumberOption = "",
    tags_column: options.TagsOption = None,
    tag_separator: options.SeparatorOption = None,
    label_columns: options.LabelsOption = "",
    ignore_columns: options.IgnoreOption = "",
    metric: Annotated[
        str, typer.Option(help="What to maximise: lrap, precision_at_5, ndcg_at_5, ...")
    ] = "lrap",
    budget: Annotated[
        str,
        typer.Option(
            help="Seconds, as in 60, or trees, as in '2000 trees'; else what ten usual fits take.",
            show_default=False,
        ),
    ] = "",
    estimators: Annotated[
        str, typer.Option(help="Kinds of forest, separated by commas.")
    ] = "sketch, random-forest, extra-trees",
    n_estimators: Annotated[int, typer.Option(min=1, help="Trees of the winner.")] = 100,
    n_jobs: options.JobsOption = -1,
    random_state: options.SeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the model, trials (CSV) and pictures (PNG)."),
    ] = None,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
    data_home: options.DataHomeOption = None,
) -> None:
    """Choose the kind of forest and its settings, and fit it.

    Settings are compared by rows that their trees did not see, at the score predicted for all
    trees. Where the data have a split, the training rows are used, and the winner is scored on
    the test rows.

    Example:  sketchforest tune table.csv --tags-column tags --out tuned

    Example:  sketchforest tune bibtex --budget 60 --out tuned
    """
    from sketchforest import tuning
    from sketchforest._workflows.models import attach_names
    from sketchforest.cli.tuning_views import as_json, show_tuning, write_tuning

    screen = options.console(json)
    given = options.columns(
        text_column,
        tags_column,
        tag_separator,
        label_columns,
        ignore_columns,
        categories=category_column,
        numbers=number_column,
    )
    with options.progress(quiet):
        data, notes, vectorizer = _read(file, data_home, format, given, encoding)
    train, test = data.splits.get("train"), data.splits.get("test")
    X, Y = (data.X, data.Y) if train is None else (data.X[train], data.Y[train])
    result = tuning.tune(
        X,
        Y,
        metric=metric,
        budget=options.value(budget or "none"),
        estimators=[_python_name(name) for name in options.names(estimators)],
        n_estimators=n_estimators,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=int(not quiet),
    )
    attach_names(result.forest, data, vectorizer)
    result.forest.notes_ = {**notes, "rows": X.shape[0]}
    score = None if test is None else _test_score(result, metric, data.X[test], data.Y[test])
    if out is not None:
        write_tuning(result, out, screen)
    if json:
        options.print_json(as_json(result, score))
    else:
        show_tuning(result, score, screen)
    options.exit_if_interrupted(result.is_complete)


def _python_name(forest: str) -> str:
    return "sketch_forest" if forest == "sketch" else forest.replace("-", "_")


def _read(
    file: str, data_home: Path | None, format: str | None, columns: "Columns", encoding: str
) -> tuple["Dataset", "Notes", "Vectorizer | None"]:
    """The data, what a model notes of the file, and what made features of its texts."""
    import numpy as np

    from sketchforest import datasets
    from sketchforest._workflows.training import (
        check_indicator_labels,
        make_features,
        read_training_file,
    )

    if file != "-" and not Path(file).is_file():
        return datasets.load(file, data_home), {}, None
    source = read_training_file(file, format, columns, encoding)
    check_indicator_labels(source, "'sketchforest train --forest sketch-regressor'")
    data = source.dataset
    train_rows = data.splits.get("train", np.arange(data.Y.shape[0]))
    (data, _, notes), vectorizer = make_features(source, train_rows)
    return data, notes, vectorizer


def _test_score(result: "TuningResult", metric: str, X: "Matrix", Y: "Matrix") -> float:
    from sketchforest.metrics import get_metric

    if metric == "squared_error":
        difference = result.forest.predict_sparse(X) - Y
        return float(difference.power(2).sum() / X.shape[0])
    return get_metric(metric)(Y, result.forest.predict_sparse(X))
