"""Options that several commands share, and what they mean."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from sketchforest.datasets.table import Columns

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, made by 'train' or by save().")
]
FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, ARFF (MULAN, MEKA, CLUS), xc, svmlight, npz; .gz, .xz, .bz2.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="csv, tsv, parquet, text (a document a line), mulan, meka, clus, xc, svmlight or "
        "npz; told from the file if not given.",
        show_default=False,
    ),
]
TextOption = Annotated[
    str | None, typer.Option("--text-column", help="Column of text.", show_default=False)
]
TagsOption = Annotated[
    str | None,
    typer.Option("--tags-column", help="Column of tags, as in 'a;b;c'.", show_default=False),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option("--tag-separator", help="What stands between tags: ';'.", show_default=False),
]
LabelsOption = Annotated[
    str,
    typer.Option(
        "--label-columns", help="Columns of labels, separated by commas.", show_default=False
    ),
]
IgnoreOption = Annotated[
    str,
    typer.Option(
        "--ignore-columns", help="Columns to leave out, separated by commas.", show_default=False
    ),
]
XmlOption = Annotated[
    Path | None, typer.Option(help="Names of the labels of a MULAN file.", show_default=False)
]
JobsOption = Annotated[int, typer.Option("--n-jobs", help="Threads; -1 uses all cores.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def columns(
    text: str | None, tags: str | None, separator: str | None, labels: str, ignored: str
) -> "Columns":
    from sketchforest.datasets.table import Columns

    if tags is not None and labels:
        raise typer.BadParameter("--tags-column and --label-columns cannot be used together.")
    return Columns(text, tags, separator or "", tuple(names(labels)), tuple(names(ignored)))


def value(text: str) -> Any:
    """A parameter as it is written in Python: a number, true, false, none, or a name."""
    plain = {"none": None, "true": True, "false": False}
    if text.lower() in plain:
        return plain[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def console(json: bool = False) -> "Console":
    """Messages and tables; with JSON on standard output, on standard error."""
    from rich.console import Console

    return Console(stderr=json, highlight=False)


def print_json(content: Any) -> None:
    typer.echo(json_module.dumps(content, ensure_ascii=False, default=_plain))


def _plain(number: Any) -> Any:
    return str(number) if isinstance(number, Path) else number.tolist()  # of numpy's types


class Outcome(Protocol):
    """What a long command found, perhaps before it was interrupted."""

    @property
    def is_complete(self) -> bool: ...

    def as_json(self) -> str: ...


def finish(outcome: Outcome, json: bool) -> None:
    """Print JSON if asked for; an interrupted command fails."""
    if json:
        typer.echo(outcome.as_json())
    if not outcome.is_complete:
        raise typer.Exit(130)  # as a shell says that Ctrl-C ended a command


def text_of(path: Path | None) -> str | None:
    return None if path is None else str(path)


def is_watched() -> bool:
    """Whether somebody sees a progress bar."""
    return sys.stderr.isatty()


def load_model(path: Path) -> Any:
    from sketchforest import load_forest

    return load_forest(path)
