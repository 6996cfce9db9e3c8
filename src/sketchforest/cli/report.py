"""`sketchforest report`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchforest.cli import options
from sketchforest.cli.config import ConfigOption, read_made

if TYPE_CHECKING:
    from sketchforest._features import Model

_PAGE, _CARD = Path("report.html"), Path("model-card.md")
_NOTED = {"trained on": "file", "its SHA-256": "sha256"}


@options.with_option_groups(*options.FEATURE_OPTIONS)
def report(
    model: options.ModelArgument,
    file: options.FileArgument,
    data: options.DataOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help=f"File to write. Defaults to {_PAGE}, or to {_CARD} with --markdown, which a "
            "name ending in .md implies.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Write a model card in Markdown.")
    ] = False,
    title: Annotated[
        str | None, typer.Option(help="Title. Defaults to the name of the model file.")
    ] = None,
    threshold: options.ThresholdOption = None,
    include_training_rows: options.TrainingRowsOption = False,
    n_jobs: options.JobsOption = -1,
    quiet: options.QuietOption = False,
    config: ConfigOption = None,
    json: options.JsonOption = False,
) -> None:
    """Write an HTML report on a model, or a model card.

    The report evaluates the model on labeled data. It explains the scores, plots precision and
    recall by threshold, lists the best and worst labels and the important features, and has a
    sortable table of all labels. It is a single file that works offline. Rows that the model was
    trained on are left out, or scored out-of-bag if there are no others.

    Example:  sketchforest report model.sf test.csv --out report.html
    """
    from sketchforest._utils.files import check_out
    from sketchforest._utils.units import size
    from sketchforest._workflows.models import file_digest
    from sketchforest.report.report import is_markdown, report_of

    is_card = markdown or (out is not None and is_markdown(out))
    target = out or (_CARD if is_card else _PAGE)
    check_out(target)
    forest, result = options.evaluated(
        model, file, data, threshold, n_jobs, quiet, include_training_rows
    )
    about = {"file": "standard input"}
    if file != "-":
        about = {"file": Path(file).name, "its SHA-256": file_digest(file)}
    made = report_of(forest, result, title or model.stem, _about_model(forest, model), about)
    made.save(target, "markdown" if is_card else "html")
    n_bytes = target.stat().st_size
    if json:
        made_of = {"report": target, "bytes": n_bytes, "basis": result.basis}
        options.print_json({**made_of, **result.scores})
    else:
        if result.caution is not None:
            options.console().print(result.caution, soft_wrap=True)
        hint = "" if is_card else " Open it in a browser."
        options.console().print(f"Wrote {target} ({size(n_bytes)}).{hint}", soft_wrap=True)


def _about_model(model: "Model", path: Path) -> dict[str, str]:
    """Describe the origin of a model; folders are private, so only file names are given."""
    from sketchforest._utils.units import seconds, size
    from sketchforest._workflows.models import notes_of
    from sketchforest.metrics.meanings import meaning

    notes, made = notes_of(model), read_made(path)
    found = {"file": f"{path.name}, {size(path.stat().st_size)}"}
    found |= {title: str(dict(notes)[n]) for title, n in _NOTED.items() if n in notes}
    if made is not None:
        took = seconds(made.seconds)
        found["trained"] = f"{made.date}, in {took}, by sketchforest {made.version}"
    else:
        found["written"] = f"{datetime.fromtimestamp(path.stat().st_mtime, UTC):%Y-%m-%d}"
    if "out_of_bag" in notes:
        expected = notes["out_of_bag"]
        found[f"expected {meaning(expected['metric']).title} on new rows"] = (
            f"{expected['score']:.4f} ± {expected['standard_error']:.4f} (out-of-bag)"
        )
    return found
