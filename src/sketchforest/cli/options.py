"""Options that several commands share, and what they have in common otherwise."""

import csv
import functools
import inspect
import json as json_module
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from typer.models import OptionInfo

from sketchforest.cli.command import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

    from sketchforest._workflows import Model
    from sketchforest.datasets.columns import Columns
    from sketchforest.datasets.files import ReadOptions

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model file written by 'train' or by save().")
]
FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, JSON Lines, fastText, ARFF (MULAN, MEKA, CLUS), xc, svmlight or "
        "npz file; may be compressed (.gz, .xz, .bz2). '-' reads standard input.",
    ),
]
SeedOption = Annotated[int, typer.Option("--random-state", "--seed", help="Random seed.")]
JobsOption = Annotated[int, typer.Option("--n-jobs", help="Number of threads; -1 uses all cores.")]
ThresholdOption = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        help="When to predict a label: a probability such as 0.2, f1 or f1-per-label (chosen "
        "during training), or top-K such as top-3. Defaults to the model's own setting.",
        show_default=False,
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
DataHomeOption = Annotated[
    Path | None,
    typer.Option(help="Folder of data sets, searched before $SKETCHFOREST_DATA."),
]


def _option(flag: str, help: str, show_default: bool = False) -> OptionInfo:
    return typer.Option(flag, help=help, show_default=show_default, rich_help_panel="Input data")


@dataclass(frozen=True)
class DataOptions:
    """How to read a data file. `with_data_options` adds these options to a command."""

    format: Annotated[
        str | None,
        _option(
            "--format",
            "csv, tsv, parquet, jsonl, fasttext, text (one document per line), arff, mulan, meka, "
            "clus, xc, svmlight or npz. Detected if not given.",
        ),
    ] = None
    encoding: Annotated[
        str, _option("--encoding", "Encoding of text and tables, such as latin-1.", True)
    ] = "utf-8"
    text_column: Annotated[
        str | None, _option("--text-column", "Text columns, separated by commas.")
    ] = None
    category_column: Annotated[
        str, _option("--category-column", "Categorical columns, separated by commas.")
    ] = ""
    number_column: Annotated[
        str,
        _option(
            "--number-column",
            "Numeric columns, separated by commas. Defaults to all other columns, or to none if "
            "there are text columns.",
        ),
    ] = ""
    tags_column: Annotated[
        str | None, _option("--tags-column", "Column of tags, such as 'a;b;c'.")
    ] = None
    tag_separator: Annotated[
        str | None,
        _option("--tag-separator", "Separator of tags; `<>` reads `<a><b>`. Defaults to ';'."),
    ] = None
    label_columns: Annotated[
        str,
        _option(
            "--label-columns",
            "Columns of 0/1 labels, separated by commas; for a regressor, columns of numbers.",
        ),
    ] = ""
    ignore_columns: Annotated[
        str, _option("--ignore-columns", "Columns to ignore, separated by commas.")
    ] = ""
    xml: Annotated[
        Path | None, _option("--xml", "XML file with the label names of a MULAN file.")
    ] = None

    def columns(self, trained: "Columns | None" = None) -> "Columns":
        """Return the named columns; the others are those used in training, if any."""
        from sketchforest.datasets.columns import Columns

        if self.tags_column is not None and self.label_columns:
            raise typer.BadParameter("--tags-column and --label-columns cannot be used together.")
        given = Columns(
            text=tuple(names(self.text_column or "")),
            tags=self.tags_column,
            tag_separator=self.tag_separator or "",
            labels=tuple(names(self.label_columns)),
            ignored=tuple(names(self.ignore_columns)),
            categories=tuple(names(self.category_column)),
            numbers=tuple(names(self.number_column)),
        )
        if trained is not None:
            return replace(trained, **{name: v for name, v in vars(given).items() if v})
        try:
            given.check_targets()
        except ValueError as error:
            role, _, rule = str(error).partition(" ")
            raise typer.BadParameter(rule, param_hint=_OPTION_OF_ROLE[role]) from None
        return given

    def read_options(self) -> "ReadOptions":
        from sketchforest.datasets.files import ReadOptions

        return ReadOptions() if self.xml is None else ReadOptions(xml=self.xml)


_OPTION_OF_ROLE = {
    "text": "--text-column",
    "categories": "--category-column",
    "numbers": "--number-column",
}
# Options that a fitted model does not need, since it knows its features.
FEATURE_OPTIONS = ("category_column", "number_column", "xml")


def with_data_options(
    without: tuple[str, ...] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter ``data: DataOptions`` of a command by the options themselves."""
    shared = [field for field in fields(DataOptions) if field.name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            data = DataOptions(**{field.name: given.pop(field.name) for field in shared})
            command(data=data, **given)

        kind = inspect.Parameter.KEYWORD_ONLY
        parameters = []
        for parameter in inspect.signature(command).parameters.values():
            if parameter.annotation is DataOptions:
                parameters += [
                    inspect.Parameter(f.name, kind, default=f.default, annotation=f.type)
                    for f in shared
                ]
            else:
                parameters.append(parameter.replace(kind=kind))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def names(text: str) -> list[str]:
    """Split at commas; a name that contains a comma is quoted, as in CSV."""
    found = next(csv.reader([text], skipinitialspace=True), [])
    return [name.strip() for name in found if name.strip()]


def value(text: str) -> bool | int | float | str | None:
    """Parse a parameter: a number, true, false, none or a name."""
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
    """Return a console on standard output, or on standard error if JSON goes to the former."""
    from rich.console import Console

    # No markup: the names of files and labels may contain brackets.
    return Console(stderr=json, highlight=False, markup=False)


def print_json(content: object, indent: int | None = None) -> None:
    typer.echo(json_module.dumps(content, indent=indent, ensure_ascii=False, default=_plain))


def _plain(value: object) -> object:
    """Convert paths and NumPy values."""
    return str(value) if isinstance(value, Path) else value.tolist()  # type: ignore[attr-defined]


class Outcome(Protocol):
    """The result of a long command, possibly interrupted."""

    @property
    def is_complete(self) -> bool: ...

    def as_json(self) -> str: ...


def finish(outcome: Outcome, json: bool) -> None:
    """Print JSON if asked for; exit with an error if the work was interrupted or partly failed."""
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
    """Show the stages of the work on standard error, some of them under another name."""
    from sketchforest._utils.progress import watched

    return nullcontext() if is_quiet else watched(renamed)


def load_model(path: Path, n_jobs: int | None = None, threshold: str | None = None) -> "Model":
    from sketchforest._workflows.models import open_model, set_threshold

    model = open_model(path, n_jobs)
    if threshold is not None:
        set_threshold(model, value(threshold))
    return model
