"""`sketchforest evaluate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption

if TYPE_CHECKING:
    from sketchforest._workflows.evaluation import Evaluation


def evaluate(
    model: options.ModelArgument,
    file: options.FileArgument,
    labels_out: Annotated[
        Path | None,
        typer.Option(help="CSV to write, with a line for each label.", show_default=False),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="PNG to draw; needs matplotlib.", show_default=False)
    ] = None,
    threshold: options.ThresholdOption = None,
    format: options.FormatOption = None,
    encoding: options.EncodingOption = "utf-8",
    text_column: options.TextOption = None,
    tags_column: options.TagsOption = None,
    tag_separator: options.SeparatorOption = None,
    label_columns: options.LabelsOption = "",
    ignore_columns: options.IgnoreOption = "",
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
) -> None:
    """Score a model on a file with known labels.

    LRAP, precision, nDCG and propensity-scored precision at k, coverage error and F1; a table of
    labels, whole as CSV; a picture. Columns of a table are those of the training, unless named.

    Example:  sketchforest evaluate model.sf test.csv --labels-out labels.csv --picture test.png
    """
    from sketchforest._workflows.evaluation import evaluate_file
    from sketchforest._workflows.models import trained_columns
    from sketchforest.cli.evaluation_views import show_evaluation

    forest = options.load_model(model, n_jobs, threshold)
    trained = trained_columns(forest)
    known = options.columns(
        text_column, tags_column, tag_separator, label_columns, ignore_columns, trained
    )
    with options.progress(quiet):
        result = evaluate_file(forest, file, format, known, encoding)
    _write(result, labels_out, picture)
    if json:
        more = {"unknown_labels": result.n_unknown, "rows_trained_on": result.n_trained_on}
        options.print_json({**result.scores, **more})
    else:
        show_evaluation(result, options.console())


def _write(result: "Evaluation", labels_out: Path | None, picture: Path | None) -> None:
    if result.labels is None:
        if labels_out or picture:
            raise ValueError("labels-out and picture are for models of labels; this one regresses.")
        return
    if labels_out is not None:
        import csv

        from sketchforest._workflows.evaluation import LABEL_COLUMNS
        from sketchforest.datasets._text import text_writer

        with text_writer(labels_out) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(LABEL_COLUMNS)
            writer.writerows(result.labels.rows())
    if picture is not None:
        from sketchforest.cli.evaluation_views import save_evaluation_figure

        save_evaluation_figure(result, picture)
