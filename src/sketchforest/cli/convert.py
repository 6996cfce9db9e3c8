"""`sketchforest convert`."""

from pathlib import Path
from typing import Annotated

import typer

from sketchforest.cli import options


def convert(
    file: options.FileArgument,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write: .npz, .arff, .txt, .svm, .csv.")
    ],
    format: options.FormatOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="npz, meka, xc, svmlight or csv; told from OUT if not given.",
            show_default=False,
        ),
    ] = None,
    encoding: options.EncodingOption = "utf-8",
    category_column: options.CategoryOption = "",
    number_column: options.NumberOption = "",
    tags_column: options.TagsOption = None,
    tag_separator: options.SeparatorOption = None,
    label_columns: options.LabelsOption = "",
    ignore_columns: options.IgnoreOption = "",
    xml: options.XmlOption = None,
    json: options.JsonOption = False,
) -> None:
    """Write a data file in another format.

    Example:  sketchforest convert yeast.arff yeast.npz

    Example:  sketchforest convert table.csv table.svm --tags-column tags
    """
    from sketchforest.datasets.conversion import convert_file

    given = options.columns(
        None,
        tags_column,
        tag_separator,
        label_columns,
        ignore_columns,
        categories=category_column,
        numbers=number_column,
    )
    dataset = convert_file(file, out, format, to, given, encoding, **options.read_options(xml))
    (n_rows, n_features), n_labels = dataset.X.shape, dataset.Y.shape[1]
    if json:
        options.print_json({"rows": n_rows, "features": n_features, "labels": n_labels})
    else:
        typer.echo(f"{out}: {n_rows:,} rows, {n_features:,} features and {n_labels:,} labels.")
