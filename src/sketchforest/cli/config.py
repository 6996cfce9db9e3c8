"""Options from a TOML file, and to one beside a model, by which a training is repeated."""

import json
import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from sketchforest._utils.display import listed
from sketchforest._utils.files import written_whole

# What says nothing of the result.
_NOT_WRITTEN = ("config", "json", "quiet", "checkpoint", "dask", "workers")
_HERE = Path()  # the shell's folder
# Options that name files and folders.
PATHS = {
    "checkpoint",
    "data_home",
    "file",
    "labels_out",
    "model",
    "out",
    "picture",
    "test",
    "xml",
}


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Makes the options in a file the defaults of a command: those in its table, as in [train], and
    those in no table. What is typed counts more. Paths begin at the folder of the file."""
    if path is None:
        return None
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise typer.BadParameter(f"{path} is no TOML file: {error}.") from None
    of_command = content.get(str(context.command.name), {})
    given = {name: v for name, v in content.items() if not isinstance(v, dict)} | of_command
    known = {str(parameter.name) for parameter in context.command.params}
    options = {name.replace("-", "_"): _value(value) for name, value in given.items()}
    for name in options:
        if name not in known:
            spelt = name.replace("_", "-")
            raise typer.BadParameter(f"{path}: {context.command.name} has no option {spelt!r}.")
    for name in options.keys() & PATHS:
        moved = _moved(str(options[name]), path.parent, _HERE)
        # What 'tune' reads may also be the name of a data set.
        if context.command.name != "tune" or name != "file" or os.path.exists(moved):
            options[name] = moved
    context.default_map = {**(context.default_map or {}), **options}
    return path


def _moved(typed: str, old: Path, new: Path) -> str:
    """A path that begins at the old folder, as it begins at the new one; whole ones stay."""
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
        help="A TOML file of options, as in: n-estimators = 500; its paths begin at its own "
        "folder. 'train' writes one beside its model, to be repeated by, from any folder.",
        show_default=False,
    ),
]


def _value(value: Any) -> bool | str:
    """As it is typed."""
    if isinstance(value, list):
        return listed(map(str, value))
    return value if isinstance(value, bool) else str(value)


def config_text(context: typer.Context, path: Path) -> str:
    """The options of a call that are not the usual ones, as TOML in that file."""
    command = context.command.name
    lines = [f"# sketchforest {command} --config {path.name}", f"[{command}]"]
    for option, value in context.params.items():
        source = context.get_parameter_source(option)
        if option in _NOT_WRITTEN or source is None or source.name == "DEFAULT":
            continue
        # A string of JSON is one of TOML.
        plain = value if isinstance(value, bool | int | float) else str(value)
        if option in PATHS:
            plain = _moved(str(value), _HERE, path.parent)
        lines.append(f"{option.replace('_', '-')} = {json.dumps(plain, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


class Made(NamedTuple):
    """What a training notes of itself beside its model, which is the same when it is repeated."""

    date: str
    seconds: float
    version: str


def write_config(context: typer.Context, model: Path, seconds: float) -> Path:
    """The call beside its model; nothing in it is of this machine but the paths, which begin at
    the model's folder unless they were typed whole, and the time it took."""
    from sketchforest import __version__

    path = _beside(model)
    made = Made(datetime.now(UTC).date().isoformat(), round(seconds, 3), __version__)
    lines = [f"{name} = {json.dumps(value)}" for name, value in made._asdict().items()]
    with written_whole(path) as draft:
        text = "\n".join([config_text(context, path), "[made]", *lines, ""])
        draft.write_text(text, encoding="utf-8")
    return path


def read_made(model: Path) -> Made | None:
    """What stands beside a model; None where nothing does, or something else."""
    try:
        made = tomllib.loads(_beside(model).read_text("utf-8"))["made"]
        return Made(str(made["date"]), float(made["seconds"]), str(made["version"]))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError):
        return None


def _beside(model: Path) -> Path:
    return model.with_name(f"{model.name}.toml")
