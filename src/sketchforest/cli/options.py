"""Options that several commands share, and what they mean."""

import csv
import json as json_module
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer
from typer.models import OptionInfo

from sketchforest.cli.command import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

    from sketchforest._workflows import Model
    from sketchforest.datasets.columns import Columns
    from sketchforest.datasets.files import ReadOptions


_DATA = "Format and columns of the file"
# By which columns are named on the command line, in Python by `Columns`.
_OPTION_OF_USE = {
    "text": "--text-column",
    "categories": "--category-column",
    "numbers": "--number-column",
}


def _option(flag: str, help: str) -> OptionInfo:
    return typer.Option(flag, help=help, show_default=False, rich_help_panel=_DATA)


ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, made by 'train' or by save().")
]
FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON lines, fastText lines, ARFF (MULAN, MEKA, CLUS), xc, "
        "svmlight or npz; .gz, .xz, .bz2; '-' is standard input.",
    ),
]
FormatOption = Annotated[
    str | None,
    _option(
        "--format",
        "csv, tsv, parquet, jsonl, fasttext, text (a document a line), mulan, meka, clus, xc, "
        "svmlight or npz; told from the file if not given.",
    ),
]
EncodingOption = Annotated[
    str,
    typer.Option("--encoding", help="Of text and tables, as in latin-1.", rich_help_panel=_DATA),
]
TextOption = Annotated[
    str | None, _option("--text-column", "Columns of text, separated by commas.")
]
CategoryOption = Annotated[
    str, _option("--category-column", "Columns of categories, as names or codes, likewise.")
]
NumberOption = Annotated[
    str,
    _option(
        "--number-column",
        "Columns of numbers, likewise; else all that are left, and none beside text.",
    ),
]
TagsOption = Annotated[str | None, _option("--tags-column", "Column of tags, as in 'a;b;c'.")]
SeparatorOption = Annotated[
    str | None,
    _option("--tag-separator", "What stands between tags: ';'. `<>` reads `<a><b>`."),
]
LabelsOption = Annotated[
    str,
    _option(
        "--label-columns",
        "Columns of labels, 0 or 1 in each, separated by commas; of a regressor, any numbers.",
    ),
]
IgnoreOption = Annotated[
    str, _option("--ignore-columns", "Columns to leave out, separated by commas.")
]
XmlOption = Annotated[Path | None, _option("--xml", "Names of the labels of a MULAN file.")]
SeedOption = Annotated[
    int, typer.Option("--random-state", "--seed", help="Seed of all that is random.")
]
JobsOption = Annotated[int, typer.Option("--n-jobs", help="Threads; -1 uses all cores.")]
ThresholdOption = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        help="When a label is predicted: above a probability, as 0.2; f1 or f1-per-label, chosen "
        "in training; or top-3. Else as the model was trained.",
        show_default=False,
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing of how far the work is.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
DataHomeOption = Annotated[
    Path | None, typer.Option(help="Folder of data sets, before $SKETCHFOREST_DATA.")
]


def names(text: str) -> list[str]:
    """Those between commas; one that has a comma itself stands in quotes, as in CSV."""
    found = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in found if name.strip()]


def columns(
    text: str | None = None,
    tags: str | None = None,
    separator: str | None = None,
    labels: str = "",
    ignored: str = "",
    known: "Columns | None" = None,
    categories: str = "",
    numbers: str = "",
) -> "Columns":
    """Those that are named; the others are as in `known`, or the usual ones."""
    from dataclasses import replace

    from sketchforest.datasets.columns import Columns

    if tags is not None and labels:
        raise typer.BadParameter("--tags-column and --label-columns cannot be used together.")
    lists = (tuple(names(text or "")), tuple(names(labels)), tuple(names(ignored)))
    given = Columns(
        lists[0], tags, separator or "", *lists[1:], tuple(names(categories)), tuple(names(numbers))
    )
    if known is not None:
        return replace(known, **{n: v for n, v in vars(given).items() if v})
    try:
        given.check_targets()
    except ValueError as error:
        use, _, rule = str(error).partition(" ")
        raise typer.BadParameter(rule, param_hint=_OPTION_OF_USE[use]) from None
    return given


def read_options(xml: Path | None) -> "ReadOptions":
    from sketchforest.datasets.files import ReadOptions

    return ReadOptions() if xml is None else ReadOptions(xml=xml)


def value(text: str) -> bool | int | float | str | None:
    """A parameter as it is written in Python: a number, true, false, none, or a name."""
    plain = {"none": None, "true": True, "false": False}
    if text.lower() in plain:
        return plain[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def console(json: bool = False) -> "Console":
    """Messages and tables; with JSON on standard output, on standard error."""
    from rich.console import Console

    # Names of files and labels may hold brackets, which are no markup of ours.
    return Console(stderr=json, highlight=False, markup=False)


def print_json(content: object, indent: int | None = None) -> None:
    typer.echo(json_module.dumps(content, indent=indent, ensure_ascii=False, default=_plain))


def _plain(value: object) -> object:
    """Paths as text, and what numpy has as numbers and lists."""
    return str(value) if isinstance(value, Path) else value.tolist()  # type: ignore[attr-defined]


class Outcome(Protocol):
    """What a long command found, perhaps before it was interrupted."""

    @property
    def is_complete(self) -> bool: ...

    def as_json(self) -> str: ...


def finish(outcome: Outcome, json: bool) -> None:
    """Print JSON if asked for; a command of which a part was interrupted or failed has failed."""
    if json:
        typer.echo(outcome.as_json())
    exit_if_interrupted(outcome.is_complete)
    if getattr(outcome, "failures", ()):
        raise typer.Exit(1)


def exit_if_interrupted(is_complete: bool) -> None:
    if not is_complete:
        raise typer.Exit(INTERRUPTED)


def text_of(path: Path | None) -> str | None:
    return None if path is None else str(path)


def progress(is_quiet: bool, **renamed: str) -> AbstractContextManager[None]:
    """The stages of the work on standard error, some of them by another name."""
    from sketchforest._utils.progress import watched

    return nullcontext() if is_quiet else watched(renamed)


def load_model(path: Path, n_jobs: int | None = None, threshold: str | None = None) -> "Model":
    from sketchforest._workflows.models import open_model, set_threshold

    model = open_model(path, n_jobs)
    if threshold is not None:
        set_threshold(model, value(threshold))
    return model
