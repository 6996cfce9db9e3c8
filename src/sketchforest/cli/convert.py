"""`sketchforest convert`."""

from pathlib import Path
from typing import Annotated

import typer

from sketchforest.cli.options import (
    FileArgument,
    FormatOption,
    IgnoreOption,
    JsonOption,
    LabelsOption,
    SeparatorOption,
    TagsOption,
    XmlOption,
    columns,
    print_json,
)


def convert(
    file: FileArgument,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write: .npz, .arff, .txt, .svm, .csv.")
    ],
    format: FormatOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="npz, meka, xc, svmlight or csv; told from OUT if not given.",
            show_default=False,
        ),
    ] = None,
    tags_column: TagsOption = None,
    tag_separator: SeparatorOption = None,
    label_columns: LabelsOption = "",
    ignore_columns: IgnoreOption = "",
    xml: XmlOption = None,
    json: JsonOption = False,
) -> None:
    """Write a data file in another format.

    Example:  sketchforest convert yeast.arff yeast.npz

    Example:  sketchforest convert table.csv table.svm --tags-column tags
    """
    from sketchforest.datasets.conversion import convert_file

    given = columns(None, tags_column, tag_separator, label_columns, ignore_columns)
    options = {} if xml is None else {"xml": xml}
    dataset = convert_file(file, out, format, to, given, **options)
    (n_rows, n_features), n_labels = dataset.X.shape, dataset.Y.shape[1]
    if json:
        print_json({"rows": n_rows, "features": n_features, "labels": n_labels})
    else:
        typer.echo(f"{out}: {n_rows:,} rows, {n_features:,} features and {n_labels:,} labels.")
