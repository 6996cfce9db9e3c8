"""`sketchforest report`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption, read_made

if TYPE_CHECKING:
    from sketchforest._workflows import Model

_PAGE, _CARD = Path("report.html"), Path("model-card.md")


def report(
    model: options.ModelArgument,
    file: options.FileArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=f"File to write: {_PAGE}, or {_CARD} with --markdown. A name that ends in .md "
            "asks for Markdown, too.",
            show_default=False,
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write a model card in Markdown, and no page.")
    ] = False,
    title: Annotated[
        str | None, typer.Option(help="Of the page; else the model's name.", show_default=False)
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
    """Write a page on a model, and how good it is on a file with known labels.

    Scores and what they mean, a curve of thresholds, the best and worst labels, a table of all that
    sorts and filters, the features that count, and where all of it comes from. One file that needs
    no network, or a model card in Markdown.

    Example:  sketchforest report model.sf test.csv --out report.html
    """
    from sketchforest._utils.files import check_out
    from sketchforest._utils.units import size
    from sketchforest._workflows.evaluation import evaluate_file
    from sketchforest._workflows.models import trained_columns
    from sketchforest.report import is_markdown, report_of

    is_card = markdown or (out is not None and is_markdown(out))
    target = out or (_CARD if is_card else _PAGE)
    check_out(target)
    forest = options.load_model(model, n_jobs, threshold)
    known = options.columns(
        text_column,
        tags_column,
        tag_separator,
        label_columns,
        ignore_columns,
        trained_columns(forest),
    )
    with options.progress(quiet):
        result = evaluate_file(forest, file, format, known, encoding)
    made = report_of(
        forest, result, title or model.stem, _about_model(forest, model), _about_data(file)
    )
    made.save(target, "markdown" if is_card else "html")
    if json:
        about = {"report": target, "bytes": target.stat().st_size, **result.scores}
        options.print_json(about)
    else:
        size_of_it = size(target.stat().st_size)
        where = "" if is_card else " Open it in a browser."
        options.console().print(f"{target} has {size_of_it}.{where}", soft_wrap=True)


def _about_model(model: "Model", path: Path) -> dict[str, str]:
    """Names of files without their folders, which are nobody's business."""
    from sketchforest._utils.units import seconds, size
    from sketchforest._workflows.models import notes_of

    notes, made = notes_of(model), read_made(path)
    found = {"file": f"{path.name}, {size(path.stat().st_size)}"}
    if "file" in notes:
        found["trained on"] = notes["file"]
    if "sha256" in notes:
        found["its SHA-256"] = notes["sha256"]
    if made is not None:
        found["trained"] = (
            f"{made.date}, in {seconds(made.seconds)}, by sketchforest {made.version}"
        )
    else:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        found["written"] = written.strftime("%Y-%m-%d")
    predicted = notes.get("out_of_bag")
    if predicted is not None:
        from sketchforest.metrics.meanings import meaning

        found[f"{meaning(predicted['metric']).title} predicted in training"] = (
            f"{predicted['score']:.4f} ± {predicted['standard_error']:.4f}, by rows that trees did "
            "not see"
        )
    return found


def _about_data(file: str) -> dict[str, str]:
    from sketchforest._workflows.models import file_digest

    if file == "-":
        return {"file": "standard input"}
    return {"file": Path(file).name, "its SHA-256": file_digest(file)}
