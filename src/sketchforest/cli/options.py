"""Options and helpers that several commands share."""

# ruff: noqa: RUF009  fields of options are declared by a function

import csv
import functools
import inspect
import json as json_module
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sketchforest.cli.command import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

    from sketchforest._features import Model
    from sketchforest._workflows.data_file import DataFile
    from sketchforest.datasets.columns import Columns
    from sketchforest.evaluation import Evaluation

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
    ),
]
TrainingRowsOption = Annotated[
    bool,
    typer.Option(
        "--include-training-rows",
        help="Score rows that the model was trained on like new ones. By default they are left "
        "out, or scored out-of-bag if there are no others.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
DataHomeOption = Annotated[
    Path | None, typer.Option(help="Folder of data sets, searched before $SKETCHFOREST_DATA.")
]


def option(panel: str, help: str, default: Any = None, *flags: str, **more: Any) -> Any:
    """Declare a field of a group of options, which `with_option_groups` adds to a command."""
    declared = typer.Option(*flags, help=help, rich_help_panel=panel, **more)
    return field(default=default, metadata={"option": declared})


_data = partial(option, "Input data")


@dataclass(frozen=True)
class DataOptions:
    """How to read a data file."""

    format: str | None = _data(
        "csv, tsv, parquet, jsonl, fasttext, text (one document per line), arff, mulan, meka, "
        "clus, xc, svmlight or npz. Detected if not given."
    )
    encoding: str | None = _data(
        "Encoding of text and tables, such as latin-1. Defaults to utf-8; files that are not utf-8 "
        "are read in the encoding of the training file."
    )
    text_column: str = _data("Text columns, separated by commas.", "")
    category_column: str = _data("Categorical columns, separated by commas.", "")
    number_column: str = _data(
        "Numeric columns, separated by commas. Defaults to all other columns, or to none if there "
        "are text columns.",
        "",
    )
    tags_column: str | None = _data("Column of tags, such as 'a;b;c'.")
    tag_separator: str = _data("Separator of tags; `<>` reads `<a><b>`. Defaults to ';'.", "")
    lowercase_tags: bool = _data(
        "Convert tags to lower case, which merges variants.", False, "--lowercase-tags"
    )
    label_columns: str = _data(
        "Columns of 0/1 labels, separated by commas; for a regressor, columns of numbers.", ""
    )
    ignore_columns: str = _data("Columns to ignore, separated by commas.", "")
    xml: Path | None = _data("XML file with the label names of a MULAN file.")

    def file(self, path: str, model: "Model | None" = None) -> "DataFile":
        """Return the file with its columns; by default those that the model was trained on."""
        from sketchforest._features.encoder import trained_columns
        from sketchforest._workflows.data_file import DataFile
        from sketchforest._workflows.models import notes_of
        from sketchforest.datasets._text import first_line_not_utf8
        from sketchforest.datasets.files import ReadOptions

        columns, encoding = self._columns(), self.encoding
        if model is None:
            columns.check_targets()
        else:
            given = {name: v for name, v in vars(columns).items() if v}
            columns = replace(trained_columns(model), **given)
            noted = notes_of(model).get("encoding")
            # Text of another encoding is hardly ever UTF-8 by chance.
            if encoding is None and noted is not None and first_line_not_utf8(path) is not None:
                encoding = noted
        options = ReadOptions() if self.xml is None else ReadOptions(xml=self.xml)
        return DataFile(path, self.format, columns, encoding or "utf-8", options)

    def _columns(self) -> "Columns":
        from sketchforest.datasets.columns import Columns

        if self.tags_column is not None and self.label_columns:
            raise typer.BadParameter("--tags-column and --label-columns cannot be used together.")
        return Columns(
            text=tuple(names(self.text_column)),
            tags=self.tags_column,
            tag_separator=self.tag_separator,
            labels=tuple(names(self.label_columns)),
            ignored=tuple(names(self.ignore_columns)),
            categories=tuple(names(self.category_column)),
            numbers=tuple(names(self.number_column)),
            lowercase_tags=self.lowercase_tags,
        )


# Options that a fitted model does not need, since it knows its features.
FEATURE_OPTIONS = ("category_column", "number_column", "xml", "lowercase_tags")


def with_option_groups(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace parameters of a command that are groups of options by the options themselves."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        kind, parameters = inspect.Parameter.KEYWORD_ONLY, []
        groups: dict[str, tuple[Any, list[str]]] = {}
        for parameter in inspect.signature(command).parameters.values():
            group = parameter.annotation
            if not is_dataclass(group):
                parameters.append(parameter.replace(kind=kind))
                continue
            chosen = [each for each in fields(group) if each.name not in without]
            groups[parameter.name] = group, [each.name for each in chosen]
            for each in chosen:
                declared: Any = Annotated[each.type, each.metadata["option"]]
                parameters.append(
                    inspect.Parameter(each.name, kind, default=each.default, annotation=declared)
                )

        @functools.wraps(command)
        def run(**given: Any) -> None:
            for name, (group, chosen) in groups.items():
                given[name] = group(**{option: given.pop(option) for option in chosen})
            command(**given)

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


def exit_if_interrupted(is_complete: bool) -> None:
    if not is_complete:
        raise typer.Exit(INTERRUPTED)


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


def evaluated(
    model: Path,
    file: str,
    data: DataOptions,
    threshold: str | None,
    n_jobs: int,
    quiet: bool,
    include_training_rows: bool,
) -> "tuple[Model, Evaluation]":
    """Open a model and evaluate it on a file with known labels."""
    from sketchforest._workflows.evaluation import evaluate_file

    forest = load_model(model, n_jobs, threshold)
    with progress(quiet):
        return forest, evaluate_file(forest, data.file(file, forest), include_training_rows)
