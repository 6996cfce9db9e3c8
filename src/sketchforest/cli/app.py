"""The `sketchforest` command.

Each subcommand is a function that imports what it needs when it runs, so that ``--help`` is fast.
"""

import sys
import warnings
from typing import Annotated

import typer

from sketchforest.cli.command import INTERRUPTED, SETTINGS, Command, Group
from sketchforest.cli.convert import convert
from sketchforest.cli.datasets import datasets
from sketchforest.cli.demo import demo
from sketchforest.cli.evaluate import evaluate
from sketchforest.cli.explain import explain
from sketchforest.cli.info import info
from sketchforest.cli.predict import predict
from sketchforest.cli.report import report
from sketchforest.cli.serve import serve
from sketchforest.cli.train import train
from sketchforest.cli.tune import tune

_DEBUG = "--debug"
_EXPECTED = (ValueError, OSError, ImportError, MemoryError)  # reported without a traceback

app = typer.Typer(
    name="sketchforest",
    cls=Group,
    context_settings=SETTINGS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
_COMMANDS = {
    "Train": (train, tune),
    "Predict": (predict, explain, serve),
    "Inspect a model": (evaluate, report, info),
    "Data and demo": (datasets, convert, demo),
}
for panel, commands in _COMMANDS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel)(command)
# Whatever options a caller still passes, the answer is the same.
_ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


@app.command("bench", hidden=True, context_settings=_ANY_ARGUMENTS)
@app.command("reproduce", hidden=True, context_settings=_ANY_ARGUMENTS)
def _moved(context: typer.Context) -> None:
    """Report where a command has moved, and exit with code 2."""
    typer.echo(
        f"'sketchforest {context.info_name}' is no longer part of the package: run "
        f"'python -m benchmarks {context.info_name}' in a checkout of the repository.",
        err=True,
    )
    raise typer.Exit(2)


def _print_version(wanted: bool) -> None:
    if wanted:
        from sketchforest import __version__

        typer.echo(f"sketchforest {__version__}")
        raise typer.Exit


@app.callback()
def _sketchforest(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="Show the traceback of an error.")] = False,
) -> None:
    """Tree ensembles for multi-label problems with many labels.

    Example:  sketchforest train posts.csv --text-column body --tags-column tags --out model.sf
    """


def main() -> None:
    """Run the command; exit with 0 on success, 1 on failure and 2 on wrong usage."""
    # Accepted anywhere on the command line, whatever else is wrong.
    is_debug = _DEBUG in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != _DEBUG]
    warnings.showwarning = lambda message, *more: typer.echo(f"Warning: {message}", err=True)
    try:
        app(arguments)
    except Exception as error:
        if _is_interrupt(error):
            sys.exit(INTERRUPTED)
        if is_debug or not isinstance(error, _EXPECTED):
            raise
        typer.echo(f"Error: {_sentence(error)}", err=True)
        sys.exit(1)


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error.

    Python 3.11 wraps a KeyboardInterrupt in another error if it comes while a class is created.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "Not enough memory."
    return str(error) or type(error).__name__
