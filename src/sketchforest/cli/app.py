"""The command line: parse, call, print.

A command is a function that imports what it needs when it runs, so ``--help`` answers at once.
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
from sketchforest.cli.moved import ANY_ARGUMENTS, moved
from sketchforest.cli.predict import predict
from sketchforest.cli.report import report
from sketchforest.cli.serve import serve
from sketchforest.cli.train import train
from sketchforest.cli.tune import tune

_DEBUG = "--debug"
_FORESEEN = (ValueError, OSError, ImportError, MemoryError)  # said in a sentence

app = typer.Typer(
    name="sketchforest",
    cls=Group,
    context_settings=SETTINGS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
_COMMANDS = (
    train,
    predict,
    evaluate,
    report,
    tune,
    explain,
    serve,
    info,
    convert,
    datasets,
    demo,
)
for command in _COMMANDS:
    app.command(cls=Command)(command)
for name in ("bench", "reproduce"):
    app.command(name, hidden=True, context_settings=ANY_ARGUMENTS)(moved)


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
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show where an error comes from; may stand anywhere.")
    ] = False,
) -> None:
    """Random forests for many labels, grown in a random projection of them.

    Example:  sketchforest train posts.csv --text-column body --tags-column tags --out model.sf
    """


def main() -> None:
    """Exit with 0 when done, 1 when the work failed, 2 when the call was wrong."""
    # Wherever it stands among the arguments, and whatever goes wrong.
    is_debugged = _DEBUG in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != _DEBUG]
    warnings.showwarning = _show_warning
    try:
        app(arguments)
    except Exception as error:
        if _is_interrupt(error):
            sys.exit(INTERRUPTED)
        if is_debugged or not isinstance(error, _FORESEEN):
            raise
        typer.echo(f"Error: {_sentence(error)}", err=True)
        sys.exit(1)


def _is_interrupt(error: BaseException | None) -> bool:
    """Ctrl-C while a module is imported may come out as another error, which has it as its cause:
    Python 3.11 does so for names in the body of a class."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "There is not enough memory for this."
    return str(error) or type(error).__name__


def _show_warning(message: Warning | str, *where: object, **more: object) -> None:
    typer.echo(f"Warning: {message}", err=True)
