"""`sketchforest tune`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption

if TYPE_CHECKING:
    from sketchforest._features.encoder import RowEncoder
    from sketchforest._utils.typing import Matrix
    from sketchforest._workflows.models import Notes
    from sketchforest.datasets import Dataset
    from sketchforest.tuning import TuningResult

_PYTHON_NAMES = {"sketch": "sketch_forest"}  # where they differ by more than a hyphen


@options.with_option_groups()
def tune(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Data file, or the name of a known data set.")
    ],
    data: options.DataOptions,
    metric: Annotated[
        str, typer.Option(help="Metric to maximize: lrap, precision_at_5, ndcg_at_5, ...")
    ] = "lrap",
    budget: Annotated[
        str,
        typer.Option(
            help="Time limit in seconds, or a number of trees such as '2000 trees'. Defaults to "
            "the cost of ten default fits."
        ),
    ] = "",
    estimators: Annotated[
        str, typer.Option(help="Forests to compare, separated by commas.")
    ] = "sketch, random-forest, extra-trees",
    n_estimators: Annotated[
        int, typer.Option(min=1, help="Number of trees in the final model.")
    ] = 100,
    n_jobs: options.JobsOption = -1,
    random_state: options.SeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the model, the trials (CSV) and plots."),
    ] = None,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
    data_home: options.DataHomeOption = None,
) -> None:
    """Find the best forest and settings for a data set, and fit it.

    Compares settings by out-of-bag score, extrapolated to the full number of trees. If the data
    have a train/test split, only the training rows are used, and the winner is scored on the test
    rows.

    Example:  sketchforest tune table.csv --tags-column tags --out tuned

    Example:  sketchforest tune bibtex --budget 60 --out tuned
    """
    from sketchforest import tuning
    from sketchforest._workflows.training import attach_names
    from sketchforest.cli.tuning_views import as_json, show_tuning, write_tuning

    screen = options.console(json)
    with options.progress(quiet):
        dataset, notes, encoder = _read(file, data_home, data)
    train, test = dataset.splits.get("train"), dataset.splits.get("test")
    X, Y = dataset.X, dataset.Y
    if train is not None:
        X, Y = X[train], Y[train]
    result = tuning.tune(
        X,
        Y,
        metric=metric,
        budget=options.value(budget or "none"),
        estimators=[_PYTHON_NAMES.get(n, n.replace("-", "_")) for n in options.names(estimators)],
        n_estimators=n_estimators,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=int(not quiet),
    )
    attach_names(result.forest, dataset, encoder)
    result.forest.notes_ = {**notes, **encoder.notes, "rows": X.shape[0]}
    score = None if test is None else _test_score(result, metric, dataset.X[test], dataset.Y[test])
    if out is not None:
        write_tuning(result, out, screen)
    if json:
        options.print_json(as_json(result, score))
    else:
        show_tuning(result, score, screen)
    options.exit_if_interrupted(result.is_complete)


def _read(
    file: str, data_home: Path | None, data: options.DataOptions
) -> tuple["Dataset", "Notes", "RowEncoder"]:
    """Read the data, the notes on the file for the model, and the encoder of its rows."""
    from dataclasses import replace

    import numpy as np

    from sketchforest import datasets
    from sketchforest._features.encoder import RowEncoder
    from sketchforest._workflows.training import (
        check_indicator_labels,
        learn_features,
        read_training_file,
    )

    columns = data.columns()
    if file != "-" and not Path(file).is_file():
        dataset = datasets.load(file, data_home)
        return dataset, {}, RowEncoder.of_matrix(dataset.feature_names)
    source = read_training_file(file, data.format, columns, data.encoding, **data.read_options())
    check_indicator_labels(source, "'sketchforest train --forest sketch-regressor'")
    train_rows = source.dataset.splits.get("train", np.arange(source.dataset.Y.shape[0]))
    encoder, _ = learn_features(source, train_rows)
    dataset = replace(source.dataset, X=encoder.encode(source.records))
    return dataset, source.notes, encoder


def _test_score(result: "TuningResult", metric: str, X: "Matrix", Y: "Matrix") -> float:
    from sketchforest.metrics import get_metric

    if metric == "squared_error":
        difference = result.forest.predict_sparse(X) - Y
        return float(difference.power(2).sum() / X.shape[0])
    return get_metric(metric)(Y, result.forest.predict_sparse(X))
