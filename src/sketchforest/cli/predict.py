"""`sketchforest predict`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption


def predict(
    model: options.ModelArgument,
    file: options.FileArgument,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The k best labels of each row; else those that the model's threshold leaves.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", help="csv, jsonl, or sparse: 'number:score', labels numbered from 0."
        ),
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write instead of standard output."),
    ] = None,
    threshold: options.ThresholdOption = None,
    format: options.FormatOption = None,
    encoding: options.EncodingOption = "utf-8",
    keep: Annotated[
        str, typer.Option(help="Columns to write, too, separated by commas.", show_default=False)
    ] = "",
    text_column: options.TextOption = None,
    tag_separator: options.SeparatorOption = None,
    ignore_columns: options.IgnoreOption = "",
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --output jsonl.")] = False,
) -> None:
    """Predict the labels of the rows of a file, a line for each row.

    Rows are read, predicted and written in blocks, so that files of any size need little memory
    (ARFF and npz files are read whole). FILE '-' is standard input: a table with a header or JSON
    lines, or lines of text where the model reads text.

    Example:  sketchforest predict model.sf new.csv --top 5 > tags.csv

    Example:  echo 'why is the sky blue' | sketchforest predict model.sf - --top 3 --json
    """
    from sketchforest._workflows.model_input import input_format, row_blocks
    from sketchforest._workflows.models import trained_columns
    from sketchforest.cli.prediction_views import predicted_lines
    from sketchforest.cli.tables import as_it_is

    forest = options.load_model(model, n_jobs, threshold)
    if top is not None and threshold is not None:
        raise typer.BadParameter("--top and --threshold cannot be used together.")
    known = options.columns(
        text=text_column,
        separator=tag_separator,
        ignored=ignore_columns,
        known=trained_columns(forest),
    )
    format = input_format(file, format, forest, known)
    output = "jsonl" if json else output
    # Who sees the predictions themselves needs no other sign of life.
    is_shown = out is None and _standard_output().isatty()
    is_quiet = quiet or is_shown
    with options.progress(is_quiet, reading="predicting"), _writer(out) as stream:
        blocks = row_blocks(file, format, forest, known, options.names(keep), encoding)
        for lines in predicted_lines(forest, blocks, output, top, known.separator):
            stream.write("\n".join(map(as_it_is, lines.split("\n"))) if is_shown else lines)


def _standard_output() -> TextIO:
    if sys.stdout is None:
        raise ValueError("standard output must be open to be written to; it is closed. Use --out.")
    return sys.stdout


@contextmanager
def _writer(out: Path | None) -> Iterator[TextIO]:
    if out is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    from sketchforest.datasets._text import text_writer

    with text_writer(out) as stream:
        yield stream
