"""`sketchforest explain`."""

from typing import Annotated

import typer

from sketchforest.cli import options


@options.with_option_groups(
    *options.FEATURE_OPTIONS, "tags_column", "tag_separator", "label_columns"
)
def explain(
    model: options.ModelArgument,
    file: options.FileArgument,
    data: options.DataOptions,
    row: Annotated[int, typer.Option(min=0, help="Row to explain, counted from 0.")] = 0,
    top: Annotated[int, typer.Option(min=1, help="Number of labels to explain.")] = 3,
    label: Annotated[
        str,
        typer.Option(
            help="Labels to explain, predicted or not, separated by commas. Quote a name that "
            "contains a comma: '\"c++, sdk\",login'."
        ),
    ] = "",
    n_jobs: options.JobsOption = -1,
    json: options.JsonOption = False,
) -> None:
    """Explain the predictions for one row.

    For each label, shows how much each feature raises or lowers the score. Also lists the training
    rows that contribute most, with their weights and labels.

    Example:  sketchforest explain model.sf new.csv --row 3 --label graphs
    """
    from sketchforest._estimators.inspection.names import label_names
    from sketchforest._features.encoder import RowEncoder
    from sketchforest._workflows.model_input import read_row
    from sketchforest.cli.explanation_views import as_json, show_explanation
    from sketchforest.evaluation import is_classifier

    forest = options.load_model(model, n_jobs)
    source = data.file(file, forest)
    x = read_row(source, forest, row)
    # A single name may be typed without quotes even if it contains a comma.
    labels = [label] if label in label_names(forest.fitted_) else options.names(label)
    found = RowEncoder.of(forest, source.columns).unscaled(forest.explain(x, labels or None, top))
    content = as_json(found, row, is_classifier(forest))
    if json:
        options.print_json(content)
    else:
        show_explanation(content, options.console())
