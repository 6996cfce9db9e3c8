"""The command `reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from sketchforest.cli.options import (
    DataHomeOption,
    JsonOption,
    SeedOption,
    console,
    finish,
    names,
    text_of,
)


def reproduce(
    what: Annotated[
        list[str],
        typer.Argument(
            help="table1, table2, figure1, figure2, figure3, figure4, timing, variance, theorem "
            "(several are allowed), or all."
        ),
    ],
    repeats: Annotated[
        int | None,
        typer.Option(min=1, help="Splits or seeds of each score; the paper's 10 where affordable."),
    ] = None,
    datasets: Annotated[
        str,
        typer.Option(
            help="Names, separated by commas; all of the paper's that are here.",
            show_default=False,
        ),
    ] = "",
    with_all: Annotated[
        bool, typer.Option("--with-all", help="Add m = d, which takes longest.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few repeats, trees and points: a few minutes.")
    ] = False,
    n_jobs: Annotated[int, typer.Option(help="Threads of each forest; -1 uses all cores.")] = -1,
    random_state: SeedOption = 0,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for CSV, pictures and pages. Finished runs are kept in its folder 'runs' "
            "and not run again; delete that to start anew."
        ),
    ] = Path("sketchforest-paper"),
    data_home: DataHomeOption = None,
    json: JsonOption = False,
) -> None:
    """Reproduce the tables and figures of the paper, its own numbers beside ours.

    Writes a CSV file, pictures and a page for each, and one report of several. A run that was
    interrupted goes on where it stopped.

    Example:  sketchforest reproduce table1 --datasets emotions,medical --repeats 3
    """
    from sketchforest.lab.reproduce.run import run_reproduce
    from sketchforest.lab.reproduce.settings import ReproduceSettings

    settings = ReproduceSettings(
        datasets=tuple(names(datasets)),
        repeats=repeats,
        quick=quick,
        n_jobs=n_jobs,
        data_home=text_of(data_home),
        with_all=with_all,
        seed=random_state,
    )
    finish(run_reproduce(what, settings, out, console(json)), json)
