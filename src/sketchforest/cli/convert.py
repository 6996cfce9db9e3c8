"""`sketchforest convert`."""

from pathlib import Path
from typing import Annotated

import typer

from sketchforest.cli import options


@options.with_option_groups("text_column")
def convert(
    file: options.FileArgument,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="File to write: .npz, .arff, .txt, .svm or .csv.")
    ],
    data: options.DataOptions,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            help="Output format: npz, meka, xc, svmlight or csv. By default, that of OUT's suffix.",
        ),
    ] = None,
    json: options.JsonOption = False,
) -> None:
    """Convert a data file to another format.

    Example:  sketchforest convert yeast.arff yeast.npz

    Example:  sketchforest convert table.csv table.svm --tags-column tags
    """
    from sketchforest.datasets import write
    from sketchforest.datasets._text import bad_file

    source = data.file(file).recognized()
    if source.columns.text or source.format == "fasttext":
        raise bad_file(file, None, "text has no features to convert; train on the file")
    if source.format == "svmlight":
        source.options["zero_based"] = "auto"
    dataset = source.read().dataset
    write(dataset, out, to)
    (n_rows, n_features), n_labels = dataset.X.shape, dataset.Y.shape[1]
    if json:
        options.print_json({"rows": n_rows, "features": n_features, "labels": n_labels})
    else:
        typer.echo(f"{out}: {n_rows:,} rows, {n_features:,} features, {n_labels:,} labels")
