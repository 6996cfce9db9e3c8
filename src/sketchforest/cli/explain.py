"""`sketchforest explain`."""

from typing import Annotated

import typer

from sketchforest.cli import options


def explain(
    model: options.ModelArgument,
    file: options.FileArgument,
    row: Annotated[int, typer.Option(min=0, help="The row to explain, numbered from 0.")] = 0,
    top: Annotated[int, typer.Option(min=1, help="How many of its best labels.")] = 3,
    label: Annotated[
        str,
        typer.Option(
            help="Why, or why not, these labels; separated by commas, in quotes where a name has "
            "one: '\"c++, sdk\",login'.",
            show_default=False,
        ),
    ] = "",
    format: options.FormatOption = None,
    encoding: options.EncodingOption = "utf-8",
    text_column: options.TextOption = None,
    ignore_columns: options.IgnoreOption = "",
    n_jobs: options.JobsOption = -1,
    json: options.JsonOption = False,
) -> None:
    """Show what counts for labels of one row.

    For each label the features that were asked for on the row's way down the trees, and what each
    adds to the label's probability or takes from it; and the training rows that the prediction is
    the average of, with their weights and all their labels.

    Example:  sketchforest explain model.sf new.csv --row 3 --label graphs
    """
    from sketchforest._workflows.model_input import input_format, read_row
    from sketchforest._workflows.models import is_classifier, label_names, trained_columns
    from sketchforest._workflows.row_features import explain_row
    from sketchforest.cli.explanation_views import as_json, show_explanation

    forest = options.load_model(model, n_jobs)
    trained = trained_columns(forest)
    known = options.columns(text=text_column, ignored=ignore_columns, known=trained)
    format = input_format(file, format, forest, known)
    x = read_row(file, format, forest, known, row, encoding)
    # A name may have a comma itself.
    labels = [label] if label in label_names(forest.fitted_) else options.names(label)
    content = as_json(explain_row(forest, x, labels or None, top), row, is_classifier(forest))
    if json:
        options.print_json(content)
    else:
        show_explanation(content, options.console())
