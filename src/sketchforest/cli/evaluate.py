"""`sketchforest evaluate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli.options import (
    FileArgument,
    FormatOption,
    IgnoreOption,
    JsonOption,
    LabelsOption,
    ModelArgument,
    SeparatorOption,
    TagsOption,
    TextOption,
    columns,
    console,
    load_model,
    print_json,
)

if TYPE_CHECKING:
    from sketchforest._workflows.evaluation import Evaluation


def evaluate(
    model: ModelArgument,
    file: FileArgument,
    labels_out: Annotated[
        Path | None,
        typer.Option(help="CSV to write, with a line for each label.", show_default=False),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="PNG to draw; needs matplotlib.", show_default=False)
    ] = None,
    format: FormatOption = None,
    text_column: TextOption = None,
    tags_column: TagsOption = None,
    tag_separator: SeparatorOption = None,
    label_columns: LabelsOption = "",
    ignore_columns: IgnoreOption = "",
    json: JsonOption = False,
) -> None:
    """Score a model on a file with known labels.

    LRAP, precision, nDCG and propensity-scored precision at k, coverage error and F1; a table of
    labels, whole as CSV; a picture. Columns of a table are those of the training, unless named.

    Example:  sketchforest evaluate model.sf test.csv --labels-out labels.csv --picture test.png
    """
    from sketchforest._workflows.evaluation import evaluate as score
    from sketchforest._workflows.model_input import (
        label_names,
        model_columns,
        read_labelled,
        training_format,
    )
    from sketchforest.cli.model_views import show_evaluation

    forest = load_model(model)
    given = columns(text_column, tags_column, tag_separator, label_columns, ignore_columns)
    known = model_columns(forest, given)
    rows = read_labelled(file, training_format(file, format), forest, known)
    result = score(forest, rows.X, rows.Y, label_names(forest))
    _write(result, labels_out, picture)
    if json:
        print_json({**result.scores, "unknown_labels": len(rows.unknown)})
    else:
        show_evaluation(result, len(rows.unknown), console())


def _write(result: "Evaluation", labels_out: Path | None, picture: Path | None) -> None:
    if (labels_out or picture) and result.labels is None:
        raise ValueError("labels-out and picture are for models of labels; this one regresses.")
    if labels_out is not None:
        import csv

        from sketchforest._workflows.evaluation import LABEL_COLUMNS
        from sketchforest.datasets._text import text_writer

        with text_writer(labels_out) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(LABEL_COLUMNS)
            writer.writerows(result.labels.rows() if result.labels else [])
    if picture is not None:
        from sketchforest.cli.evaluation_figure import save_evaluation_figure

        save_evaluation_figure(result, picture)
