"""What commands share: lists of names, where to print, how to end."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

if TYPE_CHECKING:
    from rich.console import Console


class Outcome(Protocol):
    """What a long command found, perhaps before it was interrupted."""

    @property
    def is_complete(self) -> bool: ...

    def as_json(self) -> str: ...


def finish(result: Outcome, json: bool) -> None:
    """Print JSON if asked for; an interrupted command fails."""
    if json:
        typer.echo(result.as_json())
    if not result.is_complete:
        raise typer.Exit(130)  # as a shell says that Ctrl-C ended a command


def split_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def text_of(path: Path | None) -> str | None:
    return None if path is None else str(path)


def console_for(json: bool) -> "Console":
    """Messages and tables; with JSON on standard output, on standard error."""
    from rich.console import Console

    return Console(stderr=json)
