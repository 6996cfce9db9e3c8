"""Options from a TOML file, and the file written next to a model to repeat its training."""

import json
import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from sketchforest._utils.display import listed
from sketchforest._utils.files import written_whole

# Options that do not affect the model.
_NOT_WRITTEN = {"config", "json", "quiet", "checkpoint", "dask", "workers"}
_HERE = Path()  # the current folder
# Options whose values are files or folders.
PATHS = {"checkpoint", "data_home", "file", "labels_out", "model", "out", "picture", "test", "xml"}


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Use the options in a file as defaults of a command.

    They are at the top level of the file or in the table of the command, such as [train]. Relative
    paths start at the folder of the file. The command line takes precedence.
    """
    if path is None:
        return None
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{path} is not a valid TOML file: {error}.") from None
    table = content.get(str(context.command.name), {})
    given = {name: v for name, v in content.items() if not isinstance(v, dict)} | table
    known = {str(parameter.name) for parameter in context.command.params}
    options = {name.replace("-", "_"): _value(value) for name, value in given.items()}
    for name in options:
        if name not in known:
            typed = name.replace("_", "-")
            raise typer.BadParameter(f"{path}: {context.command.name} has no option {typed!r}.")
    for name in options.keys() & PATHS:
        moved = _moved(str(options[name]), path.parent, _HERE)
        # 'tune' also accepts the name of a data set as FILE.
        if context.command.name != "tune" or name != "file" or os.path.exists(moved):
            options[name] = moved
    context.default_map = {**(context.default_map or {}), **options}
    return path


def _moved(typed: str, old: Path, new: Path) -> str:
    """Make a path relative to another folder; absolute paths stay as they are."""
    if typed == "-" or os.path.isabs(typed):
        return typed
    try:
        return Path(os.path.relpath(old / typed, new)).as_posix()
    except ValueError:  # on another drive
        return os.path.abspath(old / typed)


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=read_config,
        is_eager=True,
        help="TOML file of options, such as n-estimators = 500. Its paths are relative to the "
        "file. 'train' writes one next to the model, to repeat the training.",
    ),
]


def _value(value: Any) -> bool | str:
    """Convert a TOML value to what a user would type."""
    if isinstance(value, list):
        return listed(map(str, value))
    return value if isinstance(value, bool) else str(value)


def given_options(context: typer.Context) -> list[str]:
    """Return the names of the options that are typed or in a configuration file."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if source and source.name != "DEFAULT"]


class Made(NamedTuple):
    """Facts about a training run that are not in the model, which must be reproducible."""

    date: str
    seconds: float
    version: str


def write_config(context: typer.Context, model: Path, seconds: float) -> Path:
    """Write the options of a training run next to its model, with paths relative to it."""
    from sketchforest import __version__

    path, command = _beside(model), context.command.name
    lines = [f"# sketchforest {command} --config {path.name}", f"[{command}]"]
    for option in given_options(context):
        value = context.params[option]
        plain = value if isinstance(value, bool | int | float) else str(value)
        if option in PATHS:
            plain = _moved(str(value), _HERE, path.parent)
        if option not in _NOT_WRITTEN:  # JSON strings are valid TOML strings
            lines.append(f"{option.replace('_', '-')} = {json.dumps(plain, ensure_ascii=False)}")
    made = Made(datetime.now(UTC).date().isoformat(), round(seconds, 3), __version__)
    lines += ["", "[made]", *(f"{name} = {json.dumps(v)}" for name, v in made._asdict().items())]
    with written_whole(path) as draft:
        draft.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def read_made(model: Path) -> Made | None:
    """Read the facts written next to a model; None if there are none."""
    try:
        made = tomllib.loads(_beside(model).read_text("utf-8"))["made"]
        return Made(str(made["date"]), float(made["seconds"]), str(made["version"]))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError):
        return None


def _beside(model: Path) -> Path:
    return model.with_name(f"{model.name}.toml")
