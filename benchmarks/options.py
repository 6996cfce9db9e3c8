"""Options and helpers that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sketchforest.cli.command import INTERRUPTED


def names_in(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def option(help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, **settings)


Datasets = Annotated[str, option("Comma-separated names; by default, all.", show_default=False)]
Splits = Annotated[int, option("Random splits of each data set.", min=1)]
Trees = Annotated[int, option("Trees in each forest.", min=1)]
Jobs = Annotated[int, option("Threads of each method; -1 uses all cores.")]
Repeats = Annotated[int, option("Runs of each method; the table shows medians.", min=1)]
OutFolder = Annotated[
    Path, option("Folder for tables and pictures; replaces those of earlier runs.")
]
StudyFolder = Annotated[
    Path, option("Folder for tables; results found there are not measured again.")
]
Components = Annotated[int, option("Projected outputs.", min=1)]
Json = Annotated[bool, option("Print JSON instead of tables.", "--json")]
DataHome = Annotated[str | None, option("Folder of data sets; searched before any download.")]
BENCH, STUDY = Path("sketchforest-bench"), Path("sketchforest-study")


def console(json: bool) -> Console:
    return Console(stderr=json, highlight=False, markup=False)


def finish(result: Any, json: bool) -> None:
    if json:
        typer.echo(result.as_json())
    exit_if_interrupted(result.is_complete)
    if getattr(result, "failures", ()):
        raise typer.Exit(1)


def exit_if_interrupted(is_complete: bool) -> None:
    if not is_complete:
        raise typer.Exit(INTERRUPTED)
