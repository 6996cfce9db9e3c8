"""`sketchforest explain`."""

from typing import Annotated

import typer

from sketchforest.cli.options import (
    FileArgument,
    FormatOption,
    IgnoreOption,
    JsonOption,
    ModelArgument,
    TextOption,
    columns,
    console,
    load_model,
    print_json,
)


def explain(
    model: ModelArgument,
    file: FileArgument,
    row: Annotated[int, typer.Option(min=0, help="The row to explain, numbered from 0.")] = 0,
    top: Annotated[int, typer.Option(min=1, help="How many of its best labels.")] = 3,
    format: FormatOption = None,
    text_column: TextOption = None,
    ignore_columns: IgnoreOption = "",
    json: JsonOption = False,
) -> None:
    """Show what counts for the best labels of one row.

    For each label the features that were asked for on the row's way down the trees, and what each
    adds to the label's probability or takes from it; and the training rows that the prediction is
    the average of, with their weights.

    Example:  sketchforest explain model.sf new.csv --row 3
    """
    from sketchforest._workflows.model_input import (
        feature_blocks,
        input_format,
        model_columns,
        read_rows,
    )
    from sketchforest.cli.model_views import explanation_json, show_explanation
    from sketchforest.explain import explain as find

    forest = load_model(model)
    known = model_columns(forest, columns(text_column, None, None, "", ignore_columns))
    blocks = feature_blocks(file, input_format(file, format, forest), forest, known)
    x = read_rows(blocks, [row])
    content = explanation_json(find(forest, x, top), forest, x, row)
    if json:
        print_json(content)
    else:
        show_explanation(content, console())
