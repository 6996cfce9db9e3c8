"""`sketchforest evaluate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption

if TYPE_CHECKING:
    from sketchforest.evaluation import Evaluation


@options.with_option_groups(*options.FEATURE_OPTIONS)
def evaluate(
    model: options.ModelArgument,
    file: options.FileArgument,
    data: options.DataOptions,
    labels_out: Annotated[
        Path | None, typer.Option(help="CSV file for the scores of each label.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="PNG file for plots; needs matplotlib.")
    ] = None,
    threshold: options.ThresholdOption = None,
    include_training_rows: options.TrainingRowsOption = False,
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
) -> None:
    """Evaluate a model on labeled data.

    Prints LRAP, precision, nDCG and propensity-scored precision at k, coverage error, F1, and the
    scores of the most frequent labels. Columns default to those used in training. Rows that the
    model was trained on are left out, or scored out-of-bag if there are no others.

    Example:  sketchforest evaluate model.sf test.csv --labels-out labels.csv --picture test.png
    """
    from sketchforest.cli.evaluation_views import show_evaluation

    _, result = options.evaluated(
        model, file, data, threshold, n_jobs, quiet, include_training_rows
    )
    _write(result, labels_out, picture)
    if json:
        more = {"unknown_labels": result.n_unknown, "rows_trained_on": result.n_trained_on}
        options.print_json({"basis": result.basis, **result.scores, **more})
    else:
        show_evaluation(result, options.console())


def _write(result: "Evaluation", labels_out: Path | None, picture: Path | None) -> None:
    if result.labels is None:
        if labels_out or picture:
            raise ValueError("--labels-out and --picture do not apply to regressors.")
        return
    if labels_out is not None:
        import csv

        from sketchforest.datasets._text import text_writer
        from sketchforest.evaluation import LABEL_COLUMNS

        with text_writer(labels_out) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(LABEL_COLUMNS)
            writer.writerows(result.labels.rows())
    if picture is not None:
        from sketchforest.cli.evaluation_views import save_evaluation_figure

        save_evaluation_figure(result, picture)
