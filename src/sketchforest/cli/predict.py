"""`sketchforest predict`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption


@options.with_option_groups(*options.FEATURE_OPTIONS, "tags_column", "label_columns")
def predict(
    model: options.ModelArgument,
    file: options.FileArgument,
    data: options.DataOptions,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of labels per row, best first. Defaults to all labels above the "
            "model's threshold.",
        ),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", help="csv, jsonl, or sparse ('index:score', labels counted from 0)."
        ),
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write, instead of standard output.")
    ] = None,
    threshold: options.ThresholdOption = None,
    keep: Annotated[
        str, typer.Option(help="Input columns to copy to the output, separated by commas.")
    ] = "",
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: Annotated[bool, typer.Option("--json", help="Short for --output jsonl.")] = False,
) -> None:
    """Predict labels for the rows of a file.

    Writes one line per row. By default, the threshold was chosen by F1: rows without a label above
    it get their most probable label, and texts without any known word get none. Rows are processed
    in blocks, so large files need little memory, except for ARFF and npz files, which are loaded
    whole. Standard input ('-') may be a table with a header, JSON Lines or, for models of text, one
    text per line.

    Example:  sketchforest predict model.sf new.csv --top 5 > tags.csv

    Example:  echo 'why is the sky blue' | sketchforest predict model.sf - --top 3 --json
    """
    from sketchforest._workflows.model_input import row_blocks
    from sketchforest.cli.prediction_views import predicted_lines
    from sketchforest.cli.tables import escaped

    forest = options.load_model(model, n_jobs, threshold)
    if top is not None and threshold is not None:
        raise typer.BadParameter("--top and --threshold cannot be used together.")
    source = data.file(file, forest)
    output = "jsonl" if json else output
    # Predictions printed to a terminal show the progress themselves.
    is_terminal = out is None and _standard_output().isatty()
    with options.progress(quiet or is_terminal, reading="predicting"), _writer(out) as stream:
        blocks = row_blocks(source, forest, options.names(keep))
        for lines in predicted_lines(forest, blocks, output, top, source.columns.separator):
            stream.write("\n".join(map(escaped, lines.split("\n"))) if is_terminal else lines)


def _standard_output() -> TextIO:
    if sys.stdout is None:
        raise ValueError("standard output is closed. Use --out to write to a file.")
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
