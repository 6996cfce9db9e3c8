"""`sketchforest tune`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption

if TYPE_CHECKING:
    from sketchforest._utils.typing import Matrix
    from sketchforest._workflows.training import TrainingFile
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
    import numpy as np

    from sketchforest import Tagger, tuning
    from sketchforest._workflows.training import keep_rows
    from sketchforest.cli.tuning_views import as_json, show_tuning, write_tuning

    screen = options.console(json)
    with options.progress(quiet):
        source = _read(file, data_home, data)
    splits, tagger = source.dataset.splits, Tagger()
    train_rows = splits.get("train", np.arange(source.dataset.Y.shape[0]))
    encoded = source.rows.take(train_rows).encoded(tagger.get_params(deep=False))
    result = tuning.tune(
        encoded.X,
        encoded.Y,
        metric=metric,
        budget=options.value(budget or "none"),
        estimators=[_PYTHON_NAMES.get(n, n.replace("-", "_")) for n in options.names(estimators)],
        n_estimators=n_estimators,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=int(not quiet),
    )
    keep_rows(result.forest, source, tagger, encoded, train_rows)
    score = None
    if "test" in splits:
        test = source.rows.take(splits["test"])
        score = _test_score(result, metric, encoded.encoder.encode(test.records), test.Y)
    if out is not None:
        write_tuning(result, out, screen)
    if json:
        options.print_json(as_json(result, score))
    else:
        show_tuning(result, score, screen)
    options.exit_if_interrupted(result.is_complete)


def _read(file: str, data_home: Path | None, data: options.DataOptions) -> "TrainingFile":
    from sketchforest import datasets
    from sketchforest._workflows.training import (
        check_indicator_labels,
        of_dataset,
        read_training_file,
    )

    source = data.file(file)
    if file != "-" and not Path(file).is_file():
        return of_dataset(datasets.load(file, data_home))
    found = read_training_file(source)
    check_indicator_labels(found, "'sketchforest train --forest sketch-regressor'")
    return found


def _test_score(result: "TuningResult", metric: str, X: "Matrix", Y: "Matrix") -> float:
    from sketchforest.metrics import get_metric

    if metric == "squared_error":
        difference = result.forest.predict_sparse(X) - Y
        return float(difference.power(2).sum() / X.shape[0])
    return get_metric(metric)(Y, result.forest.predict_sparse(X))
